"""The values of aggregates, and what a value tells their rows, beside an enumeration of points. Each atom occurs once,
so the hulls must be exact: no point is outside, and points come near each end."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator

import numpy as np
import pytest

from lnnkit.numeric.aggregates import Grouped, aggregate, narrowed
from lnnkit.numeric.interval import Interval
from tests.blocks import in_blocks

Box = tuple[float, float]
KINDS = ("count", "sum", "mean", "min", "max")
STEP = 0.25


def value_at(kind: str, truths: tuple[float, ...], values: tuple[float, ...]) -> float | None:
    """An aggregate at a point; None if it has no value."""
    pairs = [(t, v) for t, v in zip(truths, values, strict=True) if t > 0]
    match kind:
        case "count":
            return sum(truths)
        case "sum":
            return sum(t * v for t, v in pairs)
        case _ if not pairs:
            return None
        case "mean":
            return sum(t * v for t, v in pairs) / sum(t for t, _ in pairs)
    return (min if kind == "min" else max)(v for _, v in pairs)


def points(box: Box, step: float) -> list[float]:
    """The box's ends and what lies between on a grid; just above 0 too, where an element begins to be there."""
    low, high = box
    between = [low + step * k for k in range(1, math.ceil((high - low) / step))]
    return sorted({low, high, *between} | ({1e-7} if low == 0 < high else set()))


class Case:
    """Some rows of one group, on a grid so that sums are exact."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(f"hulls {seed}")
        self.kind = rng.choice(KINDS)
        count = rng.choice([1, 2, 2, 3])
        self.truths = [self._box(rng, 0, 4) for _ in range(count)]
        self.values = [self._box(rng, -6, 8) for _ in range(count)]
        self.node = self._box(rng, -10, 14)

    def _box(self, rng: random.Random, least: int, most: int) -> Box:
        ends = sorted((rng.randint(least, most) * STEP, rng.randint(least, most) * STEP))
        return (ends[0], ends[0]) if rng.random() < 0.3 else (ends[0], ends[1])

    def every(self, step: float) -> Iterator[tuple[tuple[float, ...], tuple[float, ...], float | None]]:
        for truths in itertools.product(*(points(box, step) for box in self.truths)):
            for values in itertools.product(*(points(box, step) for box in self.values)):
                yield truths, values, value_at(self.kind, truths, values)

    def arrays(self) -> tuple[Interval, Interval | None, Grouped]:
        truths, values = (Interval(*np.array(boxes).T) for boxes in (self.truths, self.values))
        ones = np.ones(len(self.truths))
        rows = Grouped(np.zeros(len(self.truths), np.int64), 1, Interval(ones, ones))
        return truths, None if self.kind == "count" else values, rows


def check_upward(case: Case) -> None:
    low, high = (float(end[0]) for end in aggregate(case.kind, *case.arrays()))
    met = [value for *_, value in case.every(1.0) if value is not None]
    if not met:
        assert (low, high) == ((0.0, 0.0) if case.kind in ("count", "sum") else (-math.inf, math.inf))
        return
    assert low == pytest.approx(min(met), abs=1e-6) and high == pytest.approx(max(met), abs=1e-6)


def check_downward(case: Case) -> None:
    truths, values, rows = case.arrays()
    low, high = case.node
    node = Interval(np.array([low]), np.array([high]))
    left = narrowed(case.kind, node, truths, values, rows)
    grid = [(t, v) for t, v, value in case.every(STEP) if value is not None and low - 1e-9 <= value <= high + 1e-9]
    if left.empty[0]:
        assert not grid
        return
    for boxes, got, place in ((case.truths, left.truths, 0), (case.values, left.values, 1)):
        if got is None:
            continue
        for row, box in enumerate(boxes):
            ends = float(got.lower[row]), float(got.upper[row])
            assert box[0] <= ends[0] <= ends[1] <= box[1]
            seen = [point[place][row] for point in grid]
            if seen:  # no point is outside
                assert ends[0] - 1e-6 <= min(seen) and max(seen) <= ends[1] + 1e-6
            if seen and case.kind == "count":  # on the grid both ends are met
                assert ends == (min(seen), max(seen))


@pytest.mark.parametrize("block", in_blocks(range(4000), 500, plain=150))
def test_the_hull_of_an_aggregate_is_exact(block: range) -> None:
    for seed in block:
        check_upward(Case(seed))


@pytest.mark.parametrize("block", in_blocks(range(10_000, 11_000), 100, plain=60))
def test_what_an_aggregate_tells_its_rows_holds_at_every_point(block: range) -> None:
    for seed in block:
        check_downward(Case(seed))


def attained(case: Case, place: int, row: int, end: float) -> bool:
    """Whether some point with this end of a row's truth (0) or value (1) has the aggregate in its interval. Hulls are
    closed, so a truth near 0 will do for 0."""
    if place == 0 and end == 0.0 and attained(case, 0, row, 1e-9):
        return True
    boxes = [list(case.truths), list(case.values)]
    boxes[place][row] = (end, end)
    fixed = Case.__new__(Case)
    fixed.kind, (fixed.truths, fixed.values), fixed.node = case.kind, boxes, case.node
    made = aggregate(case.kind, *fixed.arrays())
    return bool(made.lower[0] <= case.node[1] + 1e-6 and made.upper[0] >= case.node[0] - 1e-6)


@pytest.mark.parametrize("seed", range(20_000, 20_300))
def test_the_ends_that_are_left_are_met(seed: int) -> None:
    """Counts, sums and means of boxes take all values between their ends, so an end is met where the aggregate's hull,
    with the end fixed, meets its interval. What a mean tells elements that may be absent is sound, not exact."""
    case = Case(seed)
    if case.kind in ("min", "max") or (case.kind == "mean" and any(low == 0 for low, _ in case.truths)):
        return
    truths, values, rows = case.arrays()
    node = Interval(*(np.array([end]) for end in case.node))
    left = narrowed(case.kind, node, truths, values, rows)
    if left.empty[0]:
        return
    for place, got in ((0, left.truths), (1, left.values)):
        if got is None:
            continue
        for row in range(len(case.truths)):
            for end in (float(got.lower[row]), float(got.upper[row])):
                assert attained(case, place, row, end), (case.kind, case.truths, case.values, case.node, end)


def test_neither_the_order_of_rows_nor_groups_beside_matter() -> None:
    rng = np.random.default_rng(0)
    for kind in KINDS:
        group = rng.integers(0, 50, 3000)
        truths = np.sort(rng.random((2, 3000)), 0)
        values = np.sort(rng.normal(size=(2, 3000)) * 10.0 ** rng.integers(-8, 8, 3000), 0)
        ones = np.ones(3000)
        order = rng.permutation(3000)

        def made(at: np.ndarray, kind: str = kind, group: np.ndarray = group) -> Interval:
            one = Interval(*truths[:, at])  # noqa: B023 - called in the same turn
            return aggregate(kind, one, Interval(*values[:, at]), Grouped(group[at], 50, Interval(ones, ones)))  # noqa: B023

        first, second = made(np.arange(3000)), made(order)
        assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
