"""Writing a program: as text, as a model file with the exact numbers that it has learned, or for other solvers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lnnkit.data.files import is_model, model_bytes
from lnnkit.errors import Error
from lnnkit.kb.theory import Theory, asked
from lnnkit.output import write_text
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.relocate import queries, relocate


def save(program: ast.Program, home: Path, values: Mapping[str, float], path: str | Path) -> None:
    """Write the program to ``path``, its paths rewritten to lead from there to the same files as from ``home``; a model
    file also holds its ``values``. Raises `Error` if it cannot be written."""
    refuse_moved(program, home, path)
    text = relocate(program, home, Path(path).parent)
    write_text(path, model_bytes(text, values) if is_model(Path(path)) else text)


def refuse_moved(program: ast.Program, home: Path, path: str | Path) -> None:
    """Raises `Error` if a program with queries would leave its folder: they read files that are there."""
    if queries(program) and Path(path).parent.resolve() != home.resolve():
        message = f'"{path}" is in another folder than the files that the queries of the program read'
        raise Error([Diagnostic("moved-query", message, f'write it beside them: "{home / Path(path).name}"')])


def refuse_unsaved(facts: Iterable[tuple[str, int]]) -> None:
    """Raises `Error` if there are ``facts`` (pairs of a predicate and how many were told): no file holds them."""
    counts: dict[str, int] = {}
    for name, count in facts:
        counts[name] = counts.get(name, 0) + count
    if counts:
        listed = ", ".join(f"{count:,} of `{name}`" for name, count in counts.items())
        message = f"the file cannot hold facts that were told: {listed}"
        raise Error([Diagnostic("told-facts", message, "write them to a table, and `load` it in the program")])


def exported(theory: Theory, formulas: Sequence[str] | None, alpha: float) -> tuple[str, list[Diagnostic]]:
    """A program's classical reading in SMT-LIB, and what it leaves out. Raises `ProgramError` for statements that it
    cannot express."""
    from lnnkit.interchange.smtlib import smtlib

    theory.require_evaluated()
    checked = [(query, []) for query in theory.checked.queries]
    if formulas is not None:
        checked = [asked(theory, text) for text in formulas]
    text, notes = smtlib(theory.bound(theory.settled()), [query for query, _ in checked], alpha)
    return text, [*(finding for _, findings in checked for finding in findings), *notes]
