"""Whether a comparison speaks for a labelled predicate, or against it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import networkx as nx

from lnnkit.graph.lifted import COMPARISON, LiftedGraph
from lnnkit.graph.ordered_operands import operand_edges

_Signs = Mapping[str, int]


def association(lifted: LiftedGraph, node: str, labelled: Collection[str]) -> dict[str, int]:
    """For each ``labelled`` predicate that statements lead to first: 1 if it is the truer the truer ``node`` is, -1 if
    the less true, 0 if both. Without those that no statement sets against it, as premises of one rule are."""
    graph, reached = lifted.graph, {node: 1}
    while True:
        found: dict[str, int] = {}
        for root in lifted.statements:
            for each, sign in _across(graph, root.reference.node, reached):
                found[each] = sign if found.get(each, sign) == sign else 0
        told = {name: sign for name, sign in found.items() if name in labelled}
        wider = {**found, **reached}
        if told or wider.keys() == reached.keys():
            return told
        reached = wider


def _across(graph: nx.MultiDiGraph, top: str, reached: _Signs) -> list[tuple[str, int]]:
    """What a statement says of the other side by what is reached on one."""
    sides, relation = _sides(graph, top)
    return [
        (each, relation * mine[start] * reached[start] * sign)
        for place, mine in enumerate(sides)
        for start in mine.keys() & reached.keys()
        for other, theirs in enumerate(sides)
        if other != place
        for each, sign in theirs.items()
    ]


def _sides(graph: nx.MultiDiGraph, top: str) -> tuple[list[_Signs], int]:
    """What a statement sets against each other, and whether it makes them alike (1) or opposite (-1)."""
    kind = graph.nodes[top]["kind"]
    below = [operand for operand, _ in operand_edges(graph, top)] if kind != COMPARISON else []
    if kind == "forall":
        return _sides(graph, below[0])
    if kind == "not" and graph.nodes[below[0]]["kind"] == "and":
        return [_signs(graph, operand) for operand, _ in operand_edges(graph, below[0])], -1
    alike = {"implies": 1, "iff": 1, "or": -1, "xor": -1}.get(kind)
    return ([], 0) if alike is None else ([_signs(graph, operand) for operand in below], alike)


def _signs(graph: nx.MultiDiGraph, top: str) -> _Signs:
    """How the predicates and comparisons beneath bear on a neuron: 1 raises it, -1 lowers it, 0 either."""
    found: dict[str, int] = {}
    waiting = [(top, 1)]
    while waiting:
        node, sign = waiting.pop()
        if node in found and found[node] in (sign, 0):
            continue
        sign = 0 if node in found else sign
        found[node] = sign
        kind = graph.nodes[node]["kind"]
        if kind == COMPARISON:
            continue
        for place, (operand, _) in enumerate(operand_edges(graph, node)):
            flips = kind == "not" or (kind == "implies" and place == 0)
            waiting.append((operand, 0 if kind in ("iff", "xor") else -sign if flips else sign))
    return found
