"""Values of the protocol: positions in a text, and what the functions of `lnnkit.editor` return."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from lsprotocol import types

from lnnkit.editor.descriptions import OutlineItem
from lnnkit.editor.name_places import Edit
from lnnkit.editor.shown_findings import ShownFinding
from lnnkit.editor.suggestions import Suggestion

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
