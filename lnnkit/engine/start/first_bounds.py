"""What comes before the first round: facts enter the state; bound questions get their demand (magic sets), with which
rules are joined; shared neurons get the bounds that their operands imply, before completion and rounds or, where only
some are needed, as soon as they are. Queried neurons get tables that listen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import numpy as np

from lnnkit.analysis.demand import ENTERED, Passing, restricted
from lnnkit.analysis.needs import EQUAL, Literal, Need, Needs
from lnnkit.analysis.relevance import ALL
from lnnkit.engine.bounds_state import State
from lnnkit.engine.inference_run import Run
from lnnkit.engine.merge import Round, changes, note
from lnnkit.engine.planning.compiling import neuron_root
from lnnkit.engine.planning.inference_plan import Plan
from lnnkit.engine.response.proposing import reader
from lnnkit.engine.response.respond import entering
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.formula.passes import upward
from lnnkit.formula.unfolding import AUXILIARY, Formula, unfold
from lnnkit.join.bindings import Bindings
from lnnkit.join.instances.assembled import Assembler, Instances
from lnnkit.join.instances.grounding import Grounding, add_equality, leaf_modes
from lnnkit.join.join_plan import Recorder
from lnnkit.join.literal_join import Joins, Path
from lnnkit.join.triggers import Delta
from lnnkit.logic.bounds import Bounds, tolerance
from lnnkit.numeric import Comparison
from lnnkit.store.layout import Given
from lnnkit.store.relations import Relation, Relations, Schema
from lnnkit.store.row_arrays import Array, alike, distinct_values, spelled_out
from lnnkit.trail.events import NOBODY, ROOT, Kind


def enter_facts(atoms: Relations, state: State, given: Sequence[Given]) -> None:
    """Materialise the facts: facts about one atom meet; where they cross, the atom is arrested from the start."""
    tuples = DistinctTuples(())
    for facts in given:
        if len(facts):
            columns = list(facts.columns)
            tuples = tuples.reused_for(columns)
            columns, bounds = tuples.met(facts, state.dtype)
            table = atoms.tables[facts.predicate]
            rows = atoms.load(table, columns, bounds)
            if (bounds.lower > bounds.upper).any():
                state.arrest(table, spelled_out(rows), bounds)


class DistinctTuples:
    """The tuples of facts, equal ones next to each other; reused by tables in succession that have the same ones."""

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

    def reused_for(self, columns: Sequence[Array]) -> DistinctTuples:
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


def arrest_impossible(plan: Plan, grounding: Grounding, state: State) -> None:
    """Arrest neurons everywhere whose statements give them no value in common."""
    for node in plan.shared.impossible:
        root = neuron_root(plan.lifted, node)
        formula = unfold(plan.lifted, root)
        atoms, world = grounding.atoms, grounding.domain
        every = Assembler(formula, Needs((Need(0, frozenset()),), {}), atoms, world, grounding.guard, {}).every()
        table = atoms.tables[node]
        rows = atoms.materialise(table, list(every.ids[0].values()), every.length(0))
        state.trail.step()
        for side, value in enumerate((root.lower, root.upper)):
            state.put(table, side, rows, value, Kind.INITIAL)
        state.arrest(table, rows)


def list_asked(plan: Plan, grounding: Grounding) -> None:
    """List the ground atoms that queries mention."""
    atoms, index = grounding.atoms, grounding.domain.index
    for atom in plan.asked:
        table, ids = atoms.tables[atom.node], [np.array([index[str(text)]], np.int32) for text in atom.arguments]
        table.enlist("listed", atoms.materialise(table, ids, 1))


def loosen_comparisons(run: Run) -> set[str | None]:
    """Loosen comparisons whose terms are undefined for the given numbers: they imply less than for unknown numbers, so
    such rows start from their own numbers. Returns the names of the tables."""
    chosen = [formula for formula in run.plan.shared.formulas if _partial(formula) and _differs(run, formula)]
    chosen = [formula for formula in chosen if formula.auxiliary not in run.waiting]
    for formula in chosen:
        initialise(run, formula)
    return {formula.auxiliary for formula in chosen}


def begin_aggregates(run: Run, pending: Collection[str]) -> None:
    """Give aggregates, and what is beneath or above them, their first bounds, operands first: all that do not read
    ``pending`` predicates, which are still to be completed."""
    graph = run.plan.lifted.graph
    for formula in run.plan.shared.formulas if run.waiting else ():
        name = str(formula.auxiliary)
        if name not in run.waiting or not graph.below(name).isdisjoint(pending):
            continue
        run.waiting.discard(name)
        if formula.compares and not _differs(run, formula):
            _begin_neurons(run, [response for response in run.demanded if response.rule.formula is formula])
            continue
        initialise(run, formula)
        run.begun = run.state.trail.tick + 1
        for response in run.responses.values() if formula.measures else ():
            if response.rule.formula.auxiliary == name:
                response.rule.started = True  # all that its operands say is known
        table = run.grounding.atoms.tables[name]
        run.encoded.renew([table])
        catch_up(run, changes({table: np.arange(len(table), dtype=np.int32)}))


def initialise_shared(run: Run) -> set[str | None]:
    """Give shared neurons, operands first, the bounds that their operands imply before the first round; comparisons
    have theirs already, and so has what aggregates read. Returns the names of the tables."""
    begun = run.plan.around_aggregates
    chosen = [f for f in run.plan.shared.formulas if not f.compares and f.auxiliary not in begun]
    for formula in chosen:
        if str(formula.auxiliary) in run.plan.partly_known:
            initialise_neuron(run, str(formula.auxiliary))
        else:
            initialise(run, formula)
    return {formula.auxiliary for formula in chosen}


def _differs(run: Run, formula: Formula) -> bool:
    """Whether a comparison that is not worked out is known."""
    return run.grounding.atoms.tables[str(formula.auxiliary)].default != (0.0, 1.0)


def _partial(formula: Formula) -> bool:
    comparison = formula.neurons[formula.top].arithmetic
    return isinstance(comparison, Comparison) and not comparison.total


def initialise(run: Run, formula: Formula) -> None:
    """Give a shared neuron the bounds that its operands give it before the first round."""
    needs, recorder, member = _needs(run, formula), run.grounding.recorder if formula.measures else None, -1
    if recorder is not None:
        member = recorder.enter(formula, needs, "first bounds")
    with nullcontext() if recorder is None else recorder.measured(member, ()):
        view = _assembler(run, formula, needs, member, recorder).every()
        _put_first(run, formula, needs, view)
    if recorder is not None:
        recorder.proposals[member] += view.length(0)


def initialise_rows(run: Run, formula: Formula, rows: Array) -> None:
    """Give some rows of a shared neuron the bounds that its operands give them now."""
    assembler = first_assembler(run, formula)
    columns = run.grounding.atoms.tables[str(formula.auxiliary)].tuples.columns
    view = assembler.of([column.take(rows) for column in columns], len(rows))
    _put_first(run, formula, assembler.needs, view)


def first_assembler(run: Run, formula: Formula) -> Assembler:
    """The assembler of a shared neuron's instances for its first bounds, cached."""
    name = str(formula.auxiliary)
    if name not in run.assemblers:
        run.assemblers[name] = _assembler(run, formula, _needs(run, formula))
    return run.assemblers[name]


def _assembler(
    run: Run, formula: Formula, needs: Needs, member: int = -1, recorder: Recorder | None = None
) -> Assembler:
    place = run.grounding.atoms, run.grounding.domain, run.grounding.guard, {}
    return Assembler(formula, needs, *place, member, recorder, upward=run.state.trail.trace is None)


def _needs(run: Run, formula: Formula) -> Needs:
    needs = run.plan.finder(formula).initial()
    if formula.auxiliary in run.plan.groups:
        needs = restricted(needs, formula, run.plan.groups[str(formula.auxiliary)])
    if any(literal.table == EQUAL for literal in needs.literals):
        add_equality(run.grounding.atoms, run.grounding.domain)
    return needs


def _put_first(run: Run, formula: Formula, needs: Needs, view: Instances) -> None:
    """Put the first bounds of the instances of a shared neuron."""
    if not view.length(0):
        return
    state, atoms, grounding = run.state, run.grounding.atoms, run.grounding
    up = upward(formula, entering(reader(view, state.dtype), formula), view.groupings)[formula.top]
    lower, upper = up.lower.clip(formula.lower), up.upper.clip(None, formula.upper)
    crossed = lower > upper + tolerance(state.dtype)
    table = atoms.tables[str(formula.auxiliary)]
    columns, length = list(view.ids[0].values()), view.length(0)
    empty = not len(table)
    rows = spelled_out(atoms.add_new(table, columns, length)) if empty else atoms.materialise(table, columns, length)
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
        scratch.add(formula, run.plan.analyses.of(formula), needs, leaf_modes(formula, lambda _name, _side: ALL), {})
        scratch.hold(0, view)
        number = trace.adopt(scratch)
    for side, (values, implied) in enumerate(zip(bounds, worked_out, strict=True)):
        traced = implied & (trace is not None)  # by its operands, which a replay works out again
        at, others = np.flatnonzero(traced), np.flatnonzero(~traced)
        state.put(table, side, rows.take(at), values.take(at), Kind.INITIAL, number, ROOT, at)
        state.put(table, side, rows.take(others), values.take(others), Kind.INITIAL)
    table.deviate(rows, *table.read(rows))


def initialise_comparisons(run: Run) -> None:
    """Give comparisons their truth; bounds for their numbers, and contradictions with a given truth, wait for a
    round."""
    _begin_neurons(run, [response for response in run.demanded if response.rule.formula.compares])


def initialise_neuron(run: Run, name: str) -> None:
    """The same for another shared neuron."""
    _begin_neurons(run, [response for response in run.demanded if response.rule.formula.auxiliary == name])


def _begin_neurons(run: Run, responses: Sequence[RuleResponse]) -> None:
    """Work out shared neurons together, but for those that wait for aggregates."""
    due = [response for response in responses if response.rule.formula.auxiliary not in run.waiting]
    begin(run, [(response, response.rule.assignments(Delta())) for response in due])


def catch_up(run: Run, delta: Delta) -> None:
    """The same for shared neurons that became needed by what has moved."""
    due = [response for response in run.demanded if response.rule.formula.auxiliary not in run.waiting]
    compared = [response for response in due if response.rule.formula.compares]
    begin(run, [(response, response.rule.demanded(delta)) for response in compared])
    for response in due[len(compared) :]:
        begin(run, [(response, response.rule.demanded(delta))])


def begin(run: Run, due: Sequence[tuple[RuleResponse, Iterator[Bindings]]]) -> None:
    """Give shared neurons their first bounds, by some of the instances that they respond to."""
    now = Round(run.grounding.atoms, run.state, run.encoded)
    for response, assignments in due:
        with run.measured(response.member, now.inbox):
            for bindings in assignments:
                response.begin(bindings, now)
    if now.inbox:
        run.state.trail.step()
        for table, sides in now.inbox.by_relation():
            raised, lowered = (run.merge.settle(table, side, proposals) for side, proposals in enumerate(sides))
            note(Delta(), table, raised, lowered, run.state, run.encoded)


def work_out_demand(plan: Plan, grounding: Grounding) -> None:
    """Compute the demand of the queries semi-naively, in relations of its own: each magic rule joins the new tuples of
    its head."""
    if plan.demand is None:
        return
    atoms, index, needed = grounding.atoms, grounding.domain.index, dict[str, Relation]()
    for name, (predicate, places) in plan.demands.items():
        sorts = plan.schemas[predicate].sorts
        needed[predicate] = atoms.add(Schema(name, tuple(sorts[place] for place in places), (0.0, 0.0)))
    for predicate, entities in plan.demand.asked:
        ids = [np.array([index[text]], np.int32) for text in entities]
        needed[predicate].enlist(ENTERED, atoms.materialise(needed[predicate], ids, 1))
    joins = [_MagicRule(grounding, passing, needed) for passing in plan.demand.passings]
    moved = True
    while moved:
        extended = [join.extend() for join in joins]
        moved = any(extended)


class _MagicRule:
    """A magic rule, with the number of needed tuples that it has read."""

    def __init__(self, grounding: Grounding, passing: Passing, needed: Mapping[str, Relation]) -> None:
        head = passing.head
        self._head = None if head is None else Literal(needed[head[0]].name, head[1], ENTERED)
        self._literals = passing.literals
        self._read: int | None = None
        names = {*(() if head is None else head[1]), *(a for literal in passing.literals for a in literal.arguments)}
        first, *_ = passing.formula.blocks
        block = replace(first, variables=tuple(variable for variable in first.variables if variable in names))
        formula = replace(passing.formula, blocks=(block,))
        guard = partial(grounding.guard, use="joined")
        self._joins = Joins(formula, grounding.atoms, grounding.domain, guard, -1, None)
        self._atoms = grounding.atoms
        self._table = needed[passing.target[0]]
        self._target = self._joins.pattern((self._table.name, passing.target[1]))

    def extend(self) -> bool:
        """Join the new tuples; returns whether there are any results."""
        before = len(self._table.tuples)
        for bindings in self._bindings():
            columns = self._target.tuples(bindings.column, bindings.length)
            rows = self._atoms.materialise(self._table, columns, bindings.length)
            self._table.enlist(ENTERED, distinct_values(rows))
        return len(self._table.tuples) > before

    def _bindings(self) -> Iterable[Bindings]:
        joins, read = self._joins, self._read
        if self._head is None:
            self._read = 0
            return joins.whole(self._literals, Path(0)) if read is None else ()
        self._read = joins.length(self._head)
        pattern = joins.pattern((self._head.table, self._head.arguments))
        start = joins.matched(pattern, pattern.fitting(joins.listing(self._head)[read or 0 :]))
        return list(joins.joined(start, joins.step(start.known, self._literals), Path(0)))
