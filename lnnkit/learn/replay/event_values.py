"""The bounds that events set, as functions of the parameters: by the kernels for any formula, and for comparisons with
parameters.

A rule with an atomic head in Lukasiewicz logic is a matrix product. For ``antecedent -> head`` with truth ``[l, u]``,
weights ``wx``, ``wy`` and bias ``b``, modus ponens bounds the head by ``clamp((l + b - 1 - wx (1 - a)) / wy)``, where
``a`` is the antecedent's lower end: the clamped sum of one end of each operand. So one end of each leaf is read, and
atomic operands contribute one product. The results equal those of the kernels. A clamp has no gradient where it cuts,
so a rule that proposes nothing yet would never learn; here it passes one that draws the sum back between 0 and 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, cast

import torch
from torch import Tensor

from lnnkit.arrays import DOUBLE, any_set, as_numpy, chosen
from lnnkit.engine.response.respond import ascend, constant, entering, leaf_bound
from lnnkit.formula.passes import upward
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.formula.unfolding import LEAF, Formula
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.learn.comparisons.learned_comparisons import LearnedComparison
from lnnkit.logic.bounds import Bounds, tolerance
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


RuleEnd = tuple[int, int]  # a leaf, and its lower (0) or upper (1) end


@dataclass(frozen=True, slots=True)
class GroupReads:
    """The ``events`` of one group; by end of a leaf, what set it (-1: nothing) and its keys; of their instances' blocks
    the lengths and groupings; and which rows of the leaf's block are the events' (None: all, in order)."""

    group: int
    events: Tensor
    ends: Mapping[RuleEnd, tuple[Tensor, Tensor]]
    rows: tuple[tuple[int, ...], tuple[Grouping | None, ...]]
    out: Tensor | None


def instance_values(
    shape: RuleShape, leaf: int, side: int, reads: GroupReads, ends: Mapping[int, EndPlaces], order: Sequence[str]
) -> StepFunction:
    """Events of any formula, by its kernels. ``ends`` has what each leaf reads, ``order`` the names of the parameters.
    Pseudo-leaves: AUXILIARY, their own shared neuron; ROOT, its value before the first round; CROSSING, how far their
    bounds cross. At the parameters of inference the result equals that of `lnnkit.engine.response.respond`."""
    formula, (lengths, groupings), out = shape.formula, reads.rows, reads.out
    named = {name for names in formula.learned for name in names}
    places = {name: place for place, name in enumerate(order) if name in named}

    def evaluate(parameters: Tensor, step_reads: StepReads) -> Tensor:
        bounds = {index: Bounds(*step_reads.interval(pair)) for index, pair in ends.items()}

        def read(index: int) -> Bounds:
            if index in bounds:
                return bounds[index]
            return Bounds(*map(torch.tensor, constant(formula, index, lengths[formula.neurons[index].block], DOUBLE)))

        learned = with_parameters(formula, {name: parameters[place] for name, place in places.items()})
        if leaf == ROOT:
            value = upward(learned, entering(read, learned), groupings)[learned.top][side]
        elif leaf == CROSSING:
            lower, upper = ascend(learned, read, groupings).root
            value = lower - upper
        else:
            value = leaf_bound(learned, read, groupings, leaf, side, completes=shape.completes)
        return value if out is None else value.index_select(0, out)

    return evaluate


def with_parameters(formula: Formula, parameters: Mapping[str, Tensor | float]) -> Formula:
    """The formula with these values of its parameters; the kernels accept tensors too."""
    if not parameters:
        return formula
    neurons = []
    for neuron in formula.neurons:
        if neuron.arithmetic is None and any(name in parameters for name in neuron.learned):
            numbers = zip((*neuron.weights, neuron.bias), neuron.learned, strict=True)
            *weights, bias = (cast(float, parameters.get(name or "", number)) for number, name in numbers)
            neuron = neuron._replace(weights=tuple(weights), bias=bias)
        neurons.append(neuron)
    ends = zip((formula.lower, formula.upper), formula.learned[0], strict=True)
    lower, upper = (cast(float, parameters.get(name or "", end)) for end, name in ends)
    return replace(formula, neurons=tuple(neurons), lower=lower, upper=upper)


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


# --- rules with an atomic head in Lukasiewicz logic -------------------------------------------------------------------

_Number = tuple[float, str | None]  # a number of a rule, and its parameter

_ATOMS = (LEAF, "same")
_CONNECTIVES = ("and", "or", "implies")
_TOLERANCE = tolerance(torch.float64)
_LEAST = 1e-12  # stands in for a weight of 0 of the head, to divide by


class RuleNumbers(NamedTuple):
    """(k,) ``start + signs * parameters[places]``, with signs of 0 where a number is fixed; no places if all are."""

    start: Tensor
    signs: Tensor
    places: Tensor | None

    @staticmethod
    def of(given: Sequence[tuple[float, float, _Number]], places: Mapping[str, int]) -> RuleNumbers:
        """The numbers, each times a sign and added to what stands before that."""
        columns = zip(*((start, sign, float(value)) for start, sign, (value, _) in given), strict=True)
        start, signs, fixed = (torch.tensor(column, dtype=torch.float64) for column in columns)
        index = torch.tensor([places.get(name or "", -1) for _, _, (_, name) in given])
        learned = index >= 0
        start = torch.where(learned, start, torch.addcmul(start, signs, fixed))
        return RuleNumbers(start, signs * learned, index.clamp(min=0) if any_set(learned) else None)

    def at(self, parameters: Tensor) -> Tensor:
        if self.places is None:
            return self.start
        return torch.addcmul(self.start, self.signs, parameters.index_select(0, self.places))


@dataclass(frozen=True, slots=True, eq=False)
class ClampedSum:
    """``clamp(b - sum w t)`` of a conjunction, ``clamp(1 - b + sum w t)`` of a disjunction. ``ends`` are terms that are
    an end of an atom, or its complement where flipped; ``sums`` are the other terms. ``coefficients`` are the weights
    of the former, what the sum starts from, and the weights of the latter."""

    coefficients: RuleNumbers
    ends: tuple[tuple[RuleEnd, bool], ...]
    sums: tuple[tuple[ClampedSum, bool], ...]


@dataclass(frozen=True)
class LukasiewiczRule:
    """One rule as it bounds one end of its head. ``top`` is the antecedent, which reads the ``ends``; ``flipped`` means
    that the head is negated. ``numbers`` are the rule's lower truth, and its implication's weights and bias. ``falls``:
    a head that cannot reach the demanded truth gets no proposal, as in the completion of a closed predicate."""

    top: ClampedSum
    numbers: RuleNumbers
    flipped: bool
    falls: bool
    ends: frozenset[RuleEnd]


class RuleValues:
    """Events of a rule, evaluated: the bounds that instances propose for its head. ``place`` is its shape and the
    head's leaf; ``ends`` has the positions that it reads."""

    def __init__(self, rule: LukasiewiczRule, place: tuple[int, int], ends: Mapping[RuleEnd, Tensor]) -> None:
        self._rule, self._place, self._ends = rule, place, ends
        self._matrices: dict[ClampedSum, Tensor] = {}  # those without gradients

    def __call__(self, parameters: Tensor, reads: StepReads) -> Tensor:
        rule, antecedent = self._rule, self._value(self._rule.top, parameters, reads)
        truth, weight, head, bias = rule.numbers.at(parameters).unbind()
        most = truth + bias - 1  # where the antecedent is true
        head = head.clamp(min=_LEAST)
        slope, start = weight / head, (most - weight) / head
        share = torch.addcmul(start, slope, antecedent)
        value = clamp_through(share)
        if rule.falls and float(most.detach()) > float(head.detach()) + _TOLERANCE:
            value = torch.where(share > 1 + _TOLERANCE / head, 0.0, value)
        return 1 - value if rule.flipped else value

    def _value(self, clamped: ClampedSum, parameters: Tensor, reads: StepReads) -> Tensor:
        coefficients, count = clamped.coefficients.at(parameters), len(clamped.ends) + 1
        total = coefficients[:count] if clamped.sums else coefficients
        if clamped.ends:
            total = total @ self._matrix(clamped, reads)
        for place, (inner, flipped) in enumerate(clamped.sums, count):
            value = self._value(inner, parameters, reads)
            total = torch.addcmul(total, coefficients[place], 1 - value if flipped else value)
        return clamp_through(total)

    def _matrix(self, clamped: ClampedSum, reads: StepReads) -> Tensor:
        """(k + 1, n) the terms of a sum that are ends of atoms, then ones."""
        if reads.constant and clamped in self._matrices:
            return self._matrices[clamped]
        rows: list[Tensor] = []
        for end, flipped in clamped.ends:
            value = reads.read(self._ends[end])
            far = value >= 1 - _TOLERANCE if end[1] else value <= _TOLERANCE
            value = torch.where(far, float(end[1]), value)
            rows.append(1 - value if flipped else value)
        matrix = torch.stack([*rows, torch.ones_like(rows[0])])
        if reads.constant and all(int(self._ends[end].max()) < reads.constant for end, _ in clamped.ends):
            self._matrices[clamped] = matrix
        return matrix

    def alike(self, other: object, initial: Tensor) -> bool:
        """Whether ``other`` is the same rule about the other end of the same atoms, from equal initial bounds."""
        if not isinstance(other, RuleValues) or self._place != other._place or self._rule.falls == other._rule.falls:
            return False
        one, two = (torch.cat([*values._ends.values()]) for values in (self, other))
        if len(one) != len(two) or int(torch.maximum(one, two).max()) >= len(initial):
            return False
        return torch.equal(initial.index_select(0, one), initial.index_select(0, two))


def rule_of(formula: Formula, leaf: int, side: int, names: Sequence[str], *, completes: bool) -> LukasiewiczRule | None:
    """The rule as it bounds ``side`` of ``leaf``; None for a rule of another form, or if the proposal depends on the
    head's own bounds. ``names`` are the parameters."""
    top = formula.neurons[formula.top]
    plain = leaf >= 0 and len(formula.blocks) == 1 and formula.auxiliary is None
    if not plain or top.kind != "implies" or top.logic is None or not top.logic.sums:
        return None
    head, flipped = _unnegated(formula, top.operands[1])
    if head != leaf or (completes and flipped) or (not completes and side != int(flipped)):
        return None
    places = {name: place for place, name in enumerate(names)}
    own, read = formula.neurons[leaf], set[RuleEnd]()

    def sum_of(index: int, side: int) -> ClampedSum | None:
        """One end of a neuron; the end of an atom, or of a negation, is a sum of one term."""
        neuron = formula.neurons[index]
        operands, weights, bias = (index,), ((1.0, None),), (1.0, None)
        if neuron.kind in _CONNECTIVES:
            if neuron.logic is None or not neuron.logic.sums:
                return None
            *weights, bias = zip((*neuron.weights, neuron.bias), neuron.learned, strict=True)
            operands = neuron.operands
        conjunction = neuron.kind == "and"
        ends, sums = list[tuple[_Number, tuple[RuleEnd, bool]]](), list[tuple[_Number, tuple[ClampedSum, bool]]]()
        for place, (operand, weight) in enumerate(zip(operands, weights, strict=True)):
            falls = neuron.kind == "implies" and place == 0
            operand, negated = _unnegated(formula, operand)
            end, complement = side ^ falls ^ negated, conjunction ^ falls ^ negated
            term = formula.neurons[operand]
            inner = sum_of(operand, end) if term.kind in _CONNECTIVES else None
            if inner is not None:
                sums.append((weight, (inner, complement)))
            elif term.kind in _ATOMS and (term.source, term.arguments) != (own.source, own.arguments):
                ends.append((weight, ((operand, end), complement)))
            else:
                return None
        read.update(end for _, (end, _) in ends)
        sign = -1.0 if conjunction else 1.0
        first, last = ([(0.0, sign, weight) for weight, _ in terms] for terms in (ends, sums))
        coefficients = RuleNumbers.of([*first, (float(not conjunction), -sign, bias), *last], places)
        return ClampedSum(coefficients, tuple(end for _, end in ends), tuple(inner for _, inner in sums))

    antecedent = sum_of(top.operands[0], side if completes else 0)
    if antecedent is None:
        return None
    learned = formula.root.learned[0] if formula.root is not None else None
    numbers = [(formula.lower, learned), *zip((*top.weights, top.bias), top.learned, strict=True)]
    implication = RuleNumbers.of([(0.0, 1.0, number) for number in numbers], places)
    return LukasiewiczRule(antecedent, implication, flipped, completes and side == 0, frozenset(read))


def _unnegated(formula: Formula, index: int) -> tuple[int, bool]:
    """A neuron without the negations above it, and whether they negate it."""
    negated = False
    while formula.neurons[index].kind == "not":
        index, negated = formula.neurons[index].operands[0], not negated
    return index, negated


class _ClampThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, values: Tensor) -> Tensor:
        plain, read = values.detach(), as_numpy(values)  # comparisons of numpy are several times as fast
        cut = torch.from_numpy(((read < 0.0) | (read > 1.0)).nonzero()[0])
        if not len(cut):
            return values
        outside = plain.index_select(0, cut)
        ctx.save_for_backward(cut, outside - outside.clamp(0.0, 1.0))
        return values.clamp(0.0, 1.0)

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *gradients: Tensor) -> Tensor:
        saved = ctx.saved_tensors  # pyright: ignore[reportAttributeAccessIssue]
        if not saved:  # nothing is clamped
            return gradients[0]
        cut, beyond = saved
        outwards = beyond * gradients[0].index_select(0, cut) < 0.0  # a step would lead further out
        return gradients[0].index_fill(0, chosen(outwards, cut), 0.0)


def clamp_through(values: Tensor) -> Tensor:
    """The values between 0 and 1; where they are cut, a gradient passes if a step against it leads back inside."""
    return cast("Tensor", _ClampThrough.apply(values))
