"""Inference as one function: facts and a lifted graph in, a fixpoint out. This page states the schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from lnnkit.check.program import Assertion
from lnnkit.graph.lifted import LiftedGraph
from lnnkit.ground.formula import Formula
from lnnkit.ground.grounding import Guard
from lnnkit.ground.layout import Given
from lnnkit.ground.plan import Recorder
from lnnkit.infer.completion import complete
from lnnkit.infer.contested import Flags, contested
from lnnkit.infer.leaps import Disturbed, Leaps
from lnnkit.infer.prepare import Prepared, initialise_shared, prepare
from lnnkit.infer.rounds import run
from lnnkit.infer.state import no_rows
from lnnkit.infer.unfinished import Unfinished
from lnnkit.infer.watch import Watch
from lnnkit.infer.workspace import Progress, Status, Workspace, workspace


@dataclass(frozen=True)
class Fixpoint:
    """A grounding at rest: ask it through `lnnkit.infer.answers`."""

    prepared: Prepared
    space: Workspace

    @property
    def progress(self) -> Progress:
        return self.space.progress

    @cached_property
    def contested(self) -> Flags:
        """A flag an atom row, for its lower and its upper side: whether it rests on a contradiction."""
        with torch.no_grad():
            return contested(self.space)


@dataclass(frozen=True, slots=True)
class Budget:
    """How many instances of one formula may be made: ``instances``, or as many as ``memory`` bytes hold."""

    instances: int | None = None
    memory: int = 0

    def of(self, formula: Formula) -> int:
        return self.memory // footprint(formula) if self.instances is None else self.instances


def footprint(formula: Formula) -> int:
    """The bytes that one instance takes at the peak, with the atom that it tells: one that is only visited, as the one
    that set its atom's bound; one that is kept, while all are joined and swept together. Fitted to the peaks of
    formulas of 2 to 13 neurons, at 10^6 instances that all read differently."""
    if len(formula.blocks) == 1 and formula.root is not None and isinstance(formula.root.origin, Assertion):
        return 200 + 10 * len(formula.leaves)
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
    dtype: torch.dtype = torch.float64,
    watch: Watch | None = None,
    recorder: Recorder | None = None,
) -> Fixpoint:
    """The fixpoint of a program whose entities are numbered by ``index`` (dense, by sorted text).

    ``watch`` is told of every round and may stop there; ``recorder`` of every join. Raises `TooLarge` before more
    instances of one formula are made than the budget allows.
    """
    with torch.no_grad():
        try:
            prepared = prepare(lifted, index, given, guard_of(budget), dtype, recorder)
            return _infer(prepared, Leaps(), round_limit, watch)
        except Disturbed:  # once more, with leaps that meet contradictions in the order of rounds
            prepared = prepare(lifted, index, given, guard_of(budget), dtype, recorder)
            return _infer(prepared, Leaps(strict=True), round_limit, watch)


def _infer(prepared: Prepared, leaps: Leaps, round_limit: int, watch: Watch | None) -> Fixpoint:
    space = workspace(prepared.grounding, prepared.state, leaps)
    progress = space.progress
    try:
        _settle(prepared, space, round_limit, watch)
    except Unfinished as stopped:
        progress.status = stopped.status
    if progress.status is Status.CONVERGED and progress.creeping:
        progress.status = Status.CREEPING
    elif progress.status is Status.CONVERGED and leaps.made_so_far:
        progress.status = Status.ACCELERATED
    return Fixpoint(prepared, space)


def _settle(prepared: Prepared, space: Workspace, round_limit: int, watch: Watch | None) -> None:
    """Completion and rounds, in turns, until neither changes anything."""
    complete(prepared, space, first=True, watch=watch)
    initialise_shared(prepared)
    space.classes.renew(t for t in prepared.grounding.atoms.numbered if t.name in prepared.shared.untold)
    changed = no_rows()
    while True:
        before = space.progress.rounds
        run(space, prepared.inference, round_limit, changed, watch)
        if not prepared.strata or space.progress.status is not Status.CONVERGED or space.progress.rounds == before:
            return
        changed = complete(prepared, space, first=False, watch=watch)
        if not changed.numel():
            return
