"""Functions of terms against many points: no value outside of an image or of what is left of an operand, and ends that
points come near to. The points are evaluated by mpmath, or one by one in Python; the extremes between them are known
from mathematics, not from the module under test."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import torch

from lnnkit.numeric import Interval, Term, apply, constant, number
from lnnkit.numeric.step import FunctionName
from tests.blocks import at_length
from tests.numeric.random_terms import Box, intervals

Of = Callable[[float], float]

HALF_TURNS = [math.pi * n / 2 for n in range(-60, 61)]
MARKS = (-1e9, -750.0, -100.0, -7.5, -3.0, -2.5, -1.0, -0.5, 0.0, 1e-12, 0.5, 1.0, 2.5, 3.0, 20.0, 700.0, 1e6, 1e12)
GRID = 160  # points of a box
FAR = 1e13


def rounded(value: float) -> float:
    """To the nearest whole number, halves away from zero."""
    whole, rest = divmod(abs(Fraction(value)), 1)
    return math.copysign(float(whole + (rest >= Fraction(1, 2))), value)


def exponential(value: float) -> float:
    return max(math.exp(value), 5e-324) if value < 709.7 else math.inf  # never 0


VALUES: dict[FunctionName, Of] = {
    "exp": exponential, "log": lambda x: math.log(x) if x > 0 else math.nan, "sin": math.sin, "cos": math.cos,
    "floor": lambda x: float(math.floor(x)), "ceil": lambda x: float(math.ceil(x)), "round": rounded,
    "abs": abs, "sqrt": lambda x: math.sqrt(x) if x >= 0 else math.nan,
}  # fmt: skip
ONE = [*VALUES]
BATCHES = at_length([800, 20000], plain=1)


def random_box(draw: random.Random) -> Box:
    """Ends are drawn from marked numbers, extremes, and others of all sizes."""

    def end() -> float:
        kind = draw.random()
        if kind < 0.4:
            return draw.choice(MARKS)
        if kind < 0.5:
            return draw.choice(HALF_TURNS)
        size = 10 ** draw.uniform(-3, 3)
        return draw.choice((-1, 1)) * (size if kind < 0.9 else float(round(size)))

    low, high = sorted((end(), end()))
    if (kind := draw.random()) < 0.1:
        return low, low
    if kind < 0.2:
        return low, low + draw.uniform(0, 8)
    return (-math.inf, high) if kind < 0.25 else (low, math.inf) if kind < 0.3 else (low, high)


def spread(draw: random.Random, box: Box) -> list[float]:
    """Points of a box: its ends, marked numbers beside and at which something happens, and others."""
    low, high = max(box[0], -FAR), min(box[1], FAR)
    near = draw.uniform(low, high)
    points = {low, high, near, *(low + (high - low) * n / GRID for n in range(GRID))}
    points |= {near + n / 8 for n in range(-8, 9)} | {low + n / 8 for n in range(9)} | {high - n / 8 for n in range(9)}
    points |= {math.floor(point) + part for point in (low, near, high) for part in (0, 0.5, 1, 1.5)}
    points |= {point for point in (*HALF_TURNS, *MARKS) if low <= point <= high}
    turns = (math.floor(point / math.pi * 2) for point in (low, near, high))
    points |= {(turn + n) * math.pi / 2 for turn in turns for n in range(-4, 5)}
    return [point for point in points if low <= point <= high]


def outside(value: float, lower: float, upper: float) -> bool:
    room = 1e-9 * max(abs(value), 1e-3)
    return not (lower - room <= value <= upper + room) and abs(value) < 1e300


@pytest.mark.parametrize("count", BATCHES)
@pytest.mark.parametrize("name", ONE)
def test_images_are_hulls(name: FunctionName, count: int) -> None:
    draw, of = random.Random(1), VALUES[name]
    boxes = [[random_box(draw)] for _ in range(count // 4)]
    (lower, upper), defined = apply(name, number(0)).hull(intervals(boxes))
    for row, (box,) in enumerate(boxes):
        values = [value for value in map(of, spread(draw, box)) if not math.isnan(value)]
        assert bool(defined[row]) == bool(values), (name, box)
        if not values:
            continue
        low, high = lower[row].item(), upper[row].item()
        assert not any(outside(value, low, high) for value in values), (name, box, low, high)
        if box[1] - box[0] > 1e5 and name in ("sin", "cos"):
            assert (low, high) == (-1, 1)
        elif box[0] > -math.inf:
            near = 1e-9 * max(1, abs(low))
            assert min(values) <= low + near or (name == "log" and box[0] <= 0), (name, box, low, min(values))
        if box[1] < math.inf:
            near = 1e-9 * max(1, abs(high))
            assert max(values) >= min(high, 1.7e308) - near, (name, box, high, max(values))


@pytest.mark.parametrize("count", BATCHES)
@pytest.mark.parametrize("name", ONE)
def test_what_is_left_of_an_operand_is_the_hull_of_what_gives_the_values(name: FunctionName, count: int) -> None:
    draw, of = random.Random(2), VALUES[name]
    met = 0
    for _ in range(count // 200):
        boxes, wanted = [], []
        for _ in range(50):
            box = random_box(draw)
            at = [value for value in (of(draw.choice(spread(draw, box))) for _ in range(2)) if abs(value) < 1e300]
            asked = (min(at), max(at)) if at and draw.random() < 0.7 else random_box(draw)
            boxes.append([box])
            wanted.append(asked)
        output = Interval(*(np.array([each[end] for each in wanted]) for end in (0, 1)))
        contraction = apply(name, number(0)).contract(intervals(boxes), output)
        for row, ((box,), asked) in enumerate(zip(boxes, wanted, strict=True)):
            points = sorted(spread(draw, box))
            kept = [point for point in points if asked[0] <= of(point) <= asked[1]]
            met += bool(kept)
            low, high = (end[row].item() for end in contraction.inputs[0])
            assert not (kept and contraction.empty[row]), (name, box, asked)
            assert not any(outside(point, low, high) for point in kept), (name, box, asked, low, high)
            assert box[0] <= low <= high <= box[1] or contraction.empty[row] or low == high, (name, box, low, high)
            if not kept or max(map(abs, box)) > 1e5:
                continue
            for end in (low, high):  # a number beside it gives a value that is asked for, but where log is too steep
                beside = (end + step for step in (0.0, 1e-7, -1e-7, 1e-9 * end, -1e-9 * end))
                near = [value for value in map(of, beside) if not math.isnan(value)]
                room = 1e-6 * max(1.0, *map(abs, near))
                met_there = min(near) - room <= asked[1] and max(near) + room >= asked[0]
                assert met_there or (name == "log" and end < 1e-6), (name, box, asked, end)
    assert met > count / 20


@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos"])
def test_values_are_right_to_a_few_units_in_the_last_place(name: FunctionName) -> None:
    draw = np.random.default_rng(4)
    points = np.concatenate(
        [draw.uniform(-30, 30, 2000), 10 ** draw.uniform(-8, 15, 1000), 1 + draw.normal(size=99) * 1e-9]
    )
    points = points[(points > 0) & (points < 700)] if name in ("log", "exp") else points
    made = apply(name, number(0)).hull([Interval(points, points)])[0]
    with mpmath.workdps(60):
        exact = [float(getattr(mpmath, name)(mpmath.mpf(point))) for point in points.tolist()]
    assert (made.lower == made.upper).all()
    assert (np.abs(made.lower - exact) <= 4 * np.spacing(np.abs(exact))).all()


def test_whole_numbers_are_reached_within_the_tolerance() -> None:
    def at(name: FunctionName, *values: float) -> float:
        (lower, upper), _ = apply(name, *map(constant, values)).hull([])
        assert lower == upper
        return lower.item()

    assert at("floor", 0.29 * 100) == 29  # in floats 28.999999999999996
    assert at("ceil", 1.1 * 1.1 * 100) == 121  # 121.00000000000001
    assert at("round", 1.005 * 100) == 101  # 100.49999999999999, which is 100.5
    assert (at("floor", 2.999), at("floor", 1e9 + 0.7), at("floor", -0.5), at("ceil", -0.5)) == (2, 1e9, -1, 0)
    assert [at("round", half) for half in (0.5, 1.5, 2.5, -0.5, -2.5)] == [1, 2, 3, -1, -3]
    assert [at("round", whole) for whole in (2.0**52 + 1, 2.0**53 - 1, 1e300)] == [2.0**52 + 1, 2.0**53 - 1, 1e300]


def test_errors_of_operands_grow_as_the_function_does() -> None:
    x = number(0)
    near_one = apply("log", apply("divide", apply("add", constant(0.1), x), constant(0.3)))
    (lower, upper), _ = near_one.hull([Interval(np.array([0.2]), np.array([0.2]))])
    assert lower < 0 < upper < 1e-14
    far = apply("sin", apply("multiply", x, constant(0.1)))
    (lower, upper), _ = far.hull([Interval(np.array([1e9]), np.array([1e9]))])
    assert -1 <= lower < math.sin(1e8) < upper <= 1
    assert upper - lower < 1e-5


@pytest.mark.parametrize("name", sorted({*VALUES, "least", "greatest"} - {"sqrt"}))  # whose slope at 0 is infinite
def test_tensors_give_the_same_ends_and_finite_gradients(name: FunctionName) -> None:
    draw = random.Random(5)
    boxes = [[random_box(draw), random_box(draw)] for _ in range(300)]
    term: Term = apply(name, *map(number, range(2 if name in ("least", "greatest") else 1)))
    inputs = intervals(boxes)[: len(term.numbers)]
    tensors = [Interval(*(torch.tensor(end, requires_grad=True) for end in each)) for each in inputs]
    expected, found = term.hull(inputs)[0], term.hull(tensors)[0]
    for one, other in zip(expected, found, strict=True):
        assert np.allclose(one, other.detach().numpy(), rtol=1e-12, atol=1e-12, equal_nan=True)
    torch.stack([end[end.isfinite() & (end.abs() < 1e100)].sum() for end in found]).sum().backward()
    for end in (end for each in tensors for end in each):
        assert end.grad is None or bool(end.grad[end.isfinite()].isfinite().all())


@pytest.mark.parametrize("count", BATCHES)
@pytest.mark.parametrize("name", ["least", "greatest"])
def test_the_least_and_the_greatest_are_hulls_both_ways(name: FunctionName, count: int) -> None:
    draw = random.Random(3)
    ends, of = (-3.0, -1.0, 0.0, 1.0, 2.0, 5.0), min if name == "least" else max
    steps = [n / 2 for n in range(-6, 11)]  # all ends, and points between them
    for _ in range(count // 100):
        several = draw.choice((2, 2, 3))
        pairs = [[sorted(draw.choices(ends, k=2)) for _ in range(several + 1)] for _ in range(20)]
        boxes = [[(low, high) for low, high in row[:-1]] for row in pairs]
        wanted = [row[-1] for row in pairs]
        term = apply(name, *map(number, range(several)))
        (lower, upper), _ = term.hull(intervals(boxes))
        output = Interval(*(np.array([each[end] for each in wanted]) for end in (0, 1)))
        contraction = term.contract(intervals(boxes), output)
        for row, (box, asked) in enumerate(zip(boxes, wanted, strict=True)):
            rows = [[point for point in steps if low <= point <= high] for low, high in box]
            tuples = [()]
            for each in rows:
                tuples = [(*begun, point) for begun in tuples for point in each]
            made = [of(each) for each in tuples]
            assert (lower[row], upper[row]) == (min(made), max(made))
            kept = [each for each, value in zip(tuples, made, strict=True) if asked[0] <= value <= asked[1]]
            assert bool(contraction.empty[row]) == (not kept), (box, asked)
            for place, (low, high) in enumerate(contraction.inputs) if kept else ():
                found = [each[place] for each in kept]
                assert (low[row], high[row]) == (min(found), max(found)), (name, box, asked, place)
