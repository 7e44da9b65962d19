"""Which bindings a query must look at: those that may differ from its value with every atom at its default. Comparisons
are implied by others of the same terms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lnnkit.analysis.needs import Literal, Need, Needs
from lnnkit.engine.start.asked import speaking
from lnnkit.engine.start.prepared import Prepared
from lnnkit.formula.unfolding import LEAF, unfold
from lnnkit.graph.laws import EVERY
from lnnkit.graph.lifted import LiftedGraph, Reference, Root
from lnnkit.graph.match import Kin
from lnnkit.logic.bounds import Bounds, tolerance
from lnnkit.store.atoms import Atoms


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
    analysis = prepared.analyses.of(formula)
    told = set(analysis.upward.default_values(formula.top))
    of_all = analysis is not prepared.analyses.of(formula, stated=False)  # what is stated of unnamed individuals counts
    for each in heard:
        if each.node in prepared.shared.untold:
            told.add(prepared.grounding.atoms.tables[each.node].default)
    told |= _implied(told, kin, prepared.grounding.atoms)
    untold = set(prepared.analyses.of(bare, stated=False).upward.default_values(bare.top))
    # Bounds of a neuron hold for every entity. If the query has several defaults, as where entities are compared, they
    # may tighten any of these, so every binding must be looked at.
    if not root.variables or of_all or told != untold or (heard and len(told) > 1):
        extra.append(Need(0, frozenset()))
    return Needs((*needs.rows, *extra), needs.fills)


def met(value: Bounds, kin: Kin, known: Sequence[Bounds]) -> Bounds:
    """A query's bounds, met with those that its relatives imply, crisp comparisons of the same two terms, by the laws
    of order; ``known`` has the bounds of each relative. A crisp comparison is true as soon as it is not false, and vice
    versa. Each relative is used alone, and several together by the signs that they exclude; one that is stated to a
    degree is neither true nor false, so it excludes none."""
    lower, upper = value
    others = EVERY - kin.signs
    possible = {sign: np.ones_like(lower, dtype=bool) for sign in EVERY}
    least = tolerance(lower.dtype)
    for relative, own in zip(kin.relatives, known, strict=True):
        true, false = own.lower > least, own.upper < 1 - least
        for says, unsaid, excluded in ((true, ~false, EVERY - relative.signs), (false, ~true, relative.signs)):
            if others <= excluded:
                lower = np.where(says, 1.0, lower)
            if kin.signs <= excluded:
                upper = np.where(says, 0.0, upper)
            for sign in excluded:
                possible[sign] = possible[sign] & ~(says & unsaid)
    may, may_not = (np.stack([possible[sign] for sign in sorted(signs)]).any(0) for signs in (kin.signs, others))
    return Bounds(np.where(may_not, lower, 1.0), np.where(may, upper, 0.0))


def _implied(defaults: set[tuple[float, float]], kin: Kin, atoms: Atoms) -> set[tuple[float, float]]:
    """The query's default bounds, tightened by those of its relatives."""
    known = [
        Bounds(*(np.array(end, dtype=np.float64) for end in atoms.tables[each.reference.node].default))
        for each in kin.relatives
    ]
    found: set[tuple[float, float]] = set()
    for low, high in defaults if known else ():
        lower, upper = met(Bounds(*(np.array(end, dtype=np.float64) for end in (low, high))), kin, known)
        found.add((float(lower), float(upper)))
    return found
