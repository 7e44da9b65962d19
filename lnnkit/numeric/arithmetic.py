"""Arithmetic on unions of intervals: the image of the operands, with ``0 * x = 0`` for unbounded ``x``, and the
inverses of products, roots and magnitudes.

Each function returns the exact closed pieces, up to rounding; if an operand has no value, neither has the result. An
operand that is a point in every row costs no more than plain arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import accumulate, product
from operator import mul, truediv

from lnnkit import arrays
from lnnkit.arrays import Array, any_set, clamp, detached
from lnnkit.numeric import interval
from lnnkit.numeric.interval import BESIDE_ZERO, ROUNDING, Pieces, barely_above, beside_zero, bounded, gone, points

_KNOWN = 1e-10


def add(one: Pieces, other: Pieces) -> Pieces:
    """``x + y``."""
    if one.point and other.point:
        value = one.lower + other.lower
        if interval.finite(value):
            return points(value)
    one, other = interval.crossed(one, other)
    lower, upper = _sums(one, other)
    return interval.tidied(bounded(lower, upper, gone(one, other)))


def _sums(one: Pieces, other: Pieces) -> list[Array]:
    """The sums of the lower and of the upper ends. An end beside zero stands for values arbitrarily close to zero, so
    it counts as zero when the other end has the opposite sign."""
    sums = []
    for sign, x, y in ((1.0, one.lower, other.lower), (-1.0, one.upper, other.upper)):
        total = x + y
        near = abs(detached(total)) <= interval.ZERO
        if any_set(near) and any_set(near & (x != -y)):
            x, y = (arrays.where(barely_above(sign * a) & (sign * b < 0), 0.0, a) for a, b in ((x, y), (y, x)))
            total = x + y
        sums.append(total)
    return sums


def sum_of(one: Pieces, other: Pieces, made_of: Sequence[Pieces] | None = ()) -> Pieces:
    """``x + y`` of values that may have been rounded. The result is widened where the sum is so much smaller than the
    operands that its relative error may exceed 1e-10. Whole numbers and multiples of 2^-10 count as exact if the values
    that they are ``made_of`` are such numbers too (None: they are not)."""
    one, other = interval.crossed(one, other)
    lower, upper = _sums(one, other)
    low, high = _noise(lower, one.lower, other.lower), _noise(upper, one.upper, other.upper)
    if any_set(low > 0) or any_set(high > 0):
        if made_of is not None:
            exact = interval.unrounded(one, other, *made_of)
            low, high = arrays.where(exact, 0.0, low), arrays.where(exact, 0.0, high)
        lower, upper = lower - low, upper + high
    elif one.point and other.point and interval.finite(lower):
        return points(lower)
    return interval.tidied(bounded(lower, upper, gone(one, other)))


def _noise(*ends: Array) -> Array:
    """The error that the rounding of two operands may cause in their sum, the first of the ends, where it is relevant.
    Adding zero rounds nothing."""
    total, one, other = map(detached, ends)
    size = arrays.maximum(abs(one), abs(other))
    felt = size * (ROUNDING / _KNOWN) > abs(total)  # Infinite operands and zero are not rounded.
    return arrays.where(felt, ROUNDING * size, 0.0)


def negate(one: Pieces) -> Pieces:
    """``-x``."""
    return points(-one.lower) if one.point else Pieces(-one.upper, -one.lower, one.whole)


def subtract(one: Pieces, other: Pieces) -> Pieces:
    """``x - y``."""
    return add(one, negate(other))


def scale(one: Pieces, factor: float) -> Pieces:
    """``c x``."""
    if one.point:
        value = one.lower * factor
        if interval.finite(value) and not (factor and interval.lost(value, one.lower)):
            return points(value)
    if factor == 0:
        return constantly(0.0, one)
    low, high = (one.lower, one.upper) if factor > 0 else (one.upper, one.lower)
    sign = arrays.full_like(one.lower[:1, :1], math.copysign(1.0, factor))
    return bounded(interval.regained(low * factor, low, sign), interval.regained(high * factor, high, sign), gone(one))


def constantly(value: float, one: Pieces) -> Pieces:
    """The same value wherever ``x`` has one."""
    return bounded(arrays.full_like(one.lower, value), arrays.full_like(one.lower, value), gone(one))


def multiply(one: Pieces, other: Pieces) -> Pieces:
    """``x y``: the ends are among the products of ends."""
    if one.point and other.point:
        value = one.lower * other.lower
        if interval.finite(value) and not interval.lost(value, one.lower, other.lower):
            return points(value)
    one, other = interval.crossed(one, other)
    pairs = product(one[:2], other[:2])  # Only 0 * inf is nan.
    corners = [interval.regained(arrays.nan_to_num(interval.differentiable(mul, x, y), 0.0), x, y) for x, y in pairs]
    lower, upper = reduce(arrays.minimum, corners), reduce(arrays.maximum, corners)
    for x in (one, other):
        if beside_zero(x):  # An end next to zero stays so, however large the other factor is.
            beside = barely_above(x.lower) | barely_above(-x.upper)
            lower = arrays.where(beside, arrays.minimum(lower, arrays.sign(lower) * BESIDE_ZERO), lower)
            upper = arrays.where(beside, arrays.maximum(upper, arrays.sign(upper) * BESIDE_ZERO), upper)
    return interval.tidied(bounded(lower, upper, gone(one, other)))


def divide(one: Pieces, other: Pieces) -> Pieces:
    """``x / y`` for ``y != 0``; a divisor around zero is split into its two sides."""
    if one.point and other.point:
        value = one.lower / other.lower
        if interval.finite(value) and not interval.lost(value, one.lower):
            return points(value)
    parts = []
    if any_set(other.upper > 0):
        parts.append(_quotient(one, other))
    if any_set(other.lower < 0):
        parts.append(negate(_quotient(one, negate(other))))
    if parts:
        return interval.joined(parts)
    # Every divisor is zero, or none is left.
    return interval.nothing(max(one.lower.shape[1], other.lower.shape[1]), one.lower)


def _quotient(one: Pieces, other: Pieces) -> Pieces:
    """``x / y`` for ``y > 0``; for an end at zero the quotient goes to infinity with the sign of ``x``."""
    one, other = interval.crossed(one, other)
    low, high = interval.from_zero(other.lower), other.upper
    none = high <= 0
    divisors = arrays.where(one.lower >= 0, high, low), arrays.where(one.upper >= 0, low, high)
    # A quotient by an unbounded divisor is never zero, nor is one that underflowed.
    lower, upper = (
        interval.regained(arrays.nan_to_num(interval.differentiable(truediv, end, divisor), 0.0), end)
        for end, divisor in zip(one[:2], divisors, strict=True)
    )
    if beside_zero(one):
        lower = arrays.where(barely_above(one.lower), BESIDE_ZERO, lower)
        upper = arrays.where(barely_above(-one.upper), -BESIDE_ZERO, upper)
    return interval.tidied(bounded(lower, upper, gone(one, none=none)))


def reciprocal(one: Pieces) -> Pieces:
    """``1 / x``."""
    return divide(interval.single(1.0, 1.0, one.lower), one)


def absolute(one: Pieces) -> Pieces:
    """``|x|``."""
    if one.point:
        return points(abs(one.lower))
    lower = clamp(arrays.maximum(one.lower, -one.upper), least=0.0)
    return interval.tidied(bounded(lower, arrays.maximum(-one.lower, one.upper), gone(one)))


def square_root(one: Pieces) -> Pieces:
    """``sqrt(x)`` for ``x >= 0``."""
    if one.point:
        value = arrays.sqrt(one.lower)
        if interval.finite(value):
            return points(value)
    return rising(not_negative(one), arrays.sqrt)


def not_negative(one: Pieces) -> Pieces:
    """The values that are not negative."""
    lower = clamp(one.lower, least=0.0)
    return bounded(lower, one.upper, lower > one.upper)


def rising(one: Pieces, function: Callable[[Array], Array]) -> Pieces:
    """The image under an increasing function that is zero only at zero; ends beside zero stay there."""
    lower, upper = one[:2]
    low, high = (interval.regained(function(end), end) for end in (lower, upper))
    if beside_zero(one):
        low = arrays.where(barely_above(lower), arrays.minimum(low, lower), low)
        high = arrays.where(barely_above(-upper), arrays.maximum(high, upper), high)
    return bounded(low, high, gone(one))


# --- inverses: the values that some of the other operands complete to one of the result -----------------------------


def factor(whole: Pieces, other: Pieces) -> Pieces:
    """The ``x`` with ``x y`` in ``whole``; all numbers if both ``y`` and the product can be zero."""
    return or_any(divide(whole, other), holds(whole, 0.0) & holds(other, 0.0))


def absolute_of(value: Pieces) -> Pieces:
    """The ``x`` with ``|x|`` in ``value``."""
    positive = not_negative(value)
    return interval.joined((positive, negate(positive)))


def square_root_of(value: Pieces) -> Pieces:
    """The ``x`` with ``sqrt(x)`` in ``value``."""
    positive = not_negative(value)
    return bounded(arrays.square(positive.lower), arrays.square(positive.upper), gone(positive))


def or_any(union: Pieces, free: Array) -> Pieces:
    """The union, with all numbers added in the rows that are ``free``."""
    if not any_set(free):
        return union
    lower, upper = arrays.where(free, -math.inf, union.lower), arrays.where(free, math.inf, union.upper)
    return interval.tidied(Pieces(lower, upper, union.whole))


def holds(union: Pieces, value: float) -> Array:
    """A mask ``[n]`` of the rows whose union contains a value."""
    return ((union.lower <= value) & (value <= union.upper)).any(0)


def others(operands: Sequence[Pieces], combine: Callable[[Pieces, Pieces], Pieces]) -> list[Pieces]:
    """For each of two or more operands the combination of all others, built from prefixes and suffixes."""
    before = list(accumulate(operands[:-1], combine))
    after = list(accumulate(reversed(operands[1:]), lambda rest, operand: combine(operand, rest)))[::-1]
    return [after[0], *map(combine, before[:-1], after[1:]), before[-1]]
