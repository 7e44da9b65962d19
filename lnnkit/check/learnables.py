"""Learnable values: ``?`` is allowed in rules only, and all occurrences of one name have the same initial value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from lnnkit.check.findings import error, place, repeated
from lnnkit.check.program import Assertion
from lnnkit.check.symbols import Formula, Symbols
from lnnkit.check.walk import nodes
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic


def learnables(symbols: Symbols) -> list[Diagnostic]:
    return [*_in_facts(symbols), *_in_formulas(symbols), *_initials(symbols)]


def in_formula(formula: Formula) -> Iterator[ast.Learnable]:
    """Every ``?`` of a statement: terms, weights, attributes and bounds."""
    yield from among(visit.node for visit in formula.visits)
    bounds = getattr(formula.statement, "bounds", None)
    if bounds is not None:
        yield from _in_bounds(bounds)


def starting_values(symbols: Symbols) -> dict[str, float]:
    """The initial value of each name for which some rule gives one."""
    known = {name: start for name, start in symbols.learned.items() if start is not None}
    return known | {
        item.name: float(item.initial)
        for formula in symbols.formulas
        for item in in_formula(formula)
        if item.name is not None and item.initial is not None
    }


def in_assertion(assertion: Assertion) -> Iterator[ast.Learnable]:
    """Every ``?`` of a checked rule or axiom."""
    yield from among(nodes(cast(ast.Expression, assertion.formula)))
    yield from (end for end in (assertion.lower, assertion.upper) if isinstance(end, ast.Learnable))


def among(expressions: Iterable[ast.Expression]) -> Iterator[ast.Learnable]:
    """Every ``?`` that is one of these nodes, the weight of one, or in one of its attributes."""
    for node in expressions:
        if isinstance(node, ast.Learnable):
            yield node
        elif isinstance(node, ast.Weighted) and isinstance(node.weight, ast.Learnable):
            yield node.weight
        for attribute in getattr(node, "attributes", ()):
            yield from in_value(attribute.value)


def in_value(value: ast.Value | ast.ValueList | str) -> Iterator[ast.Learnable]:
    """Every ``?`` of an attribute."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, ast.Learnable):
            yield item
        elif isinstance(item, ast.ValueList):
            stack.extend(reversed(item.items))


def _in_bounds(bounds: ast.Bounds) -> Iterator[ast.Learnable]:
    return (end for end in bounds.written if isinstance(end, ast.Learnable))


def _in_facts(symbols: Symbols) -> Iterator[Diagnostic]:
    for kind, statement in symbols.stated():
        for item in _in_bounds(statement.bounds) if statement.bounds else ():
            yield _misplaced(item, f"`{item.span.text}` is learnable, but a {kind} must be given")


def _misplaced(item: ast.Learnable, message: str, hint: str = "") -> Diagnostic:
    return error("misplaced-learnable", item.span, message, hint or "write a number; only rules have learnable values")


def _in_formulas(symbols: Symbols) -> Iterator[Diagnostic]:
    named = {item.name for formula in symbols.formulas if formula.kind == "rule" for item in in_formula(formula)}
    named |= symbols.learned.keys()
    for formula in symbols.formulas:
        for item in in_formula(formula):
            if formula.kind == "axiom":
                message = f"`{item.span.text}` is learnable, but an axiom is never trained"
                yield _misplaced(item, message, "write a number, or `rule` for `axiom`")
            elif formula.kind == "query" and (item.name is None or item.name not in named):
                message = f"`{item.span.text}` is a new learnable value, but a query learns nothing"
                yield _misplaced(item, message, _asked(formula.root, item))


def _asked(root: ast.Expression, item: ast.Learnable) -> str:
    """What to write for a learnable value in a query; `age(X) = ?` asks for the number."""
    match root:
        case ast.Comparison(operands=(ast.Atom() as atom, other), operators=("=",)) if other is item:
            return f"to ask for the number write `query {atom.span.text}`"
        case _:
            return "write a number, or the name of a learnable value of a rule"


def _initials(symbols: Symbols) -> Iterator[Diagnostic]:
    items = (item for formula in symbols.formulas for item in in_formula(formula))
    started = (item for item in items if item.name is not None and item.initial is not None)
    for before, item in repeated(started, lambda each: each.name):
        if before.initial != item.initial:
            where = place(before.span, item.span)
            message = f"`?{item.name}` starts at {item.initial:g} here, and at {before.initial:g} on {where}"
            hint = "the same name is the same parameter: give its initial value once, or use two names"
            yield error("conflicting-initial", item.span, message, hint)
