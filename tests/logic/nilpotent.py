"""Nilpotent minimum logic (Fodor 1995; Esteva and Godo 2001), as one would add it: the file of `lnnkit.logic` that it
would be.

========  ==============================================================
``and``   ``min(x, y)`` if ``x + y > 1``, else 0
``->``    its residuum: 1 if ``x <= y``, else ``max(1 - x, y)``
========  ==============================================================

The conjunction jumps where ``x + y`` passes 1, and the implication is ``~(x & ~y)``. Nothing is weighted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from lnnkit.arrays import namespace
from lnnkit.logic import Bounds, Inverse, Weight, complement, tolerance
from lnnkit.logic.bounds import asks, lesser
from lnnkit.logic.classical_region import Region
from lnnkit.logic.hulls import choose, fit, intersection, swapped, uncomplement, union
from lnnkit.logic.logic import Scalar, TruthArithmetic, TruthValue


class NilpotentMinimum(NamedTuple):
    """The minimum, but of truths that together exceed 1."""

    name: str = "nilpotent"

    continuous = frozenset[str]()
    sums = powers = False

    def among_others(self) -> NilpotentMinimum:
        return self

    def value(
        self, at: TruthArithmetic, kind: str, weights: Sequence[Scalar], bias: Scalar, x: Sequence[TruthValue]
    ) -> TruthValue:
        _unweighted(weights, bias)
        if kind == "implies":
            return at.negated(self.value(at, "and", weights, bias, [x[0], at.negated(x[1])]))

        def both(one: TruthValue, other: TruthValue) -> TruthValue:
            total = at.sum(bias - bias, [(weights[0], one, False), (weights[0], other, False)])
            return at.choose(total, at.one, at.negated(at.one), at.smaller(one, other))

        return reduce(both, x)

    def classical_region(self, kind: str, count: int, alpha: float) -> Region | None:
        return None

    def up(self, kind: str, operands: Sequence[Bounds], weights: Sequence[Weight], bias: Weight) -> Bounds:
        _unweighted(weights, bias)
        if kind == "and":
            return reduce(_minimum, operands)
        if kind == "or":
            return complement(reduce(_minimum, map(complement, operands)))
        forth = complement(_minimum(operands[0], complement(operands[1])))
        if kind == "implies":
            return forth
        return lesser(forth, complement(_minimum(operands[1], complement(operands[0]))))

    def down(
        self,
        kind: str,
        node: Bounds,
        operands: Sequence[Bounds],
        weights: Sequence[Weight],
        bias: Weight,
        wanted: Sequence[bool] | None = None,
    ) -> Inverse:
        _unweighted(weights, bias)
        if kind == "and":
            return _minimum_inverse(node, operands)
        if kind == "or":
            found = _minimum_inverse(complement(node), [complement(box) for box in operands])
            return Inverse(tuple(map(uncomplement, found.operands, operands)), found.empty)
        forth = _implication_inverse(node, operands)
        if kind == "implies":
            return forth
        back = swapped(_implication_inverse(node, operands[::-1]))
        return choose(asks(node)[1], union([forth, back]), intersection(forth, back, operands))


def _unweighted(weights: Sequence[Weight], bias: Weight) -> None:
    if bias != 1 or any(weight != 1 for weight in weights):
        raise NotImplementedError("nilpotent minimum logic has no weights")


def _minimum(x: Bounds, y: Bounds) -> Bounds:
    """Within the tolerance of the jump, it may have either value."""
    xp, tol, least = namespace(x.lower), tolerance(x.lower.dtype), lesser(x, y)
    return Bounds(
        xp.where(x.lower + y.lower > 1 + tol, least.lower, 0.0), xp.where(x.upper + y.upper > 1 - tol, least.upper, 0.0)
    )


def _minimum_inverse(node: Bounds, operands: Sequence[Bounds]) -> Inverse:
    """Each operand against the conjunction of the others, taken as an interval."""
    found = []
    for place, box in enumerate(operands):
        others = [*operands[:place], *operands[place + 1 :]]
        found.append(_operand(node, box, reduce(_minimum, others)) if others else union([_within(box, *node)]))
    empty = found[0].empty
    for each in found[1:]:
        empty = empty | each.empty
    return Inverse(tuple(fit(each.operands[0], box, empty) for each, box in zip(found, operands, strict=True)), empty)


def _operand(node: Bounds, x: Bounds, z: Bounds) -> Inverse:
    """The closed hull of the ``x`` for which some ``z`` makes ``x & z`` a truth in ``node``."""
    xp, tol = namespace(node.lower), tolerance(node.lower.dtype)
    at_most_one = _within(x, x.lower, 1 - z.lower)  # x + z <= 1: the truth is 0
    false = Inverse(at_most_one.operands, at_most_one.empty | asks(node)[0])
    is_least = _within(x, xp.maximum(node.lower, 1 - z.upper), xp.minimum(node.upper, z.upper))
    low, high = xp.maximum(z.lower, node.lower), xp.minimum(z.upper, node.upper)  # z is the truth, x + z > 1
    reach = xp.where(low > 0.5, low, xp.where(high < 0.5, 1 - high, 0.5))
    other_is = _within(x, reach, x.upper)
    return union([false, is_least, Inverse(other_is.operands, other_is.empty | (low > high + tol))])


def _within(box: Bounds, lower: TruthValue, upper: TruthValue) -> Inverse:
    tol = tolerance(box.lower.dtype)
    empty = (lower > upper + tol) | (lower > box.upper + tol) | (upper < box.lower - tol)
    return Inverse((fit(Bounds(lower, upper), box, empty),), empty)


def _implication_inverse(node: Bounds, operands: Sequence[Bounds]) -> Inverse:
    x, y = operands
    found = _minimum_inverse(complement(node), [x, complement(y)])
    return Inverse((found.operands[0], uncomplement(found.operands[1], y)), found.empty)
