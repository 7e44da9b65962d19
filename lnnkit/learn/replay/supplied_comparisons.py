"""Queries for comparisons of numbers that modules supply, so that training reaches those that are false.

A false crisp comparison bounds nothing, so inference omits it; softened, it has the gradient from which the module
learns. It is requested like a query, and its effect through rules is replayed by all supports
(`lnnkit.learn.replay.soft_supports`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from lnnkit.check.program import CheckedProgram, Query
from lnnkit.check.walk import nodes
from lnnkit.learn.replay.neural_predicates import Binding
from lnnkit.syntax import ast

_MOST = 100_000  # tuples of entities for which a comparison is evaluated at most


def comparison_queries(program: CheckedProgram, bindings: Sequence[Binding]) -> tuple[Query, ...]:
    """A query for each comparison whose numbers modules supply, or may determine through other comparisons. Not
    included: comparisons that are statements themselves, and those of too many tuples; these learn only from what
    inference derives."""
    found = {each.predicate for each in bindings if each.numeric}
    if not found:
        return ()
    entities = max(len(each.entities) for each in bindings if each.numeric)
    held = list(_comparisons(program))
    mentioned = [_names(query.formula) for query in held]
    stated = {id(assertion.formula) for assertion in program.assertions}
    while more := {name for names in mentioned if names & found for name in names} - found:
        found |= more
    return tuple(
        query
        for query, names in zip(held, mentioned, strict=True)
        if names & found and id(query.formula) not in stated and entities ** len(_variables(query.formula)) <= _MOST
    )


def _comparisons(program: CheckedProgram) -> Iterator[Query]:
    for assertion in program.assertions:
        for node in nodes(cast(ast.Expression, assertion.formula)):
            if isinstance(node, ast.Comparison):
                yield Query(node, node.span.text, assertion.logic, node.span)


def _names(formula: object) -> set[str]:
    """The numbers that a comparison mentions."""
    return {node.name for node in nodes(cast(ast.Expression, formula)) if isinstance(node, ast.Atom)}


def _variables(formula: object) -> set[str]:
    return {
        argument.name
        for node in nodes(cast(ast.Expression, formula))
        if isinstance(node, ast.Atom)
        for argument in node.arguments
        if isinstance(argument, ast.Variable)
    }
