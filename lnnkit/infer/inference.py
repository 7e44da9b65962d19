"""Inference as one function: facts and a lifted graph in, a fixpoint out. This page states the schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.graph.lifted import LiftedGraph
from lnnkit.ground.formula import Formula
from lnnkit.ground.grounding import Guard
from lnnkit.ground.layout import Given
from lnnkit.infer.completion import complete
from lnnkit.infer.contested import contested
from lnnkit.infer.creeping import Disturbed, Leaps
from lnnkit.infer.derivations import Derivations
from lnnkit.infer.dirty import Dirty
from lnnkit.infer.prepare import Prepared, initialise_shared, prepare
from lnnkit.infer.rounds import Progress, Status, run


@dataclass(frozen=True, slots=True)
class Fixpoint:
    """A grounding at rest: ask it through `lnnkit.infer.answers`."""

    prepared: Prepared
    derivations: Derivations
    progress: Progress
    contested: tuple[Tensor, Tensor]  # a flag an atom row, for its lower and its upper side


@dataclass(frozen=True, slots=True)
class Budget:
    """How many instances of one formula may be made: ``instances``, or as many as ``memory`` bytes hold."""

    instances: int | None = None
    memory: int = 0

    def of(self, formula: Formula) -> int:
        return self.memory // footprint(formula) if self.instances is None else self.instances


def footprint(formula: Formula) -> int:
    """The bytes that one instance takes at the peak, while all are joined, kept and swept together, with the atom that
    it tells. Fitted to the peaks of formulas of 2 to 13 neurons, at 10^6 instances that all read differently."""
    return 100 + 20 * len(formula.neurons) + 150 * len(formula.leaves) + 50 * (len(formula.blocks) - 1)


class TooLarge(Exception):
    """Grounding ``formula`` would take ``count`` instances, more than ``allowed`` by the budget."""

    def __init__(self, formula: Formula, count: int, allowed: int, budget: Budget) -> None:
        super().__init__(f"{count} instances exceed the budget of {allowed}")
        self.formula = formula
        self.count = count
        self.allowed = allowed
        self.budget = budget


def guard_of(budget: Budget) -> Guard:
    """What refuses more instances of a formula than the budget allows."""

    def guard(formula: Formula, count: int) -> None:
        allowed = budget.of(formula)
        if count > allowed:
            raise TooLarge(formula, count, allowed, budget)

    return guard


def infer(
    lifted: LiftedGraph,
    index: Mapping[str, int],
    given: Sequence[Given],
    *,
    budget: Budget,
    round_limit: int,
) -> Fixpoint:
    """The fixpoint of a program whose entities are numbered by ``index`` (dense, by sorted text).

    Raises `TooLarge` before more instances of one formula are made than the budget allows.
    """
    with torch.no_grad():
        try:
            return _infer(prepare(lifted, index, given, guard_of(budget)), Leaps(), round_limit)
        except Disturbed:  # once more, with leaps that meet contradictions in the order of rounds
            return _infer(prepare(lifted, index, given, guard_of(budget)), Leaps(strict=True), round_limit)


def _infer(prepared: Prepared, leaps: Leaps, round_limit: int) -> Fixpoint:
    grounding, state = prepared.grounding, prepared.state
    derivations, progress = Derivations(grounding), Progress(leaps=leaps)
    progress.creeping |= complete(prepared, derivations, leaps, first=True).creeping
    initialise_shared(prepared)
    dirty = Dirty()
    while True:
        run(grounding, prepared.inference, state, derivations, progress, round_limit, dirty)
        if not prepared.strata or progress.status is not Status.CONVERGED:
            break
        completed = complete(prepared, derivations, leaps, first=False)
        progress.creeping |= completed.creeping
        if not len(completed.changed):
            break
        dirty.extend(len(grounding.atoms))
        dirty.mark(completed.changed, completed.changed)
    if progress.status is Status.CONVERGED and progress.creeping:
        progress.status = Status.CREEPING
    elif progress.status is Status.CONVERGED and leaps.made_so_far:
        progress.status = Status.ACCELERATED
    arrested = [(instance.batch, instance.row) for instance in progress.arrested]
    return Fixpoint(prepared, derivations, progress, contested(grounding, derivations, state, arrested))
