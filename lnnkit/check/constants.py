"""The values of terms without numbers of entities, and the truth of comparisons between them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from lnnkit.check.walk import children, nodes
from lnnkit.syntax import ast

RELATIVE = 1e-9  # relative tolerance of equality, unless both numbers are whole


def mentions_numbers(term: ast.Expression) -> bool:
    """Whether the value depends on the number of an entity."""
    return any(isinstance(node, ast.Atom) for node in nodes(term))


def value_of(term: ast.Expression, starts: Mapping[str, float] | None = None) -> float | None:
    """The finite value of a term, with learnable values at their start; None if it has none or depends on the number of
    an entity."""
    done: dict[int, float | None] = {}
    for node in reversed(list(nodes(term))):  # operands before their parents
        done[id(node)] = _value(node, [done[id(operand)] for operand in children(node)], starts or {})
    return done[id(term)]


def _value(node: ast.Expression, below: list[float | None], starts: Mapping[str, float]) -> float | None:
    values = [value for value in below if value is not None]
    if len(values) < len(below):
        return None
    match node:
        case ast.Number():
            value = float(node.value)
        case ast.Learnable():
            initial = node.initial if node.initial is not None else starts.get(node.name or "")
            value = None if initial is None else float(initial)
        case ast.Negate():
            value = -values[0]
        case ast.Function(name="abs"):
            value = abs(values[0])
        case ast.Function():
            value = math.sqrt(values[0]) if values[0] >= 0 else None
        case ast.Arithmetic():
            value = _combined(node.operator, *values)
        case _:
            value = None
    return value if value is not None and math.isfinite(value) else None


def _combined(operator: str, left: float, right: float) -> float | None:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / right if right else None
    try:
        power = left**right
    except (OverflowError, ZeroDivisionError):
        return None
    return power if isinstance(power, float) else None  # not of a negative number to a fraction


def truth_of(comparison: ast.Comparison, starts: Mapping[str, float] | None = None) -> bool | None:
    """Whether a single crisp comparison holds; None if a side has no fixed value."""
    left, right = (value_of(operand, starts) for operand in comparison.operands)
    if left is None or right is None:
        return None
    whole = left == math.floor(left) and right == math.floor(right)
    equal = left == right if whole else abs(left - right) <= RELATIVE * max(abs(left), abs(right))
    match comparison.operators[0]:
        case "=":
            return equal
        case "!=":
            return not equal
        case ">":
            return left > right and not equal
        case "<":
            return left < right and not equal
        case ">=":
            return left > right or equal
        case "<=":
            return left < right or equal
        case "<?>":
            return None
