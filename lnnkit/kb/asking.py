"""Answers to a query, read from a fixpoint that covers the query."""

from __future__ import annotations

import numpy as np

from lnnkit.answer_table import Answers
from lnnkit.answers.query_rows import Rows, answer
from lnnkit.budget import allowed, too_large
from lnnkit.check.program import Query
from lnnkit.data.column import EntityColumn
from lnnkit.engine.inference import TooLarge
from lnnkit.errors import ProgramError
from lnnkit.graph.lifting import add_queries
from lnnkit.kb.covering_fixpoints import covering
from lnnkit.kb.querying import free_variables, no_formula
from lnnkit.kb.rested import Rested
from lnnkit.kb.session import Session
from lnnkit.outcome import Outcome
from lnnkit.syntax.diagnostic import Diagnostic


def answers(session: Session, query: Query, alpha: float) -> Answers:
    """The answers to a query. Runs inference first if no existing fixpoint covers the query. Raises `BudgetError`."""
    rested = covering(session, query, narrow=True)
    own = rested.program.queries
    return _read(session, rested, query, own.index(query) if query in own else None, alpha)


def truth(session: Session, query: Query, alpha: float) -> bool | None:
    """Whether a formula without free variables is true, false or neither. Raises as `answers` does, and `ProgramError`
    for free variables and numbers."""
    if query.numeric:
        raise ProgramError([no_formula(query)])
    found = answers(session, query, alpha)
    if found.variables:
        raise ProgramError([free_variables(query)])
    return {"true": True, "false": False}.get(found[0].state)


def own_answers(session: Session, alpha: float) -> list[Answers]:
    """The answers to the program's own queries, in their order; as `answers`."""
    rested = session.own()
    return [_read(session, rested, query, place, alpha) for place, query in enumerate(rested.program.queries)]


def _read(session: Session, rested: Rested, query: Query, place: int | None, alpha: float) -> Answers:
    """The answers at a fixpoint to a query, which is that of this ``place`` among the fixpoint's own if it is one."""
    computing = session.computing
    if rested.columns is not None and place is not None:
        found = rested.columns.answers[place]
    else:
        found = _found(session, rested, query)
    return Answers(
        query.text,
        found.variables,
        tuple(EntityColumn(column.astype(np.int32, copy=False), rested.names) for column in found.columns),
        computing.numbers(found.lower),
        computing.numbers(found.upper),
        found.contested,
        alpha,
        _cut_short(rested.outcome),
        computing.tolerance,
        query.numeric,
    )


def _found(session: Session, rested: Rested, query: Query) -> Rows:
    lifted = rested.fixpoint.prepared.lifted
    root = next((root for root in lifted.queries if root.origin is query), None)
    if root is None:
        lifted = add_queries(lifted, [query])
        root = lifted.queries[0]
    try:
        return answer(rested.fixpoint, lifted, root, budget=allowed(session.most))
    except TooLarge as problem:
        raise too_large(problem, lifted) from None


def _cut_short(outcome: Outcome) -> tuple[Diagnostic, ...]:
    """The warning that goes with answers if inference stopped before its end."""
    if outcome.status != "interrupted":
        return ()
    return (Diagnostic("interrupted", outcome.summary, "infer again to let it finish", severity="warning"),)
