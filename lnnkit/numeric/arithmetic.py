"""Arithmetic on unions of intervals, upward: the image of the operands, with ``0 * x = 0`` for unbounded ``x``.

Each function gives the exact image, of closed pieces, up to rounding; where an operand has no value, nor has the
result. An operand that is a point in every row costs no more than plain arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from lnnkit.flags import any_set
from lnnkit.numeric.pieces import (
    BESIDE_ZERO,
    ZERO,
    Pieces,
    bounded,
    crossed_with,
    differentiable,
    finite,
    from_zero,
    gone,
    joined,
    points,
    tidied,
)


def add(one: Pieces, other: Pieces) -> Pieces:
    """``x + y``."""
    if one.point and other.point:
        value = one.lower + other.lower
        if finite(value):
            return points(value)
    one, other = crossed_with(one, other)
    return tidied(bounded(one.lower + other.lower, one.upper + other.upper, gone(one, other)))


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
    return tidied(bounded(one.lower - other.upper, one.upper - other.lower, gone(one, other)))


def scale(one: Pieces, factor: float) -> Pieces:
    """``c x``."""
    if one.point:
        value = one.lower * factor
        if finite(value):
            return points(value)
    if factor == 0:
        zeros = torch.zeros_like(one.lower)
        return bounded(zeros, zeros.clone(), gone(one))
    low, high = (one.lower, one.upper) if factor > 0 else (one.upper, one.lower)
    return bounded(low * factor, high * factor, gone(one))


def multiply(one: Pieces, other: Pieces) -> Pieces:
    """``x y``: the ends are among the products of ends."""
    if one.point and other.point:
        value = one.lower * other.lower
        if finite(value):
            return points(value)
    one, other = crossed_with(one, other)
    corners = [_product(x, y) for x in one[:2] for y in other[:2]]
    return tidied(bounded(_least(corners), _most(corners), gone(one, other)))


def divide(one: Pieces, other: Pieces) -> Pieces:
    """``x / y`` for ``y != 0``: of divisors around zero, the two sides apart."""
    if one.point and other.point:
        value = one.lower / other.lower
        if finite(value):
            return points(value)
    parts = []
    if any_set(other.upper > 0):
        parts.append(_quotient(one, other))
    if any_set(other.lower < 0):
        parts.append(negate(_quotient(one, negate(other))))
    if parts:
        return joined(parts)
    rows = max(one.lower.shape[1], other.lower.shape[1])  # every divisor is zero, or none
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
    """The values from zero."""
    lower = one.lower.clamp(min=0.0)
    return bounded(lower, one.upper.clone(), lower > one.upper)


def rising(one: Pieces, function: Callable[[Tensor], Tensor]) -> Pieces:
    """The image under a rising function that keeps zero."""
    lower, upper = (torch.where(end.abs() <= ZERO, end, function(end)) for end in one[:2])
    return bounded(lower, upper, gone(one))


def _quotient(one: Pieces, other: Pieces) -> Pieces:
    """``x / y`` for ``y > 0``; from an end at zero the quotient runs off to the side of ``x``."""
    one, other = crossed_with(one, other)
    low, high = from_zero(other.lower), other.upper
    none = high <= 0
    lower = differentiable(torch.div, one.lower, torch.where(one.lower >= 0, high, low))
    upper = differentiable(torch.div, one.upper, torch.where(one.upper >= 0, low, high))
    if not finite(high):  # a quotient by what grows without end is never zero
        lower = torch.where((one.lower > 0) & (lower == 0), BESIDE_ZERO, lower)
        upper = torch.where((one.upper < 0) & (upper == 0), -BESIDE_ZERO, upper)
    lost = gone(one)
    return tidied(bounded(_number(lower), _number(upper), none if lost is None else none | lost))


def _product(one: Tensor, other: Tensor) -> Tensor:
    return _number(differentiable(torch.mul, one, other))


def _number(values: Tensor) -> Tensor:
    """Zero for the one indeterminate form that arises here: a zero times, or over, what may be anything."""
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
