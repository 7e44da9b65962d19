"""Completion of closed numbers that rules derive: the least (of a ``max`` the greatest) of their candidates.

Both ends start from the worst, and approach their least fixpoints: the better end counts candidates that are surely
there, the other one all that may be. Only rows that have moved are joined again, as in Bellman and Ford's algorithm
with a queue. Where candidates improve without end, as around a cycle of negative weight, the other end is given up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lnnkit.engine.bounds_state import distinct, no_rows
from lnnkit.engine.inference_run import Pace, Run, Status, Watch, goes_on
from lnnkit.engine.rounds import Moves, Rising, to_fixpoint
from lnnkit.join.triggers import Delta
from lnnkit.store.relations import Relation, RowNumbers
from lnnkit.store.row_arrays import Array, spelled_out
from lnnkit.trail.events import Kind

_FIRST = 128  # rounds before cycles are looked for, then after twice as many


def best_candidates(
    run: Run,
    names: frozenset[str],
    members: Sequence[int],
    watch: Watch | None,
    rising: Rising,
    part: Callable[[], None],
) -> Status:
    """Rounds to the least fixpoint of a stratum's numbers, which have been restarted. ``part`` lets rules respond with
    both ends, once these are no more exact."""
    tables = [run.grounding.atoms.tables[name] for name in sorted(names)]
    for table in tables:
        table.drifts = False
    rounds, due = 0, _FIRST

    def after(moves: Moves) -> Status | None:
        nonlocal rounds, due
        rounds += 1
        if rounds >= due:
            due *= 2
            for table, rows in _on_cycles(run, tables).items():
                _give_up(run, table, rows, moves.delta)
                rising.exact = False
                part()
        return None if goes_on(watch, run, "completion", rounds) else Status.INTERRUPTED

    status = to_fixpoint(run, members, Delta(), Pace(), after, rising=rising)
    for table in tables:
        _finish(run, table)
    return status


def _give_up(run: Run, table: Relation, rows: Array, delta: Delta) -> None:
    """Let the completed end of rows be unknown."""
    side = table.completed_side
    run.state.put(table, side, rows, table.unknown[side], Kind.OPENED)
    table.drifts = run.drift.met = True
    run.drift.lost.append((table, side, rows))
    moved = delta.rows(table.name, side)
    delta.add(table, side, distinct([rows, no_rows() if moved is None else spelled_out(moved)]))


def _on_cycles(run: Run, tables: Sequence[Relation]) -> dict[Relation, Array]:
    """The rows whose completed ends were set through a cycle, with those that depend on these."""
    grounding, numbers = run.grounding, RowNumbers(run.grounding.atoms)
    names, pairs = {table.name for table in tables}, [np.empty((2, 0), np.int64)]
    for side in {table.completed_side for table in tables}:
        for rows, number, head, instances in run.state.trail.setters(side, numbers).groups():
            shape = grounding.shapes[number]
            leaves = [leaf for leaf in shape.formula.leaves if shape.formula.table(leaf) in names and leaf != head]
            for leaf in leaves if head in shape.formula.heads else ():
                pairs.append(np.stack([rows, grounding.among_all(number, leaf, instances, numbers)]))
    child, parent = np.concatenate(pairs, axis=1)
    waiting, before = numbers.marked(child), -1
    while (left := int(waiting.sum())) != before:  # a row is settled when all that its candidate reads are
        before, child, parent = left, *(ends[waiting[parent]] for ends in (child, parent))
        waiting = numbers.marked(child)
    return {table: rows for table, _, rows in numbers.by_relation(np.flatnonzero(waiting)) if table in tables}


def _finish(run: Run, table: Relation) -> None:
    """Numbers without a candidate have no value, and rounding leaves no ends crossed."""
    side = table.completed_side
    rows = np.arange(len(table), dtype=np.int32)
    rows = rows[~table.held(rows)]
    none = table.take(side, rows) == table.worst
    for end, default in enumerate(table.default):
        run.state.put(table, end, rows[none], default, None)
    rows, (lower, upper) = rows[~none], table.read(rows[~none])
    run.state.put(table, side, rows, np.maximum(lower, upper) if side else np.minimum(lower, upper), None)
