"""Which bindings a query must look at: those that may differ from its value with every atom at its default."""

from __future__ import annotations

from collections.abc import Sequence

from lnnkit.analysis.needs import Literal, Need, Needs
from lnnkit.engine.start.implied_comparisons import implied
from lnnkit.engine.start.prepared import Prepared
from lnnkit.engine.start.speaking import speaking
from lnnkit.formula.unfolding import LEAF, unfold
from lnnkit.graph.lifted import LiftedGraph, Reference, Root
from lnnkit.graph.relatives import Kin


def heard_by(prepared: Prepared, lifted: LiftedGraph, reference: Reference) -> list[Reference]:
    """The tables of the neurons that a formula is an instance of."""
    return [
        Reference(prepared.observers.get(each.node, each.node), each.arguments)
        for each in speaking(lifted, prepared.grounding.domain, reference)
    ]


def query_needs(prepared: Prepared, lifted: LiftedGraph, root: Root, heard: Sequence[Reference], kin: Kin) -> Needs:
    """The needs of the rows that may differ from the query's default; ``root`` is not a negation. ``heard`` are the
    neurons of which it is an instance, ``kin`` the comparisons of its terms."""
    formula = unfold(lifted, root, world=prepared.grounding.domain)
    needs = prepared.finder(formula).deviation()
    others = [*heard, *(each.reference for each in kin.relatives)]
    extra = [Need(0, frozenset({Literal(each.node, each.arguments, "either")})) for each in others]
    if formula.neurons[formula.top].kind == LEAF:  # arrested atoms too, which read as unknown
        extra.append(Need(0, frozenset({Literal(root.reference.node, root.reference.arguments, "either")})))
    bare = unfold(lifted, root, through_shared=True)
    told = set(prepared.analyses.of(formula).upward.default_values(formula.top))
    for each in heard:
        if each.node in prepared.shared.untold:
            told.add(prepared.grounding.atoms.tables[each.node].default)
    told |= implied(told, kin, prepared.grounding.atoms)
    untold = set(prepared.analyses.of(bare).upward.default_values(bare.top))
    # Bounds of a neuron hold for every entity. If the query has several defaults, as where entities are compared, they
    # may tighten any of these, so every binding must be looked at.
    if not root.variables or told != untold or (heard and len(told) > 1):
        extra.append(Need(0, frozenset()))
    return Needs((*needs.rows, *extra), needs.fills)
