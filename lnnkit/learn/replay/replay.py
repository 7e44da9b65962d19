"""Replay of derivations: re-evaluates the events on which some bounds depend, with gradients.

The events, back to the facts, are found once and evaluated tick by tick; those of one tick through one leaf of one
formula are evaluated together. Values and derivatives pass between steps through one tensor; within a step torch
differentiates the kernels. If parameters move so far that another instance would set a bound, a replay still evaluates
the old one; inference detects this (see `lnnkit.learn.fitting.fitting_problem`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

import torch
from torch import Tensor

from lnnkit.arrays import DOUBLE, where_set
from lnnkit.engine.response.respond import ascend, constant, entering, leaf_bound
from lnnkit.formula.passes import upward
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.formula.unfolding import Formula
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.learn.arithmetic.learned_comparisons import LearnedComparison
from lnnkit.logic.bounds import Bounds
from lnnkit.numeric import Interval
from lnnkit.trail.events import ROOT

CROSSING = -3  # pseudo-leaf: how far the bounds of unsatisfiable instances cross

EndPlaces = tuple[Tensor, Tensor]  # the positions of lower and of upper ends among the values of a replay


@dataclass(frozen=True, slots=True)
class StepReads:
    """What a step reads among the ``values`` of a replay. Each read is a leaf of the step's own autograd graph; its
    positions are kept to route its gradient. The first ``constant`` values need none."""

    values: Tensor
    constant: int
    made: list[tuple[Tensor, Tensor]] = field(default_factory=list)  # positions, and the values there

    def read(self, places: Tensor) -> Tensor:
        values = self.values.index_select(0, places)
        if torch.is_grad_enabled() and len(places) and int(places.max()) >= self.constant:
            values.requires_grad_()
            self.made.append((places, values))
        return values

    def interval(self, ends: EndPlaces) -> Interval:
        return Interval(self.read(ends[0]), self.read(ends[1]))


StepFunction = Callable[[Tensor, StepReads], Tensor]
"""Returns the bounds (count,) that events set, at some parameters."""


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """``count`` events; their values are written from ``start`` on."""

    start: int
    count: int
    evaluate: StepFunction


@dataclass(frozen=True)
class Replay:
    """``initial`` are the bounds that no event set; the values of the ``steps`` follow in order. ``places`` (n,)
    has the position of each requested bound, ``sources`` (m,) the keys of the first of the initial ones. ``outputs`` of
    modules, each with its places, replace some of these."""

    initial: Tensor
    sources: Tensor
    steps: tuple[ReplayStep, ...]
    places: Tensor
    outputs: Sequence[tuple[Tensor, Callable[[], Tensor]]] = ()

    @property
    def length(self) -> int:
        return max((step.start + step.count for step in self.steps), default=len(self.initial))

    def bounds(self, parameters: Tensor) -> Tensor:
        """(n,) the requested bounds at these parameters, which are in the order for which the replay was made.
        Differentiable in the parameters and in the weights of the modules."""
        if not self.outputs and len(self.steps) == 1 and self._all:  # no step reads another
            return self.steps[0].evaluate(parameters, StepReads(self.initial, len(self.initial)))
        initial = self.initial
        for places, values in self.outputs:
            initial = initial.index_copy(0, places, values())
        bounds = _EvaluatedReplay.apply(parameters, initial, self, not self.outputs)
        assert isinstance(bounds, Tensor)
        return bounds

    @cached_property
    def buffer(self) -> Tensor:
        """A buffer for all values, with the initial ones filled in."""
        values = torch.zeros(self.length, dtype=self.initial.dtype)
        values[: len(self.initial)] = self.initial
        return values

    @cached_property
    def moving(self) -> tuple[Tensor, Tensor]:
        """The requested bounds that steps set, and their positions among those."""
        which = where_set(self.places >= len(self.initial))
        return which, self.places[which] - len(self.initial)

    @cached_property
    def _all(self) -> bool:
        """Whether the values that steps set are requested, all in order."""
        return torch.equal(self.places, torch.arange(len(self.initial), self.length))


class _EvaluatedReplay(torch.autograd.Function):
    """The requested bounds. Each step has a graph of its own; between them gradients are passed by position."""

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx, parameters: Tensor, initial: Tensor, replay: Replay, constant: bool
    ) -> Tensor:
        values, count = replay.buffer, len(initial)
        if not constant:
            values = torch.cat([initial, torch.zeros(replay.length - count, dtype=initial.dtype)])
        graphs: list[tuple[ReplayStep, Tensor, Tensor, StepReads]] = []  # with parameters, and output
        wanted = parameters.requires_grad or initial.requires_grad
        with torch.set_grad_enabled(wanted):
            for step in replay.steps:
                leaf = parameters.detach().requires_grad_(wanted)
                reads = StepReads(values, count if constant else 0)
                output = step.evaluate(leaf, reads)
                values[step.start : step.start + step.count] = output.detach()
                graphs.append((step, leaf, output, reads))
        # A context takes any attribute
        ctx.kept = graphs, replay, constant, len(parameters)  # pyright: ignore[reportAttributeAccessIssue]
        return values.index_select(0, replay.places)

    @staticmethod
    def backward(
        ctx: torch.autograd.function.FunctionCtx, *gradients: Tensor
    ) -> tuple[Tensor | None, Tensor | None, None, None]:
        kept: tuple[list[tuple[ReplayStep, Tensor, Tensor, StepReads]], Replay, bool, int] = ctx.kept  # pyright: ignore[reportAttributeAccessIssue]
        graphs, replay, constant, count = kept
        first = len(replay.initial) if constant else 0  # no gradient flows to constants
        which, places = replay.moving if constant else (None, replay.places)
        asked = gradients[0] if which is None or len(which) == len(gradients[0]) else gradients[0][which]
        flowing = torch.zeros(replay.length - first, dtype=asked.dtype).index_add_(0, places, asked)
        total = torch.zeros(count, dtype=asked.dtype)
        for step, parameters, output, reads in reversed(graphs):
            if not output.requires_grad:
                continue
            incoming = flowing[step.start - first : step.start - first + step.count]
            wanted = [parameters, *(end for _, end in reads.made)]
            passed = torch.autograd.grad(output, wanted, incoming, allow_unused=True, retain_graph=True)
            if passed[0] is not None:
                total = total + passed[0]
            for (where, _), gradient in zip(reads.made, passed[1:], strict=True):
                if gradient is not None:
                    moving = where_set(where >= first) if first else slice(None)
                    flowing.index_add_(0, where[moving] - first, gradient[moving])
        return total, None if constant else flowing[: len(replay.initial)], None, None


def instance_values(
    shape: RuleShape,
    leaf: int,
    side: int,
    ends: Mapping[int, EndPlaces],
    rows: tuple[tuple[int, ...], Sequence[Grouping | None]],
    out: Tensor | None,
    order: Sequence[str],
) -> StepFunction:
    """Events of any formula, by its kernels. ``ends`` has what each leaf reads; ``rows`` are the lengths of the blocks
    and their groupings; ``out`` selects the events' rows among those of the leaf's block (None: all, in order).
    ``order`` has the names of the parameters. Pseudo-leaves: AUXILIARY, their own shared neuron; ROOT, its value before
    the first round; CROSSING, how far their bounds cross. At the parameters of inference the result equals that of
    `lnnkit.engine.response.respond`."""
    formula, (lengths, groupings) = shape.formula, rows
    names = {*_truths(formula), *(name for neuron in formula.neurons for name in neuron.learned)}
    places = {name: place for place, name in enumerate(order) if name in names}

    def evaluate(parameters: Tensor, reads: StepReads) -> Tensor:
        bounds = {index: Bounds(*reads.interval(pair)) for index, pair in ends.items()}

        def read(index: int) -> Bounds:
            if index in bounds:
                return bounds[index]
            return Bounds(*map(torch.tensor, constant(formula, index, lengths[formula.neurons[index].block], DOUBLE)))

        learned = _with_parameters(formula, {name: parameters[place] for name, place in places.items()})
        if leaf == ROOT:
            value = upward(learned, entering(read, learned), groupings)[learned.top][side]
        elif leaf == CROSSING:
            lower, upper = ascend(learned, read, groupings).root
            value = lower - upper
        else:
            value = leaf_bound(learned, read, groupings, leaf, side, completes=shape.completes)
        return value if out is None else value.index_select(0, out)

    return evaluate


def _with_parameters(formula: Formula, parameters: Mapping[str, Tensor]) -> Formula:
    """The formula with tensors for its parameters; the kernels accept both."""
    if not parameters:
        return formula
    neurons = []
    for neuron in formula.neurons:
        if neuron.arithmetic is None and any(name in parameters for name in neuron.learned if name is not None):
            *weights, bias = neuron.learned
            placed = tuple(
                parameters.get(name or "", weight) for name, weight in zip(weights, neuron.weights, strict=True)
            )
            value = parameters.get(bias or "", neuron.bias)
            neuron = neuron._replace(weights=cast("tuple[float, ...]", placed), bias=cast(float, value))
        neurons.append(neuron)
    pairs = zip((formula.lower, formula.upper), _truths(formula) or (None, None), strict=True)
    lower, upper = (cast(float, parameters.get(name or "", end)) for end, name in pairs)
    return replace(formula, neurons=tuple(neurons), lower=lower, upper=upper)


def _truths(formula: Formula) -> Sequence[str | None]:
    """The names of the parameters that are the truth of a statement, if it is one."""
    return formula.root.learned if formula.root is not None and formula.auxiliary is None else ()


def comparison_values(
    comparison: LearnedComparison,
    numbers: Sequence[EndPlaces],
    narrowed: tuple[int, EndPlaces] | None,
    side: int,
    softness: float,
    order: Sequence[str],
) -> StepFunction:
    """One end of the truth of a comparison with parameters, from its ``numbers``; or of one of these, ``narrowed`` by
    the bounds of that truth. ``softness`` is the scale that softens a crisp comparison."""

    def evaluate(parameters: Tensor, reads: StepReads) -> Tensor:
        named = dict(zip(order, parameters, strict=True))
        given = [reads.interval(ends) for ends in numbers]
        if narrowed is None:
            return comparison.truth(given, named, side, softness)
        number, truth = narrowed
        return comparison.narrowed(given, named, reads.interval(truth), number)[side]

    return evaluate
