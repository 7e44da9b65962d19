"""Rules with an atomic head in Lukasiewicz logic: their proposals for the head, computed as a matrix product.

For ``antecedent -> head`` with truth ``[l, u]``, weights ``wx``, ``wy`` and bias ``b``, modus ponens bounds the head by
``clamp((l + b - 1 - wx (1 - a)) / wy)``, where ``a`` is the antecedent's lower end: the clamped sum of one end of each
operand. So one end of each leaf is read, and atomic operands contribute one matrix product. The results equal those of
the kernels. A clamp has no gradient where it cuts, so a rule that proposes nothing yet would never learn; on request,
it passes one that draws the sum back between 0 and 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import torch
from torch import Tensor

from lnnkit.arrays import all_set, any_set, as_numpy, chosen
from lnnkit.formula.unfolding import LEAF, Formula
from lnnkit.learn.replay.replay import StepReads
from lnnkit.logic.bounds import tolerance

RuleEnd = tuple[int, int]  # a leaf, and its lower (0) or upper (1) end
_Number = tuple[float, str | None]  # a number of a rule, and its parameter

_ATOMS = (LEAF, "same")
_CONNECTIVES = ("and", "or", "implies")
_TOLERANCE = tolerance(torch.float64)
_LEAST = 1e-12  # stands in for a weight of 0 of the head, to divide by


@dataclass(frozen=True, slots=True)
class RuleNumbers:
    """(k,) ``start + signs * parameters[places]``, with signs of 0 where a number is fixed; no places if all are."""

    start: Tensor
    signs: Tensor
    places: Tensor | None

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
    """One rule as it bounds one end of its head. ``top`` is the antecedent; ``flipped`` means that the head is negated.
    ``numbers`` are the rule's lower truth, and its implication's weights and bias. ``falls``: a head that cannot reach
    the demanded truth gets no proposal, as in the completion of a closed predicate."""

    top: ClampedSum
    numbers: RuleNumbers
    flipped: bool
    falls: bool

    @cached_property
    def ends(self) -> frozenset[RuleEnd]:
        """All ends that it reads."""
        sums = [self.top]
        for clamped in sums:  # grows as it is read
            sums += (inner for inner, _ in clamped.sums)
        return frozenset(end for clamped in sums for end, _ in clamped.ends)

    @cached_property
    def plain(self) -> bool:
        """Whether the head is as true as the antecedent: the rule and its implication have no number but 1."""
        return self.numbers.places is None and all_set(self.numbers.start == 1)


class RuleValues:
    """Events of a rule, evaluated: the bounds that instances propose for its head. ``place`` is its shape and the
    head's leaf; ``ends`` has the positions that it reads. ``through``: gradients pass clamps."""

    def __init__(
        self, rule: LukasiewiczRule, place: tuple[int, int], ends: Mapping[RuleEnd, Tensor], *, through: bool
    ) -> None:
        self._rule, self._place, self._ends = rule, place, ends
        self._clamp = clamp_through if through else _clamp
        self._matrices: dict[ClampedSum, Tensor] = {}  # those without gradients

    def __call__(self, parameters: Tensor, reads: StepReads) -> Tensor:
        rule, antecedent = self._rule, self._value(self._rule.top, parameters, reads)
        if rule.plain:  # an epoch of 100,000 labels takes 1.5 ms instead of 1.8
            return 1 - antecedent if rule.flipped else antecedent
        truth, weight, head, bias = rule.numbers.at(parameters).unbind()
        most = truth + bias - 1  # where the antecedent is true
        head = head.clamp(min=_LEAST)
        slope, start = weight / head, (most - weight) / head
        share = torch.addcmul(start, slope, antecedent)
        value = self._clamp(share)
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
        return self._clamp(total)

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
        pairs = zip(self._ends.values(), other._ends.values(), strict=False)
        return len(self._ends) == len(other._ends) and all(
            len(one) == len(two)
            and (not len(one) or int(torch.maximum(one.max(), two.max())) < len(initial))
            and torch.equal(initial.index_select(0, one), initial.index_select(0, two))
            for one, two in pairs
        )


def rule_of(formula: Formula, leaf: int, side: int, names: Sequence[str], *, completes: bool) -> LukasiewiczRule | None:
    """The rule as it bounds ``side`` of ``leaf``; None for a rule of another form. ``names`` are the parameters."""
    top = formula.neurons[formula.top]
    plain = leaf >= 0 and len(formula.blocks) == 1 and formula.auxiliary is None
    if not plain or top.kind != "implies" or top.logic is None or not top.logic.sums:
        return None
    head, flipped = top.operands[1], False
    if formula.neurons[head].kind == "not":
        head, flipped = formula.neurons[head].operands[0], True
    if head != leaf or (completes and flipped) or (not completes and side != int(flipped)):
        return None
    below = [top.operands[0]]
    for neuron in (formula.neurons[index] for index in below):  # grows as it is read
        atom = formula.neurons[leaf]
        if neuron.kind == LEAF and (neuron.source, neuron.arguments) == (atom.source, atom.arguments):
            return None  # the proposal depends on the head's own bounds
        below += neuron.operands
    places = {name: place for place, name in enumerate(names)}
    antecedent = _sum_of(formula, places, top.operands[0], side if completes else 0)
    if antecedent is None:
        return None
    learned = formula.root.learned[0] if formula.root is not None else None
    numbers = [(formula.lower, learned), *zip((*top.weights, top.bias), top.learned, strict=True)]
    return LukasiewiczRule(antecedent, _numbers(numbers, places), flipped, falls=completes and side == 0)


def _numbers(
    given: Sequence[_Number], places: Mapping[str, int], conjunction: bool | None = None, bias: int = 0
) -> RuleNumbers:
    """The numbers; or, with the index of the ``bias``, the coefficients of a conjunction or a disjunction."""
    fixed = torch.tensor([float(value) for value, _ in given], dtype=torch.float64)
    index = torch.tensor([-1 if name is None else places.get(name, -1) for _, name in given], dtype=torch.int64)
    start, signs, learned = torch.zeros_like(fixed), torch.ones_like(fixed), index >= 0
    if conjunction is not None:
        start[bias] = float(not conjunction)
        signs[bias] = -1.0
        signs = -signs if conjunction else signs
    start = torch.where(learned, start, torch.addcmul(start, signs, fixed))
    return RuleNumbers(start, signs * learned, index.clamp(min=0) if any_set(learned) else None)


def _sum_of(formula: Formula, places: Mapping[str, int], index: int, side: int) -> ClampedSum | None:
    """One end of a neuron; the end of an atom, or of a negation, is a sum of one term. None for another neuron."""
    neuron = formula.neurons[index]
    operands, weights, bias = (index,), ((1.0, None),), (1.0, None)
    if neuron.kind in _CONNECTIVES:
        if neuron.logic is None or not neuron.logic.sums:
            return None
        *weights, bias = zip((*neuron.weights, neuron.bias), neuron.learned, strict=True)
        operands = neuron.operands
    ends: list[tuple[_Number, tuple[RuleEnd, bool]]] = []
    sums: list[tuple[_Number, tuple[ClampedSum, bool]]] = []
    for place, (operand, weight) in enumerate(zip(operands, weights, strict=True)):
        falls = neuron.kind == "implies" and place == 0
        end, flipped = side ^ falls, (neuron.kind == "and") ^ falls  # flipped: its complement is the term
        while formula.neurons[operand].kind == "not":
            operand, end, flipped = formula.neurons[operand].operands[0], 1 - end, not flipped
        kind = formula.neurons[operand].kind
        inner = _sum_of(formula, places, operand, end) if kind in _CONNECTIVES else None
        if kind in _ATOMS:
            ends.append((weight, ((operand, end), flipped)))
        elif inner is not None:
            sums.append((weight, (inner, flipped)))
        else:
            return None
    numbers = [*(weight for weight, _ in ends), bias, *(weight for weight, _ in sums)]
    coefficients = _numbers(numbers, places, neuron.kind == "and", len(ends))
    return ClampedSum(coefficients, tuple(end for _, end in ends), tuple(inner for _, inner in sums))


def _clamp(values: Tensor) -> Tensor:
    return values.clamp(0.0, 1.0)


class _ClampThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, values: Tensor) -> Tensor:
        plain, read = values.detach(), as_numpy(values)  # comparisons of numpy are several times as fast
        cut = torch.from_numpy(((read < 0.0) | (read > 1.0)).nonzero()[0])
        if not len(cut):
            return values
        outside = plain.index_select(0, cut)
        ctx.save_for_backward(cut, outside - _clamp(outside))
        return _clamp(values)

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
