"""Infers which numbers of a program are integers: those whose given values, and the constants beside them, are
integral."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

import networkx as nx

from lnnkit.check.program import CheckedProgram, SameEntity
from lnnkit.check.walk import nodes
from lnnkit.syntax import ast

Formula = ast.Expression | SameEntity
_WHOLE = (ast.Atom, ast.Number, ast.Negate, ast.Function, ast.Comparison)


def whole_numbers(program: CheckedProgram, questions: Iterable[Formula]) -> frozenset[str]:
    """The names of the numbers that are integers. All numbers in one comparison are integers together, if all their
    given values and all constants are integral and nothing is divided, raised or weighted."""
    numbers = {name for name, predicate in program.predicates.items() if predicate.numeric}
    if not numbers:
        return frozenset()
    graph = nx.Graph()
    graph.add_nodes_from(numbers)
    fractional, mentioned = set[str](), set[str]()
    for comparison in _comparisons([*(each.formula for each in program.assertions), *questions]):
        names = [node.name for node in nodes(comparison) if isinstance(node, ast.Atom) and node.name in numbers]
        nx.add_path(graph, names)
        constants = [float(node.value) for node in nodes(comparison) if isinstance(node, ast.Number)]
        if not all(_stays_whole(node) for node in nodes(comparison)) or not all(map(_is_whole, constants)):
            fractional.update(names)
        elif constants:
            mentioned.update(names)
    for name, whole in _given(program, numbers).items():
        (mentioned if whole else fractional).add(name)
    groups = nx.connected_components(graph)
    return frozenset(
        name for group in groups if group & mentioned and not group & fractional for name in cast("set[str]", group)
    )


def _given(program: CheckedProgram, numbers: set[str]) -> Mapping[str, bool]:
    """For each number that facts mention, whether all its ends are integral."""
    found: dict[str, bool] = {}
    for fact in program.facts:
        if fact.predicate in numbers:
            whole = all(map(_is_whole, (fact.lower, fact.upper)))
            found[fact.predicate] = found.get(fact.predicate, True) and whole
    for table in program.tables:
        if table.predicate in numbers and len(table):
            whole = all(bool(((end % 1 == 0) | (abs(end) == math.inf)).all()) for end in (table.lower, table.upper))
            found[table.predicate] = found.get(table.predicate, True) and whole
    return found


def _comparisons(formulas: Iterable[Formula]) -> Iterator[ast.Comparison]:
    for formula in formulas:
        for node in nodes(cast("ast.Expression", formula)):
            if isinstance(node, ast.Comparison):
                yield node


def _stays_whole(node: ast.Expression) -> bool:
    if isinstance(node, ast.Arithmetic):
        return node.operator in ("+", "-", "*")
    if isinstance(node, ast.Function):
        return node.name == "abs"
    if isinstance(node, ast.Comparison):
        return not node.attributes and "<?>" not in node.operators
    return isinstance(node, _WHOLE)


def _is_whole(value: float) -> bool:
    return math.isinf(value) or value == int(value)
