"""The first bounds: facts enter the state; shared neurons get what their operands imply, before completion and rounds
or, where only some are needed, as soon as they are. Queried neurons get tables that listen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lnnkit.analysis.needs import EQUAL, Need, Needs
from lnnkit.analysis.relevance import ALL
from lnnkit.analysis.supports import Analyses
from lnnkit.analysis.unnamed_individuals import false_of_unnamed
from lnnkit.arrays import DOUBLE
from lnnkit.engine.bounds_state import State
from lnnkit.engine.moves import Delta, Round, note
from lnnkit.engine.response.group_response import reader
from lnnkit.engine.response.respond import entering
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.engine.start.asked import speaking
from lnnkit.engine.start.prepared import SharedNeurons
from lnnkit.engine.workspace import Workspace
from lnnkit.formula.as_syntax import canonical_text
from lnnkit.formula.passes import upward
from lnnkit.formula.unfolding import AUXILIARY, Formula, unfold
from lnnkit.graph.lifted import LiftedGraph, Reference, Root
from lnnkit.graph.match import below_negations
from lnnkit.join.bindings import Bindings
from lnnkit.join.instances.assembled import Assembler
from lnnkit.join.instances.grounding import Grounding, add_equality, leaf_modes
from lnnkit.logic.bounds import Bounds, tolerance
from lnnkit.store.columns.row_arrays import Array, alike, spelled_out
from lnnkit.store.layout import Given
from lnnkit.store.relations import DEFAULT, Relations
from lnnkit.trail.events import NOBODY, ROOT, Kind


def enter_facts(atoms: Relations, state: State, given: Sequence[Given]) -> None:
    """Materialise the facts: facts about one atom meet; where they cross, the atom is arrested from the start."""
    tuples = DistinctTuples(())
    for facts in given:
        if len(facts):
            columns = list(facts.columns)
            tuples = tuples.or_of(columns)
            columns, bounds = tuples.met(facts, state.dtype)
            table = atoms.tables[facts.predicate]
            rows = atoms.load(table, columns, bounds)
            if (bounds.lower > bounds.upper).any():
                state.arrest(table, spelled_out(rows), bounds)


class DistinctTuples:
    """The tuples of facts, equal ones next to each other. Many tables may have the same tuples."""

    def __init__(self, columns: Sequence[Array]) -> None:
        self.columns = columns
        self._first: Array | None = None  # first occurrences; None if all are distinct
        self._new = np.empty(0, dtype=bool)  # flags of first occurrences
        if columns:
            new = np.ones(len(columns[0]), dtype=bool)
            rest = new[1:]
            np.not_equal(columns[0][1:], columns[0][:-1], out=rest)
            for column in columns[1:]:
                rest |= column[1:] != column[:-1]
            if not new.all():
                self._first, self._new = np.flatnonzero(new), new

    def or_of(self, columns: Sequence[Array]) -> DistinctTuples:
        """These, if the tuples of the columns are the same."""
        same = len(columns) == len(self.columns) and all(map(alike, columns, self.columns))
        return self if same else DistinctTuples(columns)

    def met(self, facts: Given, dtype: np.dtype) -> tuple[Sequence[Array], Bounds]:
        """Distinct tuples, each with the meet of its facts."""
        lower, upper = (end.astype(dtype, copy=False) for end in (facts.lower, facts.upper))
        if not self.columns:
            return self.columns, Bounds(lower.max(keepdims=True), upper.min(keepdims=True))
        first = self._first
        if first is None:
            return self.columns, Bounds(lower, upper)
        columns = [column.take(first) for column in self.columns]
        if lower.strides == upper.strides == (0,):  # all facts are equal
            return columns, Bounds(lower[: len(first)], upper[: len(first)])
        group = self._new.cumsum(0) - 1  # the number of each distinct tuple
        least, most = lower.take(first), upper.take(first)
        np.maximum.at(least, group, lower)
        np.minimum.at(most, group, upper)
        return columns, Bounds(least, most)


Pair = tuple[float, float]


def neuron_root(lifted: LiftedGraph, node: str) -> Root:
    """A neuron seen as a statement of its own, with the truth that its statements give it."""
    data = lifted.graph.nodes[node]
    count = len(data["sorts"])
    reference = Reference(node, tuple(range(count)))
    names = tuple(f"X{i}" for i in range(count))
    return Root(reference, names, data["sorts"], data["lower"], data["upper"], lifted.statements[0].origin)


def add_shared_tables(lifted: LiftedGraph, grounding: Grounding, analyses: Analyses) -> SharedNeurons:
    """Add a table for each shared neuron; its default is what its operands' defaults and its statements make it. First
    those of predicates are told what completion says of unnamed individuals."""
    for name in false_of_unnamed(lifted, analyses):
        table = grounding.atoms.tables[name]
        table.unnamed, table.unnamed_row = table.default, DEFAULT
    formulas: list[Formula] = []
    impossible: list[str] = []
    untold: dict[str, Pair] = {}
    for node, data in lifted.graph.nodes.items():
        if not data["shared"]:
            continue
        root = neuron_root(lifted, node)
        bare = unfold(lifted, root, through_shared=True)
        plain = analyses.of(bare, stated=False).upward.default_values(bare.top)
        untold[node] = (min(low for low, _ in plain), max(high for _, high in plain))
        analyses.defaults[node] = (0.0, 1.0)
        if root.lower > root.upper + tolerance(DOUBLE):
            impossible.append(node)
        else:
            formula = replace(unfold(lifted, root, auxiliary=node), key=canonical_text(bare))
            values = analyses.of(formula).upward.default_values(formula.top)
            lower = max(min(low for low, _ in values), root.lower)
            upper = min(max(high for _, high in values), root.upper)
            if lower > upper + tolerance(DOUBLE):
                lower, upper = root.lower, root.upper
            analyses.defaults[node] = (min(lower, upper), max(lower, upper))
            formulas.append(formula)
        unnamed = (0.0, 1.0) if node in impossible else (root.lower, root.upper)
        analyses.unnamed[node] = unnamed, tuple(data["sorts"])
        grounding.atoms.add_table(node, data["sorts"], analyses.defaults[node], unnamed)
    return SharedNeurons(tuple(formulas), tuple(impossible), untold)


def arrest_impossible(lifted: LiftedGraph, shared: SharedNeurons, grounding: Grounding, state: State) -> None:
    """Arrest neurons everywhere whose statements give them no value in common."""
    for node in shared.impossible:
        root = neuron_root(lifted, node)
        formula = unfold(lifted, root)
        atoms, world = grounding.atoms, grounding.domain
        every = Assembler(formula, Needs((Need(0, frozenset()),), {}), atoms, world, grounding.guard, {}).every()
        table = atoms.tables[node]
        rows = atoms.materialise(table, list(every.ids[0].values()), every.length(0))
        state.trail.step()
        for side, value in enumerate((root.lower, root.upper)):
            state.put(table, side, rows, value, Kind.INITIAL)
        state.arrest(table, rows)


def initialise(formula: Formula, needs: Needs, analyses: Analyses, grounding: Grounding, state: State) -> None:
    """Give a shared neuron the bounds that its operands give it before the first round."""
    assert formula.auxiliary is not None
    atoms = grounding.atoms
    if any(literal.table == EQUAL for literal in needs.literals):
        add_equality(atoms, grounding.domain)
    view = Assembler(formula, needs, atoms, grounding.domain, grounding.guard, {}).every()
    if not view.length(0):
        return
    up = upward(formula, entering(reader(view, state.dtype), formula), view.groupings)[formula.top]
    lower, upper = up.lower.clip(formula.lower), up.upper.clip(None, formula.upper)
    crossed = lower > upper + tolerance(state.dtype)
    table = atoms.tables[formula.auxiliary]
    rows = atoms.materialise(table, list(view.ids[0].values()), view.length(0))
    bounds = (
        np.where(crossed, formula.lower, np.minimum(lower, upper)),
        np.where(crossed, formula.upper, np.maximum(lower, upper)),
    )
    worked_out = (up.lower > formula.lower) & ~crossed, (up.upper < formula.upper) & ~crossed
    state.trail.step()
    trace = state.trail.trace
    number = NOBODY
    if trace is not None:
        view.rows[AUXILIARY][:] = rows
        scratch = Grounding(atoms, grounding.domain, grounding.guard)
        scratch.add(formula, analyses.of(formula), needs, leaf_modes(formula, lambda _name, _side: ALL), {})
        scratch.hold(0, view)
        number = trace.adopt(scratch)
    for side, (values, own) in enumerate(zip(bounds, worked_out, strict=True)):
        traced = own & (trace is not None)  # by its operands, which a replay works out again
        mine, others = np.flatnonzero(traced), np.flatnonzero(~traced)
        state.put(table, side, rows.take(mine), values.take(mine), Kind.INITIAL, number, ROOT, mine)
        state.put(table, side, rows.take(others), values.take(others), Kind.INITIAL)
    table.deviate(rows, *table.read(rows))


def add_observer_tables(lifted: LiftedGraph, grounding: Grounding) -> dict[str, str]:
    """For each neuron that keeps no bounds and of which a query is an instance, a table that receives the bounds that
    formulas propose for it. The result maps the neuron to its table."""
    observers: dict[str, str] = {}
    for root in lifted.queries:
        for reference in speaking(lifted, grounding.domain, below_negations(lifted.graph, root.reference)[0]):
            data = lifted.graph.nodes[reference.node]
            if not data["shared"] and reference.node not in observers:
                observers[reference.node] = f"?{reference.node}"
                grounding.atoms.add_table(observers[reference.node], data["sorts"], (0.0, 1.0))
    return observers


def initialise_comparisons(space: Workspace) -> None:
    """Give comparisons their truth; bounds for their numbers, and contradictions with a given truth, wait for a
    round."""
    compared = [response for response in space.demanded if response.rule.formula.compares]
    _begin(space, [(response, response.rule.assignments(Delta())) for response in compared])


def initialise_neuron(space: Workspace, name: str) -> None:
    """The same for another shared neuron."""
    for response in space.demanded:
        if response.rule.formula.auxiliary == name:
            _begin(space, [(response, response.rule.assignments(Delta()))])


def catch_up(space: Workspace, delta: Delta) -> None:
    """The same for shared neurons that became needed by what has moved."""
    compared = [response for response in space.demanded if response.rule.formula.compares]
    _begin(space, [(response, response.rule.demanded(delta)) for response in compared])
    for response in space.demanded[len(compared) :]:
        _begin(space, [(response, response.rule.demanded(delta))])


def _begin(space: Workspace, found: Sequence[tuple[RuleResponse, Iterator[Bindings]]]) -> None:
    now = Round(space.grounding.atoms, space.state, space.encoded)
    for response, assignments in found:
        for some in assignments:
            response.begin(some, now)
    if now.inbox:
        space.state.trail.step()
        for table, sides in now.inbox.by_relation():
            raised, lowered = (space.merge.settle(table, side, proposals) for side, proposals in enumerate(sides))
            note(Delta(), table, raised, lowered, space.state, space.encoded)
