"""A document that is open in the editor: its findings as it changes, and the bounds of its atoms."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from lnnkit.check.checker import check, ordered
from lnnkit.check.program import CheckedProgram
from lnnkit.editor.program_files import ProgramFile, parsed_file
from lnnkit.language_server.inference_client import InferenceClient
from lnnkit.syntax.diagnostic import Diagnostic

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
