"""The steps of a replay: the events of one leaf of one batch, evaluated together from what they read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from lnnkit.arrays import DOUBLE
from lnnkit.engine.response.respond import constant
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.learn.arithmetic.learned_comparisons import LearnedComparison
from lnnkit.learn.replay.instance_bounds import names, told
from lnnkit.learn.replay.lukasiewicz_rules import Clause, End, matrix, sums
from lnnkit.logic.bounds import Bounds
from lnnkit.numeric import Interval


class Reads:
    """The reads of a step among the values of a replay. Each read is a leaf of the step's own autograd graph; its
    positions are kept to route its gradient. The first ``constant`` values need none."""

    def __init__(self, values: Tensor, constant: int) -> None:
        self._values = values
        self.constant = constant
        self.made: list[tuple[Tensor, Tensor]] = []  # positions, and the values there

    def read(self, places: Tensor) -> Tensor:
        found = self._values.index_select(0, places)
        if torch.is_grad_enabled() and len(places) and int(places.max()) >= self.constant:
            found.requires_grad_()
            self.made.append((places, found))
        return found

    def read_constant(self, places: Tensor) -> Tensor:
        return self._values.index_select(0, places)


class Step(Protocol):
    """``count`` events; their values are written from ``start`` on."""

    @property
    def start(self) -> int: ...
    @property
    def count(self) -> int: ...

    def evaluate(self, parameters: Tensor, reads: Reads) -> Tensor:
        """(count,) the bounds that the events set, at these parameters."""
        ...


@dataclass(frozen=True, slots=True)
class InstanceStep:
    """Events of any formula, evaluated by its kernels. ``ends`` has for each leaf the positions of its lower and its
    upper ends; ``lengths`` the rows of each block; ``out`` selects the events' rows among those of the leaf's block
    (None: all, in order). ``order`` has the names of the parameters."""

    batch: RuleShape
    leaf: int
    side: int
    ends: Mapping[int, tuple[Tensor, Tensor]]
    lengths: tuple[int, ...]
    groupings: tuple[Grouping | None, ...]
    out: Tensor | None
    start: int
    count: int
    order: tuple[str, ...]

    def evaluate(self, parameters: Tensor, reads: Reads) -> Tensor:
        formula = self.batch.formula
        found = {index: Bounds(reads.read(low), reads.read(high)) for index, (low, high) in self.ends.items()}

        def bounds(index: int) -> Bounds:
            if index in found:
                return found[index]
            made = constant(self.batch.formula, index, self.lengths[formula.neurons[index].block], DOUBLE)
            return Bounds(*map(torch.tensor, made))

        mentioned = set(names(formula))
        own = {name: parameters[place] for place, name in enumerate(self.order) if name in mentioned}
        completes = self.batch.completes
        value = told(formula, own, bounds, self.groupings, self.leaf, self.side, completes=completes)
        return value if self.out is None else value.index_select(0, self.out)


@dataclass(frozen=True, slots=True)
class ComparisonStep:
    """The truth of a comparison with parameters, from its numbers. ``numbers`` has the positions of their lower and
    upper ends; ``softness`` is the scale that softens a crisp one."""

    comparison: LearnedComparison
    side: int
    numbers: tuple[tuple[Tensor, Tensor], ...]
    softness: float
    start: int
    count: int
    order: tuple[str, ...]

    def evaluate(self, parameters: Tensor, reads: Reads) -> Tensor:
        named, numbers = _read(self, parameters, reads)
        return self.comparison.truth(numbers, named, self.side, self.softness)


@dataclass(frozen=True, slots=True)
class ContractionStep:
    """One of the ``numbers`` of a comparison with parameters, narrowed by the bounds of the comparison's truth."""

    comparison: LearnedComparison
    number: int
    side: int
    numbers: tuple[tuple[Tensor, Tensor], ...]
    truth: tuple[Tensor, Tensor]
    start: int
    count: int
    order: tuple[str, ...]

    def evaluate(self, parameters: Tensor, reads: Reads) -> Tensor:
        named, numbers = _read(self, parameters, reads)
        truth = Interval(*(reads.read(end) for end in self.truth))
        return self.comparison.narrowed(numbers, named, truth, self.number)[self.side]


def _read(
    step: ComparisonStep | ContractionStep, parameters: Tensor, reads: Reads
) -> tuple[dict[str, Tensor], list[Interval]]:
    """The parameters by name, and the intervals of the numbers."""
    named = {name: parameters[place] for place, name in enumerate(step.order)}
    return named, [Interval(reads.read(low), reads.read(high)) for low, high in step.numbers]


@dataclass(frozen=True, slots=True)
class ClauseStep:
    """A rule with an atomic head; ``rule`` is its batch and the head's leaf. ``through``: gradients pass clamps.
    Constant values are gathered once."""

    clause: Clause
    rule: tuple[int, int]
    ends: Mapping[End, Tensor]
    start: int
    count: int
    through: bool
    _matrices: dict[int, Tensor] = field(default_factory=dict)
    _gathered: list[bool] = field(default_factory=list)

    def evaluate(self, parameters: Tensor, reads: Reads) -> Tensor:
        known: Mapping[int, Tensor] = {}
        if reads.constant:
            if not self._gathered:
                self._gather(reads)
            known = self._matrices
        return self.clause.told(parameters, lambda end: reads.read(self.ends[end]), known, through=self.through)

    def _gather(self, reads: Reads) -> None:
        self._gathered.append(True)
        for own in sums(self.clause):
            if own.ends and all(self.count and int(self.ends[end].max()) < reads.constant for end, _ in own.ends):
                self._matrices[own.number] = matrix(own, lambda end: reads.read_constant(self.ends[end]))

    def alike(self, other: ClauseStep, initial: Tensor) -> bool:
        """Whether another step of the same rule, for the other end of the same atoms, reads the same numbers."""
        if self.rule != other.rule or self.clause.falls == other.clause.falls:
            return False
        if len(self.ends) != len(other.ends) or self.count != other.count:
            return False
        if any(
            len(places) and int(places.max()) >= len(initial) for each in (self, other) for places in each.ends.values()
        ):
            return False
        pairs = zip(self.ends.values(), other.ends.values(), strict=True)
        return all(torch.equal(*(initial.index_select(0, end) for end in pair)) for pair in pairs)
