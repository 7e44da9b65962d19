"""Rules with every learnable value replaced by its current value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from lnnkit.check.gather import gather
from lnnkit.check.imports import merge
from lnnkit.check.learnables import starting_values
from lnnkit.check.walk import Connective, transform
from lnnkit.syntax import ast

Rule = ast.RuleStatement | ast.AxiomStatement


def settled(
    program: ast.Program, base: Path, change: Callable[[ast.Expression], ast.Expression] = lambda node: node
) -> Iterator[Rule]:
    """The rules and axioms of a program and of its imports, in reading order. A learnable value without an initial
    value stays as it is. ``change`` is applied to every node whose values were replaced, operands first."""
    entries = merge(program, base).entries
    starts = starting_values(gather(entries))
    for entry in entries:
        statement = entry.statement
        if isinstance(statement, Rule):
            formula = transform(statement.formula, lambda node: change(settled_node(node, starts)))
            bounds = statement.bounds
            if bounds is not None:
                bounds = replace(bounds, lower=_value(bounds.lower, starts), upper=_value(bounds.upper, starts))
            yield replace(statement, formula=formula, bounds=bounds)


def settled_node(node: ast.Expression, starts: Mapping[str, float]) -> ast.Expression:
    """A node with its own learnable values replaced by their initial values; for a name without one, by that in
    ``starts``."""
    if isinstance(node, ast.Learnable):
        return _value(node, starts)
    if isinstance(node, ast.Weighted):
        return replace(node, weight=_value(node.weight, starts))
    if isinstance(node, Connective | ast.Comparison | ast.Unit):
        given = tuple(replace(each, value=_attribute(each.value, starts)) for each in node.attributes)
        return replace(node, attributes=given)
    return node


def _attribute(value: ast.Value | ast.ValueList | str, starts: Mapping[str, float]) -> ast.Value | ast.ValueList | str:
    if isinstance(value, str):
        return value
    return _item(value, starts)


def _item(value: ast.Value | ast.ValueList, starts: Mapping[str, float]) -> ast.Value | ast.ValueList:
    if isinstance(value, ast.ValueList):
        return replace(value, items=tuple(_item(item, starts) for item in value.items))
    return _value(value, starts)


def _value(value: ast.Value, starts: Mapping[str, float]) -> ast.Value:
    if isinstance(value, ast.Number):
        return value
    start = value.initial if value.initial is not None else starts.get(value.name or "")
    if start is None:
        return value
    return ast.Number(int(start) if start == int(start) else start, span=value.span)
