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
from lnnkit.infer.derivations import Derivations
from lnnkit.infer.dirty import Dirty
from lnnkit.infer.prepare import Prepared, initialise_shared, prepare
from lnnkit.infer.rounds import Progress, Status, run

ROUND_LIMIT = 100_000


@dataclass(frozen=True, slots=True)
class Fixpoint:
    """A grounding at rest: ask it through `lnnkit.infer.answers`."""

    prepared: Prepared
    derivations: Derivations
    progress: Progress
    contested: tuple[Tensor, Tensor]  # a flag an atom row, for its lower and its upper side


class TooLarge(Exception):
    """Grounding ``formula`` would take ``count`` instances, more than ``budget``."""

    def __init__(self, formula: Formula, count: int, budget: int) -> None:
        super().__init__(f"{count} instances exceed the budget of {budget}")
        self.formula = formula
        self.count = count
        self.budget = budget


def guard_of(budget: int) -> Guard:
    """What refuses more than ``budget`` instances of a formula."""

    def guard(formula: Formula, count: int) -> None:
        if count > budget:
            raise TooLarge(formula, count, budget)

    return guard


def infer(
    lifted: LiftedGraph,
    index: Mapping[str, int],
    given: Sequence[Given],
    *,
    budget: int,
    round_limit: int = ROUND_LIMIT,
) -> Fixpoint:
    """The fixpoint of a program whose entities are numbered by ``index`` (dense, by sorted text).

    Raises `TooLarge` before more than ``budget`` instances of one formula are made.
    """
    with torch.no_grad():
        prepared = prepare(lifted, index, given, guard_of(budget))
        grounding, state = prepared.grounding, prepared.state
        derivations = Derivations(grounding)
        progress = Progress()
        complete(prepared, derivations, first=True)
        initialise_shared(prepared)
        dirty = Dirty()
        while True:
            run(grounding, prepared.inference, state, derivations, progress, round_limit, dirty)
            if not prepared.strata or progress.status is not Status.CONVERGED:
                break
            changed = complete(prepared, derivations, first=False)
            if not len(changed):
                break
            dirty.extend(len(grounding.atoms))
            dirty.mark(changed, changed)
        arrested = [(instance.batch, instance.row) for instance in progress.arrested]
        return Fixpoint(prepared, derivations, progress, derivations.contested(state, arrested))
