"""Synchronous rounds to a fixpoint: each reads what the last one left, all its messages meet at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import torch

from lnnkit.ground.grounding import Grounding
from lnnkit.infer.classes import Classes
from lnnkit.infer.derivations import Derivations
from lnnkit.infer.dirty import Dirty
from lnnkit.infer.state import Messages, State, distinct
from lnnkit.infer.sweep import moved, sweep
from lnnkit.infer.watch import Watch, goes_on


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
    """How far the rounds have come; ``rounds`` counts those that changed something."""

    rounds: int = 0
    status: Status = Status.CONVERGED
    arrested: list[ArrestedInstance] = field(default_factory=list)


# A round is quiet if it only moves atoms that were there before, each by little. A cycle that gains ever less is quiet
# for ever: it stops once the gains are below CREEP_GAIN and have not halved in CREEP_ROUNDS rounds, or after
# CREEP_PATIENCE quiet rounds.
QUIET_GAIN = 1e-2
CREEP_GAIN = 1e-6
CREEP_ROUNDS = 100
CREEP_PATIENCE = 3000


def run(
    grounding: Grounding,
    members: Sequence[int],
    state: State,
    derivations: Derivations,
    progress: Progress,
    limit: int,
    dirty: Dirty,
    watch: Watch | None = None,
) -> None:
    """Rounds over ``members`` until one changes nothing, creeps, the limit is met, or ``watch`` stops them. ``dirty``
    flags the rows that moved before."""
    creeping: list[float] = []  # the gains of quiet rounds, one after the other
    batches = grounding.batches_of(members)
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
            return
        progress.rounds += 1
        quiet = gain < QUIET_GAIN and not len(crossed) and not fresh
        creeping = [*creeping, gain] if quiet else []
        slow = len(creeping) > CREEP_ROUNDS and creeping[-1] > creeping[-CREEP_ROUNDS] / 2
        if (slow and gain < CREEP_GAIN) or len(creeping) >= CREEP_PATIENCE:
            progress.status = Status.CREEPING
            return
        if not goes_on(watch, grounding, "inference", progress.rounds):
            progress.status = Status.INTERRUPTED
            return


def largest_gain(state: State, lower: list[Messages], upper: list[Messages]) -> float:
    """The most that any bound is about to move."""
    gains = [float((m.value - state.lower.values.index_select(0, m.row)).max()) for m in lower]
    gains += [float((state.upper.values.index_select(0, m.row) - m.value).max()) for m in upper]
    return max(gains, default=0.0)
