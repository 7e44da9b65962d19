"""A text in another notation -> a program, by the reader of its format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from lnnkit.errors import ProgramError
from lnnkit.interchange.as_program import ImportedProgram, program_for
from lnnkit.interchange.fol_text import read_fol
from lnnkit.interchange.liberties import Liberties
from lnnkit.syntax.span import as_source

Format = Literal["fol"]
FORMATS: tuple[Format, ...] = get_args(Format)


def from_fol(text: str, path: str = "<string>", *, skip_errors: bool = False) -> ImportedProgram:
    """The program for a text with a formula of first-order logic on each line.

    Lines after a heading `Conclusion:` become queries, ``::: words`` after a formula and lines after `#` comments. The
    text of the program has a comment for each liberty taken, which ``.notes`` holds as well. Raises `ProgramError`
    with every line that cannot be read; with ``skip_errors`` those are left out, and are among the notes.
    """
    source = as_source(path, text)
    liberties = Liberties(source)
    found = read_fol(source, liberties)
    if found.errors and not skip_errors:
        raise ProgramError(found.errors)
    for each in found.errors:
        liberties.leave_out(each)
    return program_for(found.stated, liberties, f"From {path}, first-order logic.", found.glosses)


def import_text(text: str, path: str, form: Format, *, skip_errors: bool = False) -> ImportedProgram:
    """The program for a text in one of the formats. Raises `ProgramError` for what cannot be read."""
    readers: dict[Format, Callable[[], ImportedProgram]] = {
        "fol": lambda: from_fol(text, path, skip_errors=skip_errors),
    }
    return readers[form]()


def format_of(text: str, path: str) -> Format:
    """The format that a text looks to be in."""
    return "fol"
