"""Answers queries by cases: the bounds of each answer are met with the bounds that all cases share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from lnnkit.answer_table import Answers
from lnnkit.answers.query_rows import answer
from lnnkit.check.program import Query
from lnnkit.data.column import EntityColumn
from lnnkit.engine.inference import Budget
from lnnkit.explain.case_tree import CaseExplanation
from lnnkit.graph.lifted import Root
from lnnkit.kb.asking import answers
from lnnkit.kb.case_splits import OPEN, grounded
from lnnkit.kb.covering_fixpoints import covering
from lnnkit.kb.deciding_cases import Deciding, Effort
from lnnkit.kb.querying import check_bound
from lnnkit.kb.rested import Rested
from lnnkit.kb.session import Session
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_expression

BINDINGS = 256  # bindings of a query with variables that are tried
_UNLIMITED = Budget(instances=2**62)


def answers_by_cases(session: Session, query: Query, alpha: float, depth: int, *, classical: bool) -> Answers:
    """The answers to a query, tightened by case splits nested up to ``depth``. They include bindings that only case
    splits bound."""
    import numpy as np

    plain = answers(session, query, alpha)
    rested = covering(session, query)
    lifted, root = rested.explainer.root(query)
    found = answer(rested.fixpoint, lifted, root, budget=_UNLIMITED)
    known = [tuple(int(column[row]) for column in found.columns) for row in range(len(found.lower))]
    bounds = {row: (float(plain.lower[at]), float(plain.upper[at])) for at, row in enumerate(known)}
    contested = {row: bool(plain.contested[at]) for at, row in enumerate(known)}
    rows, skipped = _rows(rested, root, known)
    effort, warnings = Effort(), list(plain.warnings)
    for row in rows:
        one = replace(query, **_one(query, root, rested, row))
        node = Deciding(session, one, alpha, classical=classical, effort=effort).decided(depth)
        if node is None:
            warnings.append(_no_case(one))
            break
        said = bounds.get(row)
        if said is not None or node.splits:
            bounds[row] = (node.lower, node.upper) if said is None else _met(said, (node.lower, node.upper))
    if effort.spent:
        warnings.append(cut_short())
    if skipped:
        warnings.append(_too_many(query))
    ordered = sorted(bounds)
    columns = [np.array([row[at] for row in ordered], np.int32) for at in range(len(root.variables))]
    return replace(
        plain,
        columns=tuple(EntityColumn(column, rested.names) for column in columns),
        lower=np.array([bounds[row][0] for row in ordered], float),
        upper=np.array([bounds[row][1] for row in ordered], float),
        contested=np.array([contested.get(row, False) for row in ordered], bool),
        warnings=tuple(warnings),
    )


def explanation_by_cases(
    session: Session, query: Query, alpha: float, depth: int, *, classical: bool
) -> CaseExplanation:
    """Why a query without free variables has its bounds, by cases. Raises `ProgramError` for free variables."""
    _, root = covering(session, query).explainer.root(query)
    check_bound(root, session.theory.checked)
    effort = Effort()
    deciding = Deciding(session, query, alpha, classical=classical, effort=effort)
    node = deciding.decided(depth)
    warnings: list[Diagnostic] = []
    if node is None:
        warnings.append(_no_case(query))
        node = deciding.decided(0)
        assert node is not None
    elif effort.spent:
        warnings.append(cut_short())
    return CaseExplanation(query.text, node, classical, alpha, query.numeric, tuple(warnings))


def _rows(rested: Rested, root: Root, known: Sequence[tuple[int, ...]]) -> tuple[Sequence[tuple[int, ...]], bool]:
    """The bindings to try: all of them if they are few, otherwise those with a known bound; and whether any were left
    out."""
    domain = rested.fixpoint.prepared.grounding.domain
    choices = [domain.sorts[sort].tolist() for sort in root.sorts]
    if math.prod(map(len, choices)) <= BINDINGS:
        return list(dict.fromkeys([*known, *itertools.product(*choices)])), False
    return known[:BINDINGS], True


def _one(query: Query, root: Root, rested: Rested, row: tuple[int, ...]) -> dict[str, object]:
    binding = {name: rested.names[entity] for name, entity in zip(root.variables, row, strict=True)}
    formula = grounded(query.formula, binding)
    return {"formula": formula, "text": format_expression(formula) if binding else query.text}


def _met(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    lower, upper = max(one[0], other[0]), min(one[1], other[1])
    return (lower, upper) if lower <= upper + OPEN else one


def _no_case(query: Query) -> Diagnostic:
    message = f"no case of `{query.text}` is free of contradictions: the statements cannot all hold"
    return Diagnostic(
        "no-case-left", message, "`lnnkit explain --cases` shows the contradiction in each", severity="warning"
    )


def cut_short() -> Diagnostic:
    message = "not all cases were tried: there are too many"
    return Diagnostic(
        "cases-cut-short", message, "ask about one atom at a time, or with a smaller depth", severity="warning"
    )


def _too_many(query: Query) -> Diagnostic:
    message = f"`{query.text}` has more than {BINDINGS} bindings: cases are tried only for those with known bounds"
    return Diagnostic("cases-cut-short", message, "name entities in place of variables", severity="warning")
