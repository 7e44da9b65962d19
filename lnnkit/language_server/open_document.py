"""A document that is open in the editor: its findings as it changes, and the bounds of its atoms; and values of the
protocol: positions in a text, and what the functions of `lnnkit.editor` return."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path

from lsprotocol import types

from lnnkit.check.checker import check, ordered
from lnnkit.check.program import CheckedProgram
from lnnkit.editor.descriptions import OutlineItem
from lnnkit.editor.name_places import Edit
from lnnkit.editor.program_files import ProgramFile, parsed_file
from lnnkit.editor.shown_findings import ShownFinding
from lnnkit.editor.suggestions import Suggestion
from lnnkit.language_server.inference_client import InferenceClient
from lnnkit.syntax.diagnostic import Diagnostic

_CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
"""By the encoding of positions Python's codec, and the bytes of a code unit."""

_END = re.compile(r"\r\n|\n|\r")  # and no other: a form feed or U+2028 does not end a line of the protocol


class Positions:
    """The lines of a text. Offsets count code points; a position is a line and a number of code units, both from 0."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text = text
        self._codec, self._bytes = _CODECS[encoding]
        self._ends = [(match.start(), match.end()) for match in _END.finditer(text)]
        self._starts = [0, *(end for _, end in self._ends)]

    def position(self, offset: int) -> tuple[int, int]:
        """The position of an offset; an offset beyond the text gives the end of the text."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset) - 1
        return line, self._units(self.text[self._starts[line] : offset])

    def offset(self, line: int, character: int) -> int:
        """The offset of a position. A line beyond the text gives the end of the text, a character beyond the line the
        end of the line. A position inside a character gives the start of that character."""
        if line >= len(self._starts):
            return len(self.text)
        offset = self._starts[max(line, 0)]
        end = self._ends[line][0] if line < len(self._ends) else len(self.text)
        left = character
        while offset < end and (left := left - self._units(self.text[offset])) >= 0:
            offset += 1
        return offset

    def range(self, start: int, end: int) -> types.Range:
        """The positions of two offsets."""
        return types.Range(*(types.Position(*self.position(offset)) for offset in (start, end)))

    def _units(self, text: str) -> int:
        return len(text.encode(self._codec, "surrogatepass")) // self._bytes


_ITEM, _SYMBOL = types.CompletionItemKind, types.SymbolKind
ITEMS = {
    "keyword": _ITEM.Keyword, "predicate": _ITEM.Function, "number": _ITEM.Value, "sort": _ITEM.Class,
    "logic": _ITEM.EnumMember, "entity": _ITEM.Constant, "variable": _ITEM.Variable, "file": _ITEM.File,
}  # fmt: skip
SYMBOLS = {
    "sort": _SYMBOL.Class, "predicate": _SYMBOL.Function, "number": _SYMBOL.Number, "file": _SYMBOL.File,
    "rule": _SYMBOL.Method, "query": _SYMBOL.Event,
}  # fmt: skip


def as_diagnostic(positions: Positions, finding: ShownFinding) -> types.Diagnostic:
    extent, severity = positions.range(finding.start, finding.end), types.DiagnosticSeverity[finding.severity.title()]
    return types.Diagnostic(extent, finding.message, severity, finding.code, source="lnnkit")


def as_edits(positions: Positions, edits: Sequence[Edit]) -> list[types.TextEdit]:
    return [types.TextEdit(positions.range(edit.start, edit.end), edit.text) for edit in edits]


def as_item(positions: Positions, start: int, end: int, suggestion: Suggestion) -> types.CompletionItem:
    return types.CompletionItem(
        label=suggestion.text,
        kind=ITEMS[suggestion.kind],
        label_details=types.CompletionItemLabelDetails(detail=suggestion.detail) if suggestion.detail else None,
        detail=f"{suggestion.kind} {suggestion.text}{suggestion.detail}" if suggestion.detail else suggestion.kind,
        text_edit=types.TextEdit(positions.range(start, end), suggestion.text),
    )


def as_symbol(positions: Positions, entry: OutlineItem) -> types.DocumentSymbol:
    whole, selected = (positions.range(span.start, span.end) for span in (entry.span, entry.selected))
    return types.DocumentSymbol(entry.name, SYMBOLS[entry.kind], whole, selected, entry.detail or None)


DELAY = 0.25  # seconds without a change before a text is checked
QUICK_CHECK = 0.5  # seconds; where a check takes longer, tables are read again only after a save
QUICK = 2.0  # seconds that a hover waits for bounds
PATIENCE = 60.0  # seconds of inference in the background

log = logging.getLogger(__name__)

Publish = Callable[["OpenDocument", ProgramFile, list[Diagnostic]], None]


def checked_file(file: ProgramFile, read_data: bool) -> tuple[CheckedProgram | None, list[Diagnostic], float]:
    """Check a file and what it imports: the program (None if it has errors), the findings, and the seconds that it
    took. Never raises."""
    start = time.monotonic()
    try:
        program, more = check(file.program, file.path.parent, read_data=read_data)
    except Exception:  # a defect of the checker on half-typed text: what the parser found is shown
        log.exception("the check failed")
        program, more = None, []
    findings = ordered([*file.findings, *more], [str(file.path)])
    return program, findings, time.monotonic() - start


class OpenDocument:
    """``version`` counts what changes the answers: edits, and saves of any document. ``program`` is what was last
    checked without errors and with its tables."""

    def __init__(self, uri: str, path: Path, read: Callable[[], ProgramFile | None], publish: Publish) -> None:
        self.uri = uri
        self.path = path
        self.version = 0
        self.program: CheckedProgram | None = None
        self.findings: Sequence[Diagnostic] = ()  # of the last check
        self.closed = False
        self._read = read
        self._publish = publish
        self._checking: asyncio.Task[None] | None = None
        self._full = True  # the next check reads the tables
        self._slow_check = False
        self._slow = False  # inference has taken longer than a hover waits
        self._saved = 0  # the version of the last save
        self._asking: dict[str, asyncio.Task[str | None]] = {}

    # --- findings ---------------------------------------------------------------------------------------------------

    def changed(self, *, saved: bool = False) -> None:
        """Check the text again after an edit or a save, and forget the bounds."""
        self.version += 1
        self._full = self._full or saved or not self._slow_check
        if saved:
            self._saved = self.version
        self._asking.clear()
        if self._checking is None or self._checking.done():
            self._checking = asyncio.create_task(self._check())

    async def checked(self) -> None:
        """Wait until the text as it is now has been checked."""
        if self._checking is not None:
            await self._checking

    def trial(self, text: str) -> list[Diagnostic]:
        """The findings of another text in place of this one; tables are read if that is quick."""
        return checked_file(parsed_file(self.path, text), not self._slow_check)[1]

    async def _check(self) -> None:
        done = -1
        while done != self.version and not self.closed:
            version = self.version
            await asyncio.sleep(DELAY if done >= 0 or version > 1 else 0)
            if version != self.version:
                continue
            done, full, self._full = version, self._full, False
            file = await asyncio.to_thread(self._read)
            if file is None:
                return
            program, findings, seconds = await asyncio.to_thread(checked_file, file, full)
            if full:
                self._slow_check = seconds > QUICK_CHECK
                self.program = program or self.program
            self.findings = findings
            if version == self.version and not self.closed:
                self._publish(self, file, findings)

    # --- bounds -----------------------------------------------------------------------------------------------------

    async def bounds(self, query: str, text: str, client: InferenceClient) -> str:
        """The text about the bounds of an atom: the bounds, if they are known within `QUICK` seconds. Longer inference
        continues in the background until the text changes; after that it starts again only at a save."""
        task = self._asking.get(query)
        if task is not None and task.done():
            return task.result() or ""
        if self._slow and self._saved != self.version and task is None:
            return f"`{query}`: bounds are shown once the file is saved (inference takes more than {QUICK:g} s)"
        try:
            await asyncio.wait_for(client.ready(), QUICK)
        except TimeoutError:
            return f"`{query}`: inference is starting; look again in a moment"
        task, waits = self._asking.get(query), client.busy
        if task is None:
            task = self._asking[query] = asyncio.create_task(self._ask(query, text, client))
        done, _ = await asyncio.wait({task}, timeout=QUICK)
        if done:
            self._slow = False
            return task.result() or ""
        self._slow = self._slow or not waits  # it may have waited for another
        return f"`{query}`: inference is running; look again in a moment"

    async def _ask(self, query: str, text: str, client: InferenceClient) -> str | None:
        version = self.version
        request = {"key": f"{self.uri} {version}", "text": text, "query": query}
        request |= {"path": str(self.path), "base": str(self.path.parent)}
        try:
            answer = await asyncio.wait_for(client.ask(request, lambda: version == self.version), PATIENCE)
        except TimeoutError:
            client.end()
            answer = {"error": f"inference takes more than {PATIENCE:g} s"}
        if answer is None:
            return None
        shown = f"no bounds: {answer['error']}" if "error" in answer else f"**{answer['bounds']}** {answer['state']}"
        return f"`{query}`: {shown}"
