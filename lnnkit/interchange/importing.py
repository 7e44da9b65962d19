"""A text in another notation -> a program, by the reader of its format."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

from lnnkit.errors import ProgramError
from lnnkit.interchange.as_program import ImportedProgram, program_for
from lnnkit.interchange.liberties import Liberties
from lnnkit.interchange.reading.benchmark_files import Example, example_of
from lnnkit.interchange.reading.deduction_reading import read_deduction
from lnnkit.interchange.reading.fol_text import read_fol
from lnnkit.interchange.reading.prontoqa_reading import read_prontoqa
from lnnkit.interchange.reading.tptp_reading import read_tptp
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.span import as_source

Format = Literal["fol", "tptp", "prontoqa", "logical-deduction"]
FORMATS: tuple[Format, ...] = get_args(Format)


def from_fol(text: str, path: str = "<string>", *, skip_errors: bool = False) -> ImportedProgram:
    """The program for a text with a formula of first-order logic on each line.

    Lines after a heading `Conclusion:` become queries; ``::: words`` after a formula and lines after `#` are comments.
    The text of the program has a comment for each liberty taken, which ``.notes`` holds as well. Raises `ProgramError`
    with every line that cannot be read; with ``skip_errors`` those are left out, and are among the notes.
    """
    return _from_fol(Example(text, path), skip_errors, unique_names=True)


def from_tptp(
    text: str, path: str = "<string>", *, skip_errors: bool = False, unique_names: bool = True
) -> ImportedProgram:
    """The program for a TPTP problem in `fof` or `cnf`: conjectures become queries, functions relations.

    In TPTP two names may be of one individual, in a program never. Where a problem has equations that is a liberty;
    without ``unique_names`` its names become relations instead, and nothing is taken for granted. Raises
    `ProgramError` with all that cannot be read; with ``skip_errors`` that is left out.
    """
    return _from_tptp(Example(text, path), skip_errors, unique_names)


def import_text(
    text: str,
    path: str,
    form: Format | None = None,
    *,
    example: str | None = None,
    skip_errors: bool = False,
    unique_names: bool = True,
) -> ImportedProgram:
    """The program for a text in one of the formats, by default what it looks to be in; of a JSON file with several
    examples, for the one that ``example`` names. Raises `ProgramError` for what cannot be read."""
    given = example_of(text, path, example)
    match form or format_of(given.text):
        case "tptp":
            return _from_tptp(given, skip_errors, unique_names)
        case "prontoqa":
            return _from_prontoqa(given, skip_errors, unique_names)
        case "logical-deduction":
            return _from_deduction(given, skip_errors)
    return _from_fol(given, skip_errors, unique_names)


def format_of(text: str) -> Format:
    """The format that a text looks to be in: first-order logic where it shows no sign of another."""
    if re.search(r"^\s*(?:fof|cnf|tff|thf|include)\s*\(", text, re.MULTILINE):
        return "tptp"
    if "[IN]" in text and re.search(r"^\s*Constraints\s*:", text, re.MULTILINE):
        return "logical-deduction"
    return "prontoqa" if re.search(r">>>|\$\w+\s*,\s*(?:bool|True|False)\b", text) else "fol"


# --- the formats ------------------------------------------------------------------------------------------------------


def _from_fol(given: Example, skip_errors: bool, unique_names: bool) -> ImportedProgram:
    source = as_source(given.path, given.text)
    liberties = Liberties(source)
    found = read_fol(source, liberties)
    _settle(found.errors, skip_errors, liberties)
    title = f"From {given.path}, first-order logic."
    made = program_for(found.stated, liberties, title, found.glosses, unique_names=unique_names)
    return _about(made, given)


def _from_tptp(given: Example, skip_errors: bool, unique_names: bool) -> ImportedProgram:
    source = as_source(given.path, given.text)
    liberties = Liberties(source)
    stated, errors = read_tptp(source, liberties)
    _settle(errors, skip_errors, liberties)
    return program_for(stated, liberties, f"From {given.path}, TPTP.", unique_names=unique_names)


def _from_prontoqa(given: Example, skip_errors: bool, unique_names: bool) -> ImportedProgram:
    source = as_source(given.path, given.text)
    liberties = Liberties(source)
    found = read_prontoqa(source, liberties)
    _settle(found.errors, skip_errors, liberties)
    title = f"From {given.path}, a logic program of ProntoQA."
    return _about(program_for(found.stated, liberties, title, found.glosses, unique_names=unique_names), given)


def _from_deduction(given: Example, skip_errors: bool) -> ImportedProgram:
    source = as_source(given.path, given.text)
    liberties = Liberties(source)
    made, errors = read_deduction(source, f"From {given.path}, a constraint program of LogicalDeduction.")
    _settle(errors, skip_errors, liberties)
    return replace(_about(made, given), notes=tuple(liberties.found))


def _settle(errors: Sequence[Diagnostic], skip_errors: bool, liberties: Liberties) -> None:
    """Raises `ProgramError` for what cannot be read, or leaves it out."""
    if errors and not skip_errors:
        raise ProgramError(errors)
    for each in errors:
        liberties.leave_out(each)


def _about(made: ImportedProgram, given: Example) -> ImportedProgram:
    """The program, with a comment below its title that says what the example is about."""
    told = [f"# {' '.join(each.split())}" for each in given.about]
    head, _, rest = made.text.partition("\n")
    return replace(made, text="\n".join([head, *told, rest])) if told else made
