"""Completed years and months by `datetime` alone: counted one by one, and boxes by trying every day in them, or where
they are far or infinite by bisection."""

from __future__ import annotations

import calendar
import math
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import product

Box = tuple[float, float]
EPOCH = datetime(1970, 1, 1)


def at(days: float) -> datetime:
    return EPOCH + timedelta(days)


def months_after(moment: datetime, count: int) -> datetime:
    """So many months later; the first of the next month where that month has no such day."""
    month = moment.month - 1 + count
    year, month = moment.year + month // 12, month % 12 + 1
    if moment.day > calendar.monthrange(year, month)[1]:
        return datetime(year + month // 12, month % 12 + 1, 1)
    return moment.replace(year=year, month=month)


def completed(since: float, until: float, step: int) -> int:
    """The periods of so many months, one after the other."""
    if since > until:
        return -completed(until, since, step)
    begin, end, count = at(since), at(until), 0
    while months_after(begin, (count + 1) * step) <= end:
        count += 1
    return count


def steps(box: Box, by: float) -> list[float]:
    """The numbers from one end to the other."""
    return [box[0] + by * count for count in range(math.floor((box[1] - box[0]) / by) + 1)]


def image(first: Box, second: Box, step: int, by: float = 1.0) -> Box:
    values = [completed(a, b, step) for a, b in product(steps(first, by), steps(second, by))]
    return min(values), max(values)


def kept(first: Box, second: Box, value: Box, step: int, by: float = 1.0) -> list[Box] | None:
    """The hull of the pairs of days whose value is in a range; None if there are none."""
    pairs: Sequence[tuple[float, float]] = [
        (a, b) for a, b in product(steps(first, by), steps(second, by)) if value[0] <= completed(a, b, step) <= value[1]
    ]
    return [(min(side), max(side)) for side in zip(*pairs, strict=True)] if pairs else None


# --- by bisection -----------------------------------------------------------------------------------------------------

DAY = 86_400_000  # milliseconds


def bisected(first: Box, second: Box, value: Box, step: int, *, timed: bool) -> list[Box]:
    """What is left of two boxes, each given the other: days or, of ``timed`` dates, milliseconds; -inf and inf where an
    end of the other box is infinite."""
    (a, b), (c, d), (least, most) = first, second, value
    scale = DAY if timed else 1

    def start(holds: Callable[[float], bool], around: float) -> float:
        return _first(holds, around, scale)

    return [
        (
            start(lambda day: completed(day, c, step) <= most, c),
            -start(lambda day: completed(-day, d, step) >= least, -d),
        ),
        (
            start(lambda day: completed(a, day, step) >= least, a),
            -start(lambda day: completed(b, -day, step) <= most, -b),
        ),
    ]


def _first(holds: Callable[[float], bool], around: float, scale: int) -> float:
    """The first multiple of ``1 / scale`` from which a condition holds on."""
    if math.isinf(around):
        return -math.inf
    low, high = (math.floor(around) - 12_000) * scale, (math.ceil(around) + 12_000) * scale
    if holds(low / scale):
        return -math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle / scale) else (middle, high)
    return high / scale
