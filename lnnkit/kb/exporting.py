"""A knowledge base's classical reading, in the notations of theorem provers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from lnnkit.errors import ProgramError
from lnnkit.interchange.writing.as_smtlib import as_smtlib
from lnnkit.interchange.writing.as_tptp import as_tptp
from lnnkit.interchange.writing.classical_reading import classical_reading
from lnnkit.kb.querying import asked
from lnnkit.kb.theory import Theory
from lnnkit.syntax.diagnostic import Diagnostic

ExportFormat = Literal["smt2", "tptp"]


def exported(
    theory: Theory, formulas: Sequence[str] | None, form: ExportFormat, alpha: float
) -> tuple[str, list[Diagnostic]]:
    """The text, and what the reading leaves out. Raises `ProgramError` for statements that it cannot express."""
    theory.require_evaluated()
    findings: list[Diagnostic] = []
    queries = list(theory.checked.queries)
    if formulas is not None:
        queries = []
        for text in formulas:
            query, found = asked(theory, text)
            queries.append(query)
            findings += found
    reading, errors = classical_reading(theory.bound(theory.settled()), queries, alpha)
    if errors:
        raise ProgramError(errors)
    text = as_tptp(reading) if form == "tptp" else as_smtlib(reading)
    return text, [*findings, *reading.notes]
