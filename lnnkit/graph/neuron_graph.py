"""The graph of neurons: nodes with attributes, and the operands of each in their order.

A class of its own: the import of networkx took 60 of the 120 CPU milliseconds by which a process's first inference was
longer than its second. `NeuronGraph.networkx` is for users.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx

Arguments = tuple[int | str, ...]


class NeuronGraph:
    """``nodes`` has the attributes of each node, ``operands`` its operands, each with the attributes of its edge
    (`lnnkit.graph.lifted`). ``mixed``: its neurons have several logics."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {}
        self.operands: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        self.mixed = False

    def add_node(self, node: str, **data: Any) -> None:
        """A node without operands; one that is there gets these attributes too."""
        self.nodes.setdefault(node, {}).update(data)
        self.operands.setdefault(node, [])

    def copy(self, among: Iterable[str] | None = None) -> NeuronGraph:
        """A copy, of ``among`` and the operands of these only."""
        copied = NeuronGraph()
        copied.mixed = self.mixed
        for node in self.nodes if among is None else among:
            copied.nodes[node] = {**self.nodes[node]}
            copied.operands[node] = [(operand, {**edge}) for operand, edge in self.operands[node]]
        return copied

    def below(self, *nodes: str) -> set[str]:
        """These nodes, and all that they are made of."""
        found, stack = set(nodes), list(nodes)
        while stack:
            new = {operand for operand, _ in self.operands[stack.pop()]} - found
            found |= new
            stack += new
        return found

    def sort(self) -> None:
        """Have the operands of each node before it, and the nodes otherwise as they are."""
        done: dict[str, None] = {}
        for start in self.nodes:
            stack = [start]
            while stack:
                new = [operand for operand, _ in self.operands[stack[-1]] if operand not in done]
                if new:
                    stack += reversed(new)
                else:
                    done.setdefault(stack.pop())
        self.nodes = {node: self.nodes[node] for node in done}

    def networkx(self) -> nx.MultiDiGraph:
        """The same graph for users, frozen: an edge leads to each operand, and has its ``position``."""
        import networkx as nx

        graph = nx.MultiDiGraph(mixed=self.mixed)
        graph.add_nodes_from(self.nodes.items())
        for node, operands in self.operands.items():
            for position, (operand, edge) in enumerate(operands):
                graph.add_edge(node, operand, position=position, **edge)
        return nx.freeze(graph)


def operands_about(graph: NeuronGraph, node: str, arguments: Arguments) -> list[tuple[str, Arguments]]:
    """Each operand with its arguments, given the ``arguments`` of the node."""
    return [
        (operand, tuple(arguments[a] if isinstance(a, int) else a for a in edge["arguments"]))
        for operand, edge in graph.operands[node]
    ]
