"""Parses and checks queries to a knowledge base, and raises the errors of those that cannot be answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING

from lnnkit.check import check_query
from lnnkit.check.learnables import UNEVALUATED
from lnnkit.check.program import CheckedProgram, Query
from lnnkit.errors import ProgramError
from lnnkit.kb.theory import Theory
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Severity
from lnnkit.syntax.printer import format_string

if TYPE_CHECKING:
    from lnnkit.graph.lifted import Root


def asked(theory: Theory, text: str, *, strangers: Severity | None = "error") -> tuple[Query, list[Diagnostic]]:
    """The query that a text spells, and the findings about it. Raises `ProgramError`, also if a value that it needs is
    not trained. ``strangers`` as in `check_query`."""
    query, findings = _checked(text, theory, strangers)
    errors = [finding for finding in findings if finding.severity == "error"]
    if query is None or errors:
        raise ProgramError(errors or findings)
    refused = [*theory.refused, *(finding for finding in findings if finding.code in UNEVALUATED)]
    if refused:
        raise ProgramError(refused)
    return query, findings


def with_queries(theory: Theory, texts: Sequence[str], strangers: Severity) -> tuple[CheckedProgram, list[Diagnostic]]:
    """The program with these queries in place of its own, and the findings about them. Raises `ProgramError` with the
    findings of all."""
    checked = theory.checked
    queries: list[Query] = []
    findings: list[Diagnostic] = []
    for text in texts:
        query, more = _checked(text, theory, strangers)
        findings += more
        if query is not None:
            queries.append(query)
    if any(finding.severity == "error" for finding in findings):
        raise ProgramError([finding for finding in findings if finding.severity == "error"])
    unevaluated = (*checked.unevaluated, *(finding for finding in findings if finding.code in UNEVALUATED))
    others = [finding for finding in findings if finding.code not in UNEVALUATED]
    return replace(checked, queries=tuple(queries), unevaluated=unevaluated), others


def _checked(text: str, theory: Theory, strangers: Severity | None) -> tuple[Query | None, list[Diagnostic]]:
    """The query and the findings about it, given the values that were learned."""
    query, findings = check_query(text, theory.named, strangers=strangers)
    if theory.learner is not None and any(finding.code in UNEVALUATED for finding in findings):
        return check_query(text, theory.settled(), strangers=strangers)
    return query, findings


def check_alpha(alpha: float) -> None:
    """Raises ``ValueError`` unless the threshold is above 0.5 and at most 1."""
    if not isinstance(alpha, Real) or not 0.5 < float(alpha) <= 1:
        raise ValueError(f"alpha must be above 0.5 and at most 1; got {alpha!r}")


def check_limits(**limits: int | None) -> None:
    """Raises ``ValueError`` for limits that are not positive whole numbers."""
    for name, limit in limits.items():
        if limit is not None and not (isinstance(limit, int) and limit >= 0):
            raise ValueError(f"{name} must be a whole number of at least 0; got {limit!r}")


def check_bound(root: Root, program: CheckedProgram) -> None:
    """Raises `ProgramError` for a query with free variables, some of which may be spelt like entities."""
    if root.variables:
        names = " and ".join(f"`{name}`" for name in root.variables)
        message = f"only a formula without free variables can be explained, and {names} is free"
        hint = "name an entity in place of each variable, or bind it with a quantifier"
        lists = [*(fact.arguments for fact in program.facts), *(table.names for table in program.tables)]
        quoted = [format_string(name) for name in root.variables if any(name in entities for entities in lists)]
        if quoted:
            hint = f"a name that starts upper-case is a variable; the entity is written {' and '.join(quoted)}"
        raise ProgramError([Diagnostic("free-variable", message, hint, root.origin.span)])


def no_atom(text: str, query: Query) -> ProgramError:
    """The error for a query that must be an atom and is not."""
    message = f"`{text.strip()}` is not an atom about named entities"
    return ProgramError([Diagnostic("no-atom", message, "name one atom at a time, as in `P(anna)`", query.span)])


def neither_true_nor_false(text: str, query: Query) -> ProgramError:
    """The error for a query about a number where a truth value is needed."""
    message = f"`{text.strip()}` is a number, which is neither true nor false"
    hint = "`explain` shows what each of its bounds depends on"
    return ProgramError([Diagnostic("no-atom", message, hint, query.span)])


def free_variables(query: Query) -> Diagnostic:
    """The error for a query that must have no free variables and has some."""
    message = f"`{query.text}` has free variables"
    hint = "name entities in their place, or bind them with `exists` or `forall`"
    return Diagnostic("free-variable", message, hint, query.span)


def no_formula(query: Query) -> Diagnostic:
    """The error for a number where a formula is needed."""
    message = f"`{query.text}` is a number, which is neither true nor false"
    text = f"({query.text})" if isinstance(query.formula, ast.Aggregate) else query.text
    return Diagnostic("no-formula", message, f"ask a comparison, as in `{text} > 0`", query.span)
