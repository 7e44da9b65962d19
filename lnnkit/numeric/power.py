"""Powers of unions of intervals, and roots, their inverse.

``x ^ n`` for integral ``n`` is defined everywhere, except at zero for ``n < 0``; other exponents require ``x >= 0``.
``0 ^ 0 = 1``.
"""

from __future__ import annotations

import math

from lnnkit import arrays, elementwise
from lnnkit.arrays import Array, any_set, clamp
from lnnkit.numeric.arithmetic import absolute, negate, not_negative, reciprocal, rising
from lnnkit.numeric.pieces import (
    Pieces,
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
)


def raise_to(base: Pieces, exponent: float) -> Pieces:
    """The exact image of ``x ^ e`` for a fixed exponent."""
    if base.point:
        value = elementwise.power(base.lower, abs(exponent))
        value = value if exponent >= 0 else 1 / value  # as for intervals, to the last bit
        if finite(value) and not lost(value, base.lower):
            return points(value)
    if exponent == 0:
        ones = arrays.ones_like(base.lower)
        return bounded(ones, arrays.ones_like(ones), gone(base))
    size = abs(exponent)
    if size != int(size):
        base = not_negative(base)
    elif size % 2 == 0:
        base = absolute(base)
    raised = rising(base, lambda x: elementwise.power(x, size))
    return raised if exponent > 0 else reciprocal(raised)


def root(power: Pieces, exponent: float) -> Pieces:
    """The ``x`` with ``x ^ e`` in ``power``, for a fixed exponent."""
    if exponent == 0:
        holds_one = ((power.lower <= 1) & (power.upper >= 1)).any(0)[None]
        one = arrays.where(holds_one, arrays.full_like(power.lower[:1], math.inf), -math.inf)
        return Pieces(-one, one, whole=not any_set(one < 0))
    if exponent < 0:
        return root(reciprocal(power), -exponent)
    if exponent != int(exponent):
        return rising(not_negative(power), lambda x: elementwise.power(x, 1 / exponent))
    if exponent % 2 == 0:
        positive = rising(not_negative(power), lambda x: _root(x, exponent))
        return joined((positive, negate(positive)))
    return rising(power, lambda x: arrays.sign(x) * _root(abs(x), exponent))


def power(base: Pieces, exponent: Pieces) -> Pieces:
    """``x ^ y``. Exact for bases that are not negative; otherwise the powers of negative bases with even exponents and
    those with odd exponents form one interval each."""
    parts = [power_of_positive(base, exponent)]
    if any_set(base.lower < 0):
        parts.extend(_powers_of_negative(base, exponent))
    return joined(parts)


def power_of_positive(base: Pieces, exponent: Pieces) -> Pieces:
    """``x ^ y`` for ``x >= 0``."""
    base, exponent = crossed_with(base, exponent)
    low, high = from_zero(base.lower), base.upper
    least = arrays.where(high == 0, clamp(exponent.lower, least=0.0), exponent.lower)  # Zero has no negative powers.
    none = (low > high) | (least > exponent.upper)
    other = gone(exponent)
    lower, upper = _corners(low, high, least, exponent.upper)
    return tidied(bounded(lower, upper, none if other is None else none | other))


def _root(value: Array, exponent: float) -> Array:
    """The root of values that are not negative; the root of an integer's power is exactly that integer."""
    if exponent == 1:
        return value
    if exponent == 2:
        return arrays.sqrt(value)
    # `1 / e` is rounded, which matters for values far from 1; one step of Newton's method corrects it.
    estimate = elementwise.power(value, 1 / exponent)
    missed = (elementwise.power(estimate, exponent) / value - 1) / exponent
    estimate = arrays.where(abs(missed) < 1e-9, estimate - estimate * missed, estimate)
    near = arrays.round(estimate)
    return arrays.where(elementwise.power(near, exponent) == value, near, estimate)


def _corners(low: Array, high: Array, least: Array, most: Array) -> tuple[Array, Array]:
    """The ends of ``x ^ y`` over a box with ``x >= 0``; it is monotone in each argument."""
    corners = arrays.stack([_corner(x, y) for x in (low, high) for y in (least, most)])
    return arrays.least(corners, 0), arrays.most(corners, 0)


def _corner(value: Array, exponent: Array) -> Array:
    """The power; that of a nonzero value is not zero, but its limit may be."""
    raised = differentiable(elementwise.power, value, exponent)
    return arrays.where(arrays.isinf(exponent), raised, regained(raised, value))


def _powers_of_negative(base: Pieces, exponent: Pieces) -> list[Pieces]:
    base, exponent = crossed_with(base, exponent)
    low, high = from_zero(-base.upper), -base.lower
    least, most = arrays.ceil(exponent.lower), arrays.floor(exponent.upper)
    none = high <= 0
    other = gone(exponent, base)
    none = none if other is None else none | other
    parts = []
    for odd in (False, True):
        first = arrays.where(is_odd(least) != odd, least + 1, least)
        last = arrays.where(is_odd(most) != odd, most - 1, most)
        lower, upper = _corners(low, high, first, last)
        part = bounded(lower, upper, none | (first > last))
        parts.append(negate(part) if odd else part)
    return parts


def is_odd(value: Array) -> Array:
    """A mask of the odd numbers."""
    half = value / 2
    return half != arrays.floor(half)
