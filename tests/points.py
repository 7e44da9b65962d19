"""Terms and comparisons at a point, straight from their definitions (semantics 20; decision on soft comparisons)."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.oracle.program import Formula

Read = Callable[[Formula], float]


class Undefined(Exception):
    """The term has no value there."""


def value_at(term: Formula, read: Read) -> float:
    """The value of a term whose numbers have the values that ``read`` gives. Raises :class:`Undefined`."""
    if term[0] == "number":
        return read(term)
    if term[0] == "constant":
        return float(term[1])
    if term[0] in ("nau", "nmu", "realnpu"):
        pairs = [(weight, value_at(part, read)) for weight, part in zip(term[1], term[2], strict=True) if weight]
        if term[0] == "nau":
            return sum(w * x for w, x in pairs)
        return math.prod(w * x + 1 - w if term[0] == "nmu" else _power(x, w) for w, x in pairs)
    below = [value_at(part, read) for part in term[1:]]
    match term[0], *below:
        case "add", a, b:
            return a + b
        case "subtract", a, b:
            return a - b
        case "multiply", a, b:
            return a * b
        case "divide", a, b:
            if b == 0:
                raise Undefined
            return a / b
        case "power", a, b:
            return _power(a, b)
        case "negate", a:
            return -a
        case "abs", a:
            return abs(a)
        case "sqrt", a:
            if a < 0:
                raise Undefined
            return math.sqrt(a)
    raise ValueError(term[0])


def _power(a: float, b: float) -> float:
    if (a == 0 and b < 0) or (a < 0 and b != math.floor(b)):
        raise Undefined
    try:
        return math.pow(a, b)
    except OverflowError:
        raise Undefined from None


def equal(a: float, b: float) -> bool:
    if a == math.floor(a) and b == math.floor(b):
        return a == b
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def truth_at(comparison: Formula, read: Read) -> float:
    """The truth of a comparison at a point. Raises :class:`Undefined` where a side has no value."""
    _, operator, left, right, scale, weight = comparison
    a, b = value_at(left, read), value_at(right, read)
    if operator == "<?>":
        if weight is None:
            raise Undefined
        t = math.tanh((a - b) / scale) if scale else 0.0 if equal(a, b) else math.copysign(1.0, a - b)
        return _sigmoid(weight[2] + weight[0] * t + weight[1] * (1 - 2 * t * t))
    if scale is None:
        same = equal(a, b)
        held = {"=": same, "!=": not same, ">": a > b and not same, "<": a < b and not same}
        return float(held.get(operator, same or (a > b if operator == ">=" else a < b)))
    bump = 1 - math.tanh((a - b) / scale) ** 2
    match operator:
        case "=":
            return bump
        case "!=":
            return 1 - bump
        case ">" | ">=":
            return _sigmoid((a - b) / scale)
    return _sigmoid((b - a) / scale)


def _sigmoid(x: float) -> float:
    return 0.5 * (1 + math.tanh(x / 2))
