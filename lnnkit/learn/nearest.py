"""Which labels tell of a comparison: those of the predicates that its own rules hold, or that the next ones do."""

from __future__ import annotations

from collections.abc import Collection

import networkx as nx

from lnnkit.graph.lifted import TERMS, LiftedGraph


def nearest(lifted: LiftedGraph, node: str, labelled: Collection[str]) -> frozenset[str]:
    """Of the predicates that are ``labelled``, those in statements that hold the comparison ``node``; if there are
    none, those in statements that share a predicate or a comparison with these, and so on. All where none is reached.
    """
    graph = lifted.graph
    held = [_held(graph, root.reference.node) for root in lifted.statements]
    reached = {node}
    while True:
        wider = reached.union(*(each for each in held if each & reached))
        found = wider.intersection(labelled)
        if found or wider == reached:
            return frozenset(found or labelled)
        reached = wider


def _held(graph: nx.MultiDiGraph, top: str) -> set[str]:
    """The predicates and neurons in a formula, what its comparisons compare left out."""
    return {each for each in (top, *nx.descendants(graph, top)) if graph.nodes[each]["kind"] not in TERMS}
