"""Answers to a query, read from a fixpoint that covers the query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lnnkit.answer_table import Answers
from lnnkit.answers.query_rows import answer
from lnnkit.budget import allowed, too_large
from lnnkit.check.program import Query
from lnnkit.computing import Computing
from lnnkit.data.column import EntityColumn
from lnnkit.engine.inference import TooLarge
from lnnkit.graph.lifting import add_queries
from lnnkit.kb.covering_fixpoints import covering
from lnnkit.kb.rested import Rested
from lnnkit.kb.session import Session
from lnnkit.outcome import Outcome
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from lnnkit.rows.column_fixpoint import ColumnAnswers


def answers(session: Session, query: Query, alpha: float) -> Answers:
    """The answers to a query. Runs inference first if no existing fixpoint covers the query. Raises `BudgetError`."""
    rested = covering(session, query, narrow=True)
    own = rested.program.queries
    if rested.columns is not None and query in own:
        return _in_columns(rested, rested.columns.answers[own.index(query)], query, alpha, session.computing)
    lifted = rested.fixpoint.prepared.lifted
    root = next((root for root in lifted.queries if root.origin == query), None)
    if root is None:
        lifted = add_queries(lifted, [query])
        root = lifted.queries[0]
    computing = session.computing
    try:
        found = answer(rested.fixpoint, lifted, root, budget=allowed(session.most))
    except TooLarge as problem:
        raise too_large(problem, lifted) from None
    return Answers(
        query.text,
        found.variables,
        tuple(EntityColumn(column.int().cpu().numpy(), rested.names) for column in found.columns),
        computing.numbers(found.lower),
        computing.numbers(found.upper),
        found.contested.cpu().numpy(),
        alpha,
        _cut_short(rested.outcome),
        computing.tolerance,
        query.numeric,
    )


def _in_columns(rested: Rested, found: ColumnAnswers, query: Query, alpha: float, computing: Computing) -> Answers:
    lower, upper = computing.numbers(found.lower), computing.numbers(found.upper)
    entities = (EntityColumn(found.ids, rested.names),)
    nothing = np.broadcast_to(np.False_, len(lower))  # is contested
    warnings = _cut_short(rested.outcome)
    return Answers(
        query.text,
        (found.variable,),
        entities,
        lower,
        upper,
        nothing,
        alpha,
        warnings,
        computing.tolerance,
        query.numeric,
    )


def _cut_short(outcome: Outcome) -> tuple[Diagnostic, ...]:
    """The warning that goes with answers if inference stopped before its end."""
    if outcome.status != "interrupted":
        return ()
    return (Diagnostic("interrupted", outcome.summary, "infer again to let it finish", severity="warning"),)
