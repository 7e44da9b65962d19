"""Terms that cannot have a value, whatever the numbers are, and literals that are not what they seem."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from lnnkit.check.report import error, warning
from lnnkit.check.symbols import Formula, Symbols
from lnnkit.check.walk import children
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic

EXACT = 2**53  # from here on float64 skips whole numbers
_OPERATORS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}


def terms(symbols: Symbols) -> list[Diagnostic]:
    found = [finding for formula in symbols.formulas for finding in _formula(formula)]
    for statement in symbols.statements():
        if isinstance(statement, ast.FactStatement | ast.LabelStatement) and statement.bounds is not None:
            bounds = statement.bounds
            ends = (bounds.lower,) if bounds.exact else (bounds.lower, bounds.upper)
            found.extend(finding for end in ends if isinstance(end, ast.Number) for finding in _inexact(end))
    return found


def _formula(formula: Formula) -> Iterator[Diagnostic]:
    fixed: dict[int, float] = {}
    findings: list[Diagnostic] = []
    for visit in reversed(formula.visits):  # operands before what holds them
        node = visit.node
        value = _value(node, fixed)
        if value is not None and math.isfinite(value):
            fixed[id(node)] = value
        if isinstance(node, ast.Number) and visit.role in ("term", "comparand"):
            findings.extend(_literal(node))
        elif isinstance(node, ast.Arithmetic | ast.Function):
            findings.extend(_undefined(node, fixed))
    return reversed(findings)


def _value(node: ast.Expression, fixed: Mapping[int, float]) -> float | None:
    """The value of a term of literals alone; None where it has none, or depends on something."""
    if isinstance(node, ast.Number):
        return float(node.value)
    if not isinstance(node, ast.Negate | ast.Arithmetic | ast.Function):
        return None
    below = [fixed.get(id(operand)) for operand in children(node)]
    if None in below:
        return None
    values = [value for value in below if value is not None]
    match node:
        case ast.Negate():
            return -values[0]
        case ast.Function(name="abs"):
            return abs(values[0])
        case ast.Function():
            return math.sqrt(values[0]) if values[0] >= 0 else None
        case ast.Arithmetic(operator="/"):
            return values[0] / values[1] if values[1] else None
        case ast.Arithmetic(operator="^"):
            return _power(*values)
        case ast.Arithmetic():
            return _OPERATORS[node.operator](*values)


def _power(base: float, exponent: float) -> float | None:
    try:
        value = base**exponent
    except (OverflowError, ZeroDivisionError):
        return None
    return value if isinstance(value, float) else None


def _literal(node: ast.Number) -> Iterator[Diagnostic]:
    if not math.isfinite(node.value):
        message = f"`{node.span.text}` is an end of bounds, never a value"
        hint = "every number is finite: leave the comparison out, or compare with a number"
        yield error("infinite-number", node.span, message, hint)
    yield from _inexact(node)


def _inexact(node: ast.Number) -> Iterator[Diagnostic]:
    value = node.value
    if isinstance(value, int) and abs(value) > EXACT and int(float(value)) != value:
        message = f"{node.span.text} is read as {float(value):.0f}"
        yield warning("inexact-number", node.span, message, "numbers are float64: whole numbers are exact up to 2^53")


def _undefined(node: ast.Arithmetic | ast.Function, fixed: Mapping[int, float]) -> Iterator[Diagnostic]:
    below = children(node)
    values = [fixed.get(id(operand)) for operand in below]
    if isinstance(node, ast.Function):
        if node.name == "sqrt" and values[0] is not None and values[0] < 0:
            yield _no_root(node, f"`{node.span.text}` is the root of a negative number")
        return
    left, right = values
    if node.operator == "/" and right == 0:
        which = "" if isinstance(below[1], ast.Number) else ", which is 0"
        message = f"nothing can be divided by `{_shown(below[1])}`{which}"
        yield error("division-by-zero", below[1].span, message, "divide by something else, or compare products instead")
    elif node.operator == "^" and left == 0 and right is not None and right < 0:
        message = f"`{node.span.text}` divides by 0"
        yield error("division-by-zero", node.span, message, "0 has no negative powers")
    elif node.operator == "^" and left is not None and left < 0 and right is not None and right != math.floor(right):
        yield _no_root(node, f"`{node.span.text}` is the power of a negative number that is no whole number")


def _no_root(node: ast.Expression, message: str) -> Diagnostic:
    return error(
        "negative-root", node.span, message, "only whole powers of negative numbers are numbers; check the sign"
    )


def _shown(node: ast.Expression) -> str:
    return " ".join(node.span.text.split())
