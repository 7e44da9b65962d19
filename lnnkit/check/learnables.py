"""Learnable values: ``?`` is allowed in rules only, and all occurrences of one name have the same initial value.
Without one, the program can be trained, but not evaluated before that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from lnnkit.check.findings import error, place, repeated, warning
from lnnkit.check.named_files import merge
from lnnkit.check.program import Assertion
from lnnkit.check.symbols import Formula, Symbols, gather
from lnnkit.check.walk import nodes, transform
from lnnkit.check.weights import shapes_of
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic

UNEVALUATED = frozenset({"untrained"})
"""Findings that a program or query is checked with as warnings, and not evaluated with."""
_ELSE = {
    "rule": "or train the program",
    "axiom": "or write `rule`: an axiom is never trained",
    "query": "or ask for it in a rule: a query learns nothing",
}


def learnables(symbols: Symbols) -> Iterator[Diagnostic]:
    for kind, statement in symbols.stated():
        for item in among(statement.bounds.written if statement.bounds else ()):
            yield _misplaced(item, f"`{item.span.text}` is learnable, but a {kind} must be given")
    named = {item.name for formula in symbols.formulas if formula.kind == "rule" for item in in_formula(formula)}
    named |= symbols.learned.keys()
    items = [(formula, item) for formula in symbols.formulas for item in in_formula(formula)]
    for formula, item in items:
        if formula.kind == "axiom":
            message = f"`{item.span.text}` is learnable, but an axiom is never trained"
            yield _misplaced(item, message, "write a number, or `rule` for `axiom`")
        elif formula.kind == "query" and (item.name is None or item.name not in named):
            message = f"`{item.span.text}` is a new learnable value, but a query learns nothing"
            yield _misplaced(item, message, _asked(formula.root, item))
    started = (item for _, item in items if item.name is not None and item.initial is not None)
    for before, item in repeated(started, lambda item: item.name):
        if before.initial != item.initial:
            where = place(before.span, item.span)
            message = f"`?{item.name}` starts at {item.initial:g} here, and at {before.initial:g} on {where}"
            hint = "the same name is the same parameter: give its initial value once, or use two names"
            yield error("conflicting-initial", item.span, message, hint)


def _misplaced(item: ast.Learnable, message: str, hint: str = "") -> Diagnostic:
    return error("misplaced-learnable", item.span, message, hint or "write a number; only rules have learnable values")


def _asked(root: ast.Expression, item: ast.Learnable) -> str:
    """What to write for a learnable value in a query; `age(X) = ?` asks for the number."""
    match root:
        case ast.Comparison(operands=(ast.Atom() as atom, other), operators=("=",)) if other is item:
            return f"to ask for the number write `query {atom.span.text}`"
        case _:
            return "write a number, or the name of a learnable value of a rule"


def in_formula(formula: Formula) -> Iterator[ast.Learnable]:
    """Every ``?`` of a statement: terms, weights, attributes and bounds."""
    yield from among(visit.node for visit in formula.visits)
    yield from among(() if formula.bounds is None else formula.bounds.written)


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
    yield from among(end for end in (assertion.lower, assertion.upper) if isinstance(end, ast.Node))


def among(expressions: Iterable[ast.Node]) -> Iterator[ast.Learnable]:
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
    if isinstance(value, ast.Learnable):
        yield value
    elif isinstance(value, ast.ValueList):
        yield from (learnable for item in value.items for learnable in in_value(item))


def untrained(symbols: Symbols) -> Iterator[Diagnostic]:
    """Findings about learnable values without an initial value. Weights, biases and truths start at 1 by default;
    everything else needs one."""
    started = starting_values(symbols).keys()
    for formula, visit in symbols.visits():
        node, items = visit.node, list[ast.Learnable]()
        if isinstance(node, ast.Learnable) and visit.role in ("term", "comparand"):
            items = [node]
        elif isinstance(node, ast.Unit | ast.Comparison):
            items = [item for attribute in node.attributes for item in in_value(attribute.value)]
            yield from _unlearned(node, formula.kind)
        for item in items:
            if item.initial is None and item.name not in started:
                text = item.span.text
                message = f"`{text}` has no value before it is trained"
                hint = f"give it an initial value, `{text}{'' if item.name is None else '='}1`, or train the program"
                yield warning("untrained", item.span, message, hint)


def _unlearned(node: ast.Unit | ast.Comparison, kind: str) -> Iterator[Diagnostic]:
    missing = lacking(node)
    if not missing:
        return
    count = shapes_of(node)[missing[0]].count
    example = f"{missing[0]}: " + ("0.5" if count is None else f"[{', '.join(['1'] * (count or len(node.operands)))}]")
    if isinstance(node, ast.Unit):
        message = f"the unit `{node.name}` has no `{missing[0]}` before it is trained"
        hint = f"give it one, `{node.span.text}{{{example}}}`, {_ELSE[kind]}"
        yield warning("untrained", node.span, message, hint)
    else:
        message = "`<?>` has no weights before it is trained"
        hint = f"give its weights, `({node.span.text}){{{example}}}`, {_ELSE[kind]}"
        yield warning("untrained-relation", node.span, message, hint)


def lacking(node: ast.Unit | ast.Comparison) -> list[str]:
    """The attributes without which a unit or relation has no value, and which are not given."""
    given = {attribute.key for attribute in node.attributes}
    return [key for key, shape in shapes_of(node).items() if shape.needed and key not in given]


def settled(
    program: ast.Program, base: Path, change: Callable[[ast.Expression], ast.Expression] = lambda node: node
) -> Iterator[ast.RuleOrAxiom]:
    """The rules and axioms of a program and of its imports, in reading order. A learnable value without an initial
    value stays as it is. ``change`` is applied to every node whose values were replaced, operands first."""
    entries = merge(program, base).entries
    starts = starting_values(gather(entries))
    for entry in entries:
        statement = entry.statement
        if isinstance(statement, ast.RuleOrAxiom):
            formula = transform(statement.formula, lambda node: change(settled_node(node, starts)))
            bounds = statement.bounds
            if bounds is not None:
                bounds = replace(
                    bounds, lower=settled_value(bounds.lower, starts), upper=settled_value(bounds.upper, starts)
                )
            yield replace(statement, formula=formula, bounds=bounds)


def settled_node(node: ast.Expression, starts: Mapping[str, float]) -> ast.Expression:
    """A node with its own learnable values replaced by their initial values; for a name without one, by that in
    ``starts``."""
    if isinstance(node, ast.Learnable):
        return settled_value(node, starts)
    if isinstance(node, ast.Weighted):
        return replace(node, weight=settled_value(node.weight, starts))
    if isinstance(node, ast.Connective | ast.Comparison | ast.Unit):
        given = tuple(replace(attribute, value=settled_value(attribute.value, starts)) for attribute in node.attributes)
        return replace(node, attributes=given)
    return node


def settled_value(value: Any, starts: Mapping[str, float]) -> Any:
    """A value, or the value of an attribute, with its learnable ones replaced likewise."""
    if isinstance(value, ast.ValueList):
        return replace(value, items=tuple(settled_value(item, starts) for item in value.items))
    if not isinstance(value, ast.Learnable):
        return value
    start = value.initial if value.initial is not None else starts.get(value.name or "")
    return value if start is None else ast.Number(int(start) if start == int(start) else start, span=value.span)
