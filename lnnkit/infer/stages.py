"""When what a shared neuron reads is complete, and which of them the completion of a stratum may read."""

from __future__ import annotations

import networkx as nx

from lnnkit.graph.lifted import LiftedGraph, is_ground_quantifier


def stages(lifted: LiftedGraph) -> dict[str, int]:
    """Of each shared neuron, how many strata must be complete before everything that it reads is."""
    complete_after = {name: place + 1 for place, names in enumerate(lifted.program.strata) for name in names}
    return {
        node: max((complete_after.get(each, 0) for each in nx.descendants(lifted.graph, node)), default=0)
        for node, data in lifted.graph.nodes(data=True)
        if data.get("shared")
    }


def standing(lifted: LiftedGraph, stratum: int) -> frozenset[str]:
    """The quantifiers without free variables whose own bounds the completion of a stratum reads. It sees through all
    other shared neurons: what completes an atom must not rest on what else is said of its parts, but a quantifier seen
    through has all its rows in each instance."""
    ready = (node for node, stage in stages(lifted).items() if stage <= stratum)
    return frozenset(node for node in ready if is_ground_quantifier(lifted.graph.nodes[node]))
