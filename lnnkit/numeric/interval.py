"""Intervals of real numbers as arrays, what numbers and terms hold, and unions of intervals, what a step of a term can
take.

A row is one instance, so an interval is a pair of arrays ``[n]`` in float64. Its ends may be infinite, but infinity is
never a value: no lower end is ``+inf``, no upper end ``-inf``, and no end is NaN; a lower end over the greatest float
is that float.

Division by an interval around zero gives two intervals, and so does the root of an even power. A union holds them as
pieces, arrays ``[p, n]``: in each row ``p`` intervals in any order, where an empty one has the ends ``inf, -inf``. A
row whose pieces are all empty has no value. ``[p, 1]`` stands for the same pieces in every row.

Pieces are closed. A quotient, however, approaches zero as its divisor grows without reaching it. Such an end is
represented by a number next to zero (`BESIDE_ZERO`), so that ``1 / x > 0`` is known for ``x >= 1``. Roots and products
keep such an end; division by it, and `hull`, treat it as zero.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import and_, gt, or_
from typing import NamedTuple

import numpy as np

from lnnkit import arrays
from lnnkit.arrays import Array, all_set, any_set, clamp, detached, learned, namespace, quietly

GREATEST = sys.float_info.max
NO_VALUE = (math.inf, -math.inf)  # the ends of a number that has none
EXACT = 2.0**53  # up to here every integer is a float
NOISE = 1e-12  # a smaller gain, relative to magnitudes over 1, is rounding
RELATIVE = 1e-9  # numbers that differ by no more, relative to the greater one, are equal
MOST = 8  # the most pieces that are kept apart; 2 to 16 give the same hulls of NPUs (benchmarks/numeric_constants.py)
BESIDE_ZERO = 1e-300  # Beside zero: an end above zero that is not reached. Every end of at most `ZERO` means this.
ZERO = 1e-100
TINY = sys.float_info.min  # Floats nearer to zero have lost digits.
ROUNDING = 16 * sys.float_info.epsilon  # The rounding error of a few operations, relative to their operands.


class Interval(NamedTuple):
    """Lower and upper ends of the same shape; the same array twice if every row is known to be a point."""

    lower: Array
    upper: Array

    def mapped(self, change: Callable[[Array], Array]) -> Interval:
        """Both ends changed alike; once, where they are one array."""
        lower = change(self.lower)
        return Interval(lower, lower if self.lower is self.upper else change(self.upper))

    def over(self, rows: int) -> Interval:
        """The interval in each of so many rows, where it is one for all."""
        return self if len(self.lower) == rows else self.mapped(lambda end: arrays.broadcast_to(end, (rows,)))


class Contraction(NamedTuple):
    """The narrowed inputs; unchanged in the rows ``empty`` ``[n]``, which have no consistent values."""

    inputs: tuple[Interval, ...]
    empty: Array


def point(values: Array) -> Interval:
    """Intervals of one value each; ``values`` are finite."""
    return Interval(values, values)


def unknown(count: int) -> Interval:
    """``count`` rows ``[-inf, inf]``."""
    return Interval(np.full(count, -math.inf), np.full(count, math.inf))


def linear(parts: Iterable[tuple[float, Interval]], start: float, like: Array) -> Interval:
    """``start`` plus the intervals, each times its weight; operands of weight 0 are left out."""
    lower = upper = arrays.full_like(like, float(start))
    for weight, (low, high) in parts:
        if weight:
            lower = lower + weight * (low if weight > 0 else high)
            upper = upper + weight * (high if weight > 0 else low)
    # Infinite ends of opposite sign give an indeterminate sum.
    return Interval(arrays.nan_to_num(lower, -math.inf), arrays.nan_to_num(upper, math.inf))


def finite_size(ends: Array) -> Array:
    """Magnitudes; infinite ends count as 0, since they are not rounded."""
    size = abs(ends)
    return arrays.where(size < math.inf, size, 0.0)


@quietly
def same(one: Array, other: Array) -> Array:
    """Whether two numbers count as equal: if both are integral and at most ``2^53``, exactly; otherwise within ``1e-9``
    of the larger magnitude."""
    equal = one == other
    size = arrays.maximum(abs(one), abs(other))
    close = (abs(one - other) <= RELATIVE * size) & ~equal
    if not any_set(close):
        return equal
    exact = (one == arrays.floor(one)) & (other == arrays.floor(other)) & (size <= EXACT)
    return equal | (close & (size < math.inf) & ~exact)


@quietly
def rises(old: Array, new: Array) -> Array:
    """Where lower ends have risen by more than rounding: 1e-12, relative for magnitudes above 1. For upper ends that
    fall, negate both arguments."""
    return (new > old) & (new - old > NOISE * clamp(abs(new), least=1.0))


# --- unions of intervals ----------------------------------------------------------------------------------------------


class Pieces(NamedTuple):
    """A union of intervals, ``[p, n]`` or ``[p, 1]``. ``whole`` means that no piece is empty in any row. If both ends
    are the same array, every row is a point."""

    lower: Array
    upper: Array
    whole: bool = True

    @property
    def point(self) -> bool:
        return self.lower is self.upper


def entered(interval: Interval) -> Pieces:
    """An interval as a union; ends that cross (within the tolerance) are swapped. What has no value is unknown."""
    lower, upper = interval
    if lower is upper:
        return points(lower[None])
    if any_set(lower > upper):
        lower, upper = arrays.minimum(lower, upper), arrays.maximum(lower, upper)
    return Pieces(lower[None], upper[None])


def points(values: Array) -> Pieces:
    """One point for each row."""
    return Pieces(values, values)


def points_if_equal(union: Pieces) -> Pieces:
    """The same union; if every row is a point, both ends are one array, which marks it as points."""
    if not union.point and len(union.lower) == 1 and arrays.equal(union.lower, union.upper):
        return points(union.lower)
    return union


def single(lower: float, upper: float, like: Array) -> Pieces:
    """The same interval in every row, as an array of the library of ``like``."""
    low, high = (namespace(like).full((1, 1), end, dtype=like.dtype, device=like.device) for end in (lower, upper))
    return points(low) if lower == upper else Pieces(low, high)


def nothing(rows: int, like: Array) -> Pieces:
    """Rows without a value."""
    none = namespace(like).full((1, rows), math.inf, dtype=like.dtype, device=like.device)
    return Pieces(none, -none, whole=False)


def finite(values: Array) -> bool:
    """Whether all values are certainly finite (their sum is)."""
    return math.isfinite(float(detached(values).sum()))


def empty(union: Pieces) -> Array:
    """Which pieces hold nothing, ``[p, n]``."""
    return union.lower > union.upper


def gone(*unions: Pieces, none: Array | None = None) -> Array | None:
    """A mask of where a piece of any of the unions is empty, or ``none`` is set; shapes broadcast."""
    flags = [] if none is None else [none]
    flags += [empty(union) for union in unions if not union.whole]
    return reduce(or_, flags) if flags else None


def bounded(lower: Array, upper: Array, gone: Array | None = None) -> Pieces:
    """A union of the given ends: infinity is not a value, and pieces marked ``gone`` are empty."""
    lower, upper = clamp(lower, most=GREATEST), clamp(upper, least=-GREATEST)
    if gone is None or not any_set(gone):
        return Pieces(lower, upper)
    return Pieces(arrays.where(gone, math.inf, lower), arrays.where(gone, -math.inf, upper), whole=False)


def differentiable(operation: Callable[..., Array], *ends: Array) -> Array:
    """``operation`` on ends, with gradients blocked where an end is infinite, since they would be nan there."""
    if not any(map(learned, ends)):
        return operation(*ends)
    value = operation(*map(detached, ends))
    passing = reduce(and_, map(arrays.isfinite, ends), arrays.isfinite(value))
    return arrays.where(passing, operation(*(arrays.where(passing, end, 1.0) for end in ends)), value)


def lost(values: Array, *operands: Array) -> bool:
    """Whether a product of nonzero operands may have come so close to zero that it is inaccurate."""
    small = abs(detached(values)) < TINY
    if not any_set(small):
        return False
    for operand in operands:
        small = small & (operand != 0)
    return any_set(small)


def regained(values: Array, *operands: Array) -> Array:
    """Products of operands; those that underflowed near zero are put beside zero."""
    if not lost(values, *operands):
        return values
    sign = math.prod(map(arrays.sign, operands), start=arrays.ones_like(values))
    return arrays.where(abs(values) < TINY, BESIDE_ZERO * sign, values)


def crossed(*unions: Pieces) -> Sequence[Pieces]:
    """Unions aligned such that each piece of one is combined with each piece of all others."""
    counts = [len(union.lower) for union in unions]
    if math.prod(counts) == max(counts):
        return unions
    places = map(list, zip(*itertools.product(*map(range, counts)), strict=True))
    return [Pieces(union.lower[at], union.upper[at], union.whole) for union, at in zip(unions, places, strict=True)]


def joined(unions: Sequence[Pieces]) -> Pieces:
    """The union of unions, in as few pieces as `tidied` leaves."""
    if len(unions) == 1:
        return unions[0]
    rows = next((len(union.lower[0]) for union in unions if len(union.lower[0]) != 1), 1)  # There may be none.
    lower, upper = (
        arrays.concat([arrays.broadcast_to(end, (len(end), rows)) for end in ends])
        for ends in ([union.lower for union in unions], [union.upper for union in unions])
    )
    return tidied(Pieces(lower, upper, all(union.whole for union in unions)))


def tidied(union: Pieces) -> Pieces:
    """The same values in fewer pieces: overlapping or adjacent ones are merged. If more than `MOST` remain, the
    uppermost are replaced by their hull."""
    if len(union.lower) == 1:
        return union
    xp = namespace(union.lower)
    order = xp.argsort(union.lower, axis=0)
    lower, upper = (xp.take_along_axis(end, order, axis=0) for end in union[:2])
    reach = list(itertools.accumulate(upper, xp.maximum))
    starts = xp.stack([xp.ones_like(lower[0], dtype=xp.bool), *(map(gt, lower[1:], reach))]) & (lower < math.inf)
    group = clamp(starts.cumsum(0) - 1, 0, MOST - 1)
    inside = [(group == number) & (lower < math.inf) for number in range(int(group[-1].max()) + 1)]
    least = xp.stack([arrays.least(xp.where(mask, lower, math.inf), 0) for mask in inside])
    most = xp.stack([arrays.most(xp.where(mask, upper, -math.inf), 0) for mask in inside])
    return Pieces(least, most, not any_set(least > most))


def intersection(one: Pieces, other: Pieces, *sources: Pieces) -> Pieces:
    """The intersection of two unions. Pieces that miss each other by no more than the tolerance, or the rounding error
    of the ``sources`` of ``other``, count as touching: there ``one`` keeps its end."""
    if one.point and other.point and arrays.equal(*arrays.broadcast_arrays(one.lower, other.lower)):
        return one
    first, second = crossed(one, other)
    lower, upper = arrays.maximum(first.lower, second.lower), arrays.minimum(first.upper, second.upper)
    apart = lower > upper
    if not any_set(apart):
        return tidied(Pieces(lower, upper))
    near = same(lower, upper)
    for source in sources:
        near |= lower - upper <= ROUNDING * size(source)
    # The exact zero, not an end that is not reached.
    tiny = arrays.maximum(abs(first.lower), abs(first.upper)) <= ZERO
    near &= tiny | (arrays.maximum(abs(lower), abs(upper)) > ZERO)
    near |= apart & ((upper > 0) & (lower <= ZERO) | (lower < 0) & (upper >= -ZERO))  # beside zero on the same side
    touch = arrays.where(second.lower > first.upper, first.upper, first.lower)
    lower = arrays.where(apart, arrays.where(near, touch, math.inf), lower)
    upper = arrays.where(apart, arrays.where(near, touch, -math.inf), upper)
    return tidied(Pieces(lower, upper, whole=not any_set(lower > upper)))


def unless_noise(old: Pieces, new: Pieces, *sources: Pieces) -> Pieces:
    """The narrowed bounds of an operand of a sum, without moves that are no greater than the rounding error of the
    ``sources``: otherwise a small operand beside a large one would be narrowed again in every round. Integers are
    exact."""
    if len(old.lower) != 1 or len(new.lower) != 1:
        return new
    moved = (new.lower > old.lower) | (new.upper < old.upper)
    if not any_set(moved):
        return new
    noise = ROUNDING * arrays.most(_stacked(map(size, sources)), 0)
    low, high = new.lower - old.lower <= noise, old.upper - new.upper <= noise
    touching = moved & (low | high)
    if not any_set(touching):
        return new
    touching &= ~_stacked(map(whole_numbers, (old, *sources))).all(0) & (new.lower <= new.upper)
    lower = arrays.where(touching & low, arrays.minimum(old.lower, new.lower), new.lower)
    upper = arrays.where(touching & high, arrays.maximum(old.upper, new.upper), new.upper)
    return Pieces(lower, upper, new.whole)


def whole_numbers(union: Pieces) -> Array:
    """A mask of rows in which all ends are infinite, or whole numbers that floats represent exactly."""
    ends = arrays.stack((union.lower, union.upper))
    return ((ends == arrays.floor(ends)) & ((abs(ends) <= EXACT) | arrays.isinf(ends))).all(0).all(0)


def unrounded(*unions: Pieces) -> Array:
    """A mask of rows in which sums and products of the unions' ends are exact: whole numbers, or multiples of 2^-10 so
    small that the product of two has at most 53 digits."""
    whole = _stacked(map(whole_numbers, unions)).all(0)
    if all_set(whole):
        return whole
    ends = [end for union in unions for end in union[:2]]
    grid = [(end * 1024 == arrays.floor(end * 1024)) & (abs(end) <= 2.0**32) | arrays.isinf(end) for end in ends]
    return whole | _stacked(mask.all(0) for mask in grid).all(0)


def _stacked(values: Iterable[Array]) -> Array:
    return arrays.stack(arrays.broadcast_arrays(*values))


def size(union: Pieces) -> Array:
    """The largest finite magnitude of a union's ends in each row."""
    ends = finite_size(union.lower)
    if not union.point:
        ends = arrays.maximum(ends, finite_size(union.upper))
    return ends[0] if len(ends) == 1 else arrays.most(ends, 0)


def hull(union: Pieces) -> Interval:
    """The smallest interval around a union; ``inf, -inf`` if it is empty."""
    if len(union.lower) == 1:
        lower = union.lower[0]
        return Interval(lower, lower if union.point else union.upper[0])
    return Interval(arrays.least(union.lower, 0), arrays.most(union.upper, 0))


def boxes(operands: Sequence[Pieces]) -> list[Interval]:
    """The closed hulls of the operands, broadcast to the same number of rows."""
    hulls = [closed(hull(operand)) for operand in operands]
    rows = next((len(low) for low, _ in hulls if len(low) != 1), 1)
    return [box.over(rows) for box in hulls]


# --- ends beside zero -------------------------------------------------------------------------------------------------


def barely_above(ends: Array) -> Array:
    """A mask of the ends that are beside zero, above it."""
    return (ends > 0) & (ends <= ZERO)


def closed(interval: Interval) -> Interval:
    """An interval with ends beside zero moved to zero."""
    lower, upper = interval
    if lower is upper:
        return interval
    return Interval(arrays.where(barely_above(lower), 0.0, lower), arrays.where(barely_above(-upper), 0.0, upper))


def beside_zero(union: Pieces) -> bool:
    """Whether a lower end is beside zero and above it, or an upper end is beside zero and below it."""
    if union.point:
        return any_set((abs(detached(union.lower)) <= ZERO) & (union.lower != 0))
    return any_set(barely_above(detached(union.lower))) or any_set(barely_above(-detached(union.upper)))


def from_zero(ends: Array) -> Array:
    """Ends as those of values from zero on; an end beside zero becomes zero."""
    return arrays.where(ends > ZERO, ends, 0.0)


def without_zero(union: Pieces) -> Pieces:
    """The union without pieces that consist of zero alone."""
    zero = (union.lower == 0) & (union.upper == 0)
    if union.point or not any_set(zero):
        return union
    return Pieces(arrays.where(zero, math.inf, union.lower), arrays.where(zero, -math.inf, union.upper), whole=False)
