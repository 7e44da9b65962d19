"""Powers of unions of intervals, and their inverses: roots, bases and exponents.

``x ^ n`` for integral ``n`` is defined everywhere, except at zero for ``n < 0``; other exponents require ``x >= 0``.
``0 ^ 0 = 1``. For negative ``x`` it is ``|x| ^ n`` for even ``n``, its negation for odd ``n``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from lnnkit import arrays, elementwise
from lnnkit.arrays import Array, any_set, clamp
from lnnkit.numeric import arithmetic, interval
from lnnkit.numeric.arithmetic import negate, not_negative, reciprocal, rising
from lnnkit.numeric.functions import logarithm
from lnnkit.numeric.interval import Pieces, bounded, gone, joined

_ROUNDING = 1e-9  # an exponent within this relative distance of a whole number is that number


def raise_to(base: Pieces, exponent: float) -> Pieces:
    """The exact image of ``x ^ e`` for a fixed exponent."""
    if base.point:
        value = elementwise.power(base.lower, abs(exponent))
        value = value if exponent >= 0 else 1 / value  # as for intervals, to the last bit
        if interval.finite(value) and not interval.lost(value, base.lower):
            return interval.points(value)
    if exponent == 0:
        return arithmetic.constantly(1.0, base)
    size = abs(exponent)
    if size != int(size):
        base = not_negative(base)
    elif size % 2 == 0:
        base = arithmetic.absolute(base)
    raised = rising(base, lambda x: elementwise.power(x, size))
    return raised if exponent > 0 else reciprocal(raised)


def root(power: Pieces, exponent: float) -> Pieces:
    """The ``x`` with ``x ^ e`` in ``power``, for a fixed exponent."""
    if exponent == 0:
        holds_one = arithmetic.holds(power, 1.0)[None]
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
    parts = [_power_of_positive(base, exponent)]
    if any_set(base.lower < 0):
        parts += _powers_of_negative(base, exponent)
    return joined(parts)


def base_of(power: Pieces, exponent: Pieces, domain: Pieces) -> Pieces:
    """The ``x`` from ``domain`` with ``x ^ y`` in ``power``; for a negative ``x`` and several ``y``, their hull."""
    bases = _power_of_positive(power, reciprocal(exponent))
    negative = _of_negative(power, domain, exponent)
    if negative is not None:
        bases = joined((bases, negative[0]))
    return arithmetic.or_any(bases, arithmetic.holds(power, 1.0) & arithmetic.holds(exponent, 0.0))


def exponent_of(power: Pieces, base: Pieces, domain: Pieces) -> Pieces:
    """The ``y`` from ``domain`` with ``x ^ y`` in ``power``; for a negative ``x``, their hull."""
    parts = [arithmetic.factor(logarithm(power), logarithm(base))]
    zero = arithmetic.holds(base, 0.0)
    if any_set(zero):
        for value, most in ((0.0, math.inf), (1.0, 0.0)):  # 0 ^ y is 0 for y > 0, and 0 ^ 0 is 1
            missing = ~(zero & arithmetic.holds(power, value))[None]
            low = arrays.zeros_like(power.lower[:1] + base.lower[:1])
            parts.append(bounded(low, arrays.full_like(low, most), missing))
    negative = _of_negative(power, base, domain)
    if negative is not None:
        parts.append(negative[1])
    return joined(parts)


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


def _power_of_positive(base: Pieces, exponent: Pieces) -> Pieces:
    """``x ^ y`` for ``x >= 0``."""
    base, exponent = interval.crossed(base, exponent)
    low, high = interval.from_zero(base.lower), base.upper
    least = arrays.where(high == 0, clamp(exponent.lower, least=0.0), exponent.lower)  # Zero has no negative powers.
    none = (low > high) | (least > exponent.upper)
    return interval.tidied(bounded(*_corners(low, high, least, exponent.upper), gone(exponent, none=none)))


def _powers_of_negative(base: Pieces, exponent: Pieces) -> Iterator[Pieces]:
    base, exponent = interval.crossed(base, exponent)
    low, high = interval.from_zero(-base.upper), -base.lower
    none = gone(exponent, base, none=high <= 0)
    for odd in (False, True):
        first, last = _of_parity(arrays.ceil(exponent.lower), arrays.floor(exponent.upper), odd)
        part = bounded(*_corners(low, high, first, last), none | (first > last))
        yield negate(part) if odd else part


def _corners(low: Array, high: Array, least: Array, most: Array) -> tuple[Array, Array]:
    """The ends of ``x ^ y`` over a box with ``x >= 0``; it is monotone in each argument. The power of a nonzero value
    is not zero, but its limit may be."""
    raised = [(interval.differentiable(elementwise.power, x, y), x, y) for x in (low, high) for y in (least, most)]
    corners = arrays.stack(
        [arrays.where(arrays.isinf(y), value, interval.regained(value, x)) for value, x, y in raised]
    )
    return arrays.least(corners, 0), arrays.most(corners, 0)


def _of_parity(first: Array, last: Array, odd: bool) -> tuple[Array, Array]:
    """The first and the last even (or odd) number between two whole numbers."""
    return arrays.where(_is_odd(first) != odd, first + 1, first), arrays.where(_is_odd(last) != odd, last - 1, last)


def _is_odd(value: Array) -> Array:
    half = value / 2
    return half != arrays.floor(half)


# --- negative bases, downward -----------------------------------------------------------------------------------------

# Given `r = |x|` between `a` and `b` and `r ^ y` between `p` and `q`, a `y > 0` is possible if `a ^ y <= q` and `b ^ y
# >= p`. These `y` form an interval, of which the even (or odd) numbers are used. The extremes of the remaining `r` come
# from the first or the last of them, since the roots of `p` and `q` are monotone in `y`.


def _of_negative(power: Pieces, base: Pieces, exponent: Pieces) -> tuple[Pieces, Pieces] | None:
    """What is left of the negative values of a base, and of the exponents that go with them. None if the base has no
    negative value in any row."""
    if not any_set(base.lower < 0):
        return None
    parts = [part for odd in (False, True) for part in _with_parity(power, base, exponent, odd)]
    return joined([bases for bases, _ in parts]), joined([exponents for _, exponents in parts])


def _with_parity(power: Pieces, base: Pieces, exponent: Pieces, odd: bool) -> Iterator[tuple[Pieces, Pieces]]:
    p, r, y = interval.crossed(not_negative(negate(power) if odd else power), not_negative(negate(base)), exponent)
    there = (p.lower <= p.upper) & (r.lower <= r.upper) & (r.upper > 0)
    least = 1.0 if odd else 2.0
    yield _positive(p, r, Pieces(clamp(y.lower, least=least), y.upper), odd, there)
    opposite = Pieces(clamp(-y.upper, least=least), -y.lower)
    sizes, exponents = _positive(Pieces(1 / p.upper, 1 / p.lower), r, opposite, odd, there)
    yield sizes, negate(exponents)
    if not odd:
        one = there & (p.lower <= 1) & (p.upper >= 1) & (y.lower <= 0) & (y.upper >= 0)
        zero = arrays.zeros_like(y.lower)
        yield bounded(-r.upper, -r.lower, ~one), bounded(zero, arrays.zeros_like(zero), ~one)


def _positive(p: Pieces, r: Pieces, y: Pieces, odd: bool, there: Array) -> tuple[Pieces, Pieces]:
    """The bases and the exponents for positive exponents."""
    # where a ^ y is q, and b ^ y is p
    rises, falls = arrays.log(p.upper) / arrays.log(r.lower), arrays.log(p.lower) / arrays.log(r.upper)
    beyond = arrays.where(p.upper < 1, arrays.where(r.lower < 1, rises, math.inf), y.lower)
    above = arrays.where(p.lower > 1, arrays.where(r.upper > 1, falls, math.inf), y.lower)
    within = arrays.where(r.lower > 1, rises, y.upper)
    below = arrays.where(r.upper < 1, falls, y.upper)
    there = there & (p.upper > 0)
    first = arrays.maximum(arrays.maximum(beyond, above), y.lower)
    first = arrays.where(first < math.inf, arrays.ceil(first * (1 - _ROUNDING)), first)
    last = arrays.floor(arrays.minimum(arrays.minimum(within, below), y.upper) * (1 + _ROUNDING))
    first, last = _of_parity(first, last, odd)
    there = there & (first <= last) & (first < math.inf)
    least = arrays.minimum(*(arrays.maximum(r.lower, elementwise.power(p.lower, 1 / y)) for y in (first, last)))
    most = arrays.maximum(*(arrays.minimum(r.upper, elementwise.power(p.upper, 1 / y)) for y in (first, last)))
    least, most = arrays.minimum(least, most), arrays.maximum(least, most)  # where the numbers differ only by rounding
    return bounded(-most, -least, ~there), bounded(first, last, ~there)
