"""Formulas for the unknown functions of rules, from the rows in which their values are stated or labelled.

Known values are used first. A function with too few rows is tried again with the formulas found for others, whose
values may be its terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from lnnkit.check.program import Unknown
from lnnkit.discovery.expression import evaluate
from lnnkit.discovery.formula_search import Discovered, Search, discover
from lnnkit.discovery.formula_text import case_texts, formula_text
from lnnkit.errors import ProgramError
from lnnkit.kb.function_rows import Rows, rows_of, taught
from lnnkit.kb.session import Session
from lnnkit.learn.learner import Learner
from lnnkit.learn.parameters.trained_text import FoundFunction
from lnnkit.scores import FoundFormula
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_expression

LEAST = 8
"""So many rows make a formula: of fewer, constants could be fitted to all."""

_PLENTY = 32  # rows without missing terms
_WEAK = 0.5  # relative to the error of the best constant
_EXACT = 1e-9  # relative to the target: an error within rounding

Sought = Mapping[str, Sequence[Unknown]]  # the statements about each function, by its name


def find_functions(
    session: Session, learner: Learner, trained: frozenset[str], search: Search, validation: float, most: int | None
) -> tuple[tuple[FoundFormula, ...], tuple[Diagnostic, ...]]:
    """Find the formulas of the unknown functions of the rules ``trained``; the learner takes them. Labels held out for
    ``validation`` are not used. A statement has ``most`` instances (None: as many as fit). Last are warnings:
    ``inexact-formula`` where stated numbers contradict what was found, ``weak-formula`` where it is hardly better than
    a constant. Raises `ProgramError` if a function has too few rows, and then the learner takes none."""
    sought = learner.sought(trained)
    session = session.about(session.theory)
    session.most = most
    before = dict(learner.functions)
    kept = {name: each for name, each in before.items() if name not in sought}
    made: dict[str, tuple[Discovered, Rows]] = {}
    learner.functions = kept
    try:
        while left := {name: own for name, own in sought.items() if name not in made}:
            rows = rows_of(session, taught(session.theory, validation, search.seed), left)
            ready = [name for name in left if rows[name].whole.sum() >= LEAST]
            ready = ready or [name for name in left if len(rows[name]) >= LEAST]
            if not ready:
                raise ProgramError([_too_few(own[0], len(rows[name])) for name, own in left.items()])
            for name in ready:
                made[name] = _discovered(rows[name], search), rows[name]
            learner.functions = kept | {name: _function(*each) for name, each in made.items()}
        found = learner.functions
        learner.functions = kept  # stated rows are computed without the formulas found
        warnings = _inexact(session, sought, made)
        warnings += tuple(_weak(sought, made))
        learner.functions = found
    except BaseException:
        learner.functions = before
        raise
    described = tuple(_described(learner, name, own, *made[name]) for name, own in sought.items())
    return described, warnings


def _discovered(rows: Rows, search: Search) -> Discovered:
    """A formula from rows without missing terms if most rows are complete; errors are measured on all held-out rows."""
    whole = rows.whole
    if whole.sum() < max(_PLENTY, len(rows) / 2):
        whole[:] = True
    return discover(rows.table[whole], rows.target[whole], search)


def _function(found: Discovered, rows: Rows) -> FoundFunction:
    names = [f"?x{place}" for place in range(rows.table.shape[1])]
    return FoundFunction(tuple((on or None, text) for on, text in case_texts(found.formula, names)))


def _described(learner: Learner, name: str, own: Sequence[Unknown], found: Discovered, rows: Rows) -> FoundFormula:
    terms = [format_expression(each) for each in own[0].operands]
    terms = [
        text if isinstance(each, ast.Atom) else f"({text})" for each, text in zip(own[0].operands, terms, strict=True)
    ]
    pareto = tuple((each.size, each.error, formula_text(each.formula, terms)) for each in found.pareto)
    _, error, text = pareto[found.chosen]
    return FoundFormula(" ".join(own[0].span.text.split()), learner.rules_with(name), text, error, len(rows), pareto)


def _inexact(session: Session, sought: Sought, made: Mapping[str, tuple[Discovered, Rows]]) -> tuple[Diagnostic, ...]:
    """Warnings about stated numbers that contradict the formula found: noisy values should be labels."""
    some = {name: own for name, own in sought.items() if _off(made[name][0], made[name][1])}
    if not some:
        return ()
    stated = rows_of(session, taught(session.theory, 0.0, 0, labelled=False), some)
    found: list[Diagnostic] = []
    for name, own in some.items():
        count = _off(made[name][0], stated[name])
        if count:
            message = f"{count:,} stated rows differ from the formula of `{_text(own[0])}` and will contradict it"
            hint = "give numbers that are measured with an error as labels, or as facts with both ends"
            found.append(Diagnostic("inexact-formula", message, hint, own[0].span, severity="warning"))
    return tuple(found)


def _weak(sought: Sought, made: Mapping[str, tuple[Discovered, Rows]]) -> Iterator[Diagnostic]:
    """Warnings about formulas hardly better than a constant, for a target that is not constant."""
    for name, own in sought.items():
        found, rows = made[name]
        error = found.pareto[found.chosen].error
        if error > _WEAK and _off(found, rows):
            message = f"the formula of `{_text(own[0])}` has {error:.2g} times the error of a constant"
            hint = "give it the terms that matter, or more rows; none is found if noise exceeds what they explain"
            yield Diagnostic("weak-formula", message, hint, own[0].span, severity="warning")


def _off(found: Discovered, rows: Rows) -> int:
    """The number of rows in which the formula differs from the target."""
    if not len(rows):
        return 0
    told = evaluate(found.formula, rows.table)
    return int((np.abs(told - rows.target) > _EXACT * np.maximum(np.abs(told), np.abs(rows.target))).sum())


def _too_few(unknown: Unknown, rows: int) -> Diagnostic:
    counted = "no row tells" if not rows else f"{rows} row{' tells' if rows == 1 else 's tell'}"
    message = f"{counted} of `{_text(unknown)}`, and a formula needs {LEAST}"
    hint = (
        "a row counts if the other side is stated or labelled, a term is known and all conditions are true; "
        "labels of truths do not count"
    )
    return Diagnostic("too-few-rows", message, hint, unknown.span)


def _term(operand: ast.Expression) -> str:
    text = format_expression(operand)
    return text if isinstance(operand, ast.Atom) else f"({text})"


def _text(unknown: Unknown) -> str:
    return " ".join(unknown.span.text.split())
