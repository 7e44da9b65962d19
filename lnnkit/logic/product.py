"""Weighted product logic (Goguen); the weighted form with the additive generator ``g(x) = -ln x``.

========  ==============================================================================
``and``   ``clamp(e^(b-1) prod x_i^w_i)``, computed as ``exp(-(sum w_i g(x_i) - (b - 1)))``
``or``    by De Morgan
``->``    ``1`` if ``N >= D``, else ``N / D``, with ``N = e^(1-b) y^w_y`` and ``D = x^w_x``
``<->``   ``min(x -> y, y -> x)``; its bias is 1
========  ==============================================================================

``0^0 = 1``, so an absent operand (``w = 0``) is a factor of 1. The implication is the residuum of the weighted
conjunction (Hajek 1998, *Metamathematics of Fuzzy Logic*, section 2.1, for the unweighted one).

Quotients and roots of small truths are steep. Where they magnify the rounding error of their inputs, the result is
moved outward by the magnified error (`lnnkit.logic.operands`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from lnnkit import elementwise
from lnnkit.arrays import Array, any_set, clamp, namespace, replaced, take
from lnnkit.logic.bounds import Bounds, Inverse, asks, below_one, complement, lesser, misses, rounding, tolerance
from lnnkit.logic.classical_region import LEAST, LinearConstraint, Region, region, row
from lnnkit.logic.hulls import candidate, choose, fit, intersection, swapped, uncomplement, union
from lnnkit.logic.logic import Scalar, TruthArithmetic, TruthValue, Weight
from lnnkit.logic.operands import (
    column,
    loosened,
    scalar,
    stack,
    steadied,
    steep_rows,
    sum_of_all,
    sum_of_others,
    unstack,
    unweigh,
)


class Product(NamedTuple):
    """Product logic: conjunction multiplies truths."""

    name: str = "product"

    continuous = frozenset({"and", "or", "implies"})  # but where both sides of an implication are 0
    sums = False
    powers = True

    def among_others(self) -> Product:
        return self

    def value(
        self, at: TruthArithmetic, kind: str, weights: Sequence[Scalar], bias: Scalar, x: Sequence[TruthValue]
    ) -> TruthValue:
        scale = at.one if bias == 1 else math.exp(bias - 1)
        truths = list(map(at.power, x, weights))
        if kind == "and":
            truth = reduce(at.times, truths, scale)
            return truth if bias == 1 else at.cut(truth)
        return at.quotient(truths[1], at.times(scale, truths[0]))

    def classical_region(self, kind: str, count: int, alpha: float) -> Region | None:
        """Where a conjunction is classical: ``b - 1 >= ln(1/a) (sum w - 1)`` if all are true, and
        ``b - 1 <= ln(1/(1-a)) (w_i - 1)`` if one is false (``w_i > 0`` at ``a = 1``); a disjunction has the same by De
        Morgan. An implication is 1 where ``y^wy e^(1-b) >= x^wx``, so for a false ``x`` whatever ``y`` only at
        ``a = 1``."""
        if kind == "implies":
            both = [LinearConstraint([-1.0, 0.0, 0.0], -LEAST, True), LinearConstraint([0.0, -1.0, 0.0], -LEAST, True)]
            return region([*both, LinearConstraint([0.0, 0.0, 1.0], 1.0)], [1.0] * 3) if alpha == 1 else None
        true = -math.log(alpha)
        all_true = LinearConstraint([true] * count + [-1.0], true - 1.0)
        if alpha == 1:
            present = (LinearConstraint(row(count + 1, {i: -1.0}), -LEAST, True) for i in range(count))
            return region([all_true, *present], [1.0] * (count + 1))
        false = -math.log(1 - alpha)
        if false <= count * true:
            return None
        one_false = (LinearConstraint(row(count + 1, {i: -false, -1: 1.0}), 1.0 - false, True) for i in range(count))
        weight = (false - true) / (false - count * true)
        return region([all_true, *one_false], [weight] * count + [1.0 + true * (count * weight - 1)])

    def up(self, kind: str, operands: Sequence[Bounds], weights: Sequence[Weight], bias: Weight) -> Bounds:
        if kind == "implies":
            return _implication(operands[0], operands[1], weights, bias)
        if kind == "iff":  # min(p, q) / max(p, q) with p = x^w_x and q = y^w_y; 1 where both are 0
            forth = _implication(operands[0], operands[1], weights, bias)
            return lesser(forth, _implication(operands[1], operands[0], weights[::-1], bias))
        boxes = stack(operands)
        weight, excess = column(weights, boxes.lower), scalar(bias, boxes.lower)
        if kind == "and":
            return _product(boxes, weight, excess)
        return complement(_product(complement(boxes), weight, excess))

    def down(
        self,
        kind: str,
        node: Bounds,
        operands: Sequence[Bounds],
        weights: Sequence[Weight],
        bias: Weight,
        wanted: Sequence[bool] | None = None,
    ) -> Inverse:
        if kind == "implies":
            return _implication_inverse(node, operands[0], operands[1], weights, bias)
        if kind == "iff":  # If U = 1 both implications are at least L; else one is in [L, U], and the other is 1.
            forth = _implication_inverse(node, operands[0], operands[1], weights, bias)
            back = swapped(_implication_inverse(node, operands[1], operands[0], weights[::-1], bias))
            return choose(asks(node)[1], union([forth, back]), intersection(forth, back, operands))
        boxes = stack(operands)
        weight, excess = column(weights, boxes.lower), scalar(bias, boxes.lower)
        if kind == "and":
            hull, empty = _product_inverse(node, boxes, weight, excess)
            return Inverse(unstack(hull), empty)
        hull, empty = _product_inverse(complement(node), complement(boxes), weight, excess)
        return Inverse(unstack(uncomplement(hull, boxes)), empty)


def _implication(antecedent: Bounds, consequent: Bounds, weights: Sequence[Weight], bias: Weight) -> Bounds:
    weight_x, weight_y = (scalar(weight, antecedent.lower) for weight in weights)
    scale = _scale(bias, antecedent.lower)

    def image(boxes: Sequence[Bounds]) -> Bounds:
        x, y = boxes
        most, least = _power(x.upper, weight_x), _power(_snapped(y.lower), weight_y)
        lower = _short(_residuum(most, least, scale), (most == 0) | ((least == 1) & (scale == 1)))
        upper = _residuum(_power(_snapped(x.lower), weight_x), _power(y.upper, weight_y), scale)
        return Bounds(lower, upper)

    boxes = (antecedent, consequent)
    exact, rows = image(boxes), steep_rows(boxes, weights)
    return exact if rows is None else steadied(exact, image([loosened(box, rows) for box in boxes]), rows)


def _implication_inverse(
    node: Bounds, antecedent: Bounds, consequent: Bounds, weights: Sequence[Weight], bias: Weight
) -> Inverse:
    """``L > 0`` requires ``N >= L D``; ``U < 1`` requires ``N <= U D`` and ``D > 0``."""
    asks_lower, asks_upper = asks(node)
    weight_x, weight_y = (scalar(weight, node.lower) for weight in weights)
    scale = _scale(bias, node.lower)

    def left(boxes: Sequence[Bounds]) -> tuple[Bounds, Bounds, Array]:
        node, x, y = boxes
        most_x, most_y = _power(x.upper, weight_x), _power(y.upper, weight_y)
        least_x, least_y = _power(_snapped(x.lower), weight_x), _power(_snapped(y.lower), weight_y)
        image = Bounds(_residuum(most_x, least_y, scale), _residuum(least_x, most_y, scale))
        x = _roots(_quotient(least_y, node.upper * scale), _quotient(most_y, node.lower * scale), weight_x)
        y = _roots(node.lower * least_x * scale, node.upper * most_x * scale, weight_y)
        crisp = (node.lower == 1) & (least_x == 1) & (scale == 1)
        x, y = Bounds(_short(x.lower, crisp), x.upper), Bounds(_short(y.lower, crisp), y.upper)
        return x, y, misses(image, node)

    boxes = (node, antecedent, consequent)
    x, y, empty = left(boxes)
    rows = steep_rows(boxes, weights)
    if rows is not None:
        looser_x, looser_y, still = left([loosened(box, rows) for box in boxes])
        x, y = steadied(x, looser_x, rows), steadied(y, looser_y, rows)
        empty = replaced(empty, rows, take(empty, rows) & still)
    # With y at 0 the truth is either 0 or 1.
    empty = empty | (asks_lower & asks_upper & (_power(consequent.upper, weight_y) == 0))
    x = candidate(*x, asks_upper & (weight_x > 0), asks_lower & (weight_x > 0))
    y = candidate(*y, asks_lower & (weight_y > 0), asks_upper & (weight_y > 0))
    return Inverse((fit(x, antecedent, empty), fit(y, consequent, empty)), empty)


def _product(factors: Bounds, weight: Array, bias: Array) -> Bounds:
    """``clamp(e^(b-1) prod x_i^w_i)``: shapes ``[k, n]``, ``[k, 1]``, ``[]`` give ``[n]``."""
    exact = _image(factors, weight, bias)
    if not any_set((weight > 0) & (weight < 1)):  # Only a root is steep, at 0.
        return exact
    rows = steep_rows((factors,), (weight,))
    return exact if rows is None else steadied(exact, _image(loosened(factors, rows), weight, bias), rows)


def _image(factors: Bounds, weight: Array, bias: Array) -> Bounds:
    excess = bias - 1
    lower, upper = (sum_of_all(_costs(end, weight)) - excess for end in factors)
    return Bounds(_lower_truth(lower, excess), _upper_truth(upper))


def _product_inverse(node: Bounds, factors: Bounds, weight: Array, bias: Array) -> tuple[Bounds, Array]:
    """The bounds of the factors consistent with the node, ``[k, n]``, and a mask ``[n]`` of rows where there are
    none."""
    asks_lower, asks_upper = asks(node)
    hull, empty = _factors_left(node, factors, weight, bias)
    rows = steep_rows((node, factors), (weight,))
    if rows is not None:
        looser, still = _factors_left(loosened(node, rows), loosened(factors, rows), weight, bias)
        hull = steadied(hull, looser, rows)
        empty = replaced(empty, rows, take(empty, rows) & still)
    hull = candidate(*hull, asks_lower & (weight > 0), asks_upper & (weight > 0))
    return fit(hull, factors, empty), empty


def _factors_left(node: Bounds, factors: Bounds, weight: Array, bias: Array) -> tuple[Bounds, Array]:
    """``w_i g(x_i)`` is between ``g(U) + b - 1`` minus the maximum of the others and ``g(L) + b - 1`` minus their
    minimum."""
    asks_lower, excess = asks(node)[0], bias - 1
    costs = Bounds(_costs(factors.upper, weight), _costs(_snapped(factors.lower), weight))
    empty = misses(Bounds(_truth(sum_of_all(costs.upper) - excess), _truth(sum_of_all(costs.lower) - excess)), node)
    dearest, cheapest = _generator(node.lower) + excess, _generator(node.upper) + excess
    left_over = Bounds(cheapest - sum_of_others(costs.upper), dearest - sum_of_others(costs.lower))
    cost = unweigh(left_over, weight, 1 + abs(excess) + abs(namespace(dearest).where(asks_lower, dearest, 0.0)))
    crisp = (node.lower == 1) & (excess == 0)
    return Bounds(_short(_truth(cost.upper), crisp), _truth(cost.lower)), empty


def _truth(cost: Array) -> Array:
    """The generator's pseudo-inverse, ``e^-s`` and at most 1."""
    return namespace(cost).exp(-clamp(cost, least=0.0))


def _lower_truth(cost: Array, excess: Array) -> Array:
    """As `_truth`, for lower ends: less than 1 if any factor is. With a bias other than 1, up to rounding."""
    truth, xp = _truth(cost), namespace(cost)
    doubt = xp.where(excess == 0, 0.0, rounding(cost.dtype) * (1 + abs(excess)))
    return xp.where(cost > -doubt, clamp(truth, most=below_one(cost.dtype)), truth)


def _upper_truth(cost: Array) -> Array:
    """As `_truth`, for upper ends: more than 0 unless a factor is 0."""
    least, endless = (700.0, 1e99) if cost.dtype.itemsize == 8 else (80.0, 1e29)
    return namespace(cost).where(cost < endless, _truth(clamp(cost, most=least)), 0.0)


def _short(lower: Array, sure: Array) -> Array:
    """Lower ends, of which only those marked ``sure`` are 1: another quotient of 1 may be due to rounding."""
    slack = rounding(lower.dtype)
    return namespace(lower).where((lower > 1 - slack) & (lower < 1 + slack) & ~sure, 1 - slack, lower)


def _snapped(lower: Array) -> Array:
    """Lower ends, with those within the tolerance set to 0, so that rounding excludes no operand."""
    return namespace(lower).where(lower <= tolerance(lower.dtype), 0.0, lower)


def _generator(truth: Array) -> Array:
    """``-ln x``; at 0 a finite number that exceeds every sum of others, which avoids ``inf - inf``."""
    positive, xp = truth > 0, namespace(truth)
    endless = 1e100 if truth.dtype.itemsize == 8 else 1e30
    return xp.where(positive, -xp.log(xp.where(positive, truth, 1.0)), endless)


def _costs(truths: Array, weight: Array) -> Array:
    """``w_i g(x_i)``, where a truth of 0 has the greatest cost at any weight except 0. Shapes ``[k, n]`` and ``[k,
    1]``."""
    cost, xp = _generator(truths), namespace(truths)
    return xp.where(weight > 0, xp.where(truths > 0, weight * cost, cost), 0.0)


def _scale(bias: Weight, like: Array) -> Array:
    """``e^(b-1)``, capped before it overflows."""
    return namespace(like).exp(clamp(scalar(bias, like) - 1, most=700.0 if like.dtype.itemsize == 8 else 80.0))


def _power(base: Array, exponent: Array) -> Array:
    """``base^exponent`` with ``0^0 = 1``, and gradients that stay finite at a base of 0."""
    positive, xp = base > 0, namespace(base)
    if not getattr(exponent, "requires_grad", False) and float(exponent) == 1:  # a quarter off most programs' time
        return xp.where(positive, base, 0.0)
    power = elementwise.power(xp.where(positive, base, 1.0), exponent)
    return xp.where(positive, power, 0.0 if exponent > 0 else 1.0)


def _quotient(numerator: Array, denominator: Array) -> Array:
    """``numerator / denominator``, with ``0 / 0 = 0``; anything else over 0 is greater than any truth."""
    safe, xp = denominator > 0, namespace(numerator)
    endless = 2.0 * xp.astype(numerator > 0, numerator.dtype)
    return xp.where(safe, numerator / xp.where(safe, denominator, 1.0), endless)


def _residuum(divisor: Array, dividend: Array, scale: Array) -> Array:
    """``1`` if ``N >= D``, else ``N / D``."""
    return namespace(divisor).where(divisor > 0, clamp(_quotient(dividend, divisor * scale), most=1.0), 1.0)


def _roots(low: Array, high: Array, weight: Array) -> Bounds:
    """``[low, high]^(1/w)``, at most 1, with slack for the rounding that a small weight magnifies."""
    xp = namespace(low)
    relative = unweigh(Bounds(xp.zeros_like(low), xp.zeros_like(high)), weight, 1.0)
    inverse = 1 / xp.where(weight > 0, weight, 1.0)
    lower, upper = _power(clamp(low, most=1.0), inverse), _power(clamp(high, most=1.0), inverse)
    return Bounds(lower * xp.exp(relative.lower), upper * xp.exp(relative.upper))
