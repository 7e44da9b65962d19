"""Completion of closed derived predicates, stratum by stratum: what no rule derives is false.

The lower ends are the least fixpoint of the rules read at their inputs' lower ends, the upper ends that of the upper
ends. With crisp closed inputs this is negation as failure. If rounds converge slowly, lower ends that stop early are
sound, but upper ends rise from below: those that have not converged become 1, until all remaining ones have.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from lnnkit.engine.bounds_state import distinct, no_rows
from lnnkit.engine.completing.exact import Inexact, exact_inputs, respond_by
from lnnkit.engine.completing.unfinished import Unfinished, open_up, restore
from lnnkit.engine.delta import Delta, rise, rise_new
from lnnkit.engine.merge import Inbox
from lnnkit.engine.start.demanded_start import catch_up
from lnnkit.engine.start.prepare import completed
from lnnkit.engine.start.prepared import Prepared
from lnnkit.engine.stop.slow_convergence import Pace, on_cycles
from lnnkit.engine.stop.watch import Watch, goes_on
from lnnkit.engine.worklist import Worklist, gather, largest_gain
from lnnkit.engine.workspace import Status, Workspace
from lnnkit.store.columns.row_arrays import Array, spelled_out
from lnnkit.time_limit import TimedOut
from lnnkit.trail.events import Kind

_WIDENINGS = 20  # after this many widenings of the bounds that still move, all raised bounds become 1;
_SETTLING = 100  # each after this many rounds


def complete(
    prepared: Prepared, space: Workspace, *, first: bool, watch: Watch | None = None, pace: Pace | None = None
) -> Array:
    """Complete every stratum, dependencies first. Returns the rows whose bounds changed; for a ``first`` completion
    only if there are comparisons, since nothing else has been evaluated yet. Raises `Unfinished` where it was stopped;
    what it leaves then holds. ``pace`` counts each later completion of a stratum as a round."""
    state, atoms = space.state, space.grounding.atoms
    moved_rows: list[Array] = []
    for position, (predicates, members) in enumerate(prepared.strata):
        before, known = completed(prepared, predicates), len(atoms)
        old = state.read(before)
        start = _restart(before, space)
        # Fetched now, since restored bounds are looked up before the restart
        exact = first and exact_inputs(space, members)
        try:
            stopped = _least_fixpoint(prepared, space, predicates, members, watch, exact=exact)
        except Inexact:
            state.step()
            start = _restart(completed(prepared, predicates), space)
            stopped = _least_fixpoint(prepared, space, predicates, members, watch, exact=False)
        space.extend()
        if stopped is not None:
            if first:
                open_up(prepared, (name for names, _ in prepared.strata[position:] for name in names))
            else:
                restore(prepared, predicates, before, old)
            space.encoded.renew(atoms.numbered)
            raise Unfinished(stopped)
        state.trail.completed(predicates, start)
        if not first:
            state.restore(before, old)
            atoms.enlist(state.arrest(before))
            low, high = state.read(before)
            atoms.deviate(before, low, high)
            space.encoded.refresh(before)
            gains = np.abs(low - old.lower), np.abs(high - old.upper)
            raised, lowered = (gain > state.noise for gain in gains)
            moved_rows.append(before[raised | lowered])
            if pace is not None and len(moved_rows[-1]):
                most = max(float(gain.max()) for gain in gains)
                pace.note(most, (before[raised], before[lowered]), settled=known == len(atoms))
        elif space.demanded:
            moved_rows.append(completed(prepared, predicates))
    return np.concatenate(moved_rows) if moved_rows else no_rows()


def _restart(rows: Array, space: Workspace) -> int:
    """Set the atoms to be completed to false; returns the tick."""
    state = space.state
    for side in (0, 1):
        state.put(side, rows, 0.0, Kind.RESTARTED)
    space.encoded.extend()
    space.encoded.refresh(rows)
    return state.trail.tick


def _least_fixpoint(
    prepared: Prepared,
    space: Workspace,
    predicates: frozenset[str],
    members: Sequence[int],
    watch: Watch | None,
    *,
    exact: bool,
) -> Status | None:
    """Rounds to the least fixpoint, or until they creep: then upper ends are raised until those rest. Returns the
    status with which it was stopped, if it was. If all inputs are ``exact``, both ends rise as one until rounds creep;
    raises `Inexact` where they do not."""
    state, atoms = space.state, space.grounding.atoms
    responses = space.responding(members)
    for each in responses.values():
        each.rule.restart()
    respond_by(responses.values(), state, exact=exact)
    worklist = Worklist(responses)
    delta = Delta()
    pace = Pace()
    widened, since = 0, 0
    for rounds in itertools.count(1):
        known = len(atoms)
        try:
            now = gather(space, worklist, delta)
        except TimedOut:
            return Status.INTERRUPTED
        if widened:
            now.inbox.sides[0].clear()
        settled = known == len(atoms)
        gain = largest_gain(state, now.inbox) if settled else 1.0
        raised, lifted, new = _meet(space, now.inbox, exact=exact)
        if not len(raised) and not len(lifted):
            return None
        pace.note(gain, (raised, lifted), settled=settled)
        if exact and pace.creeps:
            exact, new = False, None
            respond_by(responses.values(), state, exact=False)
        since += 1
        if since >= _SETTLING if widened else pace.creeps:
            space.progress.creeping |= on_cycles(space, pace.slow)
            widened += 1
            since = 0
            rising = lifted = spelled_out(lifted)
            if widened > _WIDENINGS:
                own = completed(prepared, predicates)
                rising = own[state.upper.values.take(own) > 0]
            state.put(1, rising, 1.0, Kind.OPENED)
            lifted = distinct([lifted, rising])
        if new is None:
            delta = rise(no_rows() if exact else spelled_out(raised), spelled_out(lifted), atoms, state, space.encoded)
        else:
            delta = new
        if space.demanded:
            space.extend()
            catch_up(space, delta)
        if not goes_on(watch, space, "completion", rounds):
            return Status.INTERRUPTED
    return None


def _meet(space: Workspace, inbox: Inbox, *, exact: bool) -> tuple[Array | range, Array | range, Delta | None]:
    """Merge a round's proposals. Returns the rows raised on either side, and their delta if all of them are new and
    have one bound (None otherwise: the caller enters them). ``exact`` proposals are for upper ends, and raise both."""
    merge, upper = space.merge, inbox.sides[1]
    if not exact:
        space.extend()
        return merge.settle(0, inbox.sides[0], rising=True), merge.settle(1, upper, rising=True), None
    if upper and upper[0].rows[0] > len(space.state.upper):
        space.extend()
    told = merge.settle_new(1, upper, both=True) if upper else None
    if told is None:
        space.extend()
        rows = merge.settle(1, upper, rising=True, both=True)
        return rows, rows, None
    start, stop, value = told
    new = range(start, stop)
    delta = rise_new(new, value, space.grounding.atoms, space.encoded)
    if delta is not None:  # nothing else of the new atoms is read before the next extension
        return new, new, delta
    space.extend()
    return spelled_out(new), spelled_out(new), None
