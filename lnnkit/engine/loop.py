"""Synchronous rounds to a fixpoint: each reads what the last one left, all its messages meet at its end."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.engine.bounds_state import no_rows
from lnnkit.engine.comparison_start import catch_up
from lnnkit.engine.delta import Moves, changes, note, note_new
from lnnkit.engine.extrapolation.slow_convergence import Creep, Pace
from lnnkit.engine.gathering import gather, largest_gain
from lnnkit.engine.merge import Queue
from lnnkit.engine.response.dirty import Dirty
from lnnkit.engine.response.respond import look
from lnnkit.engine.response.sweep import moved, reader, send
from lnnkit.engine.round import Round
from lnnkit.engine.spreading.spreading import Spreading
from lnnkit.engine.watch import Watch, goes_on
from lnnkit.engine.worklist import Agenda
from lnnkit.engine.workspace import Status, Workspace
from lnnkit.logic.bounds import tolerance
from lnnkit.trail.events import Arrested


def run(space: Workspace, members: Sequence[int], limit: int, moved_before: Tensor, watch: Watch | None = None) -> None:
    """Rounds over ``members`` until one changes nothing, creeps, or the limit is met, or until ``watch`` wants no more.
    ``moved_before`` are rows that moved on either side since the members last looked at them."""
    grounding, state, atoms, progress = space.grounding, space.state, space.grounding.atoms, space.progress
    agenda = Agenda(space.visited(members))
    batches = grounding.kept(members)
    dirty = Dirty()
    moves = changes(moved_before, atoms)
    dirty.extend(len(atoms))
    dirty.mark(moved_before, moved_before)
    pace, creep = Pace(), Creep(space, members)
    spreading = Spreading(space, members, agenda)
    while True:
        spread = spreading.run(moves, limit, watch)
        if spread is not None:
            moves = spread
            pace.note(1.0, (no_rows(), no_rows()), settled=False)
            if progress.status is Status.INTERRUPTED:
                return
        known = len(atoms)
        now = gather(space, members, batches, agenda, moves, dirty, _sweep)
        if (now.queue or now.arrested) and progress.rounds >= limit:
            progress.status = Status.ROUND_LIMIT
            return
        steady = known == len(atoms) and not now.arrested
        gain = largest_gain(state, now.queue) if steady else 1.0
        progress.arrested += now.arrested
        if state.history is not None:
            state.history.arrest(now.arrested)
        raised, lowered, crossed, moves = _meet(space, now.queue)
        if batches:
            dirty.mark(torch.cat([raised, crossed]), torch.cat([lowered, crossed]))
        if not raised.numel() and not lowered.numel() and not now.arrested:
            progress.status = Status.CONVERGED
            space.leaps.rested()
            return
        catch_up(space, moves)
        progress.rounds += 1
        if now.arrested or crossed.numel():
            space.leaps.disturbed()
        pace.note(gain, (raised, lowered), settled=steady and not crossed.numel())
        ahead = creep.carry(space.leaps, pace, raised, lowered)
        if ahead is not None:
            raised, lowered = ahead
            moves, _ = note(raised, lowered, atoms, state, space.classes)
            if batches:
                dirty.mark(raised, lowered)
        if pace.creeps:
            progress.status = Status.CREEPING
            progress.creeping |= creep.members(raised, lowered)
            return
        if not goes_on(watch, space, "inference", progress.rounds):
            progress.status = Status.INTERRUPTED
            return


def _meet(space: Workspace, queue: Queue) -> tuple[Tensor, Tensor, Tensor, Moves]:
    """Let a round's messages meet. Returns the rows raised, lowered and arrested, and the moves."""
    atoms, state = space.grounding.atoms, space.state
    space.drift.hold(queue)
    sole = queue.sole_side
    told = None if sole is None else space.meeting.settle_new(*sole)
    if sole is None or told is None:
        raised, lowered = (space.meeting.settle(side, queue.sides[side]) for side in (0, 1))
        for side, rows in enumerate((raised, lowered)):
            space.drift.note(side, rows)
        moves, crossed = note(raised, lowered, atoms, state, space.classes)
        return raised, lowered, crossed, moves
    side, messages = sole
    start, stop, value = told
    none = no_rows()
    told_rows = messages[0].row if len(messages) == 1 else torch.arange(start, stop, dtype=torch.int32)
    raised, lowered = (none, told_rows) if side else (told_rows, none)
    moves = note_new(told_rows, side, value, atoms, space.classes, tolerance(state.dtype))
    if moves is not None:
        return raised, lowered, none, moves
    moves, crossed = note(raised, lowered, atoms, state, space.classes)
    return raised, lowered, crossed, moves


def _sweep(number: int, space: Workspace, dirty: Dirty, now: Round) -> None:
    """Look at the kept instances of a batch that have something new to read."""
    batch = space.grounding.batches[number]
    view = moved(batch, dirty)
    if view is None:
        return
    now.visited += view.length(0)
    found = look(batch, reader(view, space.state, space.grounding.atoms), view.groupings)
    fresh, roots = send(number, view, found, space.state, space.grounding.atoms, now.queue)
    if len(fresh):
        now.arrested.append(Arrested(number, fresh, roots))
        batch.arrested[fresh] = True
