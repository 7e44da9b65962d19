"""Plans, and what queries ask of them. A plan is a program compiled for its questions and a profile of its facts; it
has no facts. Queries ask for atoms, and so for sides of tables and for bindings to look at: a query is an instance of
some of the program's neurons, and comparisons are implied by others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lnnkit.analysis.demand import Demand, Wanted
from lnnkit.analysis.needs import Literal, Need, NeedFinder, Needs, Range
from lnnkit.analysis.relevance import SIDES, AnalysedFormula, Relevance, Side
from lnnkit.analysis.supports import Analyses, Analysis
from lnnkit.formula.unfolding import LEAF, Formula, Modes, unfold
from lnnkit.graph.laws import EVERY
from lnnkit.graph.lifted import (
    COMPARISON,
    LiftedGraph,
    Reference,
    Related,
    Root,
    below_negations,
    instances,
    related_comparisons,
)
from lnnkit.logic.bounds import Bounds, tolerance
from lnnkit.store.layout import Domain, asked_constants, constants
from lnnkit.store.relations import Schema
from lnnkit.syntax.identifiers import AGGREGATES

Demands = Mapping[str, tuple[str, tuple[int, ...]]]  # by relation: the predicate demanded, and the places bound


class SharedNeurons(NamedTuple):
    """``formulas`` define the shared neurons, operands first. ``impossible`` ones can have no value, since their
    statements contradict each other. ``unstated`` is the bound of each at the defaults, without any statement about
    it."""

    formulas: tuple[Formula, ...]
    impossible: tuple[str, ...]
    unstated: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Outline:
    """What does not depend on which facts there are: ``schemas`` of all relations by name, and ``readings`` of all
    statements and definitions of shared neurons, in canonical order. ``observers`` maps neurons without bounds of their
    own, of which queries are instances, to the relations that receive what formulas propose for them."""

    lifted: LiftedGraph
    schemas: Mapping[str, Schema]
    analyses: Analyses
    shared: SharedNeurons
    observers: Mapping[str, str]
    readings: tuple[AnalysedFormula, ...]


class PlannedRule(NamedTuple):
    """A formula as a rule: its ``needs``, how the sides of its leaves are kept, its observed neurons, and the stratum
    that it completes (None: it responds in rounds)."""

    formula: Formula
    analysis: Analysis
    needs: Needs
    modes: Modes
    observers: Mapping[int, str]
    stage: frozenset[str] | None = None


@dataclass(frozen=True)
class Plan(Outline):
    """``rules`` respond in rounds, ``strata`` complete closed derived predicates, dependencies first. ``sizes`` are the
    numbers of entities of each sort, up to 2. Queries list the ``asked`` atoms. Relations are ``partly_known`` that are
    worked out only as far as others, or bound queries, need them: their ``demand`` has relations of its own,
    ``demands``, each with the predicate whose tuples it holds and the places that these fill. Of aggregates only some
    ``groups`` are wanted, which no inference adds to. ``moving`` are the relations that inference changes; ``ranges``
    has the shared comparisons that are true only where their numbers say so."""

    relevance: Relevance
    sizes: Mapping[str, int]
    asked: tuple[Reference, ...]
    rules: tuple[PlannedRule, ...] = ()
    strata: tuple[tuple[frozenset[str], tuple[PlannedRule, ...]], ...] = ()
    partly_known: frozenset[str] = frozenset()
    groups: Mapping[str, Wanted] = field(default_factory=dict)
    moving: frozenset[str] | None = None
    ranges: Mapping[str, Range] = field(default_factory=dict)
    demand: Demand | None = None
    demands: Demands = field(default_factory=dict)

    @cached_property
    def asked_entities(self) -> frozenset[str]:
        """The entities that queries mention."""
        return frozenset(asked_constants(self.lifted, self.lifted.queries))

    @cached_property
    def stated_entities(self) -> Mapping[str, set[str]]:
        """Those that statements mention, by the sorts of their positions."""
        return constants(self.lifted)

    @cached_property
    def around_aggregates(self) -> frozenset[str]:
        """The shared neurons that are aggregates, or beneath one, and the comparisons above them or above numbers that
        are completed."""
        graph, names = self.lifted.graph, {str(formula.auxiliary): formula for formula in self.shared.formulas}
        aggregates, numbers = [name for name, formula in names.items() if formula.measures], self.lifted.derived_numbers
        if not aggregates and not numbers:
            return frozenset()
        around = {*aggregates, *numbers}
        above = {name for name, f in names.items() if f.compares and not graph.below(name).isdisjoint(around)}
        return frozenset(above | (names.keys() & graph.below(*aggregates)))

    def finder(self, formula: Formula, reading: AnalysedFormula | None = None) -> NeedFinder:
        """What finds the formula's needs; without a reading, only those that do not depend on what it sends."""
        reading = reading or AnalysedFormula(formula, self.analyses.of(formula))
        return NeedFinder(reading, self.relevance, self.sizes, self.moving, self.ranges)


def subsuming_neurons(lifted: LiftedGraph, world: Domain, query: Reference) -> list[Reference]:
    """The program's neurons of which a query is an instance, without those that statements assert of other entities
    only."""
    return [neuron for neuron in instances(lifted.graph, query) if _applies(lifted, world, neuron)]


def comparing(lifted: LiftedGraph, world: Domain, query: Reference) -> Related:
    """Likewise, the program's comparisons of the terms that a query compares."""
    related = related_comparisons(lifted.graph, query)
    comparisons = (known for known in related.comparisons if _applies(lifted, world, known.reference))
    return replace(related, comparisons=tuple(comparisons))


def _applies(lifted: LiftedGraph, world: Domain, neuron: Reference) -> bool:
    return not world.lacks(lifted.graph.nodes[neuron.node]["sorts"], neuron.arguments)


def asked(lifted: LiftedGraph, world: Domain) -> tuple[list[Reference], set[str]]:
    """The ground atoms that queries mention, and the relations of which every atom matters."""
    atoms: list[Reference] = []
    whole: set[str] = set()

    def ask(neuron: Reference) -> None:
        if world.lacks(lifted.graph.nodes[neuron.node]["sorts"], neuron.arguments):
            return
        if all(isinstance(argument, str) for argument in neuron.arguments):
            atoms.append(neuron)
        else:
            whole.add(neuron.node)

    for root in positive_queries(lifted):
        for neuron in (*query_atoms(lifted, world, root), *bounding_neurons(lifted, world, root.reference)):
            ask(neuron)
    for root in lifted.statements:  # completion reads all that its antecedents mention
        if root.defines:
            formula = unfold(lifted, root, through_shared=True, through_comparisons=False)
            whole |= {formula.neurons[leaf].source for leaf in formula.leaves if leaf not in formula.heads}
    return atoms, whole


def query_atoms(lifted: LiftedGraph, world: Domain, root: Root) -> list[Reference]:
    """The atoms, and shared neurons, that a query reads."""
    formula = unfold(lifted, root, world=world)
    leaves = (formula.neurons[leaf] for leaf in formula.leaves)
    return [Reference(leaf.source, leaf.arguments) for leaf in leaves]


def positive_queries(lifted: LiftedGraph) -> list[Root]:
    """The queries, below their negations."""
    return [replace(root, reference=below_negations(lifted.graph, root.reference)[0]) for root in lifted.queries]


def asked_alone(lifted: LiftedGraph, world: Domain) -> set[str]:
    """The comparisons that are queries with variables, and those that mention one: everything known of them matters.
    Other queries look up their atoms when they need them."""
    roots = [root.reference for root in positive_queries(lifted)]
    neurons = (neuron for root in roots for neuron in (root, *bounding_neurons(lifted, world, root)))
    return {neuron.node for neuron in neurons if not all(isinstance(argument, str) for argument in neuron.arguments)}


def bounding_neurons(lifted: LiftedGraph, world: Domain, reference: Reference) -> list[Reference]:
    """The neurons with bounds of their own that contain a formula."""
    nodes = lifted.graph.nodes
    shared = [neuron for neuron in subsuming_neurons(lifted, world, reference) if nodes[neuron.node]["shared"]]
    return shared + [comparison.reference for comparison in comparing(lifted, world, reference).comparisons]


def reading(formula: Formula, analyses: Analyses, observers: Mapping[str, str]) -> AnalysedFormula:
    """The formula for the analysis of relevance."""
    analysis = analyses.of(formula)
    observed = {
        index: analysis.downward(index)
        for index, neuron in enumerate(formula.neurons)
        if neuron.source in observers and neuron.kind != LEAF
    }
    return AnalysedFormula(formula, analysis, observed)


def informed_sides(outline: Outline) -> tuple[set[Side], set[Side]]:
    """The sides of shared neurons that are bounded for all entities, by statements or, of comparisons, by their terms,
    and those that have a default which listed atoms may loosen."""

    def informative(name: str, ends: tuple[float, float]) -> set[Side]:
        unknown = (-math.inf, math.inf) if outline.schemas[name].numeric else (0.0, 1.0)
        return {(name, side) for side, end, free in zip(SIDES, ends, unknown, strict=True) if end != free}

    stated, given = set[Side](), set[Side]()
    graph = outline.lifted.graph
    aggregates = {name for name, data in graph.nodes.items() if data["kind"] in AGGREGATES}
    for name, data in graph.nodes.items():
        if data["shared"]:
            default = outline.schemas[name].default
            given |= informative(name, default)
            by_terms = data["kind"] == COMPARISON and not (aggregates and aggregates & graph.below(name))
            stated |= informative(name, default if by_terms else (data["lower"], data["upper"]))
    return stated, given


def consequents(formula: Formula) -> set[Side]:
    """The sides that a statement's consequent literals name: ``-> A & ~B`` derives A's lower and B's upper."""
    sides: set[Side] = set()
    if formula.auxiliary is not None or formula.neurons[formula.top].kind != "implies":
        return sides
    stack = [(formula.neurons[formula.top].operands[1], "lower")]
    while stack:
        index, side = stack.pop()
        neuron = formula.neurons[index]
        if neuron.kind == LEAF:
            sides.add((neuron.source, side))
        elif neuron.kind == "and" and side == "lower":
            stack += [(operand, side) for operand in neuron.operands]
        elif neuron.kind == "not":
            stack.append((neuron.operands[0], "upper" if side == "lower" else "lower"))
    return sides


def subsuming_relations(plan: Plan, world: Domain, lifted: LiftedGraph, reference: Reference) -> list[Reference]:
    """The tables of the neurons that a formula is an instance of."""
    return [
        Reference(plan.observers.get(neuron.node, neuron.node), neuron.arguments)
        for neuron in subsuming_neurons(lifted, world, reference)
    ]


def query_needs(
    plan: Plan, world: Domain, lifted: LiftedGraph, root: Root, subsuming: Sequence[Reference], related: Related
) -> Needs:
    """The needs of the rows that may differ from the query's default; ``root`` is not a negation. ``subsuming`` are the
    neurons of which it is an instance, ``related`` the comparisons of its terms."""
    formula = unfold(lifted, root, world=world)
    needs = plan.finder(formula).deviation()
    others = [*subsuming, *(comparison.reference for comparison in related.comparisons)]
    extra = [Need(0, frozenset({Literal(other.node, other.arguments, "either")})) for other in others]
    if formula.neurons[formula.top].kind == LEAF:  # arrested atoms too, which read as unknown
        extra.append(Need(0, frozenset({Literal(root.reference.node, root.reference.arguments, "either")})))
    bare = unfold(lifted, root, through_shared=True)
    analysis = plan.analyses.of(formula)
    defaults = set(analysis.upward.default_values(formula.top))
    of_all = analysis is not plan.analyses.of(formula, stated=False)  # what is stated of unnamed individuals counts
    for neuron in subsuming:
        if neuron.node in plan.shared.unstated:
            defaults.add(plan.schemas[neuron.node].default)
    defaults |= _implied(defaults, related, plan.schemas)
    unstated = set(plan.analyses.of(bare, stated=False).upward.default_values(bare.top))
    # Bounds of a neuron hold for every entity. If the query has several defaults, as where entities are compared, they
    # may tighten any of these, so every binding must be looked at.
    if not root.variables or of_all or defaults != unstated or (subsuming and len(defaults) > 1):
        extra.append(Need(0, frozenset()))
    return Needs((*needs.rows, *extra), needs.fills)


def met(value: Bounds, related: Related, known: Sequence[Bounds]) -> Bounds:
    """A query's bounds, met with those that its relatives imply, crisp comparisons of the same two terms, by the laws
    of order; ``known`` has the bounds of each relative. A crisp comparison is true as soon as it is not false, and vice
    versa. Each relative is used alone, and several together by the signs that they exclude; one that is stated to a
    degree is neither true nor false, so it excludes none."""
    lower, upper = value
    others = EVERY - related.signs
    possible = {sign: np.ones_like(lower, dtype=bool) for sign in EVERY}
    least = tolerance(lower.dtype)
    for relative, bounds in zip(related.comparisons, known, strict=True):
        true, false = bounds.lower > least, bounds.upper < 1 - least
        for says, unsaid, excluded in ((true, ~false, EVERY - relative.signs), (false, ~true, relative.signs)):
            if others <= excluded:
                lower = np.where(says, 1.0, lower)
            if related.signs <= excluded:
                upper = np.where(says, 0.0, upper)
            for sign in excluded:
                possible[sign] = possible[sign] & ~(says & unsaid)
    may, may_not = (np.stack([possible[sign] for sign in sorted(signs)]).any(0) for signs in (related.signs, others))
    return Bounds(np.where(may_not, lower, 1.0), np.where(may, upper, 0.0))


def _implied(
    defaults: set[tuple[float, float]], related: Related, schemas: Mapping[str, Schema]
) -> set[tuple[float, float]]:
    """The query's default bounds, tightened by those of its relatives."""
    known = [Bounds(*map(np.array, schemas[comparison.reference.node].default)) for comparison in related.comparisons]
    implied: set[tuple[float, float]] = set()
    for low, high in defaults if known else ():
        lower, upper = met(Bounds(np.array(low), np.array(high)), related, known)
        implied.add((float(lower), float(upper)))
    return implied
