"""The program's comparisons of the two terms that a query compares, and what the laws of order conclude from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from lnnkit.graph.laws import EVERY, SIGNS, mirrored
from lnnkit.graph.lifted import COMPARISON, Reference
from lnnkit.graph.match import matched
from lnnkit.graph.neuron_graph import Arguments, NeuronGraph, operands_about


class Relative(NamedTuple):
    """A comparison of the program that is true for these ``signs`` of the difference of the query's terms."""

    reference: Reference
    signs: frozenset[int]


@dataclass(frozen=True, slots=True)
class Kin:
    """The signs of the difference that make a query true, and its relatives; both empty if the query is not a plain
    comparison."""

    signs: frozenset[int] = EVERY
    relatives: tuple[Relative, ...] = ()


def relatives(graph: NeuronGraph, query: Reference) -> Kin:
    """The program's crisp comparisons (including the query itself) of the terms that a query compares."""
    own = graph.nodes[query.node]
    if not _is_plain(graph, query.node):
        return Kin()
    found: list[Relative] = []
    left, right = _terms(graph, query.node, query.arguments)
    for node, data in graph.nodes.items():
        if data["kind"] != COMPARISON or not data["shared"] or not _is_plain(graph, node):
            continue
        parameters = tuple(range(len(data["sorts"])))
        terms, signs = _terms(graph, node, parameters), SIGNS[data["operator"]]
        for here, there in ((signs, terms), (mirrored(signs), terms[::-1])):
            bindings: dict[int, int | str] = {}
            if matched(graph, *left, *there[0], bindings) and matched(graph, *right, *there[1], bindings):
                found.append(Relative(Reference(node, tuple(bindings[i] for i in parameters)), here))
    return Kin(SIGNS[own["operator"]], tuple(found))


def _is_plain(graph: NeuronGraph, node: str) -> bool:
    """Whether a node is a crisp comparison without learned values."""
    data = graph.nodes[node]
    if data["kind"] != COMPARISON or data["operator"] not in SIGNS or data["scale"] is not None:
        return False
    return not any(graph.nodes[each].get("learned") for each in graph.below(node))


def _terms(graph: NeuronGraph, node: str, arguments: Arguments) -> list[tuple[str, Arguments]]:
    """The two terms that are compared; for a difference compared to 0, the terms of the difference."""
    (left, its), (right, others) = operands_about(graph, node, arguments)
    if graph.nodes[left]["kind"] == "subtract" and graph.nodes[right].get("value") == 0:
        return operands_about(graph, left, its)
    if graph.nodes[right]["kind"] == "subtract" and graph.nodes[left].get("value") == 0:
        return operands_about(graph, right, others)[::-1]
    return [(left, its), (right, others)]
