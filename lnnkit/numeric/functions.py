"""Functions of terms: the image of the operands, and for each operand the values that some values of the others
complete to one of the result. Ends are as exact as those of `lnnkit.numeric.arithmetic`.

``log`` is the natural logarithm; ``exp`` is above 0, however small. ``round`` takes halves away from zero. A number
within 1e-9 of a whole number or of a half, relative to it and by 1e-6 at most, is rounded as that number: ``floor(0.29
* 100)`` is 29, as ``0.29 * 100 >= 29`` is true.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import NamedTuple

from lnnkit import arrays, elementwise
from lnnkit.arrays import Array, clamp, detached
from lnnkit.numeric import interval
from lnnkit.numeric.arithmetic import absolute, absolute_of, negate, others, square_root, square_root_of
from lnnkit.numeric.completed_time import completed, completing
from lnnkit.numeric.interval import ROUNDING, Pieces, bounded, differentiable, gone, hull, points, tidied

_NEAR = 1e-6  # a number further from a whole one is never rounded as that one
_TURN = 2 * math.pi
_Elementwise = Callable[[Array], Array]


class Function(NamedTuple):
    """``image`` and ``left`` are those of units (`lnnkit.numeric.step.FixedUnit`). An error of an operand, times the
    ``growth`` at an end of the result, is one of the result (None: relative errors stay about the same, as in
    products); ``rounds``: the function rounds too. If it ``rises``, an end comes from the same ends of its operands.
    ``total``: it has a value everywhere; ``whole``: whole numbers give whole numbers."""

    image: Callable[[Sequence[Pieces]], Pieces]
    left: Callable[[Pieces, Sequence[Pieces]], Sequence[Pieces]]
    growth: _Elementwise | None
    rounds: bool = False
    rises: bool = True
    total: bool = True
    whole: bool = False

    @property
    def stepwise(self) -> bool:
        """Whether its values are whole numbers, whatever its operands are."""
        return self.growth is arrays.zeros_like

    def mirrored(self) -> Function:
        """The function ``-f(-x)``."""
        return self._replace(
            image=lambda operands: negate(self.image([*map(negate, operands)])),
            left=lambda value, operands: [*map(negate, self.left(negate(value), [*map(negate, operands)]))],
        )


# --- exponentials and logarithms --------------------------------------------------------------------------------------


def exponential(one: Pieces) -> Pieces:
    """``e^x``; what underflows is beside zero."""
    return _increasing(one, lambda ends: clamp(arrays.exp(ends), least=interval.BESIDE_ZERO))


def logarithm(one: Pieces) -> Pieces:
    """The natural logarithms of the positive values."""
    if one.point and arrays.all_set(one.lower > interval.ZERO):
        return points(arrays.log(one.lower))
    lower, upper = interval.from_zero(one.lower), clamp(one.upper, least=0.0)
    none = (upper <= 0) | (lower > upper)
    return bounded(differentiable(arrays.log, lower), differentiable(arrays.log, upper), none)


def _increasing(one: Pieces, function: _Elementwise) -> Pieces:
    lower = differentiable(function, one.lower)
    if one.point and interval.finite(lower):
        return points(lower)
    return tidied(bounded(lower, differentiable(function, one.upper), gone(one)))


# --- sine and cosine --------------------------------------------------------------------------------------------------


def _wave(one: Pieces, function: _Elementwise, slope: _Elementwise) -> Pieces:
    """The image of ``sin`` or ``cos``. Which extremes lie between two ends follows from the signs of the ``slope``
    there, which are right however far the ends are from zero."""
    if one.point:
        return points(function(one.lower))
    far = ~(arrays.isfinite(one.lower) & arrays.isfinite(one.upper))
    low, high = (arrays.where(far, 0.0, end) for end in one[:2])
    values, (up, still_up) = [function(low), function(high)], [slope(detached(end)) > 0 for end in (low, high)]
    width = high - low
    both = far | (width >= _TURN) | ((up == still_up) & (width >= math.pi))
    lower = arrays.where(both | (~up & still_up), -1.0, arrays.minimum(*values))
    upper = arrays.where(both | (up & ~still_up), 1.0, arrays.maximum(*values))
    return tidied(bounded(lower, upper, gone(one)))


def _angles(value: Pieces, domain: Pieces, centre: float) -> Pieces:
    """The hull of the ``x`` of ``domain`` with ``cos(x - centre)`` in ``value``."""
    low, high = interval.closed(hull(domain))
    ends = (clamp(end, -1.0, 1.0) for end in (value.upper + ROUNDING, value.lower - ROUNDING))
    band = [arrays.where(interval.empty(value), math.nan, elementwise.acos(end)) for end in ends]
    first, last = _first(low, band, centre), -_first(-high, band, -centre)
    return bounded(first[None], last[None], (first > last)[None])


def _first(start: Array, band: Sequence[Array], centre: float) -> Array:
    """The least number from ``start`` on whose distance from ``centre``, up to whole turns, is within the ``band``;
    infinity if no piece of it has any."""
    inner, outer = band
    room = ROUNDING * (1 + interval.finite_size(start))  # the error of numbers within a few turns from there
    found = [
        arrays.maximum(start, begin + _TURN * arrays.ceil((start - room - end) / _TURN) - room)
        for begin, end in ((centre + inner, centre + outer), (centre - outer, centre - inner))
    ]
    return arrays.least(arrays.nan_to_num(arrays.minimum(*found), math.inf), 0)


# --- whole numbers ----------------------------------------------------------------------------------------------------


def _floor(values: Array) -> Array:
    near = arrays.round(values)
    return arrays.where(_counts_as(near, values), near, arrays.floor(values))


def _nearest(values: Array) -> Array:
    size = abs(values)
    down = _floor(size)
    up = ((size - down > 0.5) | _counts_as(down + 0.5, size)) & (size < interval.EXACT / 2)  # beyond, all are whole
    return arrays.sign(values) * arrays.where(up, down + 1, down)


def _counts_as(marked: Array, values: Array) -> Array:
    return abs(values - marked) <= clamp(interval.RELATIVE * abs(values), most=_NEAR)


def _around_whole(value: Pieces, below: float, above: float) -> Pieces:
    """From so much ``below`` the first whole number of each piece to so much ``above`` the last one."""
    first, last = -_floor(-value.lower), _floor(value.upper)
    return tidied(bounded(first - below, last + above, first > last))


# --- the least of several ---------------------------------------------------------------------------------------------


def _lesser(one: Pieces, other: Pieces) -> Pieces:
    if one.point and other.point:
        return points(arrays.minimum(one.lower, other.lower))
    one, other = interval.crossed(one, other)
    ends = arrays.minimum(one.lower, other.lower), arrays.minimum(one.upper, other.upper)
    return tidied(bounded(*ends, gone(one, other)))


def _left_of_least(value: Pieces, operands: Sequence[Pieces]) -> list[Pieces]:
    """An operand is the least itself, and the others may be as great; or one of them is, and it is no less."""
    narrowed: list[Pieces] = []
    for other in others(operands, _lesser):
        most = hull(other).upper
        itself = bounded(value.lower, arrays.minimum(value.upper, most), interval.empty(value) | (value.lower > most))
        start, end = hull(interval.intersection(other, value))
        no_less = bounded(start[None], arrays.full_like(start, math.inf)[None], (start > end)[None])
        narrowed.append(interval.joined((itself, no_less)))
    return narrowed


# --- the table --------------------------------------------------------------------------------------------------------


def _of_one(
    image: Callable[[Pieces], Pieces],
    inverse: Callable[[Pieces, Pieces], Pieces],
    growth: _Elementwise | None,
    **about: bool,
) -> Function:
    """A function of one operand; the ``inverse`` is of the values and the operand."""
    return Function(
        lambda operands: image(operands[0]), lambda value, operands: [inverse(value, operands[0])], growth, **about
    )


def _rounding(function: _Elementwise, below: float, above: float) -> Function:
    """A function to whole numbers, which come from so much below to so much above."""
    image = partial(_increasing, function=function)
    return _of_one(image, lambda value, _: _around_whole(value, below, above), arrays.zeros_like, whole=True)


def _periodic(function: _Elementwise, slope: _Elementwise, centre: float) -> Function:
    image, inverse = partial(_wave, function=function, slope=slope), partial(_angles, centre=centre)
    return _of_one(image, inverse, arrays.ones_like, rounds=True, rises=False)


def _counting(months: int, *, timed: bool) -> Function:
    """The periods of so many months that are completed between two dates."""
    left = partial(completing, months, timed=timed)
    return Function(partial(completed, months), left, arrays.zeros_like, rises=False)


_LEAST = Function(lambda operands: reduce(_lesser, operands), _left_of_least, arrays.ones_like, whole=True)
FUNCTIONS: Mapping[str, Function] = {
    "negate": _of_one(negate, lambda value, _: negate(value), None, rises=False, whole=True),
    "abs": _of_one(absolute, lambda value, _: absolute_of(value), arrays.ones_like, rises=False, whole=True),
    "sqrt": _of_one(square_root, lambda value, _: square_root_of(value), None, total=False),
    "exp": _of_one(exponential, lambda value, _: logarithm(value), abs, rounds=True),
    "log": _of_one(logarithm, lambda value, _: exponential(value), lambda y: arrays.exp(-y), rounds=True, total=False),
    "sin": _periodic(arrays.sin, arrays.cos, math.pi / 2),
    "cos": _periodic(arrays.cos, lambda ends: -arrays.sin(ends), 0.0),
    "floor": _rounding(_floor, 0.0, 1.0),
    "ceil": _rounding(_floor, 0.0, 1.0).mirrored(),
    "round": _rounding(_nearest, 0.5, 0.5),
    "years": _counting(12, timed=False),
    "months": _counting(1, timed=False),
    "timed_years": _counting(12, timed=True),
    "timed_months": _counting(1, timed=True),
    "least": _LEAST,
    "greatest": _LEAST.mirrored(),
}
