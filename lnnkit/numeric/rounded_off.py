"""The effect of rounding on the ends of a term's values: running error analysis (Wilkinson 1986, "Error analysis
revisited"), done only where it matters.

Given numbers are exact, and so are sums and products whose rounding error, itself a float (Dekker 1971, "A
floating-point technique for extending the available precision"), is zero. Ends are moved outward only where a sum is so
much smaller than its operands that its relative error exceeds `KNOWN`; no gradient passes through the move.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import NamedTuple

from lnnkit import arrays
from lnnkit.arrays import Array, any_set, clamp, detached, namespace, replaced, take, where_set
from lnnkit.numeric.arithmetic import negate
from lnnkit.numeric.functions import FUNCTIONS, Function
from lnnkit.numeric.interval import ROUNDING, TINY, Pieces, finite_size, hull, points, single, size, whole_numbers
from lnnkit.numeric.step import Apply, Constant, Step

KNOWN = 1e-11  # a relative error up to this leaves an end unchanged
_CANCELS = 2.0**-6  # a sum greater than this share of its operands is known to 1e-9 if they are known to `KNOWN`
_SUMS = ("add", "subtract")
_CARRYING: Mapping[object, Function] = {name: f for name, f in FUNCTIONS.items() if f.growth is not None}
_MARGIN = 1.001  # slack for the rounding of the errors themselves


class Errors(NamedTuple):
    """The errors of the lower and of the upper ends, in shapes that broadcast with them."""

    lower: Array
    upper: Array


def let_out(steps: Sequence[Step], values: Sequence[Pieces]) -> Pieces:
    """The last of ``values``, the values of the first ``steps``, with ends moved outward if it is a sum with
    cancellation, or a function that magnifies the errors of its operand."""
    union, top = values[-1], steps[len(values) - 1]
    if not isinstance(top, Apply) or not _may_cancel(steps, top):
        return union
    sum_, rows = top.operation in _SUMS, None
    if sum_:
        rows = where_set(_cancels(union, [values[place] for place in top.operands], minus=top.operation == "subtract"))
        if not len(rows):
            return union
    picked = at_rows(values, rows)
    least = arrays.least(arrays.minimum(*(abs(end) for end in picked[-1][:2])), 0)
    felt = where_set(least * KNOWN < magnitude(steps, picked, len(values) - 1) * ROUNDING)
    if not len(felt):
        return union
    picked, rows = at_rows(picked, felt), felt if rows is None else take(rows, felt)
    lower, upper = errors(steps, picked, len(values) - 1)
    low = arrays.where(lower > KNOWN * abs(picked[-1].lower), lower * _MARGIN, 0.0)
    high = arrays.where(upper > KNOWN * abs(picked[-1].upper), upper * _MARGIN, 0.0)
    if sum_:
        return widened(union, rows, low, high)
    least, most = hull(_CARRYING[top.operation].image([single(-math.inf, math.inf, union.lower)]))
    lower, upper, whole = widened(union, rows, low, high)
    return Pieces(arrays.maximum(lower, least), arrays.minimum(upper, most), whole)


def widened(union: Pieces, rows: Array, low: Array, high: Array) -> Pieces:
    """A union with the lower ends of some rows lowered by ``low`` and the upper ones raised by ``high``, by at least
    one float where they move."""
    if not (any_set(low > 0) or any_set(high > 0)):
        return union
    least, most = take(union.lower, rows), take(union.upper, rows)
    low = arrays.where((low > 0) & arrays.isfinite(least), arrays.maximum(low, _step(least, -math.inf)), 0.0)
    high = arrays.where((high > 0) & arrays.isfinite(most), arrays.maximum(high, _step(most, math.inf)), 0.0)
    return Pieces(replaced(union.lower, rows, least - low), replaced(union.upper, rows, most + high), union.whole)


def _step(values: Array, towards: float) -> Array:
    """The distance of each value from the next float in a direction."""
    values = detached(values)
    return abs(values - namespace(values).nextafter(values, arrays.full_like(values, towards)))


def at_rows(values: Sequence[Pieces], rows: Array | None) -> list[Pieces]:
    """Some rows of unions (None: all), detached from gradients."""
    unions = []
    for lower, upper, whole in values:
        low, high = (
            detached(end) if rows is None or end.shape[1] == 1 else take(detached(end), rows) for end in (lower, upper)
        )
        unions.append(points(low) if lower is upper else Pieces(low, high, whole))
    return unions


def errors(steps: Sequence[Step], values: Sequence[Pieces], place: int) -> Errors:
    """How far the ends of a step's values may be from those without rounding."""
    error = _errors(steps, values, place)
    if len(error.lower) in (1, len(values[place].lower)):
        return error
    return Errors(*(arrays.most(side, 0)[None] for side in error))  # the pieces were merged: take the greatest errors


def _errors(steps: Sequence[Step], values: Sequence[Pieces], place: int) -> Errors:
    step, union = steps[place], values[place]
    if not isinstance(step, Apply):
        return _relative(union, ROUNDING if isinstance(step, Constant) and step.rounded else 0.0)
    parts = [values[operand] for operand in step.operands]
    below = [errors(steps, values, operand) for operand in step.operands]
    simple = all(len(part.lower) == 1 for part in (union, *parts))
    match step.operation:
        case "negate":
            return Errors(below[0].upper, below[0].lower)
        case name if name in _CARRYING:
            return Errors(*(_grown(_CARRYING[name], union, below, side, simple) for side in (0, 1)))
        case "add" | "subtract" if simple:
            if step.operation == "subtract":
                parts[1], below[1] = negate(parts[1]), Errors(below[1].upper, below[1].lower)
            ends = [([part[side] for part in parts], [error[side] for error in below]) for side in (0, 1)]
            return Errors(*(_sum(*side) for side in ends))
        case "multiply" if simple:
            # Constants last
            order = sorted(range(len(parts)), key=lambda n: isinstance(steps[step.operands[n]], Constant))
            product, error = parts[order[0]], below[order[0]]
            for number in order[1:]:
                product, error = _product(product, error, parts[number], below[number])
            return error
        case operation:
            exact = _exact(operation if simple else None, union, parts)
            for error in below:
                exact = exact & ((error.lower == 0) & (error.upper == 0)).all(0)
            share = sum(_share(part, error) for part, error in zip(parts, below, strict=True))
            if operation == "power":
                share = share * clamp(arrays.most(abs(parts[1].lower), 0), 1.0, 1e6)
            return _relative(union, arrays.where(exact, 0.0, ROUNDING + share))


def _grown(function: Function, union: Pieces, below: Sequence[Errors], side: int, simple: bool) -> Array:
    """The error of one side of a function's values, from those of its operands."""
    if simple and function.rises:
        error = reduce(arrays.maximum, [error[side] for error in below])
    else:
        error = reduce(arrays.maximum, [arrays.most(end, 0) for error in below for end in error])
    assert function.growth is not None
    carried = finite_size(arrays.nan_to_num(function.growth(union[side]) * error, 0.0))
    return carried + ROUNDING * finite_size(union[side]) if function.rounds else carried


def magnitude(steps: Sequence[Step], values: Sequence[Pieces], place: int) -> Array:
    """For each row, the magnitude that bounds the errors of a step's value: they are at most about `ROUNDING` times
    this. Much cheaper than `errors`."""
    step, union = steps[place], values[place]
    if not isinstance(step, Apply):
        return size(union)
    below = [magnitude(steps, values, operand) for operand in step.operands]
    match step.operation:
        case "negate":
            return below[0]
        case name if name in _CARRYING:
            error = Errors(*[ROUNDING * reduce(arrays.maximum, below)[None]] * 2)
            ends = [arrays.most(_grown(_CARRYING[name], union, [error], side, simple=False), 0) for side in (0, 1)]
            return arrays.maximum(*ends) / ROUNDING
        case "add" | "subtract":
            return sum(below[1:], below[0])
        case "multiply":
            return math.prod(below[1:], start=below[0])
        case _:
            grown = size(union)
            for operand, most in zip(step.operands, below, strict=True):
                if isinstance(steps[operand], Apply):
                    grown = grown * clamp(most / clamp(size(values[operand]), least=TINY), least=1.0)
            return grown


def _may_cancel(steps: Sequence[Step], top: Apply) -> bool:
    """Whether a step is a sum, or a function that is rounded itself, of values that may have been rounded; the sum of
    two given numbers is rounded only once."""
    operands = [steps[place] for place in top.operands]
    rounded = any(isinstance(step, Apply) or (isinstance(step, Constant) and step.rounded) for step in operands)
    if top.operation in _SUMS:
        return len(operands) > 2 or rounded
    return rounded and top.operation in _CARRYING and _CARRYING[top.operation].rounds


def _cancels(union: Pieces, parts: Sequence[Pieces], *, minus: bool) -> Array:
    """A mask of rows in which an end of a sum is much smaller than the ends that were added."""
    if all(len(part.lower) == 1 for part in (union, *parts)):
        added = [negate(part) if minus and place == 1 else part for place, part in enumerate(parts)]
        masks = [
            abs(end) < reduce(arrays.maximum, [abs(part[side]) for part in added]) * _CANCELS
            for side, end in enumerate(union[:1] if union.point else union[:2])
        ]
        return reduce(or_, masks)[0]
    most = reduce(arrays.maximum, map(size, parts))
    least = abs(union.lower) if union.point else arrays.minimum(abs(union.lower), abs(union.upper))
    return arrays.broadcast_to(arrays.least(least, 0) < most * _CANCELS, (union.lower.shape[1],))


def _relative(union: Pieces, share: Array | float) -> Errors:
    return Errors(finite_size(union.lower) * share, finite_size(union.upper) * share)


def _share(union: Pieces, error: Errors) -> Array:
    """The larger relative error of a row's two ends; an end at zero has none."""
    shares = [
        clamp(arrays.where((end != 0) & (abs(end) < math.inf), distance / abs(end), 0.0), most=1.0)
        for end, distance in zip(union[:2], error, strict=True)
    ]
    return arrays.most(arrays.maximum(*shares), 0)


def _sum(ends: Sequence[Array], below: Sequence[Array]) -> Array:
    """The error of a sum from first to last: the errors of the operands, plus the rounding error of each addition."""
    partial, error = ends[0], below[0]
    for end, carried in zip(ends[1:], below[1:], strict=True):
        total = partial + end
        back = total - partial
        lost = (partial - (total - back)) + (end - back)
        error = error + carried + finite_size(lost)
        partial = total
    return error


def _product(one: Pieces, error: Errors, other: Pieces, beside: Errors) -> tuple[Pieces, Errors]:
    """The product of single pieces, and its error: that of the corner that could be the end."""
    corners = []
    for x, e in zip(one[:1] if one.point else one[:2], error, strict=not one.point):
        for y, f in zip(other[:1] if other.point else other[:2], beside, strict=not other.point):
            value = arrays.nan_to_num(x * y, 0.0)
            known = _rounded_off(x, y, value) + finite_size(x * f) + finite_size(y * e) + finite_size(e * f)
            corners.append((value, known))
    if len(corners) == 1:
        ((value, known),) = corners
        return points(value), Errors(known, known)
    lower, upper = (arrays.stack([value for value, _ in corners]) for _ in (0, 1))
    low, high = arrays.least(lower, 0), arrays.most(upper, 0)
    lowest, highest = arrays.zeros_like(low), arrays.zeros_like(high)
    for value, known in corners:
        lowest = arrays.maximum(lowest, known - arrays.nan_to_num(value - low, 0.0))
        highest = arrays.maximum(highest, known - arrays.nan_to_num(high - value, 0.0))
    return Pieces(low, high), Errors(lowest, highest)


def _rounded_off(one: Array, other: Array, product: Array) -> Array:
    """The exact rounding error of a product of floats; one ulp if the halves of its factors are out of range."""
    (a, b), (c, d) = _halves(one), _halves(other)
    lost = ((a * c - product) + a * d + b * c) + b * d
    vague = (abs(product) < TINY * 2.0**110) & (one != 0) & (other != 0)
    bound = sys.float_info.epsilon * abs(product) + math.ulp(0.0)
    rounding = arrays.where(vague | ~arrays.isfinite(lost), bound, abs(lost))
    return arrays.where(arrays.isinf(product), 0.0, rounding)


def _halves(value: Array) -> tuple[Array, Array]:
    """Two floats of 26 digits that add up to the value."""
    spread = value * (2.0**27 + 1)
    high = spread - (spread - value)
    return high, value - high


def _exact(operation: object, union: Pieces, parts: Sequence[Pieces]) -> Array:
    """A mask of where a quotient, root or power of exact operands is exact too."""
    if operation == "power":
        return whole_numbers(union) & whole_numbers(parts[0]) & whole_numbers(parts[1])
    if operation == "sqrt" or (operation == "divide" and parts[1].point):  # both ends are products without rounding
        ends = zip(union[:2], union[:2] if operation == "sqrt" else parts[1][:2], parts[0][:2], strict=True)
        return reduce(and_, [(x * y == z) & (_rounded_off(x, y, x * y) == 0) for x, y, z in ends])
    return union.lower != union.lower
