"""The statements of a program as formulas: as rounds read them, and as completions do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lnnkit.formula.unfolding import Formula, unfold
from lnnkit.graph.lifted import LiftedGraph


def in_rounds(lifted: LiftedGraph, shared: Iterable[Formula]) -> list[Formula]:
    """The statements that are not shared neurons, and the definitions of the ``shared`` ones, in canonical order."""
    statements = (
        replace(unfold(lifted, root), key=root.origin.span.text)
        for root in lifted.statements
        if not lifted.graph.nodes[root.reference.node]["shared"]
    )
    return sorted((*statements, *shared), key=lambda formula: formula.key)


def of_strata(lifted: LiftedGraph) -> list[list[Formula]]:
    """The defining statements of each stratum, unfolded as their completion reads them: through shared neurons."""
    strata = lifted.program.strata
    places = {name: place for place, stratum in enumerate(strata) for name in stratum}
    found: list[list[Formula]] = [[] for _ in strata]
    for root in sorted(lifted.statements, key=lambda root: root.origin.span.text):
        for place in {places[name] for name in root.defines if name in places}:
            formula = unfold(lifted, root, through_shared=True, through_comparisons=False)
            heads = frozenset(leaf for leaf in formula.heads if formula.neurons[leaf].source in strata[place])
            found[place].append(replace(formula, heads=heads, key=root.origin.span.text))
    return found
