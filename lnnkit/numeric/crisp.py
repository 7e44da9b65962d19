"""Relations between two numbers: the truth as a function of their difference ``d = left - right``.

=========================  ===========================================================================
crisp ``> >= < <= = !=``   1 where it holds, else 0; equal means `lnnkit.numeric.interval.same`
``>``, ``>=`` with scale   ``sigmoid(d / s)`` for both
``<``, ``<=`` with scale   ``sigmoid(-d / s)`` for both
``=`` with scale           ``1 - tanh(d / s)^2``: the NSR's zero bit ``B0`` moved to ``[0, 1]``; ``!=`` its complement
learned                    ``sigmoid(b + w+ t + w0 (1 - 2 t^2))`` with ``t = tanh(d / s)``, crisp ``t = sign(d)``
=========================  ===========================================================================

(Neural Status Register: Faber and Wattenhofer 2020, arXiv 2004.07085.) `soft` evaluates those with a scale. Crisp
ones are evaluated here, as functions of the sign of ``d``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, cast

from lnnkit import arrays
from lnnkit.arrays import Array, all_set, any_set, detached, namespace, where_set
from lnnkit.numeric import interval
from lnnkit.numeric.interval import ROUNDING, Interval, Pieces, barely_above, beside_zero, crossed, hull, same
from lnnkit.numeric.rounded_off import Errors, widened

TOLERANCE = 1e-9  # tolerance between truths, as in `lnnkit.logic.bounds`
_GREAT = 2.0**49  # from here on rounding may turn a number into the next integer
_CRISP = 700.0  # a log-odds margin
_NEXT = math.ulp(0.0)
LEAST = sys.float_info.min  # the least upper end for truths that are not 0
MOST = 1 - sys.float_info.epsilon / 2  # the greatest lower end for truths that are not 1

Sign = Literal[">", ">=", "<", "<=", "=", "!="]


class Fixed(NamedTuple):
    """One of the six relations; crisp if ``scale`` is 0."""

    sign: Sign
    scale: float = 0.0


class Learned(NamedTuple):
    """The relation of a Neural Status Register; with hard bits if ``scale`` is 0."""

    weight_plus: float
    weight_zero: float
    bias: float
    scale: float = 0.0


Comparator = Fixed | Learned


def relation(operator: str, weight: Sequence[float] | None, scale: float) -> Comparator | None:
    """The relation of an operator of the language; for ``<?>`` the one with ``weight`` (w+, w0, b), or None without a
    weight."""
    if operator != "<?>":
        return Fixed(cast("Sign", operator), scale)
    if weight is None:
        return None
    plus, zero, bias = weight
    return Learned(plus, zero, bias, scale)


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


def margins(relation: Learned) -> RelationTruths:
    """The log-odds of a status register with hard bits: its sign bit is -1, 0, 1, its zero bit -1, 1, -1."""
    plus, zero, bias = relation.weight_plus, relation.weight_zero, relation.bias
    return RelationTruths(bias - plus - zero, bias + zero, bias + plus - zero)


def hard(relation: Learned) -> RelationTruths:
    """The truths of a status register with hard bits."""
    return RelationTruths(*map(_sigmoid, margins(relation)))


def doubt(relation: Learned) -> float:
    """The greatest distance of these truths from the nearer of 0 and 1."""
    return max(_sigmoid(-abs(margin)) for margin in margins(relation))


def image(truths: RelationTruths, left: Pieces, right: Pieces) -> Interval:
    """The hull of the truths for values from two unions; ``inf, -inf`` where one is empty."""
    first, second = hull(left), hull(right)
    if left.point and right.point:
        truth = _at_points(truths, first.lower, second.lower)
        return Interval(truth, truth)
    one, other, wide_first, wide_second = *crossed(left, right), first, second
    if beside_zero(left) or beside_zero(right):
        wide_first, wide_second = (Interval(*_from_zero(*ends, 0.0)) for ends in (first, second))
        one, other = (Pieces(*_from_zero(*union[:2], _NEXT)) for union in (one, other))
    least, most = arrays.maximum(one.lower, other.lower), arrays.minimum(one.upper, other.upper)
    possible = (
        _can_be_below(wide_first.lower, first.upper, second.lower, wide_second.upper),
        ((least <= most) | same(least, most)).any(0),
        _can_be_below(wide_second.lower, second.upper, first.lower, wide_first.upper),
    )
    size = first.lower + second.lower
    lower, upper = (arrays.full_like(size, end) for end in (math.inf, -math.inf))
    for can_be, truth in zip(possible, truths, strict=True):
        lower = arrays.where(can_be & (lower > truth), truth, lower)
        upper = arrays.where(can_be & (upper < truth), truth, upper)
    return Interval(lower, upper)


def let_out(union: Pieces, errors: Callable[[Array], Errors]) -> Pieces:
    """One side with the ends widened that may be wrong, by the ``errors`` of some rows: integers are compared exactly,
    and in rows with an end so large rounding may have made it an integer."""
    mask = union.lower[0] != union.lower[0]
    for end in union[:1] if union.point else union[:2]:
        size = abs(detached(end))
        large = size >= _GREAT
        if any_set(large):
            mask = mask | (large & (size <= interval.EXACT)).any(0)
    rows = where_set(mask)
    if not len(rows):
        return union
    return widened(union, rows, *(arrays.where(error > 0, ROUNDING * interval.EXACT, 0.0) for error in errors(rows)))


def _at_points(truths: RelationTruths, left: Array, right: Array) -> Array:
    """The truths of single values."""
    left, right = detached(left), detached(right)
    over, equal = _beside(left, right.item()) if right.shape == (1,) else _compared(left, right)
    if not all(truth in (0, 1) for truth in truths):
        strict = arrays.where(over, arrays.full_like(left, truths.above), truths.below)
        return strict if equal is None else arrays.where(equal, truths.equal, strict)
    # Flags are several times as fast as choosing between numbers
    apart = over if truths.above else ~over
    if truths.below == truths.above:
        apart = arrays.full_like(over, bool(truths.below))
    if equal is not None:
        apart = apart | equal if truths.equal else apart & ~equal
    return namespace(left).astype(apart, left.dtype)


def _beside(left: Array, level: float) -> tuple[Array, Array | None]:
    """Masks of the values above ``level`` and of those equal to it (None if there are none). Equal values lie within
    twice the tolerance; if all of these are bitwise equal, the slower comparison is skipped."""
    margin = 2 * interval.RELATIVE * abs(level)
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
    return gap > 0, None if all_set(abs(gap) > 2 * interval.RELATIVE * abs(left)) else same(left, right)


def preimage(truths: RelationTruths, bounds: Interval, apart: float = 0.0) -> Pieces:
    """The closed set of differences that give a truth in ``bounds``; numbers that are not equal are so far ``apart`` at
    least."""
    lower, upper = bounds
    asks_lower, asks_upper = lower > TOLERANCE, upper < 1 - TOLERANCE
    below, equal, above = (
        ~(asks_lower & (truth < lower - TOLERANCE)) & ~(asks_upper & (truth > upper + TOLERANCE)) for truth in truths
    )
    nothing = arrays.zeros_like(lower)
    least = arrays.where(below, -math.inf, arrays.where(equal, nothing, arrays.where(above, nothing + apart, math.inf)))
    most = arrays.where(above, math.inf, arrays.where(equal, nothing, arrays.where(below, nothing - apart, -math.inf)))
    return Pieces(least[None], most[None], whole=all_set(below | equal | above))


def _can_be_below(low: Array, high: Array, least: Array, most: Array) -> Array:
    """Whether a value of ``[low, high]`` can be less than one of ``[least, most]``. Ends that are equal within the
    tolerance may still have different whole numbers between them."""
    below = low < most
    level = below & same(low, most)
    if not any_set(level):
        return below
    first, last = arrays.ceil(low), arrays.floor(most)
    whole = (first < last) & (first <= high) & (last >= least) & (arrays.maximum(-first, last) <= interval.EXACT)
    return below & (~level | whole)


def _from_zero(lower: Array, upper: Array, least: float) -> tuple[Array, Array]:
    """Ends, where one beside zero stands for any number on its side of zero."""
    return arrays.where(barely_above(lower), least, lower), arrays.where(barely_above(-upper), -least, upper)


def _sigmoid(value: float) -> float:
    """The sigmoid; a large margin is that of a crisp relation and gives 0 or 1, any other gives neither."""
    if abs(value) >= _CRISP:
        return float(value > 0)
    return min(1 / (1 + math.exp(-value)), MOST) if value >= 0 else math.exp(value) / (1 + math.exp(value))
