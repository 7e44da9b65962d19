"""The classical reading of a program: truths of at least ``alpha`` count as true, weights are left out, and numbers are
integers where all that is said of them is integral."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar, cast

import networkx as nx
import numpy as np

from lnnkit.check.program import Assertion, CheckedProgram, Fact, SameEntity
from lnnkit.check.walk import nodes, transform, unweighted
from lnnkit.data.table import FactTable
from lnnkit.syntax import ast

Formula = ast.Expression | SameEntity
T = TypeVar("T", Fact, FactTable)


def is_crisp(program: CheckedProgram) -> bool:
    """Whether every statement and fact is true, false or unknown, without weights or soft comparisons."""
    numeric = {name for name, predicate in program.predicates.items() if predicate.numeric}
    stated = (stated for stated in (*program.facts, *program.tables) if stated.predicate not in numeric)
    return all(map(_is_crisp, program.assertions)) and all(_crisp_ends(truth.lower, truth.upper) for truth in stated)


def crisped(program: CheckedProgram, alpha: float) -> tuple[CheckedProgram, int]:
    """The program in its classical reading, and the number of statements too weak to be read so."""
    kept = [crisp for assertion in program.assertions if (crisp := _crisp_assertion(assertion, alpha)) is not None]
    numeric = {name for name, predicate in program.predicates.items() if predicate.numeric}

    def cut(stated: T) -> T:
        lower, upper = _cut(stated.lower, stated.upper, alpha)
        return stated if stated.predicate in numeric else replace(stated, lower=lower, upper=upper)

    facts, tables = tuple(map(cut, program.facts)), tuple(map(cut, program.tables))
    crisp = replace(program, assertions=tuple(kept), facts=facts, tables=tables, queries=(), logic=ast.DEFAULT_LOGIC)
    return crisp, len(program.assertions) - len(kept)


def plain(formula: Formula) -> Formula:
    """A formula without weights, biases, logics and scales; operands of weight 0 are left out."""
    return cast("Formula", transform(cast("ast.Expression", formula), _plain))


def _is_crisp(assertion: Assertion) -> bool:
    ends = _number(assertion.lower), _number(assertion.upper)
    if None in ends or not _crisp_ends(*ends):
        return False
    return not any(
        isinstance(node, (ast.Weighted, ast.Learnable))
        or (isinstance(node, ast.Comparison) and (node.attributes or "<?>" in node.operators))
        or (isinstance(node, ast.Connective) and any(attribute.key == "bias" for attribute in node.attributes))
        for node in nodes(cast("ast.Expression", assertion.formula))
    )


def _crisp_ends(lower: Any, upper: Any) -> bool:
    """Whether a truth, or each truth in columns, is true, false or unknown."""
    whole = (lower == 0) | (lower == 1), (upper == 0) | (upper == 1)
    return bool(np.all(whole[0] & whole[1] & (lower <= upper)))


def _crisp_assertion(assertion: Assertion, alpha: float) -> Assertion | None:
    lower, upper = _number(assertion.lower), _number(assertion.upper)
    truth = None if lower is None or upper is None else _cut(lower, upper, alpha)
    if truth is None or truth == (0.0, 1.0):
        return None
    return replace(assertion, formula=plain(assertion.formula), lower=truth[0], upper=truth[1], logic=ast.DEFAULT_LOGIC)


def _cut(lower: Any, upper: Any, alpha: float) -> tuple[Any, Any]:
    """The ends of a truth, or of columns of truths, as true, false or unknown."""
    return (lower >= alpha) * 1.0, (upper > 1 - alpha) * 1.0


def _number(value: ast.Value | float) -> float | None:
    start = value.start if isinstance(value, ast.Value) else value
    return None if start is None else float(start)


def _plain(node: ast.Expression) -> ast.Expression:
    match node:
        case ast.And() | ast.Or():
            kept = tuple(unweighted(operand) for operand in node.operands if _weight(operand) != 0)
            if len(kept) < 2:
                return kept[0] if kept else ast.Truth(isinstance(node, ast.And), span=node.span)
            return replace(node, operands=kept, attributes=())
        case ast.Implies():
            one, other = map(unweighted, (node.antecedent, node.consequent))
            return replace(node, antecedent=one, consequent=other, attributes=())
        case ast.Iff() | ast.Xor():
            return replace(node, left=unweighted(node.left), right=unweighted(node.right), attributes=())
        case ast.Comparison():
            return replace(node, attributes=tuple(given for given in node.attributes if given.key != "scale"))
    return node


def _weight(node: ast.Expression) -> float:
    if isinstance(node, ast.Weighted) and isinstance(node.weight, ast.Number):
        return float(node.weight.value)
    return 1.0


def whole_numbers(program: CheckedProgram, questions: Iterable[Formula]) -> frozenset[str]:
    """The names of the numbers that are integers. All numbers in one comparison are integers together, if all their
    given values and all constants are integral and nothing is divided, raised or weighted."""
    numbers = {name for name, predicate in program.predicates.items() if predicate.numeric}
    if not numbers:
        return frozenset()
    graph = nx.Graph()
    graph.add_nodes_from(numbers)
    fractional, mentioned = set[str](), set[str]()
    formulas = [*(assertion.formula for assertion in program.assertions), *questions]
    every = (node for formula in formulas for node in nodes(cast("ast.Expression", formula)))
    for comparison in (node for node in every if isinstance(node, ast.Comparison)):
        names = [node.name for node in nodes(comparison) if isinstance(node, ast.Atom) and node.name in numbers]
        nx.add_path(graph, names)
        constants = [float(node.value) for node in nodes(comparison) if isinstance(node, ast.Number)]
        if not all(_stays_whole(node) for node in nodes(comparison)) or not all(map(_is_whole, constants)):
            fractional.update(names)
        elif constants:
            mentioned.update(names)
    for stated in (*program.facts, *(table for table in program.tables if len(table))):
        if stated.predicate in numbers:
            ends = np.array([stated.lower, stated.upper])
            whole = ((ends % 1 == 0) | np.isinf(ends)).all()
            (mentioned if whole else fractional).add(stated.predicate)
    groups = nx.connected_components(graph)
    return frozenset(
        name for group in groups if group & mentioned and not group & fractional for name in cast("set[str]", group)
    )


def _stays_whole(node: ast.Expression) -> bool:
    match node:
        case ast.Arithmetic(operator=operator):
            return operator in ("+", "-", "*")
        case ast.Function(name=name):
            return name == "abs"
        case ast.Comparison():
            return not node.attributes and "<?>" not in node.operators
    return isinstance(node, (ast.Atom, ast.Number, ast.Negate))


def _is_whole(value: float) -> bool:
    return math.isinf(value) or value == int(value)
