"""Completions of a fixpoint whose facts change: stratum by stratum, what depends on the changes is reset to what facts
give, and derived again. Numbers are completed as a whole."""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import chain
from typing import NamedTuple

from lnnkit.engine.completion import Inexact, exact_inputs
from lnnkit.engine.inference_run import Pace, Run, Status, Watch, goes_on
from lnnkit.engine.merge import Round, changes
from lnnkit.engine.revision.changed_sorts import ChangedSorts
from lnnkit.engine.revision.dependent_rows import DependentRows
from lnnkit.engine.revision.reset_rows import (
    RowsOf,
    bounds_of,
    moved_since,
    reaching,
    reinitialise,
    reset,
    union,
    written_rows,
)
from lnnkit.engine.rounds import Moves, Rising, merged, to_fixpoint
from lnnkit.engine.start.first_bounds import begin, catch_up
from lnnkit.formula.unfolding import Formula
from lnnkit.store.relations import Relation


class Limits(NamedTuple):
    """How many ``rows`` may be reset, and how many ``rounds`` may follow: above, a fresh inference is made."""

    rows: int
    rounds: int


def revise_strata(
    run: Run, moved: RowsOf, derived: Set[Relation], changed: ChangedSorts, limits: Limits, watch: Watch | None
) -> RowsOf | None:
    """Complete again what depends on rows that have ``moved``, as facts say; returns those of ``derived`` tables, which
    completions write or compute, that move with them. None if a stratum has to be completed as a whole. All must have
    been completed once only."""
    graph = run.plan.lifted.graph
    neurons = {str(formula.auxiliary): formula for formula in run.plan.shared.formulas}
    stated = {table: rows for table, rows in moved.items() if table not in derived}
    for position, (_, members) in enumerate(run.strata):
        names = run.completed_from(position)
        beneath = graph.below(*(names & neurons.keys()))
        by_sorts = any(changed.concerns(response.rule) for response in run.responding(members).values())
        if (names | beneath).isdisjoint(table.name for table in moved) and not by_sorts:
            continue
        reset(run, {table: stated.pop(table) for table in [*stated] if table.name in names | beneath})
        start = run.state.trail.chunk_count
        formulas = [formula for name, formula in neurons.items() if name in beneath]
        if any(formula in changed.definitions for formula in formulas):
            return None
        if formulas and not _reinitialised(run, formulas, moved, changed, limits.rows):
            return None
        moved = union(moved, written_rows(run, start))
        again = _revised_stratum(run, position, moved, changed, limits, watch)
        if again is None:
            return None
        moved = union(moved, again)
    return {table: rows for table, rows in moved.items() if table in derived}


def _reinitialised(run: Run, formulas: Sequence[Formula], moved: RowsOf, changed: ChangedSorts, most: int) -> bool:
    """Give neurons beneath a completion their bounds, for what has ``moved``; False if those are not worked out before
    rounds, or are too many."""
    tables = {run.grounding.atoms.tables[str(formula.auxiliary)] for formula in formulas}
    dependent = DependentRows(run, moved, changed, most, tables)
    if dependent.count > most or any(f.auxiliary in run.plan.partly_known and not f.compares for f in formulas):
        return False
    rows = dependent.rows()
    reset(run, {table: rows[table] for table in tables & rows.keys()})
    needed = (response for response in run.demanded if response.rule.formula in formulas)
    begin(run, [(response, response.rule.with_new_members(changed.joining)) for response in needed])
    catch_up(run, changes(moved))
    reinitialise(run, formulas, rows)
    return True


def derived_tables(run: Run) -> set[Relation]:
    """Those that completions read or write, but for predicates that facts alone bound."""
    neurons = {formula.auxiliary for formula in run.plan.shared.formulas}
    names = neurons.union(*(names for names, _ in run.strata))
    return {run.grounding.atoms.tables[name] for name in run.completing if name in names}


def _revised_stratum(
    run: Run, position: int, moved: RowsOf, changed: ChangedSorts, limits: Limits, watch: Watch | None
) -> RowsOf | None:
    """The rows of a stratum that change with those that have ``moved``; None if all has to be completed again."""
    state, (predicates, members) = run.state, run.strata[position]
    names = run.completed_from(position)
    some = {table: rows for table, rows in moved.items() if table.name in names}
    completed = {run.grounding.atoms.tables[name] for name in predicates}
    dependent = DependentRows(run, some, changed, limits.rows, completed)
    if dependent.count > limits.rows or any(table.derived for table in completed):
        return None
    rows = dependent.rows()
    before = bounds_of(rows)
    state.trail.step()
    start = state.trail.chunk_count
    reset(run, {table: rows[table] for table in completed & rows.keys()})
    exact = exact_inputs(run, members)
    if exact != (position in run.exact_strata):
        return None
    if not _rederived(run, position, rows, changed, limits.rounds, watch, exact=exact):
        return None
    state.trail.completed_again(position)
    return moved_since(written_rows(run, start), rows, before, tighter=False)


def _rederived(
    run: Run, position: int, rows: RowsOf, changed: ChangedSorts, limit: int, watch: Watch | None, *, exact: bool
) -> bool:
    """Evaluate the instances of a stratum that read or derive some rows, or are new, and go on from there. False if
    that is not to the end, or both ends of a bound do not rise as one."""
    _, members = run.strata[position]
    now, pace, rounds = Round(run.grounding.atoms, run.state, run.encoded), Pace(), 0

    def after(_: Moves) -> Status | None:
        nonlocal rounds
        rounds += 1
        more = rounds <= limit and not pace.creeps and goes_on(watch, run, "completion", rounds)
        return None if more else Status.INTERRUPTED

    try:
        for response in run.responding(members).values():
            due = reaching(run, response, response.shape.formula.leaves, rows)
            for bindings in chain(due, changed.instances(response.rule)):
                response.propose(bindings, now)
        rising = Rising(exact)
        moves = merged(run, now.inbox, rising)
        if run.demanded:
            catch_up(run, moves.delta)
        return to_fixpoint(run, members, moves.delta, pace, after, rising=rising) is Status.CONVERGED
    except Inexact:
        return False
