"""Comparisons of numbers that modules supply: what training asks of inference, so that those that are false learn too.

A crisp comparison that is false tells no rule anything, so that inference leaves it out; softened, it is where the
module learns from. It is asked for like a query, and what rules make of it is replayed by all supports
(`lnnkit.learn.replay.soft_supports`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from lnnkit.check.program import CheckedProgram, Query
from lnnkit.check.walk import nodes
from lnnkit.learn.replay.neural_predicates import Binding
from lnnkit.syntax import ast

_MOST = 100_000  # tuples of entities that a comparison is asked for


def comparison_queries(program: CheckedProgram, bindings: Sequence[Binding]) -> tuple[Query, ...]:
    """A query for each comparison whose numbers modules supply, or may tell through other comparisons. Left out are
    those that are statements themselves, and those of more tuples of entities than can well be looked at: of these
    learns only what inference derives."""
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
