"""Arithmetic downward: inverse images of operations, for one operand given the result and the other operands.

Each function returns the closed set of values that some values of the others complete. It is exact, except for a
negative base with several integral exponents: there it is the hull.
"""

from __future__ import annotations

import math

from lnnkit import arrays
from lnnkit.arrays import Array, any_set, clamp
from lnnkit.numeric.arithmetic import divide, negate, not_negative, reciprocal
from lnnkit.numeric.negative_base import of_negative
from lnnkit.numeric.pieces import Pieces, bounded, from_zero, gone, joined, tidied
from lnnkit.numeric.power import power_of_positive


def factor(product: Pieces, other: Pieces) -> Pieces:
    """The ``x`` with ``x y`` in ``product``; all numbers if both ``y`` and the product can be zero."""
    return _or_any(divide(product, other), _holds(product, 0.0) & _holds(other, 0.0))


def absolute_of(value: Pieces) -> Pieces:
    """The ``x`` with ``|x|`` in ``value``."""
    positive = not_negative(value)
    return joined((positive, negate(positive)))


def square_root_of(value: Pieces) -> Pieces:
    """The ``x`` with ``sqrt(x)`` in ``value``."""
    positive = not_negative(value)
    return bounded(arrays.square(positive.lower), arrays.square(positive.upper), gone(positive))


def base(power: Pieces, exponent: Pieces, domain: Pieces) -> Pieces:
    """The ``x`` from ``domain`` with ``x ^ y`` in ``power``."""
    bases = power_of_positive(power, reciprocal(exponent))
    negative = of_negative(power, domain, exponent)
    if negative is not None:
        bases = joined((bases, negative[0]))
    return _or_any(bases, _holds(power, 1.0) & _holds(exponent, 0.0))


def exponent(power: Pieces, base: Pieces, domain: Pieces) -> Pieces:
    """The ``y`` from ``domain`` with ``x ^ y`` in ``power``."""
    parts = [factor(_logarithm(power), _logarithm(base))]
    zero = _holds(base, 0.0)
    if any_set(zero):
        for value, most in ((0.0, math.inf), (1.0, 0.0)):  # 0 ^ y is 0 for y > 0, and 0 ^ 0 is 1
            missing = ~(zero & _holds(power, value))[None]
            low = arrays.zeros_like(power.lower[:1] + base.lower[:1])
            parts.append(bounded(low, arrays.full_like(low, most), missing))
    negative = of_negative(power, base, domain)
    if negative is not None:
        parts.append(negative[1])
    return joined(parts)


def _or_any(union: Pieces, free: Array) -> Pieces:
    """The union, with all numbers added in the rows that are ``free``."""
    if not any_set(free):
        return union
    lower = arrays.where(free, -math.inf, union.lower)
    return tidied(Pieces(lower, arrays.where(free, math.inf, union.upper), union.whole))


def _holds(union: Pieces, value: float) -> Array:
    """A mask ``[n]`` of the rows whose union contains a value."""
    return ((union.lower <= value) & (value <= union.upper)).any(0)


def _logarithm(union: Pieces) -> Pieces:
    """The logarithms of the positive values."""
    lower = from_zero(union.lower)
    return bounded(
        arrays.log(lower), arrays.log(clamp(union.upper, least=0.0)), (union.upper <= 0) | (lower > union.upper)
    )
