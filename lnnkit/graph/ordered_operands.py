"""The operands of a node, in their written order."""

from __future__ import annotations

from typing import Any

import networkx as nx

Arguments = tuple[int | str, ...]


def operand_edges(graph: nx.MultiDiGraph, node: str) -> list[tuple[str, dict[str, Any]]]:
    """Each operand, with the attributes of its edge (`lnnkit.graph.lifted`)."""
    edges = sorted(graph.out_edges(node, data=True), key=lambda edge: edge[2]["position"])
    return [(operand, edge) for _, operand, edge in edges]


def operands_about(graph: nx.MultiDiGraph, node: str, arguments: Arguments) -> list[tuple[str, Arguments]]:
    """Each operand with its arguments, given the ``arguments`` of the node."""
    return [
        (operand, tuple(arguments[a] if isinstance(a, int) else a for a in edge["arguments"]))
        for operand, edge in operand_edges(graph, node)
    ]
