"""Completed calendar years and months between two dates, as functions of terms.

``months(a, b)``, for ``a <= b``, is the number of month ends ``a + n months <= b``, n >= 1: with ``M`` the month of a
date, counted through all years, and ``r`` what it is past the start of its month, ``M(b) - M(a) - [r(b) < r(a)]``. So a
day that a month lacks is completed on the first of the next: a year from 29 February on 1 March. For ``a > b`` it is
``-months(b, a)``; ``years`` is ``months / 12`` without its fraction. Both fall in steps of 1 as ``a`` rises, and rise
with ``b``: hulls have the values at two corners, and are inverted by the calendar. Times count to the millisecond.

Dates without times are narrowed to whole days, where all ends are whole or infinite. Else the closed hull is taken,
which has one instant too many at an end that is not reached.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lnnkit.arrays import as_numpy, matching
from lnnkit.numeric.interval import RELATIVE, Interval, Pieces, boxes, closed, hull, points_if_equal

_DAY = 86_400_000  # milliseconds
_FARTHEST = 1e10  # days: beyond it, nothing is said
_MOST = 1e9  # months; as far


def completed(months: int, operands: Sequence[Pieces]) -> Pieces:
    """The hull of the periods of so many ``months`` that are completed from the first date to the second."""
    inner = boxes(operands)
    (first, last), (begin, end) = ([as_numpy(end) for end in box] for box in inner)
    lower, upper = _periods(months, last, begin, -math.inf), _periods(months, first, end, math.inf)
    like = inner[0].lower
    return points_if_equal(Pieces(matching(lower[None], like), matching(upper[None], like)))


def completing(months: int, value: Pieces, operands: Sequence[Pieces], *, timed: bool) -> list[Pieces]:
    """For each date, those that the other may complete to one of the values; ``timed`` if some have a time of day."""
    like, (least, most) = operands[0].lower, map(as_numpy, closed(hull(value)))
    first, second = (Interval(*map(as_numpy, box)) for box in boxes(operands))
    least, most = np.ceil(least - RELATIVE * abs(least)), np.floor(most + RELATIVE * abs(most))
    least, most = months * least - (months - 1) * (least <= 0), months * most + (months - 1) * (most >= 0)
    whole = np.logical_and.reduce([end == np.floor(end) for end in (*first, *second)]) & (not timed)
    sides = (
        _between(whole, _completing(second.lower, most + 1), _completing(second.upper, least)),
        _between(whole, _completing(first.lower, 1 - least), _completing(first.upper, -most)),
    )
    return [Pieces(matching(low[None], like), matching(high[None], like), whole=False) for low, high in sides]


def _periods(length: int, since: np.ndarray, until: np.ndarray, far: float) -> np.ndarray:
    """The value at points; ``far`` where one is too far away."""
    known = (abs(since) < _FARTHEST) & (abs(until) < _FARTHEST)
    one, other = _read(np.where(known, since, 0.0)), _read(np.where(known, until, 0.0))
    forth = (other.month > one.month) | ((other.month == one.month) & (other.rest >= one.rest))
    lacking = np.where(forth, -1 * (other.rest < one.rest), 1 * (other.rest > one.rest))
    months = other.month - one.month + lacking
    return np.where(known, np.sign(months) * (abs(months) // length), far)


class _Moment(NamedTuple):
    """The months from 1970-01 to that of a date, and the milliseconds since its start."""

    month: np.ndarray
    rest: np.ndarray


class _RayEnd(NamedTuple):
    """The end of a ray of dates, in days, nan where it is not known; ``reached`` where it belongs to the ray."""

    days: np.ndarray
    reached: np.ndarray


def _read(days: np.ndarray) -> _Moment:
    stamps = np.rint(days * _DAY).astype("datetime64[ms]")
    months = stamps.astype("datetime64[M]")
    return _Moment(months.astype(np.int64), (stamps - months).astype(np.int64))


def _completing(until: np.ndarray, least: np.ndarray) -> _RayEnd:
    """The end of the dates from which at least so many months are completed ``until`` a date."""
    known = (abs(until) < _FARTHEST) & (abs(least) <= _MOST)
    end, count = _read(np.where(known, until, 0.0)), np.where(known, least, 0.0).astype(np.int64)
    month = end.month - count + (count <= 0)  # that of the limit
    begin, stop = (_milliseconds(month + more) for more in (0, 1))
    days = (begin + np.minimum(end.rest, stop - begin)) / _DAY
    return _RayEnd(np.where(known, days, math.nan), (count > 0) & (end.rest < stop - begin))


def _milliseconds(months: np.ndarray) -> np.ndarray:
    return months.astype("datetime64[M]").astype("datetime64[ms]").astype(np.int64)


def _between(whole: np.ndarray, below: _RayEnd, above: _RayEnd) -> tuple[np.ndarray, np.ndarray]:
    """The ends of dates, of ``whole`` ones or any, that the ray up to one limit lacks and the ray up to another has."""
    lower = np.where(below.reached, np.floor(below.days) + 1, np.ceil(below.days))
    upper = np.where(above.reached, np.floor(above.days), np.ceil(above.days) - 1)
    lower, upper = np.where(whole, lower, below.days), np.where(whole, upper, above.days)
    return np.nan_to_num(lower, nan=-math.inf), np.nan_to_num(upper, nan=math.inf)
