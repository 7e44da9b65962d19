"""Converts terms and comparisons of the lifted graph to programs over the number atoms that they mention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from lnnkit.check.weights import UNIT_ATTRIBUTES
from lnnkit.graph.lifted import NUMBER, OPERATIONS, Arguments, NeuronGraph, operands_about
from lnnkit.numeric import Comparison, Operation, Term, apply, constant, frozen, number, relation, undetermined
from lnnkit.syntax.identifiers import AGGREGATES

NumberAtom = tuple[str, Arguments]  # a number's name, or an aggregate's node, and its arguments


@dataclass(slots=True)
class NumberAtoms:
    """The distinct number atoms of a comparison or term, in the order of their first occurrence."""

    atoms: list[NumberAtom] = field(default_factory=list)

    def index(self, atom: NumberAtom) -> int:
        """The index of an atom among the inputs."""
        if atom not in self.atoms:
            self.atoms.append(atom)
        return self.atoms.index(atom)


def comparison(graph: NeuronGraph, node: str, arguments: Arguments) -> tuple[Comparison, Sequence[NumberAtom]]:
    """A ``compare`` node with these ``arguments``, as a comparison over the number atoms that it mentions."""
    numbers = NumberAtoms()
    left, right = (_term(graph, operand, passed, numbers) for operand, passed in operands_about(graph, node, arguments))
    data = graph.nodes[node]
    return Comparison(left, right, relation(data["operator"], data["weight"], data["scale"] or 0.0)), numbers.atoms


def term(graph: NeuronGraph, node: str, arguments: Arguments) -> tuple[Term, Sequence[NumberAtom]]:
    """A term node with these ``arguments``, as a term over the number atoms that it mentions."""
    numbers = NumberAtoms()
    return _term(graph, node, arguments, numbers), numbers.atoms


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


def _term(graph: NeuronGraph, node: str, arguments: Arguments, numbers: NumberAtoms) -> Term:
    """Post-order without recursion: terms may be nested deeper than Python's stack."""
    done: list[Term] = []
    stack: list[tuple[str, Arguments, bool]] = [(node, arguments, False)]
    while stack:
        node, arguments, ready = stack.pop()
        data = graph.nodes[node]
        if data["kind"] == NUMBER or data["kind"] in AGGREGATES:
            done.append(number(numbers.index((node, arguments))))
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
