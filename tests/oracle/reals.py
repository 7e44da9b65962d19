"""Sets of real numbers as unions of intervals, open or closed, and arithmetic on them, forward and backward.

Infinity is no member, so an infinite end is open; so is an end that an operation approaches and never reaches.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from typing import NamedTuple

from .program import Box

INF = math.inf
GREATEST = sys.float_info.max
RELATIVE = 1e-9
NEXT = math.ulp(0.0)  # a product or power of what is not 0 is not, however small it is


class Piece(NamedTuple):
    """The numbers between two ends; ``above`` leaves out the lower one, ``below`` the upper one."""

    low: float
    high: float
    above: bool = False
    below: bool = False


Reals = list[Piece]  # disjoint, in order


def same(a: float, b: float) -> bool:
    """Whether two numbers count as equal."""
    if math.isinf(a) or math.isinf(b) or (a == math.floor(a) and b == math.floor(b)):
        return a == b
    return abs(a - b) <= RELATIVE * max(abs(a), abs(b))


def between(low: float, high: float) -> Reals:
    """The closed interval."""
    return [Piece(low, high, low == -INF, high == INF)]


ALL: Reals = between(-INF, INF)
POSITIVE: Reals = [Piece(0.0, INF, True, True)]
NEGATIVE: Reals = [Piece(-INF, 0.0, True, True)]


def union(pieces: Iterable[Piece]) -> Reals:
    """The pieces in order, those that overlap or touch joined."""
    found: Reals = []
    for piece in sorted(pieces, key=lambda p: (p.low, p.above)):
        last = found[-1] if found else None
        apart = last is None or piece.low > last.high or (piece.low == last.high and piece.above and last.below)
        if last is None or apart:
            found.append(piece)
        elif (piece.high, not piece.below) > (last.high, not last.below):
            found[-1] = Piece(last.low, piece.high, last.above, piece.below)
    return found


def intersect(a: Reals, b: Reals) -> Reals:
    """Common members. Closed ends that are the same but for rounding meet."""
    found = []
    for p in a:
        for q in b:
            low, above = max((p.low, p.above), (q.low, q.above))
            high, inside = min((p.high, not p.below), (q.high, not q.below))
            if not above and inside and (low <= high or same(low, high)):
                found.append(Piece(min(low, high), max(low, high)))
            elif low < high:
                found.append(Piece(low, high, above, not inside))
    return union(found)


def hull(a: Reals) -> Box:
    """The closed hull."""
    return a[0].low, a[-1].high


def closure(a: Reals) -> Reals:
    return union(piece for p in a for piece in between(p.low, p.high))


def without(a: Reals, x: float) -> Reals:
    """All but one number, or what is the same."""
    kept = [p for p in a if not (same(p.low, x) and same(p.high, x))]
    return intersect(kept, [Piece(-INF, x, True, True), Piece(x, INF, True, True)])


def holds(a: Reals, x: float) -> bool:
    return bool(intersect(a, between(x, x)))


def each(operation: Callable[[Piece, Piece], Piece], a: Reals, b: Reals) -> Reals:
    """The union over all pairs of pieces."""
    return union(operation(p, q) for p in a for q in b)


def spread(ends: Iterable[tuple[float, bool]]) -> Piece:
    """The least piece with these ends in its closure: each a value, and whether it is left out."""
    ends = list(ends)
    low, high = min(ends), max((value, not out) for value, out in ends)
    return _piece(low[0], high[0], low[1], not high[1])


def _piece(low: float, high: float, above: bool, below: bool) -> Piece:
    """What is beyond the floats is beyond the greatest of them; infinity is no member."""
    return Piece(min(low, GREATEST), max(high, -GREATEST), above or low == -INF, below or high == INF)


# --- forward ----------------------------------------------------------------------------------------------------------


def add(a: Reals, b: Reals) -> Reals:
    return each(lambda p, q: _piece(p.low + q.low, p.high + q.high, p.above or q.above, p.below or q.below), a, b)


def negate(a: Reals) -> Reals:
    return [Piece(-p.high, -p.low, p.below, p.above) for p in reversed(a)]


def subtract(a: Reals, b: Reals) -> Reals:
    return add(a, negate(b))


def _product(p: Piece, q: Piece) -> Piece:
    def corner(x: float, x_out: bool, y: float, y_out: bool) -> tuple[float, bool]:
        if x == 0 or y == 0:  # 0 times anything is 0
            return 0.0, not ((x == 0 and not x_out) or (y == 0 and not y_out))
        return (x * y or math.copysign(NEXT, x) * math.copysign(1.0, y)), x_out or y_out

    ends = [((x.low, x.above), (x.high, x.below)) for x in (p, q)]
    return spread(corner(*one, *other) for one in ends[0] for other in ends[1])


def multiply(a: Reals, b: Reals) -> Reals:
    return each(_product, a, b)


def reciprocal(a: Reals) -> Reals:
    """``1 / x`` for the members that are not 0."""
    positive = [
        _piece(0.0 if p.high == INF else 1 / p.high, INF if p.low == 0 else 1 / p.low, p.below, p.above)
        for p in intersect(a, POSITIVE)
    ]
    negative = [
        _piece(-INF if p.high == 0 else 1 / p.high, 0.0 if p.low == -INF else 1 / p.low, p.below, p.above)
        for p in intersect(a, NEGATIVE)
    ]
    return union([*negative, *positive])


def divide(a: Reals, b: Reals) -> Reals:
    return multiply(a, reciprocal(b))


def absolute(a: Reals) -> Reals:
    return union([*intersect(a, between(0.0, INF)), *negate(intersect(a, between(-INF, 0.0)))])


def rising(a: Reals, function: Callable[[float], float]) -> Reals:
    """The image under a function that only rises."""
    return union(spread([(function(p.low), p.above), (function(p.high), p.below)]) for p in a)


def root(a: Reals) -> Reals:
    return rising(intersect(a, between(0.0, INF)), math.sqrt)


def raised(x: float, exponent: float) -> float:
    """A positive power of an end, infinite where float64 ends."""
    try:
        return math.pow(x, exponent) or (
            0.0 if x == 0 or math.isinf(exponent) else math.copysign(NEXT, x if exponent % 2 == 1 else 1.0)
        )
    except OverflowError:
        return -INF if x < 0 and exponent % 2 else INF


def power(a: Reals, exponent: float) -> Reals:
    """``x ^ exponent``; ``0 ^ 0`` is 1, and a negative ``x`` has whole powers only."""
    if exponent < 0:
        return reciprocal(power(a, -exponent))
    if exponent == 0:
        return between(1.0, 1.0) if a else []
    if exponent != math.floor(exponent):
        a = intersect(a, between(0.0, INF))
    elif exponent % 2 == 0:
        a = absolute(a)
    return rising(a, lambda x: raised(x, exponent))


def exponential(base: float, b: Reals) -> Reals:
    """``base ^ y`` for a positive base."""
    if base == 1:
        return between(1.0, 1.0) if b else []
    return rising(b if base > 1 else negate(b), lambda y: raised(max(base, 1 / base), y))


# --- backward: the members of one operand for which some member of the other gives a member of ``z`` ------------------


def factor(x: Reals, y: Reals, z: Reals) -> Reals:
    """``x`` in ``x * y = z``."""
    free = x if holds(y, 0.0) and holds(z, 0.0) else []
    return union([*free, *intersect(x, divide(z, y))])


def dividend(x: Reals, y: Reals, z: Reals) -> Reals:
    """``x`` in ``x / y = z``."""
    return intersect(x, multiply(z, without(y, 0.0)))


def divisor(x: Reals, y: Reals, z: Reals) -> Reals:
    """``y`` in ``x / y = z``."""
    y = without(y, 0.0)
    free = y if holds(x, 0.0) and holds(z, 0.0) else []
    return union([*free, *intersect(y, divide(without(x, 0.0), z))])


def base_of(x: Reals, exponent: float, z: Reals) -> Reals:
    """``x`` in ``x ^ exponent = z``."""
    if exponent < 0:
        return base_of(without(x, 0.0), -exponent, reciprocal(z))
    if exponent == 0:
        return x if holds(z, 1.0) else []
    positive = _rooted(z, exponent)
    if exponent != math.floor(exponent):
        return intersect(x, positive)
    if exponent % 2 == 0:
        return intersect(x, union([*positive, *negate(positive)]))
    return intersect(x, union([*positive, *negate(_rooted(negate(z), exponent))]))


def _rooted(z: Reals, exponent: float) -> Reals:
    """The ``exponent``-th roots, exact where they are whole numbers."""

    def rooted(value: float) -> float:
        if math.isinf(value):
            return value
        found = raised(value, 1 / exponent)
        near = float(round(found)) if math.isfinite(found) else found
        return near if raised(near, exponent) == value else found

    return rising(intersect(z, between(0.0, INF)), rooted)


def exponent_of(base: float, y: Reals, z: Reals) -> Reals:
    """``y`` in ``base ^ y = z`` for a positive base."""
    if base == 1:
        return y if holds(z, 1.0) else []
    logarithms = rising(intersect(z, POSITIVE), lambda v: -INF if v == 0 else v if v == INF else math.log(v))
    return intersect(y, multiply(logarithms, between(1 / math.log(base), 1 / math.log(base))))
