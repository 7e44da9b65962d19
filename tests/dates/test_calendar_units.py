"""`years` and `months` over intervals are the hulls of trying every day, upward and downward."""

from __future__ import annotations

import calendar
import math
import random
from datetime import date, timedelta
from typing import cast

import numpy as np
import pytest

from lnnkit.numeric import Interval, Term, apply, constant, number
from lnnkit.numeric.step import FunctionName
from tests.blocks import at_length
from tests.dates.calendar_oracle import DAY, Box, at, bisected, completed, image, kept

STEPS = {"years": 12, "months": 1}
EVERY = pytest.mark.parametrize("name", STEPS)


def days(text: str) -> int:
    return (date.fromisoformat(text) - date(1970, 1, 1)).days


def on(text: str) -> Box:
    return days(text), days(text)


def boxes(*several: Box) -> list[Interval]:
    return [Interval(*np.array(box, float)[:, None]) for box in several]


def between(name: str, *, timed: bool = False) -> Term:
    return apply(cast("FunctionName", f"timed_{name}" if timed else name), number(0), number(1))


def hull(name: str, first: Box, second: Box) -> Box:
    interval, defined = between(name).hull(boxes(first, second))
    assert defined.all()
    return interval.lower.item(), interval.upper.item()


def contract(name: str, first: Box, second: Box, value: Box, *, timed: bool = False) -> list[Box] | None:
    left = between(name, timed=timed).contract(boxes(first, second), boxes(value)[0])
    return None if left.empty.any() else [(end.lower.item(), end.upper.item()) for end in left.inputs]


@pytest.mark.slow
@EVERY
def test_every_pair_of_days_in_some_years(name: str) -> None:
    begins = [days("1999-12-01"), days("2003-12-15"), days("1899-12-31"), days("1969-11-30")]
    for begin in begins:
        since, until = np.meshgrid(np.arange(begin, begin + 95.0), np.arange(begin + 360.0, begin + 460.0))
        pairs = [Interval(side.ravel(), side.ravel()) for side in (since, until)]
        found, _ = between(name).hull(pairs)
        wanted = [completed(a, b, STEPS[name]) for a, b in zip(since.ravel(), until.ravel(), strict=True)]
        assert found.lower.tolist() == found.upper.tolist() == wanted


def draw_box(draw: random.Random, middle: int, by: float) -> Box:
    low = middle + draw.randint(-60, 60) + (0 if by == 1.0 else draw.choice((0, 0.25, 0.5, 0.75)))
    return low, low + draw.choice((0, 0, 1, 3, 10, 28, 31, 40)) * by


@EVERY
@pytest.mark.parametrize("by", [1.0, 0.25])
@pytest.mark.parametrize(
    ("seed", "count"), at_length([(0, 30), *((seed, 100) for seed in range(5))], plain=1, several=True)
)
def test_random_boxes(name: str, by: float, seed: int, count: int) -> None:
    draw, step = random.Random(f"{name}{by}{seed}"), STEPS[name]
    for _ in range(count):
        year, month = draw.choice((1899, 1999, 2003, 2023)), draw.choice((1, 2, 2, 3, 8, 12))
        middle = (date(year, month, draw.randint(1, 28)) - date(1970, 1, 1)).days
        first = draw_box(draw, middle, by)
        second = draw_box(draw, middle + draw.choice((-366, -31, 0, 28, 31, 59, 365, 366, 731)), by)
        assert hull(name, first, second) == image(first, second, step, by)
        low = draw.randint(-25, 25)
        value = (low, low + draw.choice((0, 0, 1, 5)))
        value = draw.choice((value, value, (low, math.inf), (-math.inf, low)))
        found, wanted = contract(name, first, second, value, timed=by < 1), kept(first, second, value, step, by)
        if by == 1.0:
            assert found == wanted
        elif wanted is not None:  # of times the closed hull is taken: its ends may be instants that are only approached
            assert found is not None
            for (low, high), (least, most) in zip(found, wanted, strict=True):
                assert least - by <= low <= least and most <= high <= most + by


@pytest.mark.parametrize(
    ("name", "since", "until", "value"),
    [
        ("years", "2004-02-29", "2005-02-28", 0),
        ("years", "2004-02-29", "2005-03-01", 1),
        ("years", "2004-02-29", "2008-02-28", 3),
        ("years", "2004-02-29", "2008-02-29", 4),
        ("years", "2004-03-01", "2022-02-28", 17),
        ("years", "2004-03-01", "2022-03-01", 18),
        ("months", "2023-01-31", "2023-02-28", 0),
        ("months", "2023-01-31", "2023-03-01", 1),
        ("months", "2023-01-31", "2023-03-30", 1),
        ("months", "2023-01-31", "2023-03-31", 2),
        ("months", "2023-03-31", "2023-04-30", 0),
        ("months", "2023-03-31", "2023-05-01", 1),
        ("months", "2023-03-15", "2023-03-15", 0),
        ("months", "2023-03-15", "2023-02-15", -1),
        ("months", "2023-03-15", "2023-02-16", 0),
        ("years", "2022-03-01", "2004-03-01", -18),
        ("years", "0001-01-01", "9999-12-31", 9998),
    ],
)
def test_odd_days(name: str, since: str, until: str, value: int) -> None:
    assert hull(name, on(since), on(until)) == (value, value)


def test_a_birthday_is_narrowed_to_the_days_of_one_year() -> None:
    today = on("2026-11-29")
    found = contract("years", (-math.inf, math.inf), today, (18, 18))
    assert found is not None
    assert [f"{at(end):%Y-%m-%d}" for end in found[0]] == ["2007-11-30", "2008-11-29"]
    found = contract("years", today, (-math.inf, math.inf), (18, math.inf))
    assert found == [today, (days("2044-11-29"), math.inf)]


def test_a_whole_century_day_by_day() -> None:
    """Each day of birth has its 18th birthday on the day that `calendar` says."""
    born = np.arange(days("1890-01-01"), days("1990-01-01"), dtype=float)
    wanted = []
    for day in (date(1970, 1, 1) + timedelta(day) for day in born.tolist()):
        leaps = (day.month, day.day) == (2, 29) and not calendar.isleap(day.year + 18)
        grown = date(day.year + 18, 3, 1) if leaps else day.replace(year=day.year + 18)
        wanted.append((grown - date(1970, 1, 1)).days)
    inputs = [Interval(born, born), Interval(np.full(len(born), -math.inf), np.full(len(born), math.inf))]
    value = Interval(np.full(len(born), 18.0), np.full(len(born), math.inf))
    left = between("years").contract(inputs, value)
    assert not left.empty.any() and left.inputs[1].lower.tolist() == wanted


@EVERY
def test_far_dates_and_wild_values_are_unknown(name: str) -> None:
    assert hull(name, (-math.inf, math.inf), (0, 0)) == (-math.inf, math.inf)
    assert hull(name, (1e300, 1e300), (0, 0)) == (-math.inf, math.inf)
    for value in ((1e300, math.inf), (-math.inf, -1e300), (0.25, 0.75)):
        found = contract(name, (0, 10), (0, 10), value)
        assert found is None or found == [(0, 10), (0, 10)]
    assert contract(name, (-math.inf, 0), (0, math.inf), (-math.inf, math.inf)) == [(-math.inf, 0), (0, math.inf)]


def test_a_difference_of_years_is_exact() -> None:
    term = apply("subtract", between("years"), constant(18))
    interval, _ = term.hull(boxes(on("2004-03-01"), on("2022-03-01")))
    assert (interval.lower.item(), interval.upper.item()) == (0, 0)


@EVERY
@pytest.mark.parametrize(
    ("timed", "count"), at_length([(False, 100), (False, 400), (True, 400)], plain=1, several=True)
)
def test_far_and_infinite_boxes_by_bisection(name: str, timed: bool, count: int) -> None:
    draw, by = random.Random(f"{name}{timed}"), 0.25 if timed else 1.0
    tolerance = 2 / DAY if timed else 0.0  # of times an end that is not reached is counted in
    for _ in range(count):
        middle, low = draw.randint(-600_000, 2_800_000), draw.randint(-25, 25)
        first = draw.choice((draw_box(draw, middle, by), (-math.inf, math.inf), (-math.inf, middle)))
        second = draw.choice((draw_box(draw, middle + draw.randint(-800, 800), by), (middle, math.inf)))
        value = draw.choice(((low, low), (low, low + 3), (low, math.inf), (-math.inf, low)))
        found = contract(name, first, second, value, timed=timed)
        wanted = []
        for box, rays in zip((first, second), bisected(first, second, value, STEPS[name], timed=timed), strict=True):
            wanted.append((max(box[0], rays[0]), min(box[1], rays[1])))
        if found is None:
            assert any(low > high for low, high in wanted)
        elif all(low <= high for low, high in wanted):
            assert np.allclose(found, wanted, rtol=0, atol=tolerance)
