"""Synchronous rounds to a fixpoint: each reads what the last one left, all its messages meet at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import torch

from lnnkit.ground.grounding import Grounding
from lnnkit.infer.classes import Classes
from lnnkit.infer.creeping import Creep, Leaps, Pace
from lnnkit.infer.derivations import Derivations
from lnnkit.infer.dirty import Dirty
from lnnkit.infer.state import Messages, State, distinct
from lnnkit.infer.sweep import moved, sweep


class Status(Enum):
    """Why inference stopped; the value is the word that users see."""

    CONVERGED = "converged"
    ACCELERATED = "accelerated"
    CREEPING = "creeping"
    ROUND_LIMIT = "round_limit"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class ArrestedInstance:
    """An instance whose root's bounds crossed, or whose operands have no values left: row ``row`` of ``batch``."""

    batch: int
    row: int
    lower: float
    upper: float


@dataclass(slots=True)
class Progress:
    """How far the rounds have come; ``rounds`` counts those that changed something.

    ``creeping`` holds the members whose instances still set bounds when they gave up.
    """

    rounds: int = 0
    status: Status = Status.CONVERGED
    arrested: list[ArrestedInstance] = field(default_factory=list)
    creeping: set[int] = field(default_factory=set)
    leaps: Leaps = field(default_factory=Leaps)


def run(
    grounding: Grounding,
    members: Sequence[int],
    state: State,
    derivations: Derivations,
    progress: Progress,
    limit: int,
    dirty: Dirty,
) -> None:
    """Rounds over ``members`` until one changes nothing, creeps, or the limit is met. ``dirty`` flags the rows that
    moved before."""
    batches = grounding.batches_of(members)
    pace, creep = Pace(), Creep(grounding, state, derivations, batches)
    state.extend(grounding.atoms)
    classes = Classes(state)
    while True:
        known = len(grounding.atoms)
        grounding.extend(members)
        state.extend(grounding.atoms)
        classes.extend()
        dirty.extend(len(grounding.atoms))
        lower: list[Messages] = []
        upper: list[Messages] = []
        fresh = 0
        for number in batches:
            batch = grounding.batches[number]
            view = moved(batch, dirty)
            if view is None:
                continue
            swept = sweep(number, view, state, grounding.atoms, classes)
            lower += swept.lower
            upper += swept.upper
            for row, low, high in zip(
                swept.arrested.tolist(), swept.roots.lower.tolist(), swept.roots.upper.tolist(), strict=True
            ):
                progress.arrested.append(ArrestedInstance(number, row, low, high))
                fresh += 1
            batch.arrested.values[swept.arrested] = True
        if (lower or upper or fresh) and progress.rounds >= limit:
            progress.status = Status.ROUND_LIMIT
            return
        growing = known < len(grounding.atoms)
        gain = 1.0 if growing else largest_gain(state, lower, upper)
        raised, lowered, crossed = state.meet([(m.row, m.value) for m in lower], [(m.row, m.value) for m in upper])
        derivations.record(state, lower, upper)
        changed = distinct([raised, lowered], len(grounding.atoms))
        classes.update(changed)
        grounding.atoms.deviate(changed, *state.read(changed))
        grounding.atoms.enlist(crossed)
        dirty.mark(torch.cat([raised, crossed]), torch.cat([lowered, crossed]))
        if not len(changed) and not fresh:
            progress.status = Status.CONVERGED
            progress.leaps.rested()
            return
        progress.rounds += 1
        disturbed = fresh > 0 or len(crossed) > 0
        if disturbed:
            progress.leaps.disturbed()
        pace.note(gain, steady=not growing and not disturbed)
        if pace.due:
            moved_ahead = creep.leap(progress.leaps, raised, lowered)
            pace.tried(leapt=moved_ahead is not None)
            if moved_ahead is not None:
                changed = distinct(moved_ahead, len(grounding.atoms))
                classes.update(changed)
                grounding.atoms.deviate(changed, *state.read(changed))
                dirty.mark(torch.cat([raised, moved_ahead[0]]), torch.cat([lowered, moved_ahead[1]]))
        if pace.creeps:
            progress.status = Status.CREEPING
            progress.creeping |= creep.members(raised, lowered)
            return


def largest_gain(state: State, lower: list[Messages], upper: list[Messages]) -> float:
    """The most that any bound is about to move."""
    gains = [float((m.value - state.lower.values.index_select(0, m.row)).max()) for m in lower]
    gains += [float((state.upper.values.index_select(0, m.row) - m.value).max()) for m in upper]
    return max(gains, default=0.0)
