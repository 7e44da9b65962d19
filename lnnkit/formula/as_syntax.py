"""Converts formulas back to syntax, so that instances and neurons can be shown as a person would write them. Units with
fixed weights become the arithmetic that they compute."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Literal, cast

from lnnkit.formula.unfolding import Formula
from lnnkit.numeric import Apply, Comparator, Comparison, Constant, Fixed, FixedUnit, Input, Operation, Term
from lnnkit.syntax import ast
from lnnkit.syntax.identifiers import OPERATION_OF, TIMED
from lnnkit.syntax.printer import format_expression


def as_expression(
    formula: Formula, bindings: Mapping[int, str], names: Mapping[int, str] | None = None, *, logic: str | None = None
) -> ast.Expression:
    """The syntax of a formula, with the entities of ``bindings`` in place of variables. Other variables have the names
    in ``names``, the names written at their quantifiers, or X0, X1, ... Connectives of another logic than ``logic``
    carry it as an attribute."""
    names = bound_names(formula, names or {})
    built: list[ast.Expression] = []
    for neuron in formula.neurons:
        operands = tuple(built[operand] for operand in neuron.operands)
        if neuron.logic is not None:
            pairs = zip(operands, neuron.weights, strict=True)
            operands = tuple(part if weight == 1 else ast.Weighted(part, ast.Number(weight)) for part, weight in pairs)
        arguments = tuple(_argument(argument, bindings, names) for argument in neuron.arguments)
        attributes: tuple[ast.Attribute, ...] = ()
        if neuron.logic is not None and neuron.bias != 1.0:
            attributes = (ast.Attribute("bias", ast.Number(neuron.bias)),)
        if neuron.logic is not None and logic is not None and neuron.logic.name != logic:
            attributes += (ast.Attribute("logic", neuron.logic.name),)
        match neuron.kind:
            case "leaf":
                node: ast.Expression = ast.Atom(neuron.source, arguments)
            case "true" | "false":
                node = ast.Truth(neuron.kind == "true")
            case "same":
                node = _same(arguments)
            case "not":
                node = ast.Not(operands[0])
            case _ if neuron.quantifies:
                bound = tuple(ast.Variable(names[v]) for v in formula.blocks[neuron.inner].bound)
                node = (ast.Forall if neuron.least else ast.Exists)(bound, operands[0])
            case _ if neuron.aggregates:
                bound = tuple(ast.Variable(names[v]) for v in formula.blocks[neuron.inner].bound)
                condition, *term = operands
                node = ast.Aggregate(cast("Any", neuron.kind), bound, (*term, condition))
            case "compare" | "term":
                assert neuron.arithmetic is not None
                node = arithmetic_expression(neuron.arithmetic, operands)
            case "and" | "or":
                node = (ast.And if neuron.kind == "and" else ast.Or)(operands, attributes)
            case _:
                binary = {"implies": ast.Implies, "iff": ast.Iff, "xor": ast.Xor}[neuron.kind]
                node = binary(operands[0], operands[1], attributes)
        built.append(node)
    return built[-1]


def as_text(formula: Formula, bindings: Mapping[int, str]) -> str:
    """The formula as a person would write it."""
    return format_expression(as_expression(formula, bindings))


def canonical_text(formula: Formula) -> str:
    """The text of the formula, independent of the names of its variables."""
    return as_text(replace(formula, written={}), {})


def bound_names(formula: Formula, names: Mapping[int, str]) -> Mapping[int, str]:
    """``names``, and a name for each other quantified variable: the one written, unless an enclosing variable has
    it."""
    chosen = dict(names)
    for block in formula.blocks[1:]:
        taken = {chosen.get(variable, f"X{variable}") for variable in formula.around(block.parent)}
        for variable in block.bound:
            text = chosen.get(variable) or formula.written.get(variable)
            if text is None or (text in taken and variable not in names):
                text = next(name for n in itertools.count(variable) if (name := f"X{n}") not in taken)
            chosen[variable] = text
            taken.add(text)
    return chosen


def _argument(argument: int | str, bindings: Mapping[int, str], names: Mapping[int, str]) -> ast.Argument:
    if isinstance(argument, str):
        return ast.Constant(argument)
    if argument in bindings:
        return ast.Constant(bindings[argument])
    return ast.Variable(names.get(argument, f"X{argument}"))


def _same(arguments: tuple[ast.Argument, ...]) -> ast.Expression:
    sides = (ast.Entity(side.text) if isinstance(side, ast.Constant) else ast.Atom(side.name) for side in arguments)
    return ast.Comparison(tuple(sides), ("=",))


_Operator = Literal["+", "-", "*", "/", "^"]
_OPERATORS: dict[str, _Operator] = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "^"}


def arithmetic_expression(arithmetic: Comparison | Term, numbers: Sequence[ast.Expression]) -> ast.Expression:
    """A comparison or term over ``numbers``."""
    if isinstance(arithmetic, Term):
        return _term(arithmetic, numbers)
    sides = (_term(arithmetic.left, numbers), _term(arithmetic.right, numbers))
    operator, attributes = _relation(arithmetic.relation)
    return ast.Comparison(sides, (operator,), attributes)


def _relation(relation: Comparator | None) -> tuple[ast.ComparisonOperator, tuple[ast.Attribute, ...]]:
    if relation is None:
        return "<?>", ()
    scale = {"scale": relation.scale} if relation.scale else {}
    if isinstance(relation, Fixed):
        return relation.sign, _attributes(scale)
    return "<?>", _attributes({"weight": (relation.weight_plus, relation.weight_zero, relation.bias), **scale})


def _term(term: Term, numbers: Sequence[ast.Expression]) -> ast.Expression:
    built: list[ast.Expression] = []
    for step in term.steps:
        match step:
            case Input():
                built.append(numbers[step.index])
            case Constant():
                built.append(replace(_number(step.value), unit=step.unit))
            case Apply():
                built.append(_applied(step.operation, [built[place] for place in step.operands]))
    return built[-1]


def _applied(operation: Operation | FixedUnit, operands: Sequence[ast.Expression]) -> ast.Expression:
    if not isinstance(operation, str):
        return ast.Unit(operation.name, tuple(operands), _attributes(operation.attributes))
    match operation:
        case "negate":
            return ast.Negate(operands[0])
        case "unknown":
            return ast.Learnable(None, None)
    if operation not in _OPERATORS:
        name = next(name for name, of in OPERATION_OF.items() if of == operation.removeprefix(TIMED))
        return ast.Function(cast("Any", name), tuple(operands))
    operator = _OPERATORS[operation]
    return reduce(lambda left, right: ast.Arithmetic(operator, left, right), operands)


def _attributes(given: Mapping[str, float | tuple[float, ...]]) -> tuple[ast.Attribute, ...]:
    lists = {k: ast.ValueList(tuple(map(_number, v))) if isinstance(v, tuple) else _number(v) for k, v in given.items()}
    return tuple(itertools.starmap(ast.Attribute, lists.items()))


def _number(value: float) -> ast.Number:
    return ast.Number(int(value) if value == int(value) else value)
