"""Compiles a lifted graph for its questions: what is derived, what matters to whom, what each rule joins."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass, replace

from lnnkit.analysis.demand import ENTERED, BoundPlaces, Demand, Wanted, bound_atom, demand, restricted, wanted
from lnnkit.analysis.needs import Literal, Need, Needs, Range, minimal_needs, range_of
from lnnkit.analysis.relevance import SIDES, AnalysedFormula, Relevance, Side, decide, sides
from lnnkit.analysis.supports import Analyses, SupportCache
from lnnkit.analysis.unnamed_individuals import false_of_unnamed, of_strata
from lnnkit.arrays import DOUBLE
from lnnkit.engine.planning.inference_plan import (
    Demands,
    Outline,
    Plan,
    PlannedRule,
    SharedNeurons,
    asked,
    asked_alone,
    comparing,
    consequents,
    informed_sides,
    positive_queries,
    query_atoms,
    query_needs,
    reading,
    subsuming_neurons,
    subsuming_relations,
)
from lnnkit.formula.as_syntax import canonical_text
from lnnkit.formula.quantified_rows import prenexed
from lnnkit.formula.unfolding import LEAF, Formula, in_rounds, unfold
from lnnkit.graph.lifted import COMPARISON, TERMS, LiftedGraph, Reference, Root, below_negations
from lnnkit.join.instances.grounding import leaf_modes
from lnnkit.logic.bounds import tolerance
from lnnkit.numeric import Comparison
from lnnkit.store.layout import Domain, asked_constants, predicate_schemas
from lnnkit.store.relations import Schema
from lnnkit.syntax.identifiers import AGGREGATES

Completing = tuple[Formula, Needs]


def neuron_root(lifted: LiftedGraph, node: str) -> Root:
    """A neuron seen as a statement of its own, with the truth that its statements give it."""
    data = lifted.graph.nodes[node]
    count = len(data["sorts"])
    reference = Reference(node, tuple(range(count)))
    names = tuple(f"X{i}" for i in range(count))
    return Root(reference, names, data["sorts"], data["lower"], data["upper"], lifted.statements[0].origin)


def whole_neuron(lifted: LiftedGraph, node: str) -> Formula:
    """A neuron as a formula over atoms, unfolded through the shared neurons beneath it."""
    return unfold(lifted, neuron_root(lifted, node), through_shared=True)


def outlined(lifted: LiftedGraph, world: Domain, empty: frozenset[str], known: SupportCache | None = None) -> Outline:
    """The relations and formulas of a program in a ``world`` of entities, with ``empty`` sorts; ``known`` caches
    analyses."""
    schemas = predicate_schemas(lifted)
    defaults = {name: schema.default for name, schema in schemas.items()}
    unnamed = {name: (schema.unnamed, schema.sorts) for name, schema in schemas.items() if schema.unnamed is not None}
    analyses = Analyses(defaults, unnamed, empty, world.open_sorts, known or SupportCache())
    for name in false_of_unnamed(lifted, analyses):
        schemas[name] = schemas[name]._replace(unnamed=None)
    shared = _shared_neurons(lifted, analyses, schemas)
    observers = _observers(lifted, world, schemas)
    readings = tuple(reading(formula, analyses, observers) for formula in in_rounds(lifted, shared.formulas))
    return Outline(lifted, schemas, analyses, shared, observers, readings)


def unstated_bounds(analyses: Analyses, whole: Formula) -> tuple[float, float]:
    """What the defaults of its atoms make a ``whole_neuron``, without any statement about it."""
    plain = analyses.of(whole, stated=False).upward.default_values(whole.top)
    return min(low for low, _ in plain), max(high for _, high in plain)


def _shared_neurons(lifted: LiftedGraph, analyses: Analyses, schemas: dict[str, Schema]) -> SharedNeurons:
    """The shared neurons, with a relation for each; its default is what its operands' defaults and its statements make
    it."""
    formulas: list[Formula] = []
    impossible: list[str] = []
    unstated: dict[str, tuple[float, float]] = {}
    for node, data in lifted.graph.nodes.items():
        if not data["shared"]:
            continue
        root = neuron_root(lifted, node)
        whole = whole_neuron(lifted, node)
        unstated[node] = unstated_bounds(analyses, whole)
        analyses.defaults[node] = (-math.inf, math.inf) if data["kind"] in AGGREGATES else (0.0, 1.0)
        if root.lower > root.upper + tolerance(DOUBLE):
            impossible.append(node)
        else:
            formula = replace(unfold(lifted, root, auxiliary=node), key=canonical_text(whole))
            values = analyses.of(formula).upward.default_values(formula.top)
            lower = max(min(low for low, _ in values), root.lower)
            upper = min(max(high for _, high in values), root.upper)
            if lower > upper + tolerance(DOUBLE):
                lower, upper = root.lower, root.upper
            analyses.defaults[node] = (min(lower, upper), max(lower, upper))
            formulas.append(formula)
        unnamed = (0.0, 1.0) if node in impossible else (root.lower, root.upper)
        analyses.unnamed[node] = unnamed, tuple(data["sorts"])
        numeric = data["kind"] in AGGREGATES
        schemas[node] = Schema(node, data["sorts"], analyses.defaults[node], unnamed, numeric)
    return SharedNeurons(tuple(formulas), tuple(impossible), unstated)


def _observers(lifted: LiftedGraph, world: Domain, schemas: dict[str, Schema]) -> dict[str, str]:
    """For each neuron that keeps no bounds and of which a query is an instance, a relation that receives the bounds
    that formulas propose for it."""
    observers: dict[str, str] = {}
    for root in lifted.queries:
        for reference in subsuming_neurons(lifted, world, below_negations(lifted.graph, root.reference)[0]):
            data = lifted.graph.nodes[reference.node]
            if not data["shared"] and reference.node not in observers:
                name = observers[reference.node] = f"?{reference.node}"
                schemas[name] = Schema(name, data["sorts"], (0.0, 1.0))
    return observers


@dataclass(frozen=True)
class FactProfile:
    """What facts may bound: the ``sides`` that they move, the relations whose atoms they list, and those whose atoms
    they give."""

    sides: frozenset[Side]
    listed: frozenset[str]
    given: frozenset[str]


class Plans:
    """The outlines and plans of a lifted graph, each made once: they depend on which sorts have several entities, one
    or none, on the sorts of the entities that queries mention, and on the profile of the facts. ``known`` caches
    analyses."""

    def __init__(self, lifted: LiftedGraph, known: SupportCache | None = None) -> None:
        self.lifted = lifted
        self._known = known or SupportCache()
        self._constants = asked_constants(lifted, lifted.queries)
        self._outlines: dict[object, Outline] = {}
        self._plans: dict[object, Plan] = {}

    def outline(self, world: Domain) -> Outline:
        """The outline of the program in a world."""
        kind = self._kind(world)
        if kind not in self._outlines:
            self._outlines[kind] = outlined(self.lifted, world, world.empty, self._known)
        return self._outlines[kind]

    def plan(self, world: Domain, profile: FactProfile, *, narrow: bool) -> Plan:
        """As `compiled`."""
        key = self._kind(world), profile, narrow
        if key not in self._plans:
            self._plans[key] = compiled(self.outline(world), world, profile, narrow=narrow)
        return self._plans[key]

    def _kind(self, world: Domain) -> object:
        sizes = tuple((sort, min(len(ids), 2)) for sort, ids in sorted(world.sorts.items()))
        return sizes, frozenset((sort, text) for text in self._constants for sort, _ in sizes if world.has(sort, text))


def compiled(outline: Outline, world: Domain, profile: FactProfile, *, narrow: bool = False) -> Plan:
    """The plan for facts of a profile. If ``narrow``, closed derived predicates are completed only as far as bound
    queries need them."""
    lifted = outline.lifted
    atoms, names = asked(lifted, world)
    stated = {(name, side) for name in lifted.closed_derived for side in SIDES} | profile.sides
    said, given = informed_sides(outline)
    listed = profile.listed | {atom.node for atom in atoms}
    heads = {side for seen in outline.readings for side in consequents(seen.formula)}
    relevance = decide(outline.readings, stated | said, given, profile.given, listed, names, heads)
    sizes = {sort: min(len(ids), 2) for sort, ids in world.sorts.items()}
    moving = relevance.derived.union((name, side) for name in lifted.closed_derived for side in SIDES)
    aggregates = {str(formula.auxiliary) for formula in outline.shared.formulas if formula.measures}
    changing = frozenset(name for name, _ in moving) | aggregates
    plan = Plan(
        **vars(outline),
        relevance=relevance,
        sizes=sizes,
        asked=tuple(atoms),
        moving=changing,
        ranges=_ranges(outline, relevance, changing),
    )
    readings = [_by_rows(plan, seen, moving) for seen in outline.readings]
    strata = [[_completing(plan, formula) for formula in formulas] for formulas in of_strata(lifted, outline.analyses)]
    completing = [rule for stratum in strata for rule in stratum]
    needs, partly, groups = _needs(plan, world, readings, completing, changing)
    rules = tuple(_rule(plan, seen, needed) for seen, needed in zip(readings, needs, strict=True))
    demanded = _demand(plan, world, profile, readings, completing) if narrow else None
    demands = {} if demanded is None else _demands(demanded.bound, outline.schemas)
    completions = [
        (names, tuple(_completion(plan, names, demands, *defining) for defining in stratum))
        for names, stratum in zip(lifted.program.strata, strata, strict=True)
    ]
    partly |= {predicate for predicate, _ in demands.values()}
    known = replace(plan, partly_known=partly, groups=groups)
    return replace(known, rules=rules, strata=tuple(completions), demand=demanded, demands=demands)


def _ranges(outline: Outline, relevance: Relevance, moving: Set[str]) -> dict[str, Range]:
    """The shared comparisons that are true only where their numbers say so."""
    ranges: dict[str, Range] = {}
    for formula in outline.shared.formulas:
        name = str(formula.auxiliary)
        if formula.compares and (name, "lower") not in relevance.foreign and formula.lower == 0:
            found = range_of(formula, formula.top, moving)
            if found is not None and outline.schemas[name].default == (0.0, 1.0):
                ranges[name] = found
    return ranges


def _by_rows(plan: Plan, seen: AnalysedFormula, moving: Collection[Side]) -> AnalysedFormula:
    """A statement or shared quantifier with its quantifiers moved to the front, if joins then find their rows;
    otherwise as it is. The ``moving`` sides may be tightened once shared neurons have their first bounds."""
    flat = None if seen.observed else prenexed(seen.formula, seen.analysis.polarity.signs)
    if flat is None:
        return seen
    moved = AnalysedFormula(flat, plan.analyses.of(flat))
    if flat.auxiliary is not None and _of_groups(plan.relevance, moved, moving):
        return seen
    return moved if _binds(plan.finder(flat, moved).inference(), flat) else seen


def _of_groups(relevance: Relevance, seen: AnalysedFormula, moving: Collection[Side]) -> bool:
    """Whether a shared quantifier may say something that rests on all rows of a group: the upper end of an ``exists``
    falls, or its last candidate is true; of a ``forall`` the other way round."""
    name, polarity = str(seen.formula.auxiliary), seen.analysis.polarity
    given, passed = ("upper", "lower") if seen.formula.reads_own[0] else ("lower", "upper")
    reads = polarity.ends(polarity.signs, upper=passed == "upper")
    falls = any((seen.formula.table(read.leaf), side) in moving for read in reads for side in sides(read.end))
    return (name, given) in relevance.foreign or (falls and bool(relevance.mode(name, passed)))


def _completing(plan: Plan, formula: Formula) -> Completing:
    """A defining statement and what its completion needs. It may have one row of its quantifiers for each instance, as
    in rounds; but unnamed individuals can make a head possible."""
    analysis = plan.analyses.of(formula)
    flat = None if analysis.upward.doubtful else prenexed(formula, analysis.polarity.signs)
    if flat is not None:
        needs = plan.finder(flat).completion()
        if _binds(needs, flat):
            return flat, needs
    return formula, plan.finder(formula).completion()


def _binds(needs: Needs, formula: Formula) -> bool:
    """Whether each need binds the variables of a prenex formula's quantifiers: no other row proposes anything."""
    free = formula.original.blocks[0].variables
    inner = {variable for variable in formula.blocks[0].variables if variable not in free}
    return all(inner <= need.bound for need in needs.rows)


def _needs(
    plan: Plan, world: Domain, readings: Sequence[AnalysedFormula], completing: Iterable[Completing], moving: Set[str]
) -> tuple[list[Needs], frozenset[str], dict[str, Wanted]]:
    """The needs of each formula, the shared neurons that these restrict, and what the readers of aggregates want. A
    neuron that is not queried, and that no statement asserts, is evaluated only where another formula or a query may
    use it; laws of order pass on what is known anyway. ``moving`` are the tables that inference changes."""
    graph, partly = plan.lifted.graph, set[str]()
    needs = [plan.finder(seen.formula, seen).inference() for seen in readings]
    places = {seen.formula.auxiliary: place for place, seen in enumerate(readings)}
    plain = (f for f in reversed(plan.shared.formulas) if len(f.blocks) == 1 or f.measures)
    shared, groups = [places[formula.auxiliary] for formula in plain], dict[str, Wanted]()
    if not shared:
        return needs, frozenset(), groups
    readers = [*completing]
    for root in positive_queries(plan.lifted):
        formula = unfold(plan.lifted, root, world=world)
        if root.variables or len(formula.blocks) > 1:  # else all that it reads is listed
            subsuming = subsuming_relations(plan, world, plan.lifted, root.reference)
            related = comparing(plan.lifted, world, root.reference)
            readers.append((formula, query_needs(plan, world, plan.lifted, root, subsuming, related)))
    by_source: dict[str, list[Completing]] = {}

    def read(reader: Completing) -> None:
        for source in {reader[0].neurons[leaf].source for leaf in reader[0].leaves}:
            by_source.setdefault(source, []).append(reader)

    for place, seen in enumerate(readings):
        if place not in shared and not seen.formula.is_law:
            read((seen.formula, needs[place]))
    for reader in readers:
        read(reader)
    tables = {*plan.observers.values()}
    tables |= {node for node, data in graph.nodes.items() if data["kind"] not in {*TERMS, *AGGREGATES, COMPARISON}}
    tables -= {str(readings[place].formula.auxiliary) for place in shared}
    alone, fixed = asked_alone(plan.lifted, world), tables - moving
    for place in shared:  # what a neuron is a part of comes before it
        formula, name = readings[place].formula, str(readings[place].formula.auxiliary)
        if not _matters_anyway(plan, formula, alone):
            seen = fixed if formula.measures else tables
            needed = wanted(formula, by_source.get(name, ()), seen, {} if formula.measures else plan.ranges)
            if needed is not None and not (formula.measures and needed.sorts):
                needs[place] = restricted(needs[place], formula, needed)
                partly.add(name)
                if formula.measures:
                    groups[name] = needed
        read((formula, needs[place]))
    return needs, frozenset(partly), groups


def _matters_anyway(plan: Plan, formula: Formula, alone: set[str]) -> bool:
    """Whether a shared neuron is queried, or may bound its operands further than they bound it. A comparison of
    aggregates that is known by default is so by what these are, and tells them nothing."""
    name, graph = str(formula.auxiliary), plan.lifted.graph
    comparison = formula.neurons[formula.top].arithmetic
    partial = isinstance(comparison, Comparison) and comparison.partial
    known = plan.schemas[name].default != (0.0, 1.0) and not formula.measures
    if formula.compares and (formula.lower, formula.upper) == (0.0, 1.0):
        known &= all(graph.nodes[node]["kind"] not in AGGREGATES for node in graph.below(name))
    return partial or name in alone or known


def _rule(plan: Plan, seen: AnalysedFormula, needs: Needs) -> PlannedRule:
    """A formula as a rule of rounds."""
    observers = {
        index: plan.observers[neuron.source]
        for index, neuron in enumerate(seen.formula.neurons)
        if neuron.source in plan.observers and neuron.kind != LEAF
    }
    return PlannedRule(seen.formula, seen.analysis, needs, leaf_modes(seen.formula, plan.relevance.mode), observers)


def _completion(plan: Plan, stratum: frozenset[str], demands: Demands, formula: Formula, needs: Needs) -> PlannedRule:
    """A defining statement as a rule of its stratum, for the heads that are demanded."""
    modes = leaf_modes(formula, lambda _name, _side: 0)
    return PlannedRule(formula, plan.analyses.of(formula), _demanded(formula, needs, demands), modes, {}, stratum)


# --- demand -----------------------------------------------------------------------------------------------------------


def _demand(
    plan: Plan, world: Domain, profile: FactProfile, readings: Sequence[AnalysedFormula], defining: Sequence[Completing]
) -> Demand | None:
    """The demand of the queries on closed derived predicates; None if it is everything. A predicate is narrowed only if
    the queries bind it and no other formula reads it."""
    lifted = plan.lifted
    derived = lifted.closed_derived
    stated = derived & profile.given
    whole, moving = set(stated), set(derived)
    for seen in readings:
        heads = {seen.formula.neurons[leaf].source for leaf in seen.formula.heads}
        if not heads or heads & stated:  # else it proposes nothing: downward, a head is read as only facts give it
            whole |= seen.formula.sources
            sides = {(seen.formula.table(send.leaf), send.side) for send in seen.analysis.sends}
            moving |= {name for name, _ in sides & plan.relevance.derived}
    atoms = [atom for root in positive_queries(lifted) for atom in query_atoms(lifted, world, root)]
    atoms = [atom for atom in atoms if not world.lacks(lifted.graph.nodes[atom.node]["sorts"], atom.arguments)]
    still = {name for name, data in lifted.graph.nodes.items() if data["kind"] == "predicate"} - moving
    return demand(defining, whole & derived, atoms, still)


def _demands(bound: BoundPlaces, taken: Collection[str]) -> Demands:
    """A reserved name for the demand of each bound predicate, with that and its bound places."""
    demands: dict[str, tuple[str, tuple[int, ...]]] = {}
    for predicate, places in bound.items():
        name = f"?{predicate}"
        while name in taken:
            name = f"?{name}"
        demands[name] = predicate, places
    return demands


def _demanded(formula: Formula, needs: Needs, demands: Demands) -> Needs:
    """A defining formula's needs, each with the literal of the demand for one of its heads (magic sets)."""
    names, bound = {predicate: name for name, (predicate, _) in demands.items()}, dict(demands.values())
    heads = [(neuron.source, neuron.arguments) for neuron in (formula.neurons[leaf] for leaf in sorted(formula.heads))]
    if len(formula.blocks) > 1 or not bound or not all(name in bound for name, _ in heads):
        return needs
    wanted = [Literal(names[head[0]], bound_atom(head, bound)[1], ENTERED) for head in heads]
    return replace(
        needs, rows=minimal_needs(Need(need.block, need.literals | {head}) for need in needs.rows for head in wanted)
    )
