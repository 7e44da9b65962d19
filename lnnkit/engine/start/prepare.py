"""Prepares a lifted graph and facts for inference: the grounding and the initial state."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np

from lnnkit.analysis.needs import Needs
from lnnkit.analysis.relevance import SIDES, Reading, Relevance, Side, sides
from lnnkit.analysis.shared_demand import restricted, wanted
from lnnkit.analysis.supports import Analyses, Known
from lnnkit.analysis.unnamed_individuals import of_strata
from lnnkit.arrays import DOUBLE
from lnnkit.engine.bounds_state import State
from lnnkit.engine.start.asked import (
    asked_alone,
    comparing,
    heard_by,
    list_asked,
    positive_queries,
    query_needs,
    reading,
    relevance,
)
from lnnkit.engine.start.demanded import narrowed
from lnnkit.engine.start.first_bounds import (
    add_observer_tables,
    add_shared_tables,
    arrest_impossible,
    enter_facts,
    initialise,
)
from lnnkit.engine.start.prepared import Prepared
from lnnkit.formula.prenex import prenexed
from lnnkit.formula.unfolding import LEAF, Formula, in_rounds, unfold
from lnnkit.garbage import collection_paused
from lnnkit.graph.lifted import COMPARISON, TERMS, LiftedGraph
from lnnkit.join.instances.grounding import Grounding, Guard, leaf_modes
from lnnkit.join.join_plan import Recorder
from lnnkit.numeric import Comparison
from lnnkit.store.columns.row_arrays import Array
from lnnkit.store.layout import Given, domain, predicate_tables
from lnnkit.store.relations import Relation
from lnnkit.trail.events import Trace, Trail


@collection_paused()
def prepare(
    lifted: LiftedGraph,
    index: Mapping[str, int],
    given: Sequence[Given],
    labelled: Mapping[str, Sequence[Array]],
    guard: Guard,
    dtype: np.dtype = DOUBLE,
    device: str = "cpu",
    recorder: Recorder | None = None,
    known: Known | None = None,
    *,
    record: bool = True,
    trace: Trace | None = None,
    assumable: Collection[str] = (),
    unnamed: Collection[str] = (),
    narrow: bool = False,
) -> Prepared:
    """Lay out the atoms, enter the facts, and find what matters and what to join. Nothing is inferred yet.

    With ``record``, the state keeps a history, for what ``trace`` takes. Facts about the ``assumable`` predicates may
    be added later (see `lnnkit.engine.continuation`). The ``unnamed`` entities are those that only queries mention. If
    ``narrow``, closed derived predicates are completed only as far as bound queries need them.
    """
    world = domain(lifted, index, given, labelled, unnamed)
    atoms = predicate_tables(lifted, world.stranger + 1, dtype)
    state = State(dtype, Trail(dtype, trace, values=record), device)
    grounding = Grounding(atoms, world, guard, recorder)
    defaults = {name: table.default for name, table in atoms.tables.items()}
    empty = frozenset(sort for sort, ids in world.sorts.items() if not len(ids))
    analyses = Analyses(defaults, atoms.unnamed, empty, world.open_sorts, known or Known())
    shared = add_shared_tables(lifted, grounding, analyses)
    formulas = in_rounds(lifted, shared.formulas)
    observers = add_observer_tables(lifted, grounding)
    enter_facts(atoms, state, given)
    arrest_impossible(lifted, shared, grounding, state)
    asked = list_asked(lifted, grounding)
    readings = [reading(formula, analyses, observers) for formula in formulas]
    relevant = relevance(lifted, grounding, readings, asked, assumable)
    prepared = Prepared(lifted, grounding, state, analyses, shared, observers, relevant)
    moving = relevant.derived.union((name, side) for name in (*lifted.closed_derived, *assumable) for side in SIDES)
    readings = [_by_rows(prepared, each, moving) for each in readings]
    strata = [[_completing(prepared, formula) for formula in own] for own in of_strata(lifted, analyses)]
    completing = [each for own in strata for each in own]
    for each, needs in zip(readings, _needs(prepared, readings, completing), strict=True):
        prepared.inference.append(_enter(prepared, each, needs))
    found = narrowed(prepared, readings, strata) if narrow else [[needs for _, needs in own] for own in strata]
    for stratum, own, needs in zip(lifted.program.strata, strata, found, strict=True):
        members = _enter_stratum(prepared, stratum, [formula for formula, _ in own], needs)
        prepared.strata.append((stratum, members))
    return prepared


def completed(prepared: Prepared, predicates: Collection[str]) -> dict[Relation, Array]:
    """By relation the rows of a stratum's atoms that no fact lists and no contradiction has arrested."""
    found: dict[Relation, Array] = {}
    for name in sorted(predicates):
        table = prepared.grounding.atoms.tables[name]
        rows = np.arange(len(table), dtype=np.int32)
        found[table] = rows[~(table.flags("given").take(rows) | table.held(rows))]
    return found


def loosen_comparisons(prepared: Prepared) -> set[str | None]:
    """Loosen comparisons whose terms are undefined for the given numbers: they imply less than for unknown numbers, so
    such rows start from their own numbers. Returns the names of the tables."""
    tables = prepared.grounding.atoms.tables
    partial = [each for each in prepared.shared.formulas if _partial(each)]
    chosen = [formula for formula in partial if tables[str(formula.auxiliary)].default != (0.0, 1.0)]
    for formula in chosen:
        _initialise(prepared, formula)
    return {formula.auxiliary for formula in chosen}


def initialise_shared(prepared: Prepared, begin: Callable[[str], None]) -> set[str | None]:
    """Give shared neurons, operands first, the bounds that their operands imply before the first round; comparisons
    have theirs already. ``begin`` does so for those that are restricted to what others need of them. Returns the names
    of the tables."""
    chosen = [formula for formula in prepared.shared.formulas if not formula.compares]
    for formula in chosen:
        if str(formula.auxiliary) in prepared.partly_known:
            begin(str(formula.auxiliary))
        else:
            _initialise(prepared, formula)
    return {formula.auxiliary for formula in chosen}


def _by_rows(prepared: Prepared, seen: Reading, moving: Collection[Side]) -> Reading:
    """A statement or shared quantifier with its quantifiers moved to the front, if joins then find their rows;
    otherwise as it is. The ``moving`` sides may be tightened once shared neurons have their first bounds."""
    flat = None if seen.observed else prenexed(seen.formula, seen.analysis.polarity.signs)
    if flat is None:
        return seen
    own = Reading(flat, prepared.analyses.of(flat))
    if flat.auxiliary is not None and _of_groups(prepared.relevance, own, moving):
        return seen
    return own if _binds(prepared.finder(flat, own).inference(), flat) else seen


def _of_groups(relevance: Relevance, seen: Reading, moving: Collection[Side]) -> bool:
    """Whether a shared quantifier may say something that rests on all rows of a group: the upper end of an ``exists``
    falls, or its last candidate is true; of a ``forall`` the other way round."""
    name, polarity = str(seen.formula.auxiliary), seen.analysis.polarity
    given, passed = ("upper", "lower") if seen.formula.reads_own[0] else ("lower", "upper")
    reads = polarity.ends(polarity.signs, upper=passed == "upper")
    falls = any((seen.table(each.leaf), side) in moving for each in reads for side in sides(each.end))
    return (name, given) in relevance.foreign or (falls and bool(relevance.mode(name, passed)))


def _completing(prepared: Prepared, formula: Formula) -> tuple[Formula, Needs]:
    """A defining statement and what its completion needs. It may have one row of its quantifiers for each instance, as
    in rounds; but unnamed individuals can make a head possible."""
    analysis = prepared.analyses.of(formula)
    flat = None if analysis.upward.doubtful else prenexed(formula, analysis.polarity.signs)
    if flat is not None:
        needs = prepared.finder(flat).completion()
        if _binds(needs, flat):
            return flat, needs
    return formula, prepared.finder(formula).completion()


def _binds(needs: Needs, formula: Formula) -> bool:
    """Whether each need binds the variables of a prenex formula's quantifiers: no other row proposes anything."""
    free = formula.original.blocks[0].variables
    inner = {variable for variable in formula.blocks[0].variables if variable not in free}
    return all(inner <= need.bound for need in needs.rows)


def _partial(formula: Formula) -> bool:
    comparison = formula.neurons[formula.top].arithmetic
    return isinstance(comparison, Comparison) and not comparison.total


def _initialise(prepared: Prepared, formula: Formula) -> None:
    needs = prepared.finder(formula).initial()
    initialise(formula, needs, prepared.analyses, prepared.grounding, prepared.state)


def _needs(prepared: Prepared, readings: Sequence[Reading], completing: Iterable[tuple[Formula, Needs]]) -> list[Needs]:
    """The needs of each formula. A shared neuron that is not queried, and that no statement asserts, is evaluated only
    where another formula or a query may use it; laws of order pass on what is known anyway."""
    graph = prepared.lifted.graph
    found = [prepared.finder(each.formula, each).inference() for each in readings]
    places = {each.formula.auxiliary: place for place, each in enumerate(readings)}
    shared = [places[each.auxiliary] for each in reversed(prepared.shared.formulas) if len(each.blocks) == 1]
    if not shared:
        return found
    readers = [*completing]
    for root in positive_queries(prepared.lifted):
        formula = unfold(prepared.lifted, root, world=prepared.grounding.domain)
        if root.variables or len(formula.blocks) > 1:  # else all that it reads is listed
            heard = heard_by(prepared, prepared.lifted, root.reference)
            kin = comparing(prepared.lifted, prepared.grounding.domain, root.reference)
            readers.append((formula, query_needs(prepared, prepared.lifted, root, heard, kin)))
    by_source: dict[str, list[tuple[Formula, Needs]]] = {}

    def read(reader: tuple[Formula, Needs]) -> None:
        for source in {reader[0].neurons[leaf].source for leaf in reader[0].leaves}:
            by_source.setdefault(source, []).append(reader)

    for place, each in enumerate(readings):
        if (each.formula.auxiliary is None or len(each.formula.original.blocks) > 1) and not each.formula.is_law:
            read((each.formula, found[place]))
    for reader in readers:
        read(reader)
    tables = {*prepared.observers.values()}
    tables |= {node for node, data in graph.nodes.items() if data["kind"] not in {*TERMS, COMPARISON}}
    tables -= {str(readings[place].formula.auxiliary) for place in shared}
    alone = asked_alone(prepared.lifted, prepared.grounding.domain)
    for place in shared:  # what a neuron is a part of comes before it
        formula = readings[place].formula
        if not _matters_anyway(prepared, formula, alone):
            needed = wanted(formula, by_source.get(str(formula.auxiliary), ()), tables)
            if needed is not None:
                found[place] = restricted(found[place], formula, needed)
                prepared.partly_known.add(str(formula.auxiliary))
        read((formula, found[place]))
    return found


def _matters_anyway(prepared: Prepared, formula: Formula, alone: set[str]) -> bool:
    """Whether a shared neuron is queried, or may bound its operands further than they bound it."""
    table = prepared.grounding.atoms.tables[str(formula.auxiliary)]
    comparison = formula.neurons[formula.top].arithmetic
    partial = isinstance(comparison, Comparison) and comparison.partial
    return partial or table.name in alone or table.default != (0.0, 1.0)


def _enter(prepared: Prepared, seen: Reading, needs: Needs) -> int:
    """Enter a formula for inference; returns its number among the members."""
    formula = seen.formula
    observers = {
        index: prepared.observers[neuron.source]
        for index, neuron in enumerate(formula.neurons)
        if neuron.source in prepared.observers and neuron.kind != LEAF
    }
    prepared.grounding.add(
        formula,
        prepared.analyses.of(formula),
        needs,
        leaf_modes(formula, prepared.relevance.mode),
        observers,
    )
    return len(prepared.grounding.members) - 1


def _enter_stratum(
    prepared: Prepared, stratum: frozenset[str], formulas: Sequence[Formula], needs: Sequence[Needs]
) -> list[int]:
    """Enter the defining statements of a stratum for its completion."""
    members = []
    for formula, own in zip(formulas, needs, strict=True):
        prepared.grounding.add(
            formula,
            prepared.analyses.of(formula),
            own,
            leaf_modes(formula, lambda _name, _side: 0),
            {},
            stage=stratum,
        )
        members.append(len(prepared.grounding.members) - 1)
    return members
