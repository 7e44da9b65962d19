"""Reads the program that FILE names, in the same way for every command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.cli import streams
from lnnkit.cli.progress import ProgressLine
from lnnkit.errors import ProgramError
from lnnkit.syntax.diagnostic import Diagnostic, Source

if TYPE_CHECKING:
    from lnnkit.kb import KnowledgeBase

STANDARD_INPUT = "-"


def read(file: str) -> Source:
    """The text of FILE. Raises `ProgramError` if it cannot be read."""
    if file == STANDARD_INPUT:
        return _standard_input()
    from lnnkit.data.files import read_program

    path = Path(file)
    text, diagnostics = read_program(path)
    if text is None:
        raise ProgramError(diagnostics)
    return Source(str(path), text)


def base_of(source: Source) -> Path:
    """The folder that the paths of a program are relative to; of standard input, the working folder."""
    return Path(source.path).parent


def load(file: str, *, shown: bool = True, streamed: str | None = None, today: str | None = None) -> KnowledgeBase:
    """The knowledge base of FILE, with progress if ``shown``; tables about the sort that is ``streamed`` are not read,
    and ``today`` is the date of `today`. Raises `ProgramError` with every finding."""
    from lnnkit import kb

    with ProgressLine(f"reading {streams.printable(file, keep='')}", shown=shown):
        if file != STANDARD_INPUT:
            return kb.load(file, streamed=streamed, today=today)
        source = _standard_input()
        return kb.loads(source.text, base_of(source), source.path, streamed=streamed, today=today)


def _standard_input() -> Source:
    from lnnkit.data.files import in_lines

    try:
        data = sys.stdin.buffer.read()
        return Source("<stdin>", in_lines(data.removeprefix(b"\xef\xbb\xbf").decode()))
    except UnicodeDecodeError as problem:
        message = f"standard input is not UTF-8 text (byte {problem.start + 1})"
    except (OSError, AttributeError) as problem:  # closed, or a folder
        message = f"standard input cannot be read: {problem}"
    raise ProgramError([Diagnostic("unreadable-file", message, "name a .lnn file instead of -")])
