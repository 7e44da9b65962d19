"""Terms over rational numbers: exact values, and cheap bounds over intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from lnnkit.numeric import Apply, Comparison, Constant, Fixed, Number, Term

Range = tuple[float, float]
_ANY: Range = (-math.inf, math.inf)
_WHOLE = 64  # the greatest whole exponent that is worked out


class Inexact(Exception):
    """The value is not rational, or undefined."""


@lru_cache(maxsize=4096)
def rational(value: float) -> Fraction:
    """A number as its decimal text reads: 0.1 is 1/10, not the nearest double."""
    return Fraction(repr(float(value)))


def comparable(arithmetic: Comparison) -> bool:
    """Whether a comparison is crisp and its relation is known."""
    return isinstance(arithmetic.relation, Fixed) and not arithmetic.relation.scale


def holds(arithmetic: Comparison, values: Sequence[Fraction]) -> bool:
    """Whether a crisp comparison holds. Raises `Inexact`."""
    left, right = value(arithmetic.left, values), value(arithmetic.right, values)
    assert isinstance(arithmetic.relation, Fixed)
    match arithmetic.relation.sign:
        case ">":
            return left > right
        case ">=":
            return left >= right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case "=":
            return left == right
    return left != right


def value(term: Term, values: Sequence[Fraction]) -> Fraction:
    """The value of a term. Raises `Inexact`."""
    built: list[Fraction] = []
    for step in term.steps:
        match step:
            case Number():
                built.append(values[step.index])
            case Constant():
                built.append(rational(step.value))
            case Apply():
                built.append(_applied(step.operation, [built[place] for place in step.operands]))
    return built[-1]


def comparison_box(arithmetic: Comparison, ranges: Sequence[Range]) -> tuple[float, float]:
    """The bounds of a comparison's truth over ranges; loose if it is not crisp, or if a number occurs more than
    once."""
    if not comparable(arithmetic):
        return 0.0, 1.0
    if all(low == high and math.isfinite(low) for low, high in ranges):
        try:
            held = float(holds(arithmetic, [rational(low) for low, _ in ranges]))
        except Inexact:
            return 0.0, 1.0
        return held, held
    left, right = _range(arithmetic.left, ranges), _range(arithmetic.right, ranges)
    assert isinstance(arithmetic.relation, Fixed)
    sign = arithmetic.relation.sign
    slack = 1e-9 * max((1.0, *(abs(end) for end in (*left, *right) if math.isfinite(end))))
    above, below = left[0] > right[1] + slack, left[1] < right[0] - slack
    if above or below:
        held = float(sign == "!=" or (sign in (">", ">=")) == above) if sign != "=" else 0.0
        return held, held
    return 0.0, 1.0


def _applied(operation: object, x: Sequence[Fraction]) -> Fraction:
    match operation:
        case "add":
            return sum(x, Fraction(0))
        case "subtract":
            return x[0] - x[1]
        case "multiply":
            return math.prod(x, start=Fraction(1))
        case "divide" if x[1] != 0:
            return x[0] / x[1]
        case "negate":
            return -x[0]
        case "abs":
            return abs(x[0])
        case "sqrt" if x[0] >= 0:
            parts = [math.isqrt(part) for part in (x[0].numerator, x[0].denominator)]
            if Fraction(*parts) ** 2 == x[0]:
                return Fraction(*parts)
        case "power" if x[1].denominator == 1 and abs(x[1]) <= _WHOLE and (x[0] != 0 or x[1] >= 0):
            return x[0] ** int(x[1])
    raise Inexact


def _range(term: Term, ranges: Sequence[Range]) -> Range:
    built: list[Range] = []
    for step in term.steps:
        match step:
            case Number():
                built.append(ranges[step.index])
            case Constant():
                built.append((step.value, step.value))
            case Apply():
                built.append(_range_of(step.operation, [built[place] for place in step.operands]))
    return built[-1]


def _range_of(operation: object, x: Sequence[Range]) -> Range:
    match operation:
        case "add":
            return _sum(x)
        case "subtract":
            return _sum([x[0], (-x[1][1], -x[1][0])])
        case "negate":
            return -x[0][1], -x[0][0]
        case "multiply" if all(math.isfinite(end) for each in x for end in each):
            found = x[0]
            for each in x[1:]:
                ends = [a * b for a in found for b in each]
                found = min(ends), max(ends)
            return found
    return _ANY


def _sum(x: Sequence[Range]) -> Range:
    low, high = math.fsum(a for a, _ in x if a > -math.inf), math.fsum(b for _, b in x if b < math.inf)
    return (
        -math.inf if any(a == -math.inf for a, _ in x) else low,
        math.inf if any(b == math.inf for _, b in x) else high,
    )
