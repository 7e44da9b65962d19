"""Reads the program that FILE names, in the same way for every command."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.cli import streams
from lnnkit.cli.progress import ProgressLine
from lnnkit.errors import ProgramError
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from lnnkit.kb import KnowledgeBase

STANDARD_INPUT = "-"


@dataclass(frozen=True, slots=True)
class Text:
    """A program text, the path under which it is shown, and the folder that its paths are relative to."""

    text: str
    path: str
    base: Path


def read(file: str) -> Text:
    """The text of FILE. Raises `ProgramError` if it cannot be read."""
    if file == STANDARD_INPUT:
        return _standard_input()
    from lnnkit.data.files import read_program

    path = Path(file)
    text, found = read_program(path)
    if text is None:
        raise ProgramError(found)
    return Text(text, str(path), path.parent)


def load(file: str, *, shown: bool = True, streamed: str | None = None) -> KnowledgeBase:
    """The knowledge base of FILE, with progress if ``shown``; tables about the sort that is ``streamed`` are not read.
    Raises `ProgramError` with every finding."""
    from lnnkit import kb

    with ProgressLine(f"reading {streams.printable(file, keep='')}", shown=shown):
        if file != STANDARD_INPUT:
            return kb.load(file, streamed=streamed)
        source = _standard_input()
        return kb.loads(source.text, source.base, source.path, streamed=streamed)


def _standard_input() -> Text:
    from lnnkit.data.files import in_lines

    try:
        data = sys.stdin.buffer.read()
        return Text(in_lines(data.removeprefix(b"\xef\xbb\xbf").decode()), "<stdin>", Path())
    except UnicodeDecodeError as problem:
        message = f"standard input is not UTF-8 text (byte {problem.start + 1})"
    except (OSError, AttributeError) as problem:  # closed, or a folder
        message = f"standard input cannot be read: {problem}"
    raise ProgramError([Diagnostic("unreadable-file", message, "name a .lnn file instead of -")])
