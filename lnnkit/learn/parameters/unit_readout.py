"""Units and status registers with known weights as the arithmetic and the relations that they compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from lnnkit.check.learnables import lacking
from lnnkit.numeric.crisp import SIGNS, Learned, doubt, margins
from lnnkit.numeric.term import GRIDS
from lnnkit.syntax import ast


def readable(node: ast.Expression) -> tuple[ast.Expression, float]:
    """The node as plain arithmetic (``debt(X) / income(X)`` for an NPU, ``>`` for a register), and the distance of its
    weights from rounded ones, or of a register's truths from 0 and 1. A node that the language's operators cannot
    express, or that still has learnable values, stays as it is. Fractional powers of an NPU are those of magnitudes,
    where the arithmetic has no value for negative operands; products of an iNALU end at ``exp(20)``."""
    if isinstance(node, ast.Unit):
        return _unit(node)
    return _register(node) if isinstance(node, ast.Comparison) else (node, 0.0)


def crisp_relation(node: ast.Comparison) -> ast.Comparison:
    """A register without a scale whose truths are exactly 0 and 1, as that relation; others unchanged."""
    shown, gap = _register(node)
    return node if gap else shown


def _given(node: ast.Unit | ast.Comparison) -> dict[str, list[float]] | None:
    """The numbers of the attributes; None where one of them is learnable."""
    given: dict[str, list[float]] = {}
    for key, value in ((attribute.key, attribute.value) for attribute in node.attributes):
        items = value.items if isinstance(value, ast.ValueList) else (value,)
        given[key] = [float(item.value) for item in items if isinstance(item, ast.Number)]
        if len(given[key]) < len(items):
            return None
    return given


def _unit(node: ast.Unit) -> tuple[ast.Expression, float]:
    """As `readable`, for a unit."""
    given = _given(node)
    if given is None or lacking(node):
        return node, 0.0
    grids = GRIDS[node.name]
    gaps = [min(abs(value - point) for point in grids[key]) for key in grids.keys() & given for value in given[key]]
    return _arithmetic(node, given), max(gaps)


def _arithmetic(node: ast.Unit, given: dict[str, list[float]]) -> ast.Expression:
    gates = given.get("gate", [1.0] * len(node.operands))
    match node.name:
        case "nau" | "nac":
            return _sum(node.operands, given["weight"])
        case "nmu":
            pairs = zip(node.operands, given["weight"], strict=True)
            return _product([_factor(operand, weight) for operand, weight in pairs if weight])
        case "npu" | "realnpu" if {*gates} <= {0.0, 1.0} and not any(given.get("imaginary", ())):
            return _quotient(node.operands, [power * gate for power, gate in zip(given["power"], gates, strict=True)])
        case "inalu" if gates == [1.0]:
            return _sum(node.operands, given["add"])
        case "inalu" if gates == [0.0] and all(power.is_integer() for power in given["multiply"]):
            return _quotient(node.operands, given["multiply"])
        case _:
            return node


def _sum(operands: Sequence[ast.Expression], weights: Sequence[float]) -> ast.Expression:
    """``a - b + 0.5 * c``: the sum of the terms times their weights; those of weight 0 are left out."""
    total: ast.Expression | None = None
    for operand, weight in zip(operands, weights, strict=True):
        size = abs(weight)
        if total is not None and weight:
            term = operand if size == 1 else ast.Arithmetic("*", _number(size), operand)
            total = ast.Arithmetic("+" if weight > 0 else "-", total, term)
        elif weight:
            signed = operand if weight > 0 else ast.Negate(operand)
            total = signed if size == 1 else ast.Arithmetic("*", _number(weight), operand)
    return ast.Number(0) if total is None else total


def _factor(operand: ast.Expression, weight: float) -> ast.Expression:
    """``w x + 1 - w``."""
    if weight == 1:
        return operand
    return ast.Arithmetic("+", ast.Arithmetic("*", _number(weight), operand), _number(1 - weight))


def _quotient(operands: Sequence[ast.Expression], powers: Sequence[float]) -> ast.Expression:
    """``a * b^2 / sqrt(c)``; operands of power 0 are left out."""
    pairs = list(zip(operands, powers, strict=True))
    below = [_power(operand, -power) for operand, power in pairs if power < 0]
    above = _product([_power(operand, power) for operand, power in pairs if power > 0])
    return reduce(lambda left, right: ast.Arithmetic("/", left, right), below, above)


def _power(operand: ast.Expression, power: float) -> ast.Expression:
    if power == 0.5:
        return ast.Function("sqrt", (operand,))
    return operand if power == 1 else ast.Arithmetic("^", operand, _number(power))


def _product(factors: Sequence[ast.Expression]) -> ast.Expression:
    return reduce(lambda left, right: ast.Arithmetic("*", left, right), factors) if factors else ast.Number(1)


def _number(value: float) -> ast.Number:
    return ast.Number(int(value) if value.is_integer() and abs(value) < 2**53 else value)


def _register(node: ast.Comparison) -> tuple[ast.Comparison, float]:
    """A register as a relation."""
    given = _given(node) if node.operators == ("<?>",) else None
    if given is None or set(given) != {"weight"}:
        return node, 0.0
    learned = Learned(*given["weight"])
    holds = tuple(margin > 0 for margin in margins(learned))
    signs = [sign for sign, truths in SIGNS.items() if truths == holds]
    return (replace(node, operators=(signs[0],), attributes=()), doubt(learned)) if signs else (node, 0.0)
