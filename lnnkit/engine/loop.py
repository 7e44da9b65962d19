"""Synchronous rounds to a fixpoint: each reads what the last one left, and its proposals are merged at its end."""

from __future__ import annotations

from collections.abc import Sequence

from lnnkit.engine.bounds_state import no_rows
from lnnkit.engine.delta import Delta, changes, note, note_new
from lnnkit.engine.merge import Inbox
from lnnkit.engine.start.demanded_start import catch_up
from lnnkit.engine.stop.slow_convergence import Pace, on_cycles
from lnnkit.engine.stop.watch import Watch, goes_on
from lnnkit.engine.worklist import Worklist, gather, largest_gain
from lnnkit.engine.workspace import Status, Workspace
from lnnkit.store.columns.row_arrays import Array, spelled_out
from lnnkit.time_limit import TimedOut

_NONE = no_rows()


def run(
    space: Workspace,
    members: Sequence[int],
    limit: int,
    moved_before: Array,
    watch: Watch | None = None,
    pace: Pace | None = None,
) -> None:
    """Rounds over ``members`` until nothing changes, convergence is too slow, the limit is reached, or ``watch`` stops
    them. ``moved_before`` are rows that moved on either side since the members last looked at them. ``pace`` has the
    gains of earlier calls, where rounds alternate with something else."""
    _rounds(space, members, limit, moved_before, watch, pace or Pace())
    space.extend()


def _rounds(
    space: Workspace, members: Sequence[int], limit: int, moved_before: Array, watch: Watch | None, pace: Pace
) -> None:
    state, atoms, progress = space.state, space.grounding.atoms, space.progress
    worklist = Worklist(space.responding(members))
    delta = changes(moved_before, atoms)
    while True:
        known = atoms.length
        try:
            now = gather(space, worklist, delta)
        except TimedOut:  # what this round has proposed is dropped
            progress.status = Status.INTERRUPTED
            return
        if progress.rounds >= limit and (now.inbox or now.arrested):
            progress.status = Status.ROUND_LIMIT
            return
        steady = known == atoms.length and not now.arrested
        gain = largest_gain(state, now.inbox) if steady else 1.0
        if now.arrested:
            progress.arrested += now.arrested
            state.trail.arrest(now.arrested)
        raised, lowered, crossed, delta = _meet(space, now.inbox)
        if not len(raised) and not len(lowered) and not now.arrested:
            progress.status = Status.CONVERGED
            return
        if space.demanded:
            space.extend()
            catch_up(space, delta)
        progress.rounds += 1
        pace.note(gain, (raised, lowered), settled=steady and not len(crossed))
        if pace.creeps:
            progress.status = Status.CREEPING
            progress.creeping |= on_cycles(space, pace.slow)
            return
        if watch is not None and not goes_on(watch, space, "inference", progress.rounds):
            progress.status = Status.INTERRUPTED
            return


def _meet(space: Workspace, inbox: Inbox) -> tuple[Array | range, Array | range, Array, Delta]:
    """Merge a round's proposals. Returns the rows raised, lowered and arrested, and the delta."""
    atoms, state = space.grounding.atoms, space.state
    space.drift.hold(inbox)
    lower, upper = inbox.sides
    side, told = int(not lower), None
    if bool(lower) != bool(upper):
        if (upper or lower)[0].rows[0] > len(state.ends(side)):
            space.extend()
        told = space.merge.settle_new(side, upper or lower)
    if told is None:
        space.extend()
        raised, lowered = (space.merge.settle(end, inbox.sides[end]) for end in (0, 1))
        for end, rows in enumerate((raised, lowered)):
            space.drift.note(end, rows)
        delta, crossed = note(raised, lowered, atoms, state, space.encoded)
        return raised, lowered, crossed, delta
    start, stop, value = told
    new = range(start, stop)
    delta = note_new(new, side, value, atoms, space.encoded, state.tolerance)
    if delta is not None:  # other bounds of the new atoms are written when something reads them
        return (_NONE, new, _NONE, delta) if side else (new, _NONE, _NONE, delta)
    space.extend()
    raised, lowered = (_NONE, spelled_out(new)) if side else (spelled_out(new), _NONE)
    delta, crossed = note(raised, lowered, atoms, state, space.encoded)
    return raised, lowered, crossed, delta
