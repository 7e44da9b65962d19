"""No sampled point falls outside a hull, and none that satisfies a comparison is lost by its contraction."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from lnnkit.numeric import Apply, Comparison, Interval, Term
from tests.blocks import at_length
from tests.numeric.random_terms import (
    ENDS,
    OF_ONE,
    Values,
    contract,
    evaluate,
    intervals,
    random_bounds,
    random_box,
    random_relation,
    random_term,
    sample,
    truth,
)

Shape = tuple[int, int, bool]  # numbers, operations, each number once
SHAPES: list[Shape] = [(1, 2, True), (2, 2, True), (3, 4, True), (2, 3, False), (3, 6, False)]
ROWS, POINTS = 6, 60
FUNCTIONS = (*OF_ONE, "least", "greatest")


def outside(values: Values, lower: float, upper: float, slack: float = 1e-9) -> Values:
    room = slack * np.maximum(1.0, np.abs(values))
    return (values < lower - room) | (values > upper + room)


@pytest.mark.parametrize("count", at_length([30, 100], plain=1))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_hulls_hold_all_values(shape: Shape, count: int) -> None:
    check_hulls(7, shape, count)


@pytest.mark.parametrize("count", at_length([12, 60], plain=1))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_contractions_lose_nothing(shape: Shape, count: int) -> None:
    check_contractions(8, shape, count)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 23))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_five_thousand_terms(shape: Shape, seed: int) -> None:
    check_hulls(seed, shape, 350)
    check_contractions(seed, shape, 350)


@pytest.mark.parametrize("count", at_length([12, 700], plain=1))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_terms_with_functions(shape: Shape, count: int) -> None:
    check_hulls(30, shape, count, FUNCTIONS)
    check_contractions(31, shape, count, FUNCTIONS)


@pytest.mark.parametrize("count", at_length([40, 2000], plain=1))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_intervals_and_single_numbers_beside_each_other_have_the_truth_that_they_have_alone(
    shape: Shape, count: int
) -> None:
    draw, (numbers, size, once) = random.Random(9), shape
    for _ in range(count):
        left, right = random_term(draw, numbers, size, once=once), random_term(draw, numbers, draw.choice((0, 0, 1)))
        comparison = Comparison(left, right, random_relation(draw)._replace(scale=0.0))
        boxes = [[random_box(draw) for _ in range(numbers)] for _ in range(ROWS)]
        boxes = [box for box in boxes if any(low < high for low, high in box)]
        points = [[(value, value) for value in draw.choices(ENDS, k=numbers)] for _ in range(ROWS)]
        together = comparison.truth(intervals([*points[:2], *boxes, *points[2:]]))
        apart = [comparison.truth(intervals(rows)) for rows in (points, boxes) if rows]
        order = [0, 1, *range(ROWS, ROWS + len(boxes)), *range(2, ROWS)]
        for end, ends in zip(together, zip(*apart, strict=True), strict=True):
            assert end.tolist() == np.concatenate(ends)[order].tolist(), (comparison, boxes, points)


def check_hulls(seed: int, shape: Shape, count: int, functions: Sequence[str] = ()) -> None:
    draw, points = random.Random(seed), np.random.default_rng(seed)
    numbers, size, once = shape
    met = 0
    for _ in range(count):
        term = random_term(draw, numbers, size, once=once, functions=functions)
        boxes = [[random_box(draw) for _ in range(numbers)] for _ in range(ROWS)]
        hull, defined = term.hull(intervals(boxes))
        assert not bool(np.isnan(hull.lower).any() | np.isnan(hull.upper).any())
        assert bool((hull.lower <= hull.upper).all())
        for row, box in enumerate(boxes):
            values = evaluate(term, [sample(points, each, POINTS) for each in box])
            values = values[~np.isnan(values)]
            met += len(values)
            assert not len(values) or bool(defined[row]), (term, box)
            wrong = outside(values, hull.lower[row].item(), hull.upper[row].item())
            assert not wrong.any(), (term, box, values[wrong][0], hull.lower[row], hull.upper[row])
    assert met > 80 * count


def representable(term: Term, at: Sequence[np.ndarray]) -> np.ndarray:
    """Where floats can tell the values from others: not where a power or quotient vanishes beside what it is added to,
    or is 0 only because it is too small. An exponential vanishes sooner: of 5e-9, which is not 0, a soft `= 0` is true
    to within 3e-17, that is 1."""
    good = np.ones(len(at[0]), dtype=np.bool_)
    for place, step in enumerate(term.steps):
        if isinstance(step, Apply) and step.operation in ("power", "divide", "exp"):
            size = np.abs(evaluate(Term(term.steps[: place + 1]), at))
            good &= (size > (1e-7 if step.operation == "exp" else 1e-9)) & (size < 1e9)
    return good


def underflows(term: Term, at: Sequence[np.ndarray]) -> np.ndarray:
    """Where an exponential, or a power of it, is 0 in floats alone."""
    gone = np.zeros(len(at[0]), dtype=np.bool_)
    for place, step in enumerate(term.steps):
        if isinstance(step, Apply) and step.operation == "exp":
            gone |= evaluate(Term(term.steps[: place + 1]), at) < 1e-60
    return gone


def check_contractions(seed: int, shape: Shape, count: int, functions: Sequence[str] = ()) -> None:
    draw, points = random.Random(seed), np.random.default_rng(seed)
    numbers, size, once = shape
    met = contracted = 0
    for _ in range(count):
        left = random_term(draw, numbers, size, once=once, functions=functions)
        right = random_term(draw, numbers, draw.choice((0, 0, 1)), functions=functions)
        relation = random_relation(draw)
        comparison = Comparison(left, right, relation)
        boxes = [[random_box(draw) for _ in range(numbers)] for _ in range(ROWS)]
        asked = [random_bounds(draw) for _ in range(ROWS)]
        bounds = Interval(*(np.array([each[end] for each in asked], np.float64) for end in (0, 1)))
        inputs = intervals(boxes)
        image, found = comparison.truth(inputs), contract(comparison, inputs, bounds)
        response = comparison.respond(inputs, bounds)
        for row, box in enumerate(boxes):
            at = [sample(points, each, POINTS) for each in box]
            true = truth(relation, evaluate(left, at), evaluate(right, at))
            defined = ~(np.isnan(evaluate(left, at)) | np.isnan(evaluate(right, at)))
            defined &= ~(underflows(left, at) | underflows(right, at))
            assert not outside(true[defined], image.lower[row].item(), image.upper[row].item()).any(), (comparison, box)
            defined &= representable(left, at) & representable(right, at)
            holds = defined & ~outside(true, *asked[row], slack=0.0)
            if not holds.any():
                continue
            met += int(holds.sum())
            assert not bool(found.empty[row] | response.empty[row] | response.crossed[row]), (
                comparison,
                box,
                row,
                asked,
            )
            for index, values in enumerate(at):
                for lower, upper in (found.inputs[index], response.inputs[index]):
                    lost = outside(values[holds], lower[row].item(), upper[row].item())
                    assert not lost.any(), (comparison, box, asked[row], index, values[holds][lost][0])
                    contracted += (lower[row].item(), upper[row].item()) != box[index]
    assert met > 10 * count
    assert contracted > count / 4


@pytest.mark.parametrize("count", at_length([60, 300], plain=1))
def test_contractions_stay_inside_and_come_to_rest_where_numbers_occur_once(count: int) -> None:
    draw = random.Random(9)
    for _ in range(count):
        left = random_term(draw, 2, 3, once=True)
        comparison = Comparison(left, random_term(draw, 0, 0), random_relation(draw))
        boxes = [[random_box(draw) for _ in range(2)] for _ in range(ROWS)]
        inputs, asked = intervals(boxes), random_bounds(draw)
        bounds = Interval(*(np.full(ROWS, end, np.float64) for end in asked))
        once = contract(comparison, inputs, bounds)
        again = contract(comparison, once.inputs, bounds)
        assert np.array_equal(again.empty, once.empty)
        for before, first, second in zip(inputs, once.inputs, again.inputs, strict=True):
            assert bool((first.lower >= before.lower).all() & (first.upper <= before.upper).all())
            for one, other in zip(first, second, strict=True):
                with np.errstate(invalid="ignore"):  # ends may be infinite
                    assert ((one == other) | (abs(one - other) <= 1e-9 * np.maximum(abs(one), 1.0))).all()
