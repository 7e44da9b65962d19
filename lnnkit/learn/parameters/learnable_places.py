"""The positions in a rule of learned numbers, written or implied."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Literal

from lnnkit.check.learnables import in_value
from lnnkit.check.walk import nodes, transform
from lnnkit.check.weights import shapes_of
from lnnkit.syntax import ast
from lnnkit.syntax.span import Span

ParameterKind = Literal["weight", "bias", "lower", "upper", "value", "unit", "relation"]
"""``unit`` and ``relation`` are weights omitted from a unit or a ``<?>``; a ``?`` is a ``value``."""

Replacement = Callable[[ParameterKind, ast.Value | float, Span], ast.Value | float]
"""Returns the replacement for a number of some kind. It is called for all positions of a rule in a fixed order."""

Range = tuple[float, float]

_SHARPEST = 1e-3  # share of a comparison's initial scale: the least that it learns
_TINY = 1e-6  # the same without an initial scale
_WRITTEN = re.compile(r"\?[^\s<(]*")

_Attributed = ast.Connective | ast.Comparison | ast.Unit


def rewritten(
    formula: ast.Expression, number: Replacement, spans: Collection[tuple[int, int]], *, marked: bool
) -> ast.Expression:
    """A formula with ``number`` applied to each number that may be learned. Unless the rule is ``marked``, that
    includes positions where no number is written, so the order does not depend on whether one is. ``spans`` are those
    of chains of comparisons (`chains`), which are conjunctions in a checked formula."""

    def written(operand: ast.Expression) -> ast.Expression:
        """An operand whose weight is learned only where one is written."""
        return _weighed(number, operand) if isinstance(operand, ast.Weighted) else operand

    def change(node: ast.Expression) -> ast.Expression:
        match node:
            case ast.Learnable():
                return _value(number, "value", node, node.span)
            case ast.Weighted():
                return _weighed(number, node) if marked else node  # else the connective handles it, below
            case ast.And() | ast.Or():
                if (node.span.start, node.span.end) in spans:
                    return node
                operands = node.operands if marked else tuple(_weighed(number, operand) for operand in node.operands)
                return replace(node, operands=operands, attributes=_attributes(number, node, marked=marked))
            case ast.Implies():
                antecedent, consequent = node.antecedent, node.consequent
                if not marked:
                    antecedent = (
                        antecedent if isinstance(antecedent, (ast.And, ast.Or)) else _weighed(number, antecedent)
                    )
                    consequent = written(consequent)
                attributes = _attributes(number, node, marked=marked)
                return replace(node, antecedent=antecedent, consequent=consequent, attributes=attributes)
            case ast.Iff() | ast.Xor() if not marked:
                left, right = written(node.left), written(node.right)
                return replace(node, left=left, right=right, attributes=_attributes(number, node, marked=marked))
            case ast.Iff() | ast.Xor() | ast.Comparison() | ast.Unit() if node.attributes:
                return replace(node, attributes=_attributes(number, node, marked=marked))
            case _:
                return node

    return transform(formula, change)


def opened(formula: ast.Expression) -> ast.Expression:
    """A formula with a ``?`` for each required weight that its units and ``<?>`` omit."""
    return transform(formula, _opened)


def is_opened(value: ast.Value | float) -> bool:
    """Whether the value is an implicit ``?`` that stands for an omitted weight (`opened`)."""
    return isinstance(value, ast.Learnable) and _WRITTEN.fullmatch(value.span.text) is None


def ranges(formula: ast.Expression) -> dict[str, Range]:
    """The least and the greatest value of the named learnable weights and scales, which stay positive."""
    limits: dict[str, Range] = {}
    for node in nodes(formula):
        shapes = shapes_of(node) if isinstance(node, ast.Unit) else {}
        for attribute in node.attributes if isinstance(node, ast.Unit | ast.Comparison) else ():
            for learnable in in_value(attribute.value):
                if learnable.name is not None and attribute.key in shapes:
                    limits[learnable.name] = shapes[attribute.key].low, shapes[attribute.key].high
                elif learnable.name is not None and attribute.key == "scale":
                    limits[learnable.name] = _SHARPEST * (learnable.initial or _TINY), math.inf
    return limits


def truths(
    lower: ast.Value | float, upper: ast.Value | float, number: Replacement, span: Span, *, marked: bool
) -> tuple[ast.Value | float, ast.Value | float]:
    """The truth of a rule; an uninformative end (lower 0 or upper 1) is learned only if marked."""
    if marked or plain(lower) != 0.0:
        lower = number("lower", lower, span)
    if marked or plain(upper) != 1.0:
        upper = number("upper", upper, span)
    return lower, upper


def plain(value: ast.Value | float) -> float | None:
    """The number; None for a ``?``."""
    if isinstance(value, ast.Number):
        return float(value.value)
    return float(value) if isinstance(value, (int, float)) else None


def chains(file: ast.Program) -> frozenset[tuple[int, int]]:
    """The positions of comparisons of more than two terms in rules."""
    return frozenset(
        (node.span.start, node.span.end)
        for statement in file.statements
        if isinstance(statement, ast.RuleStatement)
        for node in nodes(statement.formula)
        if isinstance(node, ast.Comparison) and len(node.operators) > 1
    )


def _opened(node: ast.Expression) -> ast.Expression:
    if not isinstance(node, ast.Unit | ast.Comparison):
        return node
    given = {attribute.key for attribute in node.attributes}
    added: list[ast.Attribute] = []
    for key, shape in shapes_of(node).items():
        if shape.needed and key not in given:
            unknown = ast.Learnable(None, None, span=node.span)
            count = shape.count or len(node.operands)
            value = unknown if shape.count is None else ast.ValueList((unknown,) * count, span=node.span)
            added.append(ast.Attribute(key, value, span=node.span))
    return replace(node, attributes=(*node.attributes, *added)) if added else node


def _value(number: Replacement, kind: ParameterKind, given: ast.Value | float, span: Span) -> ast.Value:
    value = number(kind, given, span)
    return value if isinstance(value, (ast.Number, ast.Learnable)) else ast.Number(value, span=span)


def _weighed(number: Replacement, operand: ast.Expression) -> ast.Expression:
    if isinstance(operand, ast.Weighted):
        return replace(operand, weight=_value(number, "weight", operand.weight, operand.weight.span))
    if isinstance(operand, ast.Truth):
        return operand
    return ast.Weighted(operand, _value(number, "weight", 1.0, operand.span), span=operand.span)


def _attributes(number: Replacement, node: _Attributed, *, marked: bool) -> tuple[ast.Attribute, ...]:
    attributes: list[ast.Attribute] = []
    for attribute in node.attributes:
        kind: ParameterKind = "bias" if attribute.key == "bias" and not isinstance(node, ast.Unit) else "value"
        if any(map(is_opened, in_value(attribute.value))):
            kind = "unit" if isinstance(node, ast.Unit) else "relation"
        if isinstance(attribute.value, str) or (not marked and kind == "value"):
            attributes.append(attribute)
        else:
            attributes.append(replace(attribute, value=_listed(number, kind, attribute.value)))
    if not marked and isinstance(node, (ast.And, ast.Or)) and all(attribute.key != "bias" for attribute in attributes):
        attributes.append(ast.Attribute("bias", _value(number, "bias", 1.0, node.span), span=node.span))
    return tuple(attributes)


def _listed(number: Replacement, kind: ParameterKind, given: ast.Value | ast.ValueList) -> ast.Value | ast.ValueList:
    if isinstance(given, ast.ValueList):
        return replace(given, items=tuple(_listed(number, kind, item) for item in given.items))
    return _value(number, kind, given, given.span)
