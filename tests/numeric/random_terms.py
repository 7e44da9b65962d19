"""Random terms, boxes and comparisons, and what they are at points in plain numpy: the oracle of interval tests."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lnnkit.numeric import (
    Apply,
    Comparator,
    Comparison,
    Constant,
    Contraction,
    Fixed,
    Input,
    Interval,
    Learned,
    Sign,
    Term,
    apply,
)
from lnnkit.numeric import constant as constant_term
from lnnkit.numeric import number as number_term

Values = npt.NDArray[Any]
Box = tuple[float, float]

ENDS = (-10.0, -4.0, -2.0, -1.5, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0, 3.0, 7.0, 50.0)
CONSTANTS = (-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 2.5, 10.0)
EXPONENTS = (-3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
SIGNS: tuple[Sign, ...] = (">", ">=", "<", "<=", "=", "!=")


OF_ONE = ("exp", "log", "sin", "cos", "floor", "ceil", "round")


def random_term(
    draw: random.Random, numbers: int, size: int, *, once: bool = False, functions: Sequence[str] = ()
) -> Term:
    """A term over at most ``numbers`` inputs with about ``size`` operations, a third of them ``functions`` if there are
    any; each number ``once`` if so asked."""
    unused = list(range(numbers))

    def leaf() -> Term:
        if unused and draw.random() < 0.8:
            index = draw.choice(unused)
            if once:
                unused.remove(index)
            return number_term(index)
        return constant_term(draw.choice(CONSTANTS))

    def build(left: int) -> Term:
        if left == 0:
            return leaf()
        kind = draw.choice(("add", "subtract", "multiply", "divide", "fixed", "power", "negate", "abs", "sqrt"))
        if functions and draw.random() < 1 / 3:
            kind = draw.choice(functions)
        if kind in ("negate", "abs", "sqrt", *OF_ONE):
            return apply(kind, build(left - 1))  # pyright: ignore[reportArgumentType] - the three are operations
        if kind == "fixed":
            return apply("power", build(left - 1), constant_term(draw.choice(EXPONENTS)))
        if kind == "power" and draw.random() < 0.7:
            kind = "multiply"
        some = draw.randint(0, left - 1)
        if kind in ("add", "multiply", "least", "greatest") and draw.random() < 0.2:
            return apply(kind, build(some), build(left - 1 - some), leaf())  # pyright: ignore[reportArgumentType]
        return apply(kind, build(some), build(left - 1 - some))  # pyright: ignore[reportArgumentType]

    return build(size)


def random_box(draw: random.Random) -> Box:
    """A point, a finite interval, or one with an infinite end."""
    low, high = sorted((draw.choice(ENDS), draw.choice(ENDS)))
    kind = draw.random()
    if kind < 0.15:
        return low, low
    if kind < 0.25:
        return -math.inf, high
    if kind < 0.35:
        return low, math.inf
    return (-math.inf, math.inf) if kind < 0.42 else (low, high)


def random_relation(draw: random.Random) -> Comparator:
    scale = draw.choice((0.0, 0.0, 0.0, 0.5, 3.0))
    if draw.random() < 0.2:
        plus, zero, bias = (draw.choice((-4.0, -1.0, -0.25, 0.0, 0.5, 2.0)) for _ in range(3))
        return Learned(plus, zero, bias, scale)
    return Fixed(draw.choice(SIGNS), scale)


def random_bounds(draw: random.Random) -> Box:
    return draw.choice(((1.0, 1.0), (0.0, 0.0), (0.7, 1.0), (0.0, 0.4), (0.2, 0.6), (0.0, 1.0)))


def intervals(boxes: Sequence[Sequence[Box]]) -> list[Interval]:
    """A box of each row -> an interval of each input."""
    return [
        Interval(*(np.array([box[index][end] for box in boxes], np.float64) for end in (0, 1)))
        for index in range(len(boxes[0]))
    ]


def contract(comparison: Comparison, inputs: Sequence[Interval], bounds: Interval) -> Contraction:
    """What is left of the inputs by bounds on the truth, of which nothing else is known."""
    unknown = Interval(np.zeros_like(bounds.lower), np.ones_like(bounds.upper))
    return comparison.narrow(inputs, unknown, bounds)


def sample(draw: np.random.Generator, box: Box, count: int) -> Values:
    """Points of an interval: its ends, round numbers, and others."""
    low, high = max(box[0], -1e4), min(box[1], 1e4)
    near_low, near_high = max(low, -20.0), min(high, 20.0)
    if near_low > near_high:
        near_low, near_high = low, high
    found = draw.uniform(near_low, near_high, count)
    found = np.where(draw.random(count) < 0.3, np.round(found * 2) / 2, found)
    found = np.where(draw.random(count) < 0.1, draw.uniform(low, high, count), found)
    kind = draw.random(count)
    found = np.where(kind < 0.15, low, np.where(kind < 0.3, high, found))
    return np.clip(found, low, high)


def evaluate(term: Term, inputs: Sequence[Values]) -> Values:
    """A term at points; nan where it is undefined."""
    values: list[Values] = []
    with np.errstate(all="ignore"):
        for step in term.steps:
            match step:
                case Input():
                    values.append(inputs[step.index])
                case Constant():
                    values.append(np.full_like(inputs[0], step.value))
                case Apply():
                    assert isinstance(step.operation, str)
                    value = _operation(step.operation, [values[place] for place in step.operands])
                    values.append(np.where(np.isfinite(value), value, np.nan))
    return values[-1]


def _operation(operation: str, own: Sequence[Values]) -> Values:
    match operation:
        case "add":
            return sum(own[1:], own[0])
        case "subtract":
            return own[0] - own[1]
        case "multiply":
            return math.prod(own[1:], start=own[0])
        case "divide":
            return own[0] / own[1]
        case "power":
            found = own[0] ** own[1]
            return np.where(np.isnan(own[0]) | np.isnan(own[1]), np.nan, found)
        case "negate":
            return -own[0]
        case "abs":
            return np.abs(own[0])
        case "exp":
            return np.maximum(np.exp(own[0]), 5e-324)  # never 0
        case "sin" | "cos" | "sqrt" | "log":
            return getattr(np, operation)(own[0])
        case "floor" | "ceil":
            near = np.rint(own[0])
            return np.where(_close(near, own[0]), near, getattr(np, operation)(own[0]))
        case "round":
            size, down = np.abs(own[0]), np.floor(np.abs(own[0]))
            up = (size - down >= 0.5) | _close(down + 0.5, size)
            return np.sign(own[0]) * np.where(size < 2**52, down + up, size)
        case "least" | "greatest":
            return np.stack(own).min(0) if operation == "least" else np.stack(own).max(0)
    raise AssertionError(operation)


def _close(one: Values, other: Values) -> Values:
    return np.abs(one - other) <= np.minimum(1e-9 * np.abs(other), 1e-6)


def truth(relation: Comparator, left: Values, right: Values) -> Values:
    """The truth of a relation between values; equal values are those that `lnnkit.numeric.same` says."""
    difference = left - right
    size = np.maximum(np.abs(left), np.abs(right))
    whole = (left == np.floor(left)) & (right == np.floor(right)) & (size <= 2**53)
    equal = np.where(whole, left == right, np.abs(difference) <= 1e-9 * size)
    with np.errstate(all="ignore"):
        if isinstance(relation, Learned):
            bit = np.where(equal, 0.0, np.sign(difference))
            if relation.scale:
                bit = np.tanh(difference / relation.scale)
            zero = 1 - 2 * bit**2
            return 1 / (1 + np.exp(-(relation.bias + relation.weight_plus * bit + relation.weight_zero * zero)))
        if relation.scale:
            scaled = difference / relation.scale
            return {
                ">": 1 / (1 + np.exp(-scaled)),
                "<": 1 / (1 + np.exp(scaled)),
                "=": 1 - np.tanh(scaled) ** 2,
                "!=": np.tanh(scaled) ** 2,
            }[relation.sign.rstrip("=") or "=" if relation.sign != "!=" else "!="]
    return {
        ">": (difference > 0) & ~equal,
        ">=": (difference > 0) | equal,
        "<": (difference < 0) & ~equal,
        "<=": (difference < 0) | equal,
        "=": equal,
        "!=": ~equal,
    }[relation.sign].astype(np.float64)
