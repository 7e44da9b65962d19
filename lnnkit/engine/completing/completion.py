"""Completion of closed derived predicates, stratum by stratum: what no rule derives is false.

The lower ends are the least fixpoint of the rules read at their inputs' lower ends, the upper ends that of the upper
ends. With crisp closed inputs this is negation as failure. If rounds converge slowly, lower ends that stop early are
sound, but upper ends rise from below: those that have not converged become 1, until all remaining ones have.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lnnkit.engine.bounds_state import distinct, no_rows
from lnnkit.engine.completing.exact import Inexact, exact_inputs, respond_by
from lnnkit.engine.completing.unfinished import Unfinished, open_up, restore
from lnnkit.engine.moves import Delta, note
from lnnkit.engine.rounds import Moves, Rising, to_fixpoint
from lnnkit.engine.start.demanded_start import catch_up
from lnnkit.engine.start.prepare import completed
from lnnkit.engine.start.prepared import Prepared
from lnnkit.engine.stop.slow_convergence import Pace, on_cycles
from lnnkit.engine.stop.watch import Watch, goes_on
from lnnkit.engine.workspace import Status, Workspace
from lnnkit.store.columns.row_arrays import Array, spelled_out
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
        if stopped is not Status.CONVERGED:
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
) -> Status:
    """Rounds to the least fixpoint, or until they creep: then upper ends are raised until those rest. Returns why they
    stopped. If all inputs are ``exact``, both ends rise as one until rounds creep; raises `Inexact` where they do
    not."""
    state, responses = space.state, space.responding(members)
    for each in responses.values():
        each.rule.restart()
    respond_by(responses.values(), state, exact=exact)
    pace, rising = Pace(), Rising(exact)
    widened, since, rounds = 0, 0, 0

    def after(moves: Moves) -> Status | None:
        nonlocal widened, since, rounds
        rounds += 1
        since += 1
        if rising.exact and pace.creeps:
            rising.exact = False
            respond_by(responses.values(), state, exact=False)
            moves.raised = moves.lowered
        if since >= _SETTLING if widened else pace.creeps:
            space.progress.creeping |= on_cycles(space, pace.slow)
            widened += 1
            since = 0
            rising.lower = False
            opened = spelled_out(moves.lowered)
            if widened > _WIDENINGS:
                own = completed(prepared, predicates)
                opened = own[state.upper.values.take(own) > 0]
            state.put(1, opened, 1.0, Kind.OPENED)
            lifted = distinct([spelled_out(moves.lowered), opened])
            atoms = space.grounding.atoms
            moves.delta, _ = note(spelled_out(moves.raised), lifted, atoms, state, space.encoded, rising=True)
            if space.demanded:
                catch_up(space, moves.delta)
        return None if goes_on(watch, space, "completion", rounds) else Status.INTERRUPTED

    return to_fixpoint(space, members, Delta(), pace, after, rising=rising)
