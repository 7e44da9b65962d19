"""A text with first-order logic -> a program."""

from __future__ import annotations

from lnnkit.errors import ProgramError
from lnnkit.interchange.as_program import ImportedProgram, program_for
from lnnkit.interchange.liberties import Liberties
from lnnkit.interchange.reading.fol_text import read_fol
from lnnkit.syntax.span import as_source


def from_fol(text: str, path: str = "<string>", *, skip_errors: bool = False) -> ImportedProgram:
    """The program for a text with a formula of first-order logic on each line.

    Lines after a heading `Conclusion:` become queries; ``::: words`` after a formula and lines after `#` are comments.
    The text of the program has a comment for each liberty taken, which ``.notes`` holds as well. Raises `ProgramError`
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
