"""A knowledge base's classical reading, in the notation of solvers."""

from __future__ import annotations

from collections.abc import Sequence

from lnnkit.interchange.smtlib import smtlib
from lnnkit.kb.querying import asked
from lnnkit.kb.theory import Theory
from lnnkit.syntax.diagnostic import Diagnostic


def exported(theory: Theory, formulas: Sequence[str] | None, alpha: float) -> tuple[str, list[Diagnostic]]:
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
    text, notes = smtlib(theory.bound(theory.settled()), queries, alpha)
    return text, [*findings, *notes]
