"""Which labels tell of a comparison, or of a rule: those of predicates that its own rules hold, or the next ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import networkx as nx

from lnnkit.graph.lifted import TERMS, LiftedGraph


def nearest(lifted: LiftedGraph, nodes: Iterable[str], labelled: Collection[str]) -> frozenset[str]:
    """Of the predicates that are ``labelled``, those in statements that hold any of the ``nodes``; if there are none,
    those in statements that share a predicate or a comparison with these, and so on. All where none is reached."""
    graph = lifted.graph
    held = [_held(graph, root.reference.node) for root in lifted.statements]
    reached = {*nodes}
    while True:
        wider = reached.union(*(each for each in held if each & reached))
        found = wider.intersection(labelled)
        if found or wider == reached:
            return frozenset(found or labelled)
        reached = wider


def _held(graph: nx.MultiDiGraph, top: str) -> set[str]:
    """The predicates and neurons in a formula, what its comparisons compare left out."""
    return {each for each in (top, *nx.descendants(graph, top)) if graph.nodes[each]["kind"] not in TERMS}
