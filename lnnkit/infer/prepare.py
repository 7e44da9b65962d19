"""Lifted graph + facts -> a grounding and a state that are ready for rounds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from lnnkit.graph.lifted import LiftedGraph
from lnnkit.ground.analyses import Analyses, Known
from lnnkit.ground.demand import demands, restricted
from lnnkit.ground.formula import LEAF, Formula, unfold
from lnnkit.ground.grounding import Grounding, Guard, leaf_modes
from lnnkit.ground.layout import Given, domain, predicate_tables
from lnnkit.ground.needs import NeedFinder, Needs
from lnnkit.ground.plan import Recorder
from lnnkit.ground.relevance import ALL, SIDES, Reading, Relevance
from lnnkit.infer.auxiliaries import (
    SharedNeurons,
    add_observer_tables,
    add_shared_tables,
    arrest_impossible,
    initialise,
)
from lnnkit.infer.facts import enter_facts
from lnnkit.infer.history import History, Trace
from lnnkit.infer.interest import list_asked, reading, relevance
from lnnkit.infer.state import State
from lnnkit.numeric import Comparison


@dataclass(slots=True)
class Prepared:
    """What inference works on. ``inference`` are the members that rounds extend, ``strata`` those that complete each
    stratum of closed derived predicates; ``kept`` says whose atoms are materialised as instances mention them;
    ``observers`` maps queried neurons to the tables that listen for them."""

    lifted: LiftedGraph
    grounding: Grounding
    state: State
    analyses: Analyses
    shared: SharedNeurons
    observers: Mapping[str, str]
    relevance: Relevance
    kept: Mapping[str, bool]
    inference: list[int] = field(default_factory=list)
    strata: list[tuple[frozenset[str], list[int]]] = field(default_factory=list)
    partly_known: set[str] = field(default_factory=set)  # comparisons that are known only where a formula may want them
    unfinished: frozenset[str] = frozenset()  # predicates whose first completion was stopped: they are read as open

    def finder(self, formula: Formula, seen: Reading | None = None) -> NeedFinder:
        """What finds the formula's needs; without a reading, only those that do not depend on what it sends."""
        sizes = {sort: len(ids) for sort, ids in self.grounding.domain.sorts.items()}
        return NeedFinder(seen or Reading(formula, self.analyses.of(formula)), self.relevance, sizes)


def prepare(
    lifted: LiftedGraph,
    index: Mapping[str, int],
    given: Sequence[Given],
    labelled: Mapping[str, Sequence[Tensor]],
    guard: Guard,
    dtype: torch.dtype = torch.float64,
    recorder: Recorder | None = None,
    known: Known | None = None,
    *,
    record: bool = True,
    trace: Trace | None = None,
    assumable: Collection[str] = (),
) -> Prepared:
    """Lay out atoms, enter the facts, find out what matters and what to join. Nothing is inferred yet. If asked to
    ``record``, the state keeps a history, with what ``trace`` takes. More may be said later of the ``assumable``
    predicates (see `lnnkit.infer.assuming`)."""
    world = domain(lifted, index, given, labelled)
    atoms = predicate_tables(lifted, world.stranger + 1)
    state = State(dtype, History(dtype, trace) if record else None)
    grounding = Grounding(atoms, world, guard, recorder)
    defaults = {name: table.default for name, table in atoms.tables.items()}
    analyses = Analyses(defaults, world, known or Known(), lifted.closed_derived)
    shared = add_shared_tables(lifted, grounding, analyses)
    statements = [
        replace(unfold(lifted, root), key=root.origin.span.text)
        for root in lifted.statements
        if not lifted.graph.nodes[root.reference.node]["shared"]
    ]
    formulas = sorted((*statements, *shared.formulas), key=lambda formula: formula.key)
    observers = add_observer_tables(lifted, grounding)
    state.extend(atoms)
    enter_facts(atoms, state, given)
    arrest_impossible(lifted, shared, grounding, state)
    asked = list_asked(lifted, grounding, state)
    readings = [reading(formula, analyses, observers) for formula in formulas]
    relevant = relevance(lifted, grounding, readings, asked, assumable)
    kept = {
        name: name in lifted.closed_derived or any(relevant.mode(name, side) == ALL for side in SIDES)
        for name in atoms.tables
    }
    prepared = Prepared(lifted, grounding, state, analyses, shared, observers, relevant, kept)
    for each, needs in zip(readings, _needs(prepared, readings, asked), strict=True):
        prepared.inference.append(_enter(prepared, each, needs))
    for stratum in lifted.program.strata:
        prepared.strata.append((stratum, _enter_stratum(prepared, stratum)))
    state.extend(atoms)  # by the equality of entities, if a formula is joined with it
    return prepared


def completed(prepared: Prepared, predicates: frozenset[str]) -> Tensor:
    """The rows of a stratum's atoms that no fact lists and no contradiction has arrested."""
    atoms = prepared.grounding.atoms
    prepared.state.extend(atoms)
    rows = torch.cat([atoms.tables[name].rows for name in sorted(predicates)])
    return rows[~(atoms.flags("given").index_select(0, rows) | prepared.state.frozen.index_select(0, rows))]


def loosen_comparisons(prepared: Prepared) -> set[str | None]:
    """A comparison whose terms are undefined for the numbers that are given says less than it does of unknown ones:
    such rows start from what their own numbers give them. The names of the tables."""
    tables = prepared.grounding.atoms.tables
    return _initialise(
        prepared,
        lambda formula: _partial(formula) and tables[str(formula.auxiliary)].default != (0.0, 1.0),
    )


def initialise_shared(prepared: Prepared) -> set[str | None]:
    """Give shared neurons, operands first, the bounds that their operands give them before the first round; comparisons
    have theirs already. The names of the tables."""
    return _initialise(prepared, lambda formula: not formula.compares)


def _partial(formula: Formula) -> bool:
    comparison = formula.neurons[formula.top].arithmetic
    return isinstance(comparison, Comparison) and comparison.partial


def _initialise(prepared: Prepared, wanted: Callable[[Formula], bool]) -> set[str | None]:
    chosen = list(filter(wanted, prepared.shared.formulas))
    for formula in chosen:
        needs = prepared.finder(formula).initial()
        initialise(formula, needs, prepared.analyses, prepared.kept, prepared.grounding, prepared.state)
    return {formula.auxiliary for formula in chosen}


def _needs(prepared: Prepared, readings: Sequence[Reading], asked: set[str]) -> list[Needs]:
    """What each formula needs. A comparison that nobody asks for, and that no statement holds, is known only where
    another formula may want it; laws of order pass on what is known anyway."""
    graph = prepared.lifted.graph
    found = [prepared.finder(each.formula, each).inference() for each in readings]
    readers = [(each.formula, needs) for each, needs in zip(readings, found, strict=True) if not each.formula.is_law]
    predicates = {node for node, kind in graph.nodes(data="kind") if kind == "predicate"}
    for place, each in enumerate(readings):
        formula = each.formula
        if formula.compares and not _matters_anyway(prepared, formula, asked):
            wanted = demands(str(formula.auxiliary), readers, predicates)
            if wanted is not None:
                found[place] = restricted(found[place], formula, wanted)
                prepared.partly_known.add(str(formula.auxiliary))
    return found


def _matters_anyway(prepared: Prepared, formula: Formula, asked: set[str]) -> bool:
    """Whether a comparison is asked for, or may say something of its numbers that it has not been told."""
    table = prepared.grounding.atoms.tables[str(formula.auxiliary)]
    comparison = formula.neurons[formula.top].arithmetic
    assert isinstance(comparison, Comparison)
    return (
        comparison.partial or table.name in asked or table.default != (0.0, 1.0) or bool(len(table.deviating["listed"]))
    )


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
        prepared.kept,
        observers,
        visited=True,
    )
    return len(prepared.grounding.members) - 1


def _enter_stratum(prepared: Prepared, stratum: frozenset[str]) -> list[int]:
    """Enter the defining statements of a stratum, unfolded through shared neurons, for its completion."""
    members = []
    for root in sorted(prepared.lifted.statements, key=lambda root: root.origin.span.text):
        if not root.defines & stratum:
            continue
        formula = unfold(prepared.lifted, root, through_shared=True, through_comparisons=False)
        heads = frozenset(leaf for leaf in formula.heads if formula.neurons[leaf].source in stratum)
        formula = replace(formula, heads=heads, key=root.origin.span.text)
        prepared.grounding.add(
            formula,
            prepared.analyses.of(formula),
            prepared.finder(formula).completion(),
            leaf_modes(formula, lambda _name, _side: 0),
            prepared.kept,
            {},
            stage=stratum,
            visited=True,
        )
        members.append(len(prepared.grounding.members) - 1)
    return members
