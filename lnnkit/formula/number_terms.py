"""Converts terms and comparisons of the lifted graph to programs over the number atoms that they mention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from lnnkit.check.weights import UNIT_ATTRIBUTES
from lnnkit.graph.lifted import NUMBER, OPERATIONS, Arguments, NeuronGraph, operands_about
from lnnkit.numeric import Comparison, Operation, Term, apply, constant, frozen, number, relation, undetermined
from lnnkit.syntax.identifiers import AGGREGATES

NumberAtom = tuple[str, Arguments]  # a number's name, or an aggregate's node, and its arguments
Numbers = dict[NumberAtom, int]  # those of a comparison or term, each with its place among the inputs


def comparison(graph: NeuronGraph, node: str, arguments: Arguments) -> tuple[Comparison, Sequence[NumberAtom]]:
    """A ``compare`` node with these ``arguments``, as a comparison over the number atoms that it mentions."""
    numbers: Numbers = {}
    left, right = (_term(graph, operand, passed, numbers) for operand, passed in operands_about(graph, node, arguments))
    data = graph.nodes[node]
    return Comparison(left, right, relation(data["operator"], data["weight"], data["scale"] or 0.0)), [*numbers]


def term(graph: NeuronGraph, node: str, arguments: Arguments) -> tuple[Term, Sequence[NumberAtom]]:
    """A term node with these ``arguments``, as a term over the number atoms that it mentions."""
    numbers: Numbers = {}
    return _term(graph, node, arguments, numbers), [*numbers]


def parameters(graph: NeuronGraph, node: str) -> tuple[str, ...]:
    """The parameters in a comparison or term."""
    learned: dict[str, None] = {}
    for part in sorted(graph.below(node)):
        stack = list(graph.nodes[part].get("learned", {}).values())
        while stack:
            names = stack.pop()
            if isinstance(names, tuple):
                stack.extend(names)
            elif names is not None:
                learned[names] = None
    return tuple(learned)


def _term(graph: NeuronGraph, node: str, arguments: Arguments, numbers: Numbers) -> Term:
    """Post-order without recursion: terms may be nested deeper than Python's stack."""
    done: list[Term] = []
    stack: list[tuple[str, Arguments, bool]] = [(node, arguments, False)]
    while stack:
        node, arguments, ready = stack.pop()
        data = graph.nodes[node]
        if data["kind"] == NUMBER or data["kind"] in AGGREGATES:
            done.append(number(numbers.setdefault((node, arguments), len(numbers))))
            continue
        operands = operands_about(graph, node, arguments)
        if not ready and operands:
            stack.append((node, arguments, True))
            stack.extend((operand, passed, False) for operand, passed in reversed(operands))
        else:
            first = len(done) - len(operands)
            done[first:] = [_applied(data, done[first:])]
    return done[0]


def _applied(data: dict[str, Any], operands: Sequence[Term]) -> Term:
    kind = data["kind"]
    if kind == "constant":
        return undetermined() if math.isnan(data["value"]) else constant(data["value"], data.get("unit") or None)
    if "opened" in data:  # Learned weights are numbers among its operands.
        return apply(data["opened"], *operands)
    if kind in OPERATIONS:
        return apply(cast("Operation", kind), *operands)
    given = {key: data[key] for key in UNIT_ATTRIBUTES[kind] if data.get(key) is not None}
    return frozen(kind, given, operands)
