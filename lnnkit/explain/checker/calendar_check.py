"""`years` and `months` for the checker of proofs, one box at a time and by Python's calendar. It counts with dates,
and inverts by bisection, so it shares nothing with the unit by which inference works out the same.

A date is a pair of a `date` and the milliseconds of its day; a month after a day that the month lacks is completed on
the first of the next month."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta

import numpy as np

from lnnkit.arrays import Array, as_numpy
from lnnkit.numeric import FixedUnit, Interval
from lnnkit.numeric.interval import Pieces, boxes, closed, hull
from lnnkit.numeric.step import UnitName

_CYCLE, _YEARS = 146097, 400  # days and years after which the calendar repeats
_DAY = 86_400_000  # milliseconds
_EPOCH = date(1970, 1, 1).toordinal()
_FARTHEST = 10**10  # days; farther away, nothing is said
_SLACK = 1e-9  # values that differ by no more, relative to the greater, are equal


def completed(since: float, until: float, months: int) -> int:
    """The periods of so many months that are completed between two dates; negative from the later to the earlier."""
    if until < since and _moment(since) != _moment(until):
        return -completed(until, since, months)
    (year, month, *rest), (last, end, *left) = _moment(since), _moment(until)
    return ((last - year) * 12 + end - month - (left < rest)) // months


def _moment(days: float) -> tuple[int, int, int, int]:
    """The year, month and day of a date, and its milliseconds."""
    whole, part = divmod(round(days * _DAY), _DAY)
    cycles, whole = divmod(whole + _EPOCH - 1, _CYCLE)
    day = date(1, 1, 1) + timedelta(whole)
    return day.year + cycles * _YEARS, day.month, day.day, part


class CheckedTime(FixedUnit):
    """``years(a, b)`` or ``months(a, b)``: falls as ``a`` rises, rises with ``b``."""

    exact = True

    def __init__(self, name: UnitName) -> None:
        self.name = name
        self._months = 12 if name == "years" else 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CheckedTime) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name

    def enclosed(self, operands: Sequence[Interval]) -> Pieces:
        boxes = _rows([end for box in operands for end in box])
        ends = [(self._value(b, c, -math.inf), self._value(a, d, math.inf)) for a, b, c, d in boxes]
        lower, upper = np.array(ends, float).reshape(-1, 2).T
        return Pieces(lower[None], upper[None])

    def _value(self, since: float, until: float, far: float) -> float:
        return completed(since, until, self._months) if max(abs(since), abs(until)) < _FARTHEST else far

    def left(self, value: Pieces, operands: Sequence[Pieces]) -> Sequence[Pieces]:
        rows = _rows([end for box in (closed(hull(value)), *boxes(operands)) for end in box])
        found = np.array([self._kept(*row) for row in rows], float).reshape(-1, 4).T
        return [Pieces(found[place][None], found[place + 1][None], whole=False) for place in (0, 2)]

    def _kept(self, least: float, most: float, a: float, b: float, c: float, d: float) -> tuple[float, ...]:
        """What is left of ``[a, b]`` and ``[c, d]``."""
        least, most = least - _SLACK * abs(least), most + _SLACK * abs(most)
        whole = all(math.isinf(end) or end == math.floor(end) for end in (a, b, c, d))
        low = _first(lambda day: self._value(day, c, -math.inf) <= most, c, whole=whole)
        high = -_first(lambda day: self._value(-day, d, math.inf) >= least, -d, whole=whole)
        begin = _first(lambda day: self._value(a, day, math.inf) >= least, a, whole=whole)
        end = -_first(lambda day: self._value(b, -day, -math.inf) <= most, -b, whole=whole)
        return low, high, begin, end


def _rows(columns: Sequence[Array]) -> Iterator[tuple[float, ...]]:
    return zip(*(end.tolist() for end in np.broadcast_arrays(*map(as_numpy, columns))), strict=True)


def _first(holds: Callable[[float], bool], around: float, *, whole: bool) -> float:
    """The first day, or millisecond, from which a condition holds on; ``-inf`` where that is too far away."""
    if not abs(around) < _FARTHEST:
        return -math.inf
    scale = 1 if whole else _DAY
    low, high, step = math.floor(around) * scale, math.ceil(around) * scale, scale
    while holds(low / scale):
        low, step = low - step, step * 2
        if abs(low) > _FARTHEST * scale:
            return -math.inf
    while not holds(high / scale):
        high, step = high + step, step * 2
        if abs(high) > _FARTHEST * scale:
            return -math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle / scale) else (middle, high)
    return high / scale
