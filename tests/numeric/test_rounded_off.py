"""What rounding is said to have made of a term's values, against fractions; and where ends are let out by it."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
import torch

from lnnkit.numeric import Apply, Comparison, Constant, Fixed, Input, Interval, Term, apply, constant, number
from lnnkit.numeric.interval import GREATEST, entered
from tests.blocks import at_length
from tests.numeric.random_terms import intervals, random_term

DRAWN = (0.1, 0.2, 0.3, 1 / 3, 12.3, 100000.1, 1e-9, 7.0, 3.0, -2.0, 1e15 + 0.3, 2.0**-40, 1e-160)


def exact(term: Term, at: Sequence[float]) -> Fraction | None:
    """The term's value; None where it has none or is no fraction."""
    values: list[Fraction] = []
    for step in term.steps:
        match step:
            case Input():
                values.append(Fraction(at[step.index]))
            case Constant():
                values.append(Fraction(step.value))
            case Apply():
                own = [values[place] for place in step.operands]
                found = _applied(str(step.operation), own)
                if found is None:
                    return None
                values.append(found)
    return values[-1]


def _applied(operation: str, own: Sequence[Fraction]) -> Fraction | None:
    match operation:
        case "add":
            return sum(own[1:], own[0])
        case "subtract":
            return own[0] - own[1]
        case "multiply":
            return math.prod(own[1:], start=own[0])
        case "negate":
            return -own[0]
        case "abs":
            return abs(own[0])
        case "divide":
            return own[0] / own[1] if own[1] else None
        case "power" if own[1].denominator == 1 and abs(own[1]) <= 4 and (own[0] or own[1] >= 0):
            return own[0] ** int(own[1])
    return None


def _finite(end: float) -> Fraction:
    return Fraction(min(max(end, -GREATEST), GREATEST))


def at(*values: float) -> list[Interval]:
    return [Interval(*[np.array([value], np.float64)] * 2) for value in values]


@pytest.mark.parametrize("seed", at_length(range(6), plain=1))
def test_values_are_within_their_errors(seed: int) -> None:
    draw = random.Random(seed)
    met = cancelled = 0
    while met < 300:
        term = random_term(draw, 3, draw.randint(1, 4))
        point = [draw.choice(DRAWN) * draw.choice((1.0, -1.0)) for _ in range(3)]
        truth = exact(term, point)
        if truth is None or not 1e-280 < abs(truth) < 1e280:
            continue
        if draw.random() < 0.5:
            term = apply("subtract", term, constant(float(truth)))
            truth -= Fraction(float(truth))
        values = term.upward([entered(each) for each in at(*point)])
        errors = term.errors(values, np.array([0]))
        lower, upper = (_finite(end.item()) for end in (values[-1].lower.min(), values[-1].upper.max()))
        low, high = (Fraction(201, 100) * Fraction(float(each.max())) for each in errors)
        assert lower - low <= truth <= upper + high, (term, point)
        room = abs(truth) * Fraction(1, 10**9)
        assert lower - room <= truth <= upper + room, (term, point)
        met += 1
        cancelled += lower < upper
    assert cancelled > 3


@pytest.mark.parametrize("count", at_length([80, 300], plain=1))
def test_ends_of_intervals_are_within_their_errors(count: int) -> None:
    """The ends of products and sums of intervals, found again with fractions."""
    draw = random.Random(3)
    term = apply("subtract", apply("multiply", number(0), number(1)), number(2))
    for _ in range(count):
        drawn = [[draw.choice(DRAWN[:-1]) * draw.choice((1.0, -1.0)) for _ in range(2)] for _ in range(3)]
        boxes = [(min(pair), max(pair)) for pair in drawn]
        values = term.upward([entered(each) for each in intervals([boxes])])
        corners = [Fraction(x) * Fraction(y) for x in boxes[0] for y in boxes[1]]
        low, high = min(corners) - Fraction(boxes[2][1]), max(corners) - Fraction(boxes[2][0])
        errors = term.errors(values, np.array([0]))
        lower, upper = values[-1].lower.item(), values[-1].upper.item()
        context = boxes, errors, lower, float(low), upper, float(high)
        assert abs(Fraction(lower) - low) <= Fraction(201, 100) * Fraction(errors.lower.item()) + abs(low) / 10**15, (
            context
        )
        assert abs(Fraction(upper) - high) <= Fraction(201, 100) * Fraction(errors.upper.item()) + abs(high) / 10**15, (
            context
        )
        assert lower <= low + abs(low) / 10**9 and upper >= high - abs(high) / 10**9


@pytest.mark.parametrize(
    ("term", "values", "expected"),
    [
        (apply("subtract", apply("multiply", number(0), number(1)), number(2)), (3.0, 4.0, 12.0), 0.0),
        (apply("subtract", apply("multiply", number(0), number(1)), number(2)), (2.5, 0.25, 0.625), 0.0),
        (apply("subtract", apply("add", number(0), number(1)), number(2)), (1e6, 1.0, 1e6), 1.0),
        (apply("subtract", apply("divide", number(0), number(1)), number(2)), (12.0, 4.0, 3.0), 0.0),
        (apply("subtract", apply("sqrt", number(0)), number(1)), (16.0, 4.0), 0.0),
        (apply("subtract", apply("power", number(0), constant(2.0)), number(1)), (7.0, 49.0), 0.0),
        (apply("subtract", apply("add", number(0), constant(1.0)), number(1)), (12.3, 12.3), 1.0),
        (apply("add", apply("multiply", constant(0.1), number(0)), number(1)), (20.0, 0.0), 2.0),
    ],
)
def test_what_is_exact_stays(term: Term, values: Sequence[float], expected: float) -> None:
    hull, _ = term.hull(at(*values))
    assert hull.lower.tolist() == hull.upper.tolist() == [expected]


def test_a_sum_that_cancels_holds_its_value() -> None:
    term = apply("subtract", apply("add", number(0), number(1)), number(2))
    hull, _ = term.hull(at(0.1, 0.2, 0.3))
    truth = Fraction(0.1) + Fraction(0.2) - Fraction(0.3)
    assert hull.lower.item() <= truth <= hull.upper.item() < 1e-16
    folded = apply("subtract", apply("add", constant(0.1), constant(0.2)), apply("add", constant(0.3), number(0)))
    hull, _ = folded.hull(at(0.0))
    assert hull.lower.item() <= truth <= hull.upper.item() < 2e-15


def test_a_great_number_that_was_rounded_may_be_another() -> None:
    """2^52 + 0.3 is no float: whole numbers near it may be equal, given ones may not."""
    term, great = apply("add", number(0), number(1)), 2.0**52
    equal = Comparison(term, constant(great), Fixed("="))
    assert [each.tolist() for each in equal.truth(at(great, 0.3))] == [[0.0], [1.0]]
    assert [each.tolist() for each in equal.truth(at(great, 1.0))] == [[0.0], [0.0]]


def test_no_gradient_passes_through_the_move() -> None:
    """That of a sum is 1 for each of its operands, whether it was let out or not."""
    term = apply("subtract", apply("multiply", number(0), number(1)), number(2))
    values = [torch.tensor([value], dtype=torch.float64, requires_grad=True) for value in (0.1, 3.0, 0.3)]
    hull, _ = term.hull([Interval(value, value) for value in values])
    assert bool(hull.lower < hull.upper)
    hull.lower.sum().backward()
    assert [float(value.grad) for value in values if value.grad is not None] == [3.0, 0.1, -1.0]
