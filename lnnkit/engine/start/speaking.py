"""The neurons of a program of which a query is an instance."""

from __future__ import annotations

from dataclasses import replace

from lnnkit.graph.lifted import LiftedGraph, Reference
from lnnkit.graph.match import instances
from lnnkit.graph.relatives import Kin, relatives
from lnnkit.store.domain import Domain


def speaking(lifted: LiftedGraph, world: Domain, query: Reference) -> list[Reference]:
    """The program's neurons of which a query is an instance, without those that statements assert of other entities
    only."""
    return [each for each in instances(lifted.graph, query) if _speaks(lifted, world, each)]


def comparing(lifted: LiftedGraph, world: Domain, query: Reference) -> Kin:
    """Likewise, the program's comparisons of the terms that a query compares."""
    kin = relatives(lifted.graph, query)
    return replace(kin, relatives=tuple(each for each in kin.relatives if _speaks(lifted, world, each.reference)))


def _speaks(lifted: LiftedGraph, world: Domain, neuron: Reference) -> bool:
    return not world.lacks(lifted.graph.nodes[neuron.node]["sorts"], neuron.arguments)
