"""Weighted Lukasiewicz logic (Riegel et al. 2020, arXiv 2006.13155; IBM/LNN ``neural/methods/lukasiewicz.py``).

========  ==========================================================
``and``   ``clamp(b - sum w_i (1 - x_i))``
``or``    ``clamp(1 - b + sum w_i x_i)``
``->``    ``clamp(1 - b + w_x (1 - x) + w_y y)``
``<->``   ``min(x -> y, y -> x)``
========  ==========================================================

All except ``<->`` are one neuron, the clamped sum ``clamp(1 - b + sum w_i t_i)`` with ``t = x`` or ``1 - x``. Its
inverse bounds ``w_i t_i`` from below by ``L + b - 1`` minus the maximum of the other terms, and from above by ``U + b -
1`` minus their minimum. Because of the clamp, ``L = 0`` and ``U = 1`` give no bound.

These functions are continuous, so an end that is rounded to 0 or 1 does no harm here. If a connective of another logic
may read the result, the ``strict`` kernels avoid such rounding (`lnnkit.logic.operands`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lnnkit.arrays import Array, any_set, clamp, namespace
from lnnkit.logic.bounds import Bounds, Inverse, asks, complement, lesser, nearly_complement, ordered, tolerance
from lnnkit.logic.classical_region import LinearConstraint, Region, region, row
from lnnkit.logic.hulls import NO_LOWER, NO_UPPER, candidate, fit, swapped, uncomplement, union
from lnnkit.logic.logic import Scalar, TruthArithmetic, TruthValue, Weight
from lnnkit.logic.operands import (
    column,
    cut,
    scalar,
    short,
    stack,
    sum_of_all,
    sum_of_others,
    sums_of_others,
    unstack,
    unweigh,
    unweighed,
)

_MANY = 64  # Up to this many operands are handled one by one, more as one stacked array.


class Lukasiewicz(NamedTuple):
    """The default logic. With ``strict``, rounding produces no lower end of 1 and no upper end of 0."""

    name: str = "lukasiewicz"
    strict: bool = False

    continuous = frozenset({"and", "or", "implies"})
    sums = True
    powers = False

    def among_others(self) -> Lukasiewicz:
        return self._replace(strict=True)

    def value(
        self, at: TruthArithmetic, kind: str, weights: Sequence[Scalar], bias: Scalar, x: Sequence[TruthValue]
    ) -> TruthValue:
        if kind == "and":
            return at.sum(bias, [(-weight, truth, True) for weight, truth in zip(weights, x, strict=True)])
        if kind == "implies":
            return at.sum(1 - bias, [(weights[0], x[0], True), (weights[1], x[1], False)])
        return at.sum(1 - bias, [(weight, truth, False) for weight, truth in zip(weights, x, strict=True)])

    def classical_region(self, kind: str, count: int, alpha: float) -> Region | None:
        """Where a conjunction is classical: ``b - (1-a) sum w_i >= a`` if all are true, and ``b - a w_i <= 1 - a`` if
        one is false; the others have the same by De Morgan."""
        room = alpha - count * (1 - alpha)
        if room <= 0:
            return None
        all_true = LinearConstraint([1 - alpha] * count + [-1.0], -alpha)
        one_false = (LinearConstraint(row(count + 1, {i: -alpha, -1: 1.0}), 1 - alpha, True) for i in range(count))
        weight = (2 * alpha - 1) / room
        return region([all_true, *one_false], [weight] * count + [alpha + (1 - alpha) * count * weight])

    def up(self, kind: str, operands: Sequence[Bounds], weights: Sequence[Weight], bias: Weight) -> Bounds:
        if kind != "iff":
            bounds = _sum(operands, _flips(kind, len(operands)), weights, bias, self.strict)
            if kind != "and":
                return bounds
            return complement(bounds) if self.strict else nearly_complement(bounds)
        # With ``f`` and ``g`` the two implications before the clamp, ``f + g = C = 2 - 2 b + w_x + w_y``. So their
        # minimum is at most ``C / 2``, where both are equal.
        least = lesser(
            self.up("implies", operands, weights, bias), self.up("implies", operands[::-1], weights[::-1], bias)
        )
        most = clamp(_sum_of_both(weights, bias, least.lower) / 2, 0.0, 1.0)
        return least._replace(upper=namespace(most).where(most < least.upper, most, least.upper))

    def down(
        self,
        kind: str,
        node: Bounds,
        operands: Sequence[Bounds],
        weights: Sequence[Weight],
        bias: Weight,
        wanted: Sequence[bool] | None = None,
    ) -> Inverse:
        if kind == "iff":
            return self._equivalence_inverse(node, operands[0], operands[1], weights, bias)
        flips = _flips(kind, len(operands))
        terms = [nearly_complement(box) if flip else box for box, flip in zip(operands, flips, strict=True)]
        target = nearly_complement(node) if kind == "and" else node
        hulls, empty = _band(target, asks(target), terms, weights, bias, self.strict, wanted)
        parts = zip(hulls, terms, operands, flips, strict=True)
        return Inverse(tuple(_uncomplemented(h, term, box) if flip else h for h, term, box, flip in parts), empty)

    def _equivalence_inverse(
        self, node: Bounds, left: Bounds, right: Bounds, weights: Sequence[Weight], bias: Weight
    ) -> Inverse:
        """The hull of two bands, with ``f``, ``g`` and ``C`` as in `up`: ``f`` is the minimum, in
        ``[L, min(U, C - L)]``, or ``g`` is."""
        asks_lower, asks_upper = asks(node)
        both = _sum_of_both(weights, bias, node.lower)
        mirror = both - node.lower
        high = namespace(mirror).where(asks_lower & (~asks_upper | (mirror < node.upper)), mirror, node.upper)
        band, sides = ordered(node.lower, high), (asks_lower, asks_lower | asks_upper)
        too_high = asks_lower & (node.lower > both / 2 + tolerance(node.lower.dtype))

        def forth(x: Bounds, y: Bounds, pair: Sequence[Weight]) -> Inverse:
            (first, second), empty = _band(band, sides, (nearly_complement(x), y), pair, bias, self.strict)
            return Inverse((uncomplement(first, x), second), empty | too_high)

        return union([forth(left, right, weights), swapped(forth(right, left, weights[::-1]))])


def _flips(kind: str, count: int) -> list[bool]:
    """Which operands of the sum stand for their complements."""
    return [kind == "and" or (kind == "implies" and not place) for place in range(count)]


def _sum_of_both(weights: Sequence[Weight], bias: Weight, like: Array) -> Array:
    """``C``, the sum of both implications of an equivalence before the clamp."""
    return 2 - 2 * scalar(bias, like) + scalar(weights[0], like) + scalar(weights[1], like)


def _sum(
    operands: Sequence[Bounds], flipped: Sequence[bool], weights: Sequence[Weight], bias: Weight, strict: bool
) -> Bounds:
    """``clamp(1 - b + sum w_i t_i)``, row by row. The terms are the operands, or one minus the operand if ``flipped``,
    added in order."""
    if len(weights) != len(operands):
        raise ValueError(f"{len(operands)} operands, but {len(weights)} weights")
    terms = [nearly_complement(box) if flip else box for box, flip in zip(operands, flipped, strict=True)]
    start = 1.0 - scalar(bias, terms[0].lower)
    lower, upper = terms[0].lower * weights[0], terms[0].upper * weights[0]
    for term, weight in zip(terms[1:], weights[1:], strict=True):
        lower, upper = _plus(lower, weight, term.lower), _plus(upper, weight, term.upper)
    if not strict:
        return Bounds(clamp(start + lower, 0.0, 1.0), clamp(start + upper, 0.0, 1.0))
    ends = [Bounds(box.upper, box.lower) if flip else box for box, flip in zip(operands, flipped, strict=True)]
    return cut(Bounds(start + lower, start + upper), ends, [float(flip) for flip in flipped], weights, bias)


def _plus(total: Array, weight: Weight, term: Array) -> Array:
    return total + (term if isinstance(weight, float | int) and weight == 1 else weight * term)


def _uncomplemented(hull: Bounds, term: Bounds, box: Bounds) -> Bounds:
    """The hull of ``x`` from that of ``term = 1 - x``; where an end is that of the term, it is that of the box."""
    if hull is term:
        return box
    lower = box.lower if hull.upper is term.upper else None
    upper = box.upper if hull.lower is term.lower else None
    if lower is None and upper is None:
        return uncomplement(hull, box)
    xp = namespace(box.lower)
    if lower is None:
        lower = clamp(xp.where(hull.upper == term.upper, box.lower, 1 - hull.upper), box.lower, box.upper)
    if upper is None:
        upper = clamp(xp.where(hull.lower == term.lower, box.upper, 1 - hull.lower), box.lower, box.upper)
    return Bounds(lower, upper)


def _band(
    node: Bounds,
    sides: tuple[Array, Array],
    terms: Sequence[Bounds],
    weights: Sequence[Weight],
    bias: Weight,
    strict: bool,
    wanted: Sequence[bool] | None = None,
) -> tuple[list[Bounds], Array]:
    """The bounds of the terms consistent with the sum before the clamp, and a mask ``[n]`` of rows where there are
    none. ``sides`` are masks of where each end of ``node`` counts. The upper ends of the other terms give the lower end
    of a term, and vice versa; ends of a side that counts in no row, and terms that are not ``wanted``, stay
    unchanged."""
    if len(weights) != len(terms):
        raise ValueError(f"{len(terms)} operands, but {len(weights)} weights")
    tol, excess = tolerance(node.lower.dtype), scalar(bias, node.lower) - 1
    low, high = node.lower + excess, node.upper + excess
    if len(terms) > _MANY and not strict:
        return _band_of_many(low, high, sides, terms, weights)
    xp, slack = namespace(low), abs(high) + 1.0
    wanted = wanted or [True] * len(terms)
    empty = xp.zeros_like(sides[0])
    left: list[list[Array] | None] = [None, None]  # what each side leaves of the terms
    for side, end in enumerate((low, high)):
        if not any_set(sides[side]):
            continue
        shares = [weight * term[1 - side] for weight, term in zip(weights, terms, strict=True)]
        others, total = sums_of_others(shares, wanted)
        empty = empty | (sides[side] & (total > high + tol if side else total < low - tol))
        room = slack if side else -slack
        ends = [unweighed(end - other, weight, room) for other, weight in zip(others, weights, strict=True)]
        left[side] = [_short(bound, side, node, terms, weights, bias) for bound in ends] if strict else ends
    lowers, uppers = left
    hulls: list[Bounds] = []
    for place, (term, weight) in enumerate(zip(terms, weights, strict=True)):
        lower, upper = term
        if not wanted[place]:
            hulls.append(term)
            continue
        if lowers is not None:
            lower = clamp(xp.where(sides[0] & (weight > 0), lowers[place], NO_LOWER), term.lower, term.upper)
        if uppers is not None:
            upper = clamp(xp.where(sides[1] & (weight > 0), uppers[place], NO_UPPER), term.lower, term.upper)
        if lowers is not None:
            lower = xp.where(empty, term.lower, lower)
        if uppers is not None:
            upper = xp.where(empty, term.upper, upper)
        hulls.append(term if lowers is None and uppers is None else Bounds(lower, upper))
    return hulls, empty


def _short(
    end: Array, side: int, node: Bounds, terms: Sequence[Bounds], weights: Sequence[Weight], bias: Weight
) -> Array:
    """The bounds found for one side of a term, kept from being rounded to 0 or 1."""
    ends = [node[side], *(term[1 - side] for term in terms)]
    return short(end, side, ends, [0.0] * len(ends), [1.0, *weights], bias)


def _band_of_many(
    low: Array, high: Array, sides: tuple[Array, Array], terms: Sequence[Bounds], weights: Sequence[Weight]
) -> tuple[list[Bounds], Array]:
    """As ``_band``, with all operands in one array: more memory and fewer calls."""
    tol = tolerance(low.dtype)
    boxes = stack(terms)
    weight = column(weights, boxes.lower)
    shares = Bounds(weight * boxes.lower, weight * boxes.upper)
    empty = sides[0] & (sum_of_all(shares.upper) < low - tol)
    empty = empty | (sides[1] & (sum_of_all(shares.lower) > high + tol))
    left_over = Bounds(low - sum_of_others(shares.upper), high - sum_of_others(shares.lower))
    hull = unweigh(left_over, weight, 1 + abs(high))
    hull = candidate(*hull, sides[0] & (weight > 0), sides[1] & (weight > 0))
    return list(unstack(fit(hull, boxes, empty))), empty
