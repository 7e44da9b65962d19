"""Powers of negative numbers, downward: ``x ^ y`` is defined only for integral ``y``, and is ``|x| ^ y`` for even
``y``, its negation for odd ``y``.

Given ``r = |x|`` between ``a`` and ``b`` and ``r ^ y`` between ``p`` and ``q``, a ``y > 0`` is possible if ``a ^ y <=
q`` and ``b ^ y >= p``. These ``y`` form an interval, of which the even (or odd) numbers are used. The extremes of the
remaining ``r`` come from the first or the last of them, since the roots of ``p`` and ``q`` are monotone in ``y``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

from lnnkit import arrays, elementwise
from lnnkit.arrays import Array, any_set
from lnnkit.numeric.arithmetic import negate, not_negative
from lnnkit.numeric.pieces import Pieces, bounded, joined
from lnnkit.numeric.power import is_odd

_ROUNDING = 1e-9  # an exponent within this relative distance of a whole number is that number


class _PowerEnds(NamedTuple):
    low: Array
    high: Array


def of_negative(power: Pieces, base: Pieces, exponent: Pieces) -> tuple[Pieces, Pieces] | None:
    """What is left of the negative values of a base, and of the exponents that go with them. None if the base has no
    negative value in any row."""
    if not any_set(base.lower < 0):
        return None
    parts = [
        part
        for odd in (False, True)
        for part in _of_parity(not_negative(negate(power) if odd else power), not_negative(negate(base)), exponent, odd)
    ]
    return joined([bases for bases, _ in parts]), joined([exponents for _, exponents in parts])


def _of_parity(power: Pieces, size: Pieces, exponent: Pieces, odd: bool) -> Iterator[tuple[Pieces, Pieces]]:
    p, r, y = _crossed(power, size, exponent)
    there = (p.low <= p.high) & (r.low <= r.high) & (r.high > 0)
    least = arrays.full_like(y.low, 1.0 if odd else 2.0)
    reciprocals = _PowerEnds(1 / p.high, 1 / p.low)
    yield _positive(p, r, _PowerEnds(arrays.maximum(y.low, least), y.high), odd, there)
    sizes, exponents = _positive(reciprocals, r, _PowerEnds(arrays.maximum(-y.high, least), -y.low), odd, there)
    yield sizes, negate(exponents)
    if not odd:
        one = there & (p.low <= 1) & (p.high >= 1) & (y.low <= 0) & (y.high >= 0)
        zero = arrays.zeros_like(y.low)
        yield bounded(-r.high, -r.low, ~one), bounded(zero, arrays.zeros_like(zero), ~one)


def _positive(p: _PowerEnds, r: _PowerEnds, y: _PowerEnds, odd: bool, there: Array) -> tuple[Pieces, Pieces]:
    """The bases and the exponents for positive exponents."""
    rises, falls = (
        arrays.log(p.high) / arrays.log(r.low),
        arrays.log(p.low) / arrays.log(r.high),
    )  # where a ^ y is q, and b ^ y is p
    beyond = arrays.where(p.high < 1, arrays.where(r.low < 1, rises, math.inf), y.low)
    above = arrays.where(p.low > 1, arrays.where(r.high > 1, falls, math.inf), y.low)
    within = arrays.where(r.low > 1, rises, y.high)
    below = arrays.where(r.high < 1, falls, y.high)
    there = there & (p.high > 0)
    first = arrays.maximum(arrays.maximum(beyond, above), y.low)
    last = arrays.minimum(arrays.minimum(within, below), y.high)
    first = arrays.where(first < math.inf, arrays.ceil(first * (1 - _ROUNDING)), first)
    last = arrays.floor(last * (1 + _ROUNDING))
    first = arrays.where(is_odd(first) != odd, first + 1, first)
    last = arrays.where(is_odd(last) != odd, last - 1, last)
    there = there & (first <= last) & (first < math.inf)
    least = arrays.minimum(*(arrays.maximum(r.low, elementwise.power(p.low, 1 / y)) for y in (first, last)))
    most = arrays.maximum(*(arrays.minimum(r.high, elementwise.power(p.high, 1 / y)) for y in (first, last)))
    least, most = arrays.minimum(least, most), arrays.maximum(least, most)  # where the numbers differ only by rounding
    return bounded(-most, -least, ~there), bounded(first, last, ~there)


def _crossed(*unions: Pieces) -> list[_PowerEnds]:
    """Each piece of one union paired with each piece of all others, row by row."""
    rows = max(union.lower.shape[1] for union in unions)
    choices = list(itertools.product(*(range(len(union.lower)) for union in unions)))
    return [
        _PowerEnds(*(arrays.broadcast_to(end[[c[place] for c in choices]], (len(choices), rows)) for end in union[:2]))
        for place, union in enumerate(unions)
    ]
