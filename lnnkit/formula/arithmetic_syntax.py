"""Converts comparisons and terms to syntax. Units with fixed weights become the arithmetic that they compute."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Literal

from lnnkit.numeric import Apply, Comparison, Constant, Fixed, FixedUnit, Number, Operation, Relation, Term
from lnnkit.syntax import ast
from lnnkit.syntax.span import Source, Span

_NOWHERE = Span(Source("", ""), 0, 0)
_Operator = Literal["+", "-", "*", "/", "^"]
_OPERATORS: dict[str, _Operator] = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "^"}


def arithmetic_expression(arithmetic: Comparison | Term, numbers: Sequence[ast.Expression]) -> ast.Expression:
    """A comparison or term over ``numbers``."""
    if isinstance(arithmetic, Term):
        return _term(arithmetic, numbers)
    sides = (_term(arithmetic.left, numbers), _term(arithmetic.right, numbers))
    operator, attributes = _relation(arithmetic.relation)
    return ast.Comparison(sides, (operator,), attributes, span=_NOWHERE)


def _relation(relation: Relation | None) -> tuple[ast.ComparisonOperator, tuple[ast.Attribute, ...]]:
    if relation is None:
        return "<?>", ()
    attributes: list[ast.Attribute] = []
    if not isinstance(relation, Fixed):
        weights = (relation.weight_plus, relation.weight_zero, relation.bias)
        items = tuple(_number(weight) for weight in weights)
        attributes.append(ast.Attribute("weight", ast.ValueList(items, span=_NOWHERE), span=_NOWHERE))
    if relation.scale:
        attributes.append(ast.Attribute("scale", _number(relation.scale), span=_NOWHERE))
    return relation.sign if isinstance(relation, Fixed) else "<?>", tuple(attributes)


def _term(term: Term, numbers: Sequence[ast.Expression]) -> ast.Expression:
    built: list[ast.Expression] = []
    for step in term.steps:
        match step:
            case Number():
                built.append(numbers[step.index])
            case Constant():
                built.append(_number(step.value))
            case Apply():
                built.append(_applied(step.operation, [built[place] for place in step.operands]))
    return built[-1]


def _applied(operation: Operation | FixedUnit, operands: Sequence[ast.Expression]) -> ast.Expression:
    if not isinstance(operation, str):
        attributes = tuple(_attribute(key, value) for key, value in operation.attributes.items())
        return ast.Unit(operation.name, tuple(operands), attributes, span=_NOWHERE)
    match operation:
        case "negate":
            return ast.Negate(operands[0], span=_NOWHERE)
        case "abs" | "sqrt":
            return ast.Function(operation, operands[0], span=_NOWHERE)
        case "unknown":
            return ast.Learnable(None, None, span=_NOWHERE)
    operator = _OPERATORS[operation]
    return reduce(lambda left, right: ast.Arithmetic(operator, left, right, span=_NOWHERE), operands)


def _attribute(key: str, value: float | tuple[float, ...]) -> ast.Attribute:
    if isinstance(value, tuple):
        return ast.Attribute(key, ast.ValueList(tuple(_number(each) for each in value), span=_NOWHERE), span=_NOWHERE)
    return ast.Attribute(key, _number(value), span=_NOWHERE)


def _number(value: float) -> ast.Number:
    return ast.Number(int(value) if value == int(value) else value, span=_NOWHERE)
