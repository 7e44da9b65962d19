"""Arithmetic on unions of intervals, upward: the image of the operands, with ``0 * x = 0`` for unbounded ``x``.

Each function returns the exact image as closed pieces, up to rounding; if an operand has no value, neither has the
result. An operand that is a point in every row costs no more than plain arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from operator import mul, truediv

from lnnkit import arrays
from lnnkit.arrays import Array, any_set, clamp, detached
from lnnkit.numeric.pieces import (
    BESIDE_ZERO,
    ROUNDING,
    ZERO,
    Pieces,
    beside_zero,
    bounded,
    crossed_with,
    differentiable,
    finite,
    from_zero,
    gone,
    joined,
    lost,
    nothing,
    points,
    regained,
    single,
    tidied,
    unrounded,
)

_KNOWN = 1e-10


def add(one: Pieces, other: Pieces) -> Pieces:
    """``x + y``."""
    if one.point and other.point:
        value = one.lower + other.lower
        if finite(value):
            return points(value)
    one, other = crossed_with(one, other)
    lower, upper = _sums(one, other)
    return tidied(bounded(lower, upper, gone(one, other)))


def _sums(one: Pieces, other: Pieces) -> list[Array]:
    """The sums of the lower and of the upper ends. An end beside zero stands for values arbitrarily close to zero, so
    it counts as zero when the other end has the opposite sign."""
    sums = []
    for sign, x, y in ((1.0, one.lower, other.lower), (-1.0, one.upper, other.upper)):
        total = x + y
        near = abs(detached(total)) <= ZERO
        if any_set(near) and any_set(near & (x != -y)):
            x, y = (
                arrays.where((sign * a > 0) & (sign * a <= ZERO) & (sign * b < 0), 0.0, a) for a, b in ((x, y), (y, x))
            )
            total = x + y
        sums.append(total)
    return sums


def sum_of(one: Pieces, other: Pieces, made_of: Sequence[Pieces] | None = ()) -> Pieces:
    """``x + y`` of values that may have been rounded. The result is widened where the sum is so much smaller than the
    operands that its relative error may exceed 1e-10. Whole numbers and multiples of 2^-10 count as exact if the values
    that they are ``made_of`` are such numbers too (None: they are not)."""
    one, other = crossed_with(one, other)
    lower, upper = _sums(one, other)
    low, high = (
        _noise(*map(detached, ends)) for ends in ((lower, one.lower, other.lower), (upper, one.upper, other.upper))
    )
    felt = any_set(low > 0) or any_set(high > 0)
    if felt and made_of is not None:
        exact = unrounded(one, other, *made_of)
        low, high = arrays.where(exact, 0.0, low), arrays.where(exact, 0.0, high)
    if felt:
        lower, upper = lower - low, upper + high
    elif one.point and other.point and finite(lower):
        return points(lower)
    return tidied(bounded(lower, upper, gone(one, other)))


def _noise(end: Array, one: Array, other: Array) -> Array:
    """The error that the rounding of two operands may cause in their sum, where it is relevant. Adding zero rounds
    nothing."""
    size = arrays.maximum(abs(one), abs(other))
    felt = size * (ROUNDING / _KNOWN) > abs(end)  # Infinite operands and zero are not rounded.
    return arrays.where(felt, ROUNDING * size, 0.0)


def negate(one: Pieces) -> Pieces:
    """``-x``."""
    if one.point:
        return points(-one.lower)
    return Pieces(-one.upper, -one.lower, one.whole)


def subtract(one: Pieces, other: Pieces) -> Pieces:
    """``x - y``."""
    return add(one, negate(other))


def difference_of(one: Pieces, other: Pieces, made_of: Sequence[Pieces] | None = ()) -> Pieces:
    """``x - y``, as `sum_of`."""
    return sum_of(one, negate(other), made_of)


def scale(one: Pieces, factor: float) -> Pieces:
    """``c x``."""
    if one.point:
        value = one.lower * factor
        if finite(value) and not (factor and lost(value, one.lower)):
            return points(value)
    if factor == 0:
        zeros = arrays.zeros_like(one.lower)
        return bounded(zeros, arrays.zeros_like(zeros), gone(one))
    low, high = (one.lower, one.upper) if factor > 0 else (one.upper, one.lower)
    sign = arrays.full_like(one.lower[:1, :1], math.copysign(1.0, factor))
    return bounded(regained(low * factor, low, sign), regained(high * factor, high, sign), gone(one))


def multiply(one: Pieces, other: Pieces) -> Pieces:
    """``x y``: the ends are among the products of ends."""
    if one.point and other.point:
        value = one.lower * other.lower
        if finite(value) and not lost(value, one.lower, other.lower):
            return points(value)
    one, other = crossed_with(one, other)
    corners = [_product(x, y) for x in one[:2] for y in other[:2]]
    lower, upper = reduce(arrays.minimum, corners), reduce(arrays.maximum, corners)
    for x in (one, other):
        if beside_zero(x):  # An end next to zero stays so, however large the other factor is.
            above, below = (x.lower > 0) & (x.lower <= ZERO), (x.upper < 0) & (x.upper >= -ZERO)
            lower = arrays.where(above | below, arrays.minimum(lower, arrays.sign(lower) * BESIDE_ZERO), lower)
            upper = arrays.where(above | below, arrays.maximum(upper, arrays.sign(upper) * BESIDE_ZERO), upper)
    return tidied(bounded(lower, upper, gone(one, other)))


def divide(one: Pieces, other: Pieces) -> Pieces:
    """``x / y`` for ``y != 0``; a divisor around zero is split into its two sides."""
    if one.point and other.point:
        value = one.lower / other.lower
        if finite(value) and not lost(value, one.lower):
            return points(value)
    parts = []
    if any_set(other.upper > 0):
        parts.append(_quotient(one, other))
    if any_set(other.lower < 0):
        parts.append(negate(_quotient(one, negate(other))))
    if parts:
        return joined(parts)
    rows = max(one.lower.shape[1], other.lower.shape[1])  # Every divisor is zero, or none is left.
    return nothing(rows, one.lower)


def reciprocal(one: Pieces) -> Pieces:
    """``1 / x``."""
    return divide(single(1.0, 1.0, one.lower), one)


def absolute(one: Pieces) -> Pieces:
    """``|x|``."""
    if one.point:
        return points(abs(one.lower))
    lower = clamp(arrays.maximum(one.lower, -one.upper), least=0.0)
    return tidied(bounded(lower, arrays.maximum(-one.lower, one.upper), gone(one)))


def square_root(one: Pieces) -> Pieces:
    """``sqrt(x)`` for ``x >= 0``."""
    if one.point:
        value = arrays.sqrt(one.lower)
        if finite(value):
            return points(value)
    return rising(not_negative(one), arrays.sqrt)


def not_negative(one: Pieces) -> Pieces:
    """The values that are not negative."""
    lower = clamp(one.lower, least=0.0)
    return bounded(lower, one.upper, lower > one.upper)


def rising(one: Pieces, function: Callable[[Array], Array]) -> Pieces:
    """The image under an increasing function that is zero only at zero; ends beside zero stay there."""
    lower, upper = one[:2]
    low, high = (regained(function(end), end) for end in (lower, upper))
    if beside_zero(one):
        low = arrays.where((lower > 0) & (lower <= ZERO), arrays.minimum(low, lower), low)
        high = arrays.where((upper < 0) & (upper >= -ZERO), arrays.maximum(high, upper), high)
    return bounded(low, high, gone(one))


def _quotient(one: Pieces, other: Pieces) -> Pieces:
    """``x / y`` for ``y > 0``; for an end at zero the quotient goes to infinity with the sign of ``x``."""
    one, other = crossed_with(one, other)
    low, high = from_zero(other.lower), other.upper
    none = high <= 0
    lower = differentiable(truediv, one.lower, arrays.where(one.lower >= 0, high, low))
    upper = differentiable(truediv, one.upper, arrays.where(one.upper >= 0, low, high))
    # A quotient by an unbounded divisor is never zero, nor is one that underflowed.
    lower, upper = (
        regained(arrays.nan_to_num(end, 0.0), dividend) for end, dividend in ((lower, one.lower), (upper, one.upper))
    )
    if beside_zero(one):
        lower = arrays.where((one.lower > 0) & (one.lower <= ZERO), BESIDE_ZERO, lower)
        upper = arrays.where((one.upper < 0) & (one.upper >= -ZERO), -BESIDE_ZERO, upper)
    missing = gone(one)
    return tidied(bounded(lower, upper, none if missing is None else none | missing))


def _product(one: Array, other: Array) -> Array:
    return regained(arrays.nan_to_num(differentiable(mul, one, other), 0.0), one, other)  # only 0 * inf is nan
