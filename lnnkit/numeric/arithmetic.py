"""Arithmetic on unions of intervals, upward: the image of the operands, with ``0 * x = 0`` for unbounded ``x``.

Each function returns the exact image as closed pieces, up to rounding; if an operand has no value, neither has the
result. An operand that is a point in every row costs no more than plain arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from lnnkit.flags import any_set
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
    points,
    regained,
    tidied,
    unrounded,
)

_KNOWN = 1e-10
_NONE = torch.zeros(1, 1, dtype=torch.float64)


def add(one: Pieces, other: Pieces) -> Pieces:
    """``x + y``."""
    if one.point and other.point:
        value = one.lower + other.lower
        if finite(value):
            return points(value)
    one, other = crossed_with(one, other)
    lower, upper = _sums(one, other)
    return tidied(bounded(lower, upper, gone(one, other)))


def _sums(one: Pieces, other: Pieces) -> list[Tensor]:
    """The sums of the lower and of the upper ends. An end beside zero stands for values arbitrarily close to zero, so
    it counts as zero when the other end has the opposite sign."""
    found = []
    for sign, x, y in ((1.0, one.lower, other.lower), (-1.0, one.upper, other.upper)):
        total = x + y
        near = total.detach().abs() <= ZERO
        if any_set(near) and any_set(near & (x != -y)):
            x, y = (
                torch.where((sign * a > 0) & (sign * a <= ZERO) & (sign * b < 0), 0.0, a) for a, b in ((x, y), (y, x))
            )
            total = x + y
        found.append(total)
    return found


def sum_of(one: Pieces, other: Pieces, made_of: Sequence[Pieces] | None = ()) -> Pieces:
    """``x + y`` of values that may have been rounded. The result is widened where the sum is so much smaller than the
    operands that its relative error may exceed 1e-10. Whole numbers and multiples of 2^-10 count as exact if the values
    that they are ``made_of`` are such numbers too (None: they are not)."""
    one, other = crossed_with(one, other)
    lower, upper = _sums(one, other)
    with torch.no_grad():
        low, high = _noise(lower, one.lower, other.lower), _noise(upper, one.upper, other.upper)
        felt = any_set(low > 0) or any_set(high > 0)
        if felt and made_of is not None:
            exact = unrounded(one, other, *made_of)
            low, high = torch.where(exact, 0.0, low), torch.where(exact, 0.0, high)
    if felt:
        lower, upper = lower - low, upper + high
    elif one.point and other.point and finite(lower):
        return points(lower)
    return tidied(bounded(lower, upper, gone(one, other)))


def _noise(end: Tensor, one: Tensor, other: Tensor) -> Tensor:
    """The error that the rounding of two operands may cause in their sum, where it is relevant. Adding zero rounds
    nothing."""
    size = torch.maximum(one.abs(), other.abs())
    felt = size * (ROUNDING / _KNOWN) > end.abs()  # Infinite operands and zero are not rounded.
    return torch.where(felt, ROUNDING * size, 0.0) if any_set(felt) else _NONE


def negate(one: Pieces) -> Pieces:
    """``-x``."""
    if one.point:
        return points(-one.lower)
    return Pieces(-one.upper, -one.lower, one.whole)


def subtract(one: Pieces, other: Pieces) -> Pieces:
    """``x - y``."""
    if one.point and other.point:
        value = one.lower - other.lower
        if finite(value):
            return points(value)
    one, other = crossed_with(one, other)
    lower, upper = _sums(one, negate(other))
    return tidied(bounded(lower, upper, gone(one, other)))


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
        zeros = torch.zeros_like(one.lower)
        return bounded(zeros, zeros.clone(), gone(one))
    low, high = (one.lower, one.upper) if factor > 0 else (one.upper, one.lower)
    sign = one.lower.new_tensor(math.copysign(1.0, factor))
    return bounded(regained(low * factor, low, sign), regained(high * factor, high, sign), gone(one))


def multiply(one: Pieces, other: Pieces) -> Pieces:
    """``x y``: the ends are among the products of ends."""
    if one.point and other.point:
        value = one.lower * other.lower
        if finite(value) and not lost(value, one.lower, other.lower):
            return points(value)
    one, other = crossed_with(one, other)
    corners = [_product(x, y) for x in one[:2] for y in other[:2]]
    lower, upper = _least(corners), _most(corners)
    for x in (one, other):
        if beside_zero(x):  # An end next to zero stays so, however large the other factor is.
            above, below = (x.lower > 0) & (x.lower <= ZERO), (x.upper < 0) & (x.upper >= -ZERO)
            lower = torch.where(above | below, torch.minimum(lower, lower.sign() * BESIDE_ZERO), lower)
            upper = torch.where(above | below, torch.maximum(upper, upper.sign() * BESIDE_ZERO), upper)
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
    none = torch.full((1, rows), math.inf, dtype=torch.float64)
    return Pieces(none, -none, whole=False)


def reciprocal(one: Pieces) -> Pieces:
    """``1 / x``."""
    return divide(points(torch.ones(1, 1, dtype=torch.float64)), one)


def absolute(one: Pieces) -> Pieces:
    """``|x|``."""
    if one.point:
        return points(one.lower.abs())
    lower = torch.maximum(one.lower, -one.upper).clamp_(min=0.0)
    return tidied(bounded(lower, torch.maximum(-one.lower, one.upper), gone(one)))


def square_root(one: Pieces) -> Pieces:
    """``sqrt(x)`` for ``x >= 0``."""
    if one.point:
        value = one.lower.sqrt()
        if finite(value):
            return points(value)
    return rising(not_negative(one), torch.sqrt)


def not_negative(one: Pieces) -> Pieces:
    """The values that are not negative."""
    lower = one.lower.clamp(min=0.0)
    return bounded(lower, one.upper.clone(), lower > one.upper)


def rising(one: Pieces, function: Callable[[Tensor], Tensor]) -> Pieces:
    """The image under an increasing function that is zero only at zero; ends beside zero stay there."""
    lower, upper = one[:2]
    low, high = (regained(function(end), end) for end in (lower, upper))
    if beside_zero(one):
        low = torch.where((lower > 0) & (lower <= ZERO), torch.minimum(low, lower), low)
        high = torch.where((upper < 0) & (upper >= -ZERO), torch.maximum(high, upper), high)
    return bounded(low, high, gone(one))


def _quotient(one: Pieces, other: Pieces) -> Pieces:
    """``x / y`` for ``y > 0``; for an end at zero the quotient goes to infinity with the sign of ``x``."""
    one, other = crossed_with(one, other)
    low, high = from_zero(other.lower), other.upper
    none = high <= 0
    lower = differentiable(torch.div, one.lower, torch.where(one.lower >= 0, high, low))
    upper = differentiable(torch.div, one.upper, torch.where(one.upper >= 0, low, high))
    # A quotient by an unbounded divisor is never zero, nor is one that underflowed.
    lower, upper = (regained(_number(end), dividend) for end, dividend in ((lower, one.lower), (upper, one.upper)))
    if beside_zero(one):
        lower = torch.where((one.lower > 0) & (one.lower <= ZERO), BESIDE_ZERO, lower)
        upper = torch.where((one.upper < 0) & (one.upper >= -ZERO), -BESIDE_ZERO, upper)
    missing = gone(one)
    return tidied(bounded(lower, upper, none if missing is None else none | missing))


def _product(one: Tensor, other: Tensor) -> Tensor:
    return regained(_number(differentiable(torch.mul, one, other)), one, other)


def _number(values: Tensor) -> Tensor:
    """The values, with 0 for the only indeterminate form that occurs here: zero times, or zero over, an arbitrary
    value."""
    return values.nan_to_num_(nan=0.0, posinf=math.inf, neginf=-math.inf)


def _least(values: list[Tensor]) -> Tensor:
    least = torch.minimum(values[0], values[1])
    for value in values[2:]:
        least = torch.minimum(least, value)
    return least


def _most(values: list[Tensor]) -> Tensor:
    most = torch.maximum(values[0], values[1])
    for value in values[2:]:
        most = torch.maximum(most, value)
    return most
