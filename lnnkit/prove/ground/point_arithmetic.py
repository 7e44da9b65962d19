"""Terms over rational numbers: exact values, and the truth of comparisons and connectives over intervals."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from lnnkit.logic import logic_named, truth_at
from lnnkit.logic.points import Numbers
from lnnkit.numeric import Apply, Comparison, Constant, Fixed, Number, Term
from lnnkit.numeric.interval import Interval

Box = tuple[float, float]
RELATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
}
_WHOLE = 64  # the greatest whole exponent that is worked out
_WIDER = 1e-9  # relative error of numbers that are not rational: the tolerance of equality in inference


class NotRational(Exception):
    """The value is not rational, or too large."""


class NoValue(Exception):
    """A term has no value."""


@lru_cache(maxsize=4096)
def rational(value: float) -> Fraction:
    """A number as its decimal text reads: 0.1 is 1/10, not the nearest double."""
    return value if isinstance(value, Fraction) else Fraction(repr(float(value)))


def comparable(arithmetic: Comparison) -> bool:
    """Whether a comparison is crisp and its relation is known."""
    return isinstance(arithmetic.relation, Fixed) and not arithmetic.relation.scale


def holds(arithmetic: Comparison, values: Sequence[Fraction]) -> bool:
    """Whether a crisp comparison holds: not if one of its terms has no value. Raises `NotRational`."""
    assert isinstance(arithmetic.relation, Fixed)
    try:
        left, right = (folded(side, values, applied) for side in (arithmetic.left, arithmetic.right))
    except NoValue:
        return False
    return RELATIONS[arithmetic.relation.sign](left, right)


def folded(term: Term, values: Sequence[Any], apply: Callable[[object, Sequence[Any]], Any]) -> Any:
    """The value of a term, from those of its numbers and what ``apply`` makes of an operation's operands."""
    built: list[Any] = []
    for step in term.steps:
        match step:
            case Number():
                built.append(values[step.index])
            case Constant():
                built.append(rational(step.value))
            case Apply():
                built.append(apply(step.operation, [built[place] for place in step.operands]))
    return built[-1]


@lru_cache(maxsize=65536)
def comparison_box(arithmetic: Comparison, ranges: tuple[Box, ...]) -> Box:
    """Bounds of a comparison's truth over ranges; loose if it is not crisp, or if a number is repeated."""
    if not comparable(arithmetic):
        return 0.0, 1.0
    if all(low == high and math.isfinite(low) for low, high in ranges):
        with suppress(NotRational):
            held = float(holds(arithmetic, [rational(low) for low, _ in ranges]))
            return held, held
    low, high = arithmetic.truth([Interval(_wider(low, -1), _wider(high, 1)) for low, high in ranges])
    return low.item() if arithmetic.total else 0.0, high.item()


def connective_box(kind: str, logic: str, weights: Sequence[float], bias: float, x: Sequence[Box]) -> Box:
    """Bounds of the truth of a connective, or of ``not``, over a box; ``iff`` and ``xor`` may be loose."""
    if kind in ("not", "xor"):
        low, high = x[0] if kind == "not" else connective_box("iff", logic, weights, bias, x)
        return 1 - high, 1 - low
    if kind == "iff":
        there = connective_box("implies", logic, weights, bias, x)
        back = connective_box("implies", logic, weights[::-1], bias, x[::-1])
        return min(there[0], back[0]), min(there[1], back[1])
    least, most = zip(*([x[0][::-1], x[1]] if kind == "implies" else x), strict=True)
    low, high = (truth_at(logic_named(logic), Numbers(), kind, weights, bias, truths) for truths in (least, most))
    return Numbers.cut(low), Numbers.cut(high)


def _wider(end: float, sign: int) -> np.ndarray:
    return np.array([float(end) + sign * _WIDER * max(1.0, abs(float(end)))])


def applied(operation: object, x: Sequence[Any]) -> Any:
    """The value of an operation on fractions, or a sum or product of any. Raises `NotRational`, `NoValue`."""
    match operation:
        case "add":
            return sum(x[1:], x[0])
        case "subtract":
            return x[0] - x[1]
        case "multiply":
            return math.prod(x[1:], start=x[0])
        case "negate":
            return -x[0]
        case "abs":
            return abs(x[0])
        case "divide":
            if x[1] == 0:
                raise NoValue
            return x[0] / x[1]
        case "sqrt" | "power":
            base, exponent = x if operation == "power" else (x[0], Fraction(1, 2))
            if (base == 0 and exponent < 0) or (base < 0 and exponent.denominator > 1):
                raise NoValue
            if exponent.denominator == 1 and abs(exponent) <= _WHOLE:
                return base ** int(exponent)
            if exponent.denominator == 2 and abs(exponent) <= _WHOLE:
                root = Fraction(*map(math.isqrt, (base.numerator, base.denominator)))
                if root**2 == base:
                    return root**exponent.numerator
    raise NotRational
