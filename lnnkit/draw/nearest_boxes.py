"""The part of a graph around one of its nodes."""

from __future__ import annotations

import networkx as nx


def nearest(graph: nx.DiGraph, centre: str | None, most: int) -> nx.DiGraph:
    """The ``most`` nodes nearest to ``centre`` (None, or not in the graph: to the node with most neighbours). Nodes
    that no path connects with it come last, nearest to other nodes with many neighbours."""
    order = sorted(graph.nodes, key=graph.degree, reverse=True)
    kept: dict[str, None] = {}
    both_ways = graph.to_undirected(as_view=True)
    for start in [centre] if centre in graph else order:
        if start not in kept and len(kept) < most:
            near = nx.single_source_shortest_path_length(both_ways, start)
            kept |= dict.fromkeys(sorted(near, key=near.__getitem__)[: most - len(kept)])
    return nx.DiGraph(graph.subgraph(kept))
