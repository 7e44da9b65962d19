"""The statements that queries need, and the sides of tables that matter to them, decided without data."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lnnkit.analysis.relevance import SIDES, Reading, Relevance, decide
from lnnkit.analysis.unnamed_individuals import of_strata
from lnnkit.check.program import Assertion, CheckedProgram, Query
from lnnkit.engine.planning.asked import bounding_neurons, informed_sides, positive_queries, query_atoms
from lnnkit.engine.planning.compiling import outlined
from lnnkit.engine.planning.inference_plan import Outline
from lnnkit.formula.unfolding import AUXILIARY, Formula
from lnnkit.graph.laws import Law
from lnnkit.graph.lifted import LiftedGraph
from lnnkit.graph.lifting import add_queries, build
from lnnkit.store.layout import Domain, asked_constants, constants, domain


@dataclass(frozen=True)
class Needed(Outline):
    """The part of a program that its queries need, in a ``world`` without facts: the ``readings`` needed, and the
    closed derived predicates of ``strata`` with the statements that define them."""

    world: Domain
    relevance: Relevance
    strata: tuple[tuple[frozenset[str], tuple[Formula, ...]], ...]

    @property
    def formulas(self) -> Iterator[Formula]:
        """The formulas of statements, shared neurons, and completions."""
        yield from (reading.formula for reading in self.readings)
        for _, formulas in self.strata:
            yield from formulas

    def read(self) -> set[str]:
        """The predicates, numbers and neurons that these formulas, or the queries, read."""
        asked = self.lifted.graph.below(*(root.reference.node for root in self.lifted.queries))
        return asked.union(*({neuron.source for neuron in formula.neurons} for formula in self.formulas))


def needed(program: CheckedProgram, supplied: Collection[str]) -> Needed:
    """What the program's queries need, whatever facts the ``supplied`` predicates and numbers have."""
    lifted = add_queries(build(replace(program, queries=())), program.queries)
    world = _constants_alone(lifted)
    outline = outlined(lifted, world, frozenset())
    readings = outline.readings
    roots = positive_queries(lifted)
    asked = {neuron.node for root in roots for neuron in bounding_neurons(lifted, world, root.reference)}
    asked |= {atom.node for root in roots for atom in query_atoms(lifted, world, root)}
    stated, given = informed_sides(outline)
    stated |= {(name, side) for name in (*lifted.closed_derived, *supplied) for side in SIDES}
    defining = dict(zip(lifted.program.strata, of_strata(lifted, outline.analyses), strict=True))
    while True:
        relevance = decide(readings, stated, given, supplied, (), asked, ())
        kept = [reading for reading in readings if _is_needed(reading, relevance)]
        strata = [stratum for stratum in program.strata if stratum & (asked | _read(kept))]
        completing = {name for stratum in strata for name in _antecedents(defining[stratum])}
        if completing <= asked:
            break
        asked |= completing
    completions = tuple((stratum, tuple(defining[stratum])) for stratum in strata)
    parts = dict(vars(outline), readings=tuple(kept))
    return Needed(**parts, world=world, relevance=relevance, strata=completions)


def _constants_alone(lifted: LiftedGraph) -> Domain:
    """The domain without any fact: the entities that statements and queries mention."""
    stated = {text for texts in constants(lifted).values() for text in texts}
    asked = asked_constants(lifted, lifted.queries) - stated
    index = {text: place for place, text in enumerate(sorted(stated | asked))}
    return domain(lifted, index, [], {}, asked)


def _antecedents(defining: Iterable[Formula]) -> Iterator[str]:
    for formula in defining:
        yield from (formula.neurons[leaf].source for leaf in formula.leaves if leaf not in formula.heads)


def _is_needed(seen: Reading, relevance: Relevance) -> bool:
    """Whether an instance may move something that matters, or bounds a query."""
    if seen.observed:
        return True
    return any(sends(seen, relevance, leaf) for leaf in (*seen.formula.leaves, AUXILIARY))


def sends(seen: Reading, relevance: Relevance, leaf: int) -> bool:
    """Whether an instance may move a side that matters of a leaf's atom."""
    return any(
        send.leaf == leaf
        and leaf not in seen.formula.heads
        and relevance.mode(seen.table(leaf), send.side)
        and any(relevance.available(seen, support) for support in send.supports)
        for send in seen.analysis.sends
    )


def _read(readings: Sequence[Reading]) -> set[str]:
    return {reading.table(leaf) for reading in readings for leaf in reading.formula.leaves}


def holder(lifted: LiftedGraph, formula: Formula) -> Assertion | Query:
    """The statement or query that a formula is, or the first that contains the shared neuron that it defines."""
    assert formula.root is not None
    if formula.auxiliary is not None:
        for root in (*lifted.statements, *lifted.queries):
            if formula.auxiliary in lifted.graph.below(root.reference.node) and not isinstance(root.origin, Law):
                return root.origin
    return formula.root.origin
