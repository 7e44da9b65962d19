"""Weighted Goedel logic; the weighted form with the generator ``g(x) = 1 - x`` and the maximum in place of the sum.

========  ================================================================================================
``and``   ``clamp(min_i(b - w_i (1 - x_i)))``
``or``    ``clamp(max_i(1 - b + w_i x_i))``
``->``    with ``A = clamp(b - w_x (1 - x))`` and ``B = clamp(1 - w_y (1 - y))``: ``1`` if ``A <= B``, else
          ``clamp(B + 1 - b)``
``<->``   ``min(x -> y, y -> x)``: ``1`` if ``A = B``, else ``min(A, B)``; its bias is 1
========  ================================================================================================

An operand's part is its level ``c + w x``, with ``c = b - w`` (and ``1 - w_y`` for a consequent) or ``1 - b``, so that
plain neurons are min and max to the bit. An implication jumps where ``A`` passes ``B``: within the tolerance
(`lnnkit.logic.bounds`) of that it may have either value, up and down, but where ``A`` is 0 or ``B`` is 1 for certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from lnnkit.arrays import Array, clamp, namespace
from lnnkit.logic.bounds import Bounds, Inverse, asks, lesser, negative, rounding, tolerance
from lnnkit.logic.classical_region import LEAST, LinearConstraint, Region, region, row
from lnnkit.logic.hulls import candidate, fit, intersection, swapped, union
from lnnkit.logic.logic import Scalar, TruthArithmetic, TruthValue, Weight
from lnnkit.logic.operands import column, cut, scalar, stack, unstack, unweigh


class Goedel(NamedTuple):
    """Minimum and maximum of truths."""

    name: str = "godel"

    continuous = frozenset({"and", "or"})
    sums = powers = False

    def among_others(self) -> Goedel:
        return self

    def value(
        self, at: TruthArithmetic, kind: str, weights: Sequence[Scalar], bias: Scalar, x: Sequence[TruthValue]
    ) -> TruthValue:
        if kind == "and":
            levels = [at.sum(bias, [(-weight, truth, True)]) for weight, truth in zip(weights, x, strict=True)]
            return at.cut(reduce(at.smaller, levels))
        antecedent = at.cut(at.sum(bias, [(-weights[0], x[0], True)]))
        consequent = at.cut(at.sum(at.one, [(-weights[1], x[1], True)]))
        return at.choose(antecedent, consequent, at.one, at.cut(at.sum(1 - bias, [(at.one, consequent, False)])))

    def classical_region(self, kind: str, count: int, alpha: float) -> Region | None:
        """Where a conjunction is classical: ``b - (1-a) w_i >= a`` if all are true, ``b - a w_i <= 1 - a`` if one is
        false; a disjunction the same by De Morgan. An implication is 1 where ``1 - wy (1-y) >= b - wx (1-x)``; with
        ``b = 1`` it is false if ``wy a >= a`` and ``a wy > (1-a) wx``, true for a false ``x`` if ``wx a >= wy``, and
        true for a true ``y`` if ``wy <= 1``."""
        if kind != "implies":
            all_true = (LinearConstraint(row(count + 1, {i: 1 - alpha, -1: -1.0}), -alpha) for i in range(count))
            one_false = (LinearConstraint(row(count + 1, {i: -alpha, -1: 1.0}), 1 - alpha, True) for i in range(count))
            return region([*all_true, *one_false], [1.0] * (count + 1))
        if alpha < 1 and (1 - alpha) * (1 / alpha) > alpha - LEAST:
            return None
        conditions = [
            LinearConstraint([0.0, 0.0, 1.0], 1.0),
            LinearConstraint([0.0, 0.0, -1.0], -1.0),
            LinearConstraint([0.0, -1.0, 0.0], -1.0, True),
            LinearConstraint([0.0, 1.0, 0.0], 1.0),
            LinearConstraint([-alpha, 1.0, 0.0], 0.0, True),
            LinearConstraint([1 - alpha, -alpha, 0.0], -LEAST if alpha < 1 else 0.0),
        ]
        weight = 1.0 if alpha == 1 else (1 / alpha + (alpha - LEAST) / (1 - alpha)) / 2
        return region(conditions, [weight, 1.0, 1.0])

    def up(self, kind: str, operands: Sequence[Bounds], weights: Sequence[Weight], bias: Weight) -> Bounds:
        if kind == "and":
            truths = _truths(_conjunction_side(operands, weights, bias).levels, operands, weights, bias, 1.0)
            return Bounds(_least(truths.lower), _least(truths.upper))
        if kind == "or":
            truths = _truths(_disjunction_side(operands, weights, bias).levels, operands, weights, bias, 0.0)
            return Bounds(-_least(-truths.lower), -_least(-truths.upper))
        if kind == "implies":
            return _implication(operands[0], operands[1], weights, bias)
        forth = _implication(operands[0], operands[1], weights, bias)
        return lesser(forth, _implication(operands[1], operands[0], weights[::-1], bias))

    def down(
        self,
        kind: str,
        node: Bounds,
        operands: Sequence[Bounds],
        weights: Sequence[Weight],
        bias: Weight,
        wanted: Sequence[bool] | None = None,
    ) -> Inverse:
        if kind in ("implies", "iff"):
            (left, right), bias_y = operands, bias if kind == "iff" else 1.0
            x, y = _antecedent(left, weights[0], bias), _antecedent(right, weights[1], bias_y)
            truths = _truth(left, weights[0], bias), _truth(right, weights[1], bias_y)
            forth = _falls(node, x, y, bias, *truths)
            if kind == "implies":  # {A <= B} (if U = 1) and {A > B, B + 1 - b in [L, U]}
                return union([_holds(node, x, y), forth])
            # {A = B} (if U = 1), {A > B, B in [L, U]} and {B > A, A in [L, U]}
            equal = intersection(_holds(node, x, y), swapped(_holds(node, y, x)), (left, right))
            return union([equal, forth, swapped(_falls(node, y, x, bias, *truths[::-1]))])
        asks_lower, asks_upper = asks(node)
        if kind == "and":
            side = _conjunction_side(operands, weights, bias)
            last, empty = _least_inverse(node, (asks_lower, asks_upper), side.levels)
            return Inverse(unstack(_preimage(side, node, asks_lower, last, empty)), empty)
        side = _disjunction_side(operands, weights, bias)
        last, empty = _least_inverse(negative(node), (asks_upper, asks_lower), negative(side.levels))
        return Inverse(unstack(_preimage(side, node, last, asks_upper, empty)), empty)


def _implication(antecedent: Bounds, consequent: Bounds, weights: Sequence[Weight], bias: Weight) -> Bounds:
    x, y = _truth(antecedent, weights[0], bias), _truth(consequent, weights[1], 1.0)
    drop = scalar(bias, x.lower) - 1
    tol = tolerance(x.lower.dtype)
    holds = (x.upper < y.lower - tol) | _never_falls(x, y)
    xp = namespace(holds)
    lower = xp.where(holds, 1.0, clamp(y.lower - drop, 0.0, 1.0))
    upper = xp.where(x.lower <= y.upper + tol, 1.0, clamp(y.upper - drop, 0.0, 1.0))
    return Bounds(lower, upper)


class _LevelledOperands(NamedTuple):
    """Operands with their levels ``offset + weight * x``: a stack ``[k, n]``, or one operand ``[n]``."""

    box: Bounds
    weight: Array
    offset: Array
    levels: Bounds

    @property
    def truth(self) -> Bounds:
        """The levels as truths."""
        return Bounds(clamp(self.levels.lower, 0.0, 1.0), clamp(self.levels.upper, 0.0, 1.0))


def _side(box: Bounds, weight: Array, offset: Array) -> _LevelledOperands:
    return _LevelledOperands(box, weight, offset, Bounds(offset + weight * box.lower, offset + weight * box.upper))


def _conjunction_side(operands: Sequence[Bounds], weights: Sequence[Weight], bias: Weight) -> _LevelledOperands:
    box = stack(operands)
    weight = column(weights, box.lower)
    return _side(box, weight, scalar(bias, box.lower) - weight)


def _disjunction_side(operands: Sequence[Bounds], weights: Sequence[Weight], bias: Weight) -> _LevelledOperands:
    box = stack(operands)
    return _side(box, column(weights, box.lower), 1 - scalar(bias, box.lower))


def _antecedent(box: Bounds, weight: Weight, bias: Weight) -> _LevelledOperands:
    part = scalar(weight, box.lower)
    return _side(box, part, scalar(bias, box.lower) - part)


def _truths(
    levels: Bounds, operands: Sequence[Bounds], weights: Sequence[Weight], bias: Weight, absent: float
) -> Bounds:
    """Levels ``[k, n]`` as truths; rounding produces neither 0 nor 1. ``absent`` is the truth at which an operand's
    level does not depend on its weight."""
    if _plain(bias) and all(map(_plain, weights)):  # No rounding occurs with unit weights and bias.
        return Bounds(clamp(levels.lower, 0.0, 1.0), clamp(levels.upper, 0.0, 1.0))
    boxes = zip(unstack(levels), operands, weights, strict=True)
    return stack([cut(level, (box,), (absent,), (weight,), bias) for level, box, weight in boxes])


def _truth(box: Bounds, weight: Weight, bias: Weight) -> Bounds:
    """The level of an operand as a truth, in an implication."""
    side = _antecedent(box, weight, bias)
    return side.truth if _plain(weight) and _plain(bias) else cut(side.levels, (box,), (1.0,), (weight,), bias)


def _never_falls(x: Bounds, y: Bounds) -> Array:
    """A mask of where an implication is 1 whatever the rounding: ``A`` is 0, or ``B`` is 1."""
    return (x.upper <= 0) | (y.lower >= 1)


def _outward(end: Array, drop: Array, sign: int) -> Array:
    """``end + drop``, moved by the rounding in the direction of ``sign`` where the sum was rounded."""
    total = end + drop
    return namespace(total).where(total - drop == end, total, total + sign * rounding(end.dtype))


def _least(values: Array) -> Array:
    """The minimum over the first dimension."""
    return namespace(values).min(values, axis=0)


def _plain(number: Weight) -> bool:
    return isinstance(number, float | int) and number == 1


def _preimage(side: _LevelledOperands, levels: Bounds, where_lower: Array, where_upper: Array, empty: Array) -> Bounds:
    """The operands whose levels are in ``levels``; each end counts only where its mask is set."""
    share = Bounds(levels.lower - side.offset, levels.upper - side.offset)
    hull = unweigh(share, side.weight, 1 + abs(side.offset))
    present = side.weight > 0
    return fit(candidate(*hull, where_lower & present, where_upper & present), side.box, empty)


def _least_inverse(node: Bounds, sides: tuple[Array, Array], levels: Bounds) -> tuple[Array, Array]:
    """Downward through the minimum of ``levels`` ``[k, n]``: every level must reach ``L`` where that counts.

    Returns where a level must be at most ``U`` because no other can be (``[k, n]``), and where no level can.
    """
    tol = tolerance(node.lower.dtype)
    can_be_least = levels.lower <= node.upper + tol
    last = sides[1] & can_be_least & (can_be_least.sum(0) == 1)
    empty = sides[0] & (_least(levels.upper) < node.lower - tol)
    empty = empty | (sides[1] & ~can_be_least.any(0))
    return last, empty


def _holds(node: Bounds, x: _LevelledOperands, y: _LevelledOperands) -> Inverse:
    """The branch ``{A <= B}``, for ``U = 1``."""
    tol = tolerance(node.lower.dtype)
    most, least = y.truth.upper, x.truth.lower
    empty = asks(node)[1] | (least > most + tol)
    xp = namespace(empty)
    nowhere = xp.zeros_like(empty)
    below = _preimage(
        x, Bounds(most, most), nowhere, most < xp.where(x.levels.upper > 1, xp.full_like(most, 1 - tol), 1.0), empty
    )
    above = _preimage(y, Bounds(least, least), least > tol, nowhere, empty)
    return Inverse((below, above), empty)


def _falls(
    node: Bounds, x: _LevelledOperands, y: _LevelledOperands, bias: Weight, antecedent: Bounds, consequent: Bounds
) -> Inverse:
    """The branch ``{A > B, B + 1 - b in [L, U]}``, closed. Here ``A`` is above ``B`` and therefore not clamped at 0.
    ``antecedent`` and ``consequent`` are the truths of the two sides."""
    asks_lower, asks_upper = asks(node)
    xp, tol, drop = namespace(node.lower), tolerance(node.lower.dtype), scalar(bias, node.lower) - 1
    low, high = _outward(node.lower, drop, -1), _outward(node.upper, drop, 1)
    least = xp.where(asks_lower & (low > y.truth.lower), low, y.truth.lower)
    most = xp.where(asks_upper & (high < y.truth.upper), high, y.truth.upper)
    # Within the tolerance it may fall. If it may also hold (U = 1), this branch adds nothing.
    never = xp.where(asks_upper, x.truth.upper < least - tol, x.truth.upper <= least)
    empty = (least > most + tol) | never | _never_falls(antecedent, consequent)
    below = xp.where(asks_upper & (high < x.truth.upper), high, x.truth.upper)
    everywhere = xp.ones_like(empty)
    above = _preimage(x, Bounds(least, least), everywhere, ~everywhere, empty)
    # Rounding must not remove values where B is flat.
    raised = asks_lower & (low > tol * xp.astype(y.levels.lower < 0, low.dtype))
    return Inverse((above, _preimage(y, Bounds(low, below), raised, everywhere, empty)), empty)
