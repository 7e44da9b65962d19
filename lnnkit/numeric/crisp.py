"""Crisp relations: truth as a function of the sign of ``d = left - right``.

A relation is given by its truths for ``d < 0``, ``d = 0`` and ``d > 0``. A Neural Status Register with hard bits is
also one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import NamedTuple

from lnnkit import arrays
from lnnkit.arrays import Array, all_set, any_set, detached, namespace
from lnnkit.numeric.comparator import Learned, Sign
from lnnkit.numeric.interval import EXACT, RELATIVE, Interval, same
from lnnkit.numeric.pieces import ROUNDING, Pieces, barely_above, beside_zero, crossed_with, hull
from lnnkit.numeric.rounded_off import Errors, moved

TOLERANCE = 1e-9  # tolerance between truths, as in `lnnkit.logic.bounds`
_GREAT = 2.0**49  # from here on rounding may turn a number into the next integer
_CRISP = 700.0  # a log-odds margin
_NEXT = math.ulp(0.0)
LEAST = sys.float_info.min  # the least upper end for truths that are not 0
MOST = 1 - sys.float_info.epsilon / 2  # the greatest lower end for truths that are not 1


class RelationTruths(NamedTuple):
    """The truths of a relation where left is below, equal to and above right."""

    below: float
    equal: float
    above: float


SIGNS: Mapping[Sign, RelationTruths] = {
    ">": RelationTruths(0, 0, 1),
    ">=": RelationTruths(0, 1, 1),
    "<": RelationTruths(1, 0, 0),
    "<=": RelationTruths(1, 1, 0),
    "=": RelationTruths(0, 1, 0),
    "!=": RelationTruths(1, 0, 1),
}


def hard(relation: Learned) -> RelationTruths:
    """The truths of a status register with hard bits: its sign bit is -1, 0, 1, its zero bit -1, 1, -1."""
    plus, zero, bias = relation.weight_plus, relation.weight_zero, relation.bias
    return RelationTruths(_sigmoid(bias - plus - zero), _sigmoid(bias + zero), _sigmoid(bias + plus - zero))


def image(truths: RelationTruths, left: Pieces, right: Pieces) -> Interval:
    """The hull of the truths for values from two unions; ``inf, -inf`` where one is empty."""
    (low, high), (least, most) = hull(left), hull(right)
    if left.point and right.point:
        truth = _at_points(truths, low, least)
        return Interval(truth, truth)
    one, other = crossed_with(left, right)
    if beside_zero(left) or beside_zero(right):
        possible = (
            _can_be_below(_from_zero(low), high, least, -_from_zero(-most)),
            _can_be_equal(*(Pieces(_from_zero(x.lower, _NEXT), -_from_zero(-x.upper, _NEXT)) for x in (one, other))),
            _can_be_below(_from_zero(least), most, low, -_from_zero(-high)),
        )
    else:
        possible = (
            _can_be_below(low, high, least, most),
            _can_be_equal(one, other),
            _can_be_below(least, most, low, high),
        )
    size = low + least
    lower, upper = (arrays.full_like(size, end) for end in (math.inf, -math.inf))
    for can_be, truth in zip(possible, truths, strict=True):
        lower = arrays.where(can_be & (lower > truth), truth, lower)
        upper = arrays.where(can_be & (upper < truth), truth, upper)
    return Interval(lower, upper)


def great(union: Pieces) -> Array:
    """A mask of rows with an end so large that rounding may have made it a whole number, while whole numbers that large
    are still compared exactly."""
    mask = union.lower[0] != union.lower[0]
    for end in union[:1] if union.point else union[:2]:
        size = abs(detached(end))
        large = size >= _GREAT
        if any_set(large):
            mask = mask | (large & (size <= EXACT)).any(0)
    return mask


def let_out(union: Pieces, rows: Array, errors: Errors) -> Pieces:
    """Widen the ends of one side in rows that are `great` by their rounding errors, since integers are compared
    exactly."""
    return moved(union, rows, *(arrays.where(error > 0, ROUNDING * EXACT, 0.0) for error in errors))


def _at_points(truths: RelationTruths, left: Array, right: Array) -> Array:
    """The truths of single values."""
    if all(truth in (0, 1) for truth in truths):  # several times as fast as choosing between numbers
        return namespace(left).astype(holds(truths, left, right), left.dtype)
    over, equal = _compared(left, right)
    strict = arrays.where(over, arrays.full_like(left, truths.above), truths.below)
    return strict if equal is None else arrays.where(equal, truths.equal, strict)


def holds(truths: RelationTruths, left: Array, right: Array) -> Array:
    """The relation at single values, as flags, for ``truths`` of 0 and 1."""
    left, right = detached(left), detached(right)
    over, equal = _beside(left, right.item()) if right.shape == (1,) else _compared(left, right)
    if equal is None:
        equal = arrays.zeros_like(over)
    if truths.below == truths.above:
        apart = arrays.full_like(over, bool(truths.below))
    else:
        apart = over if truths.above else ~over
    return apart | equal if truths.equal else apart & ~equal


def _beside(left: Array, level: float) -> tuple[Array, Array | None]:
    """Masks of the values above ``level`` and of those equal to it (None if there are none). Equal values lie within
    twice the tolerance; if all of these are bitwise equal, the slower comparison is skipped."""
    margin = 2 * RELATIVE * abs(level)
    over, under = left > level + margin, left < level - margin
    equal = ~(over | under)
    if not any_set(equal):
        return over, None
    if all_set((left == level) == equal):
        return over, equal
    return left > level, same(left, arrays.full_like(left, level))


def _compared(left: Array, right: Array) -> tuple[Array, Array | None]:
    """Masks of where the left value is greater, and of where both are equal (None if they are nowhere)."""
    gap = left - right
    return gap > 0, None if all_set(abs(gap) > 2 * RELATIVE * abs(left)) else same(left, right)


def preimage(truths: RelationTruths, bounds: Interval) -> Pieces:
    """The closed set of differences that give a truth in ``bounds``."""
    lower, upper = bounds
    asks_lower, asks_upper = lower > TOLERANCE, upper < 1 - TOLERANCE
    below, equal, above = (
        ~(asks_lower & (truth < lower - TOLERANCE)) & ~(asks_upper & (truth > upper + TOLERANCE)) for truth in truths
    )
    nothing = arrays.zeros_like(lower)
    least = arrays.where(below, -math.inf, arrays.where(equal | above, nothing, math.inf))
    most = arrays.where(above, math.inf, arrays.where(equal | below, nothing, -math.inf))
    return Pieces(least[None], most[None], whole=all_set(below | equal | above))


def _can_be_below(low: Array, high: Array, least: Array, most: Array) -> Array:
    """Whether a value of ``[low, high]`` can be less than one of ``[least, most]``. Ends that are equal within the
    tolerance may still have different whole numbers between them."""
    below = low < most
    level = below & same(low, most)
    if not any_set(level):
        return below
    first, last = arrays.ceil(low), arrays.floor(most)
    whole = (first < last) & (first <= high) & (last >= least) & (arrays.maximum(-first, last) <= EXACT)
    return below & (~level | whole)


def _from_zero(lower: Array, least: float = 0.0) -> Array:
    """Lower ends, where one beside zero (above it) stands for any positive number."""
    return arrays.where(barely_above(lower), least, lower)


def _can_be_equal(one: Pieces, other: Pieces) -> Array:
    lower, upper = arrays.maximum(one.lower, other.lower), arrays.minimum(one.upper, other.upper)
    return ((lower <= upper) | same(lower, upper)).any(0)


def _sigmoid(value: float) -> float:
    """The sigmoid; a large margin is that of a crisp relation and gives 0 or 1, any other gives neither."""
    if abs(value) >= _CRISP:
        return float(value > 0)
    return min(1 / (1 + math.exp(-value)), MOST) if value >= 0 else math.exp(value) / (1 + math.exp(value))
