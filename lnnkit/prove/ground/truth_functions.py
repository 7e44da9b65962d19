"""Connectives at points and over intervals, in plain floats, for pruning instances and checking models.

The formulas are those of ``lnnkit.logic``. They are the same in the classical reading: there nothing has a weight or a
bias, and without these every logic agrees with classical logic where truths are 0 or 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul

Box = tuple[float, float]


def connective_value(kind: str, logic: str, weights: Sequence[float], bias: float, x: Sequence[float]) -> float:
    """The truth of ``and``, ``or``, ``implies``, ``iff`` or ``xor`` at a point, weighted."""
    match kind:
        case "or" if logic == "lukasiewicz":
            return _clamp(1 - bias + sum(map(mul, weights, x)))
        case "and" if logic == "lukasiewicz":
            return _clamp(bias - sum(map(mul, weights, [1 - each for each in x])))
        case "or":
            return 1 - connective_value("and", logic, weights, bias, [1 - each for each in x])
        case "and" if logic == "product":
            found = math.exp(bias - 1)
            for w, each in zip(weights, x, strict=True):
                found *= _power(each, w)
            return _clamp(found)
        case "and":
            return _clamp(min([bias, *(bias - w * (1 - each) for w, each in zip(weights, x, strict=True))]))
        case "implies" if logic == "lukasiewicz":
            return _clamp(1 - bias + weights[0] * (1 - x[0]) + weights[1] * x[1])
        case "implies" if logic == "product":
            top, bottom = math.exp(1 - bias) * _power(x[1], weights[1]), _power(x[0], weights[0])
            return 1.0 if top >= bottom else top / bottom
        case "implies":
            left, right = _clamp(bias - weights[0] * (1 - x[0])), _clamp(1 - weights[1] * (1 - x[1]))
            return 1.0 if left <= right else _clamp(right + 1 - bias)
        case "iff":
            there = connective_value("implies", logic, weights, bias, x)
            return min(there, connective_value("implies", logic, weights[::-1], bias, x[::-1]))
        case "xor":
            return 1 - connective_value("iff", logic, weights, bias, x)
    raise ValueError(f"{kind!r} is not a connective")


def connective_box(kind: str, logic: str, weights: Sequence[float], bias: float, x: Sequence[Box]) -> Box:
    """Bounds of the truth of a connective, or of ``not``, over a box; exact except for ``iff`` and ``xor``, where they
    may be loose."""
    if kind in ("not", "xor"):
        low, high = x[0] if kind == "not" else connective_box("iff", logic, weights, bias, x)
        return 1 - high, 1 - low
    if kind == "iff":
        there = connective_box("implies", logic, weights, bias, x)
        back = connective_box("implies", logic, weights[::-1], bias, x[::-1])
        return min(there[0], back[0]), min(there[1], back[1])
    least, most = zip(*([x[0][::-1], x[1]] if kind == "implies" else x), strict=True)
    low = connective_value(kind, logic, weights, bias, least)
    return low, low if least == most else connective_value(kind, logic, weights, bias, most)


def _clamp(value: float) -> float:
    return 0.0 if value < 0.0 else 1.0 if value > 1.0 else value


def _power(base: float, exponent: float) -> float:
    return 1.0 if exponent == 0 else 0.0 if base == 0 else base**exponent
