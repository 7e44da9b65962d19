"""What is learned of a program: the numbers of its rules, each a named parameter.

A rule that holds a ``?`` learns these values and nothing else. A rule that holds none learns the weights of the operands
of its conjunctions and disjunctions and their biases, the weight of an antecedent that is neither, and its own truth;
further weights, biases and an upper truth where they are written. An axiom learns nothing, nor does a rule of another
file that is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from lnnkit.check.learnables import in_assertion
from lnnkit.check.program import Assertion, CheckedProgram
from lnnkit.check.walk import nodes, transform
from lnnkit.syntax import ast
from lnnkit.syntax.span import Span

Kind = Literal["weight", "bias", "lower", "upper", "value"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number that is learned. ``rule`` is that of its first place; ``marked`` ones are written as ``?``. ``start``
    is None where no place gives a value to start from."""

    name: str
    kind: Kind
    rule: str
    start: float | None
    marked: bool
    span: Span


Numbered = Callable[[Kind, ast.Value | float, Span], ast.Value | float]
"""What stands in the place of a number of some kind."""


def rule_names(program: CheckedProgram) -> dict[int, str]:
    """A name for each rule and axiom, by its place among the assertions: its own, else its line."""
    found: dict[int, str] = {}
    taken: set[str] = set()
    for place, assertion in enumerate(program.assertions):
        name = assertion.name or f"line {assertion.span.line}"
        name = name if name not in taken else f"{name} (line {assertion.span.line})"
        taken.add(name)
        found[place] = name
    return found


def parametrised(
    program: CheckedProgram, file: ast.Program, trained: Collection[str]
) -> tuple[CheckedProgram, tuple[Parameter, ...]]:
    """The program with each number that is learned as a ``?`` of its own name, and the parameters. ``trained`` are the
    names (`rule_names`) of the rules that learn; the ``?`` of others stay, at their start. ``file`` is the main file,
    as parsed."""
    names, chains = rule_names(program), _chains(file)
    fixed = {item.name for place, assertion in enumerate(program.assertions) if names[place] not in trained
             for item in in_assertion(assertion) if item.name is not None}  # fmt: skip
    found: dict[str, Parameter] = {}
    assertions: list[Assertion] = []
    for place, assertion in enumerate(program.assertions):
        if names[place] not in trained:
            assertions.append(assertion)
            continue
        marked = any(True for _ in in_assertion(assertion))
        counts: dict[Kind, int] = {}

        def number(
            kind: Kind,
            value: ast.Value | float,
            span: Span,
            rule: str = names[place],
            marked: bool = marked,
            counts: dict[Kind, int] = counts,
        ) -> ast.Value | float:
            learnable = isinstance(value, ast.Learnable)
            if learnable != marked or (learnable and value.name in fixed):
                return value
            counts[kind] = counts.get(kind, 0) + 1
            own = value.name if isinstance(value, ast.Learnable) and value.name else f"{rule}/{kind}{counts[kind]}"
            start = value.initial if isinstance(value, ast.Learnable) else _plain(value)
            start = None if start is None else float(start)
            if own not in found or (found[own].start is None and start is not None):
                found[own] = Parameter(own, kind, rule, start, marked, span)
            return ast.Learnable(own, start, span=span)

        assertions.append(_rewritten(assertion, number, chains, marked=marked))
    parameters = tuple(
        p if p.start is not None or p.kind == "value" else replace(p, start=1.0) for p in found.values()
    )
    return replace(program, assertions=tuple(assertions)), parameters


def at(program: CheckedProgram, parameters: Sequence[Parameter], values: Mapping[str, float]) -> CheckedProgram:
    """A parametrised program, its parameters starting at other values."""
    return _with(program, lambda item: replace(item, initial=values[item.name]) if item.name in values else item)


def settled(program: CheckedProgram, parameters: Sequence[Parameter], values: Mapping[str, float]) -> CheckedProgram:
    """A parametrised program as it is written with these values: unmarked parameters are numbers."""
    unmarked = {p.name for p in parameters if not p.marked}

    def change(item: ast.Learnable) -> ast.Value:
        if item.name in unmarked:
            return ast.Number(values[item.name], span=item.span)
        return replace(item, initial=values[item.name]) if item.name in values else item

    return _with(program, change)


def _with(program: CheckedProgram, change: Callable[[ast.Learnable], ast.Value]) -> CheckedProgram:
    def number(_kind: Kind, value: ast.Value | float, _span: Span) -> ast.Value | float:
        return change(value) if isinstance(value, ast.Learnable) else value

    return replace(
        program, assertions=tuple(_rewritten(each, number, frozenset(), marked=True) for each in program.assertions)
    )


def _rewritten(
    assertion: Assertion, number: Numbered, chains: Collection[tuple[int, int]], *, marked: bool
) -> Assertion:
    """The assertion with ``number`` in place of each number that may be learned."""
    formula = rewritten(cast(ast.Expression, assertion.formula), number, chains, marked=marked)
    lower, upper = truths(assertion.lower, assertion.upper, number, assertion.span, marked=marked)
    return replace(assertion, formula=formula, lower=lower, upper=upper)


def truths(
    lower: ast.Value | float, upper: ast.Value | float, number: Numbered, span: Span, *, marked: bool
) -> tuple[ast.Value | float, ast.Value | float]:
    """The truth of a rule; what says nothing, a lower end of 0 or an upper one of 1, is learned only if marked."""
    if marked or _plain(lower) != 0.0:
        lower = _truth(number("lower", lower, span))
    if marked or _plain(upper) != 1.0:
        upper = _truth(number("upper", upper, span))
    return lower, upper


def _truth(value: ast.Value | float) -> ast.Value | float:
    return float(value.value) if isinstance(value, ast.Number) else value


def rewritten(
    formula: ast.Expression, number: Numbered, chains: Collection[tuple[int, int]], *, marked: bool
) -> ast.Expression:
    """A formula with ``number`` in place of each number that may be learned; unless it is ``marked``, the places where
    no number is written are among them. ``chains`` are the spans of comparisons that stand as conjunctions."""

    def value(kind: Kind, given: ast.Value | float, span: Span) -> ast.Value:
        found = number(kind, given, span)
        return found if isinstance(found, (ast.Number, ast.Learnable)) else ast.Number(found, span=span)

    def weighed(operand: ast.Expression) -> ast.Expression:
        if marked or isinstance(operand, (ast.Weighted, ast.Truth)):
            return operand
        return ast.Weighted(operand, value("weight", 1.0, operand.span), span=operand.span)

    def attributes(node: ast.And | ast.Or | ast.Implies | ast.Iff | ast.Xor | ast.Comparison | ast.Unit):
        found: list[ast.Attribute] = []
        for each in node.attributes:
            kind: Kind = "bias" if each.key == "bias" and not isinstance(node, ast.Unit) else "value"
            if isinstance(each.value, str) or (not marked and kind == "value"):
                found.append(each)
            else:
                found.append(replace(each, value=listed(kind, each.value)))
        if not marked and isinstance(node, (ast.And, ast.Or)) and all(a.key != "bias" for a in node.attributes):
            found.append(ast.Attribute("bias", value("bias", 1.0, node.span), span=node.span))
        return tuple(found)

    def listed(kind: Kind, given: ast.Value | ast.ValueList) -> ast.Value | ast.ValueList:
        if isinstance(given, ast.ValueList):
            return replace(given, items=tuple(listed(kind, item) for item in given.items))
        return value(kind, given, given.span)

    def change(node: ast.Expression) -> ast.Expression:
        match node:
            case ast.Learnable():
                return value("value", node, node.span)
            case ast.Weighted():
                return replace(node, weight=value("weight", node.weight, node.weight.span))
            case ast.And() | ast.Or():
                if (node.span.start, node.span.end) in chains:
                    return node
                return replace(node, operands=tuple(map(weighed, node.operands)), attributes=attributes(node))
            case ast.Implies():
                bare = node.antecedent
                antecedent = bare if isinstance(bare, (ast.And, ast.Or)) else weighed(bare)
                return replace(node, antecedent=antecedent, attributes=attributes(node))
            case ast.Iff() | ast.Xor() | ast.Comparison() | ast.Unit() if node.attributes:
                return replace(node, attributes=attributes(node))
            case _:
                return node

    return transform(formula, change)


def _plain(value: ast.Value | float) -> float | None:
    if isinstance(value, ast.Number):
        return float(value.value)
    return float(value) if isinstance(value, (int, float)) else None


def _chains(file: ast.Program) -> frozenset[tuple[int, int]]:
    """The spans of the chains of comparisons, which stand as conjunctions in a checked formula."""
    return frozenset(
        (node.span.start, node.span.end)
        for statement in file.statements
        if isinstance(statement, ast.RuleStatement)
        for node in nodes(statement.formula)
        if isinstance(node, ast.Comparison) and len(node.operators) > 1
    )


def trainable(program: CheckedProgram, file: ast.Program) -> dict[str, Assertion]:
    """The rules that may learn, by name: those of the main file."""
    names, own = rule_names(program), file.span.source.path
    return {
        names[place]: assertion
        for place, assertion in enumerate(program.assertions)
        if assertion.kind == "rule" and assertion.span.source.path == own
    }
