"""Closed derived predicates, completed stratum by stratum: what no rule can make true is false.

The lower ends are the least fixpoint of the rules read at their inputs' lower ends, the upper ends that of the upper
ends. With crisp closed inputs this is negation as failure. Where the rounds creep, lower ends that stop early are
sound, but upper ends rise from below: those that have not come to rest become 1, until all rest.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.flags import where_set
from lnnkit.infer.agenda import Agenda
from lnnkit.infer.creeping import Creep, Pace
from lnnkit.infer.dirty import Dirty
from lnnkit.infer.gathering import gather, largest_gain
from lnnkit.infer.history import Kind
from lnnkit.infer.look import completing
from lnnkit.infer.messages import Messages
from lnnkit.infer.moves import Moves, rise
from lnnkit.infer.prepare import Prepared, completed
from lnnkit.infer.round import Round
from lnnkit.infer.state import distinct, no_rows
from lnnkit.infer.sweep import moved, reader
from lnnkit.infer.unfinished import Unfinished, open_up, restore
from lnnkit.infer.watch import Watch, goes_on
from lnnkit.infer.workspace import Status, Workspace

_WIDENINGS = 20  # so often only what still moves becomes 1, then all that the rounds have raised;
_SETTLING = 100  # after so many rounds each


def complete(prepared: Prepared, space: Workspace, *, first: bool, watch: Watch | None = None) -> Tensor:
    """Complete every stratum, dependencies first. Returns the rows whose bounds changed. Raises `Unfinished` where it
    was stopped; what it leaves then holds."""
    state, atoms = space.state, space.grounding.atoms
    moved_rows: list[Tensor] = []
    for position, (predicates, members) in enumerate(prepared.strata):
        before = completed(prepared, predicates)
        old = state.read(before)
        state.lower.values[before] = 0.0
        state.upper.values[before] = 0.0
        start = 0
        if state.history is not None:
            start = state.history.tick
            for side in (0, 1):
                state.history.record(Kind.RESTARTED, side, before, 0.0)
        space.classes.extend()
        space.classes.refresh(before)
        stopped = _least_fixpoint(prepared, space, predicates, members, watch)
        if stopped is not None:
            if first:
                open_up(prepared, (name for names, _ in prepared.strata[position:] for name in names))
            else:
                restore(prepared, predicates, before, old)
            space.classes.renew(atoms.numbered)
            raise Unfinished(stopped)
        if state.history is not None:
            state.history.completed(predicates, start)
        rows = completed(prepared, predicates)
        if first:
            changed = rows
        else:
            state.restore(before, old)
            atoms.enlist(state.arrest(before))
            low, high = state.read(before)
            changed = before[((low - old.lower).abs() > state.noise) | ((high - old.upper).abs() > state.noise)]
        atoms.deviate(rows, *state.read(rows))
        space.classes.extend()
        space.classes.refresh(rows)
        moved_rows.append(changed)
    return torch.cat(moved_rows) if moved_rows else no_rows()


def _least_fixpoint(
    prepared: Prepared, space: Workspace, predicates: frozenset[str], members: Sequence[int], watch: Watch | None
) -> Status | None:
    """Rounds to the least fixpoint, or until they creep: then upper ends are raised until those rest. Returns the
    status with which it was stopped, if it was."""
    grounding, state, atoms = space.grounding, space.state, space.grounding.atoms
    visited = space.visited(members)
    for each in visited.values():
        each.visitor.restart()
    agenda = Agenda(visited)
    batches = grounding.kept(members)
    for number in batches:
        grounding.batches[number].swept = 0
        grounding.batches[number].touched = True
    dirty, moves = Dirty(), Moves()
    pace, creep = Pace(), Creep(space, members, completes=True)
    widened, since = 0, 0
    for rounds in itertools.count(1):
        known = len(atoms)
        now = gather(space, members, batches, agenda, moves, dirty, _raise_heads)
        if widened:
            now.queue.sides[0].clear()
        gain = largest_gain(state, now.queue)
        raised, lifted = (space.meeting.settle(side, now.queue.sides[side], rising=True) for side in (0, 1))
        if not raised.numel() and not lifted.numel():
            space.leaps.rested()
            return None
        pace.note(gain, steady=known == len(atoms))
        ahead = None if widened else creep.carry(space.leaps, pace, raised, lifted)
        raised, lifted = (raised, lifted) if ahead is None else ahead
        since += 1
        if since >= _SETTLING if widened else pace.creeps:
            space.progress.creeping |= creep.members(raised, lifted)
            widened += 1
            since = 0
            rising = lifted
            if widened > _WIDENINGS:
                own = completed(prepared, predicates)
                rising = own[state.upper.values.index_select(0, own) > 0]
            state.upper.values[rising] = 1.0
            if state.history is not None:
                state.history.record(Kind.OPENED, 1, rising, 1.0)
            lifted = distinct([lifted, rising], len(atoms))
        moves = rise(raised, lifted, atoms, state, space.classes)
        if batches:
            dirty.mark(raised, lifted)
        if not goes_on(watch, space, "completion", rounds):
            return Status.INTERRUPTED
    return None


def _raise_heads(number: int, space: Workspace, dirty: Dirty, now: Round) -> None:
    """Queue what the antecedents of kept instances ask of their heads."""
    batch = space.grounding.batches[number]
    view = moved(batch, dirty)
    if view is None:
        return
    state, atoms = space.state, space.grounding.atoms
    for (head, side), (news, value) in completing(batch, reader(view, state, atoms), view.groupings).said.items():
        rows = view.column(head)
        deaf = state.frozen.index_select(0, rows) | atoms.flags("given").index_select(0, rows)
        gains = value > state.ends(side).values.index_select(0, rows) + state.noise
        picked = where_set(news & gains & ~deaf)
        if len(picked):
            instance = picked if view.rows[0] is None else view.rows[0].index_select(0, picked)
            row, value = rows.index_select(0, picked), value.index_select(0, picked)
            now.queue.sides[side].append(Messages(row, value, instance, number, head))
