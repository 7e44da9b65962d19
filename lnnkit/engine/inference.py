"""Inference as one function: facts and a lifted graph in, a fixpoint out. This module has the schedule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType

import numpy as np

from lnnkit.analysis.supports import Known
from lnnkit.arrays import DOUBLE, Array, quietly
from lnnkit.engine.completion import Unfinished, complete
from lnnkit.engine.contested import Contested, contested
from lnnkit.engine.moves import Rows, changes
from lnnkit.engine.rounds import infer_rounds
from lnnkit.engine.start.first_bounds import catch_up, initialise_comparisons, initialise_neuron
from lnnkit.engine.start.prepare import initialise_shared, loosen_comparisons, prepare
from lnnkit.engine.start.prepared import Prepared
from lnnkit.engine.termination import Pace, Watch, on_cycles
from lnnkit.engine.workspace import Progress, Status, Workspace, workspace
from lnnkit.formula.unfolding import LEAF, Formula
from lnnkit.graph.lifted import LiftedGraph
from lnnkit.join.instances.grounding import Guard, Use
from lnnkit.join.join_plan import Recorder
from lnnkit.logic.bounds import Bounds
from lnnkit.store.layout import Given
from lnnkit.trail.events import Trace


@dataclass(frozen=True)
class Fixpoint:
    """A grounding at its fixpoint; queries read it through `lnnkit.answers.query_rows`."""

    prepared: Prepared
    space: Workspace

    @property
    def progress(self) -> Progress:
        return self.space.progress

    @cached_property
    def contested(self) -> Contested:
        """The bounds that depend on a contradiction."""
        return contested(self.space)


@dataclass(frozen=True)
class Budget:
    """How many instances of one formula may be made: ``instances``, or as many as ``memory`` bytes hold. The memory is
    what ``free`` returns when it is first asked, and at least ``least`` bytes."""

    instances: int | None = None
    free: Callable[[], int] = int
    least: int = 0

    @cached_property
    def memory(self) -> int:
        return max(self.least, self.free())

    def of(self, formula: Formula, use: Use = "evaluated") -> int:
        return self.memory // footprint(formula, use) if self.instances is None else self.instances

    def in_any_case(self, formula: Formula, use: Use = "evaluated") -> int:
        """As ``of``, without asking how much memory is free."""
        return self.least // footprint(formula, use) if self.instances is None else self.instances


def footprint(formula: Formula, use: Use) -> int:
    """The bytes that one instance takes at the peak of memory. One that is joined takes those of the atoms that it
    bounds and of the record that it set their bounds; one of a query, or with quantifiers whose rows are read together,
    is in memory while all are evaluated. Fitted to the peaks of formulas of 3 to 15 neurons, at 10^6 instances that all
    bound different atoms: 0.9 to 1.5 times the measured peak, and up to 2.5 times for inner rows, which take less."""
    if use == "joined":
        return 90 + 10 * len(formula.leaves) + 150 * _told(formula)
    return 90 + 30 * len(formula.neurons) + 50 * (len(formula.blocks) - 1)


def _told(formula: Formula) -> int:
    """The number of atoms that an instance is expected to bound: those of its consequent."""
    top = formula.neurons[formula.top]
    stack = [top.operands[1]] if top.kind == "implies" else []
    found: set[tuple[str, tuple[int | str, ...]]] = set()
    while stack:
        neuron = formula.neurons[stack.pop()]
        stack.extend(neuron.operands)
        if neuron.kind == LEAF:
            found.add((neuron.source, neuron.arguments))
    return max(1, len(found))


class TooLarge(Exception):
    """Grounding ``formula`` would take ``count`` instances, more than ``allowed`` by the budget."""

    def __init__(self, formula: Formula, count: int, allowed: int, budget: Budget) -> None:
        super().__init__(f"{count} instances exceed the budget of {allowed}")
        self.formula = formula
        self.count = count
        self.allowed = allowed
        self.budget = budget


def guard_of(budget: Budget) -> Guard:
    """A guard that raises if a formula has more instances than the budget allows."""
    known: dict[tuple[int, Use], tuple[Formula, int]] = {}  # how many there is room for in any case

    def guard(formula: Formula, count: int, use: Use = "evaluated") -> None:
        room = known.get((id(formula), use))
        if room is None:
            room = known[id(formula), use] = formula, budget.in_any_case(formula, use)
        if count > room[1]:
            allowed = budget.of(formula, use)
            if count > allowed:
                raise TooLarge(formula, count, allowed, budget)

    return guard


@quietly
def infer(
    lifted: LiftedGraph,
    index: Mapping[str, int],
    given: Sequence[Given],
    *,
    budget: Budget,
    round_limit: int,
    dtype: np.dtype = DOUBLE,
    device: str = "cpu",
    watch: Watch | None = None,
    recorder: Recorder | None = None,
    known: Known | None = None,
    record: bool = True,
    trace: Trace | None = None,
    assumable: Collection[str] = (),
    labelled: Mapping[str, Sequence[Array]] = MappingProxyType({}),
    unnamed: Collection[str] = (),
    narrow: bool = False,
) -> Fixpoint:
    """The fixpoint of a program whose entities are numbered by ``index`` (dense, by sorted text). ``labelled`` has the
    columns of label tables, by sort; ``unnamed`` are the entities that only queries mention.

    ``watch`` is called after every round and may stop there, ``recorder`` at every join; ``known`` caches what does
    not depend on the facts; with ``record``, the state keeps the history that explanations read, and with ``trace``
    all that a replay needs. Bounds of the ``assumable`` predicates may be tightened later, to continue from the
    fixpoint (see `lnnkit.engine.continuation`). If ``narrow``, closed derived predicates are completed only as far as
    bound queries need them.
    Raises `TooLarge` before more instances of one formula are made than the budget allows.
    """
    args = lifted, index, given, labelled, guard_of(budget), dtype, device, recorder, known
    prepared = prepare(*args, record=record, trace=trace, assumable=assumable, unnamed=unnamed, narrow=narrow)
    return _infer(prepared, round_limit, watch)


def _infer(prepared: Prepared, round_limit: int, watch: Watch | None) -> Fixpoint:
    space = workspace(prepared.grounding, prepared.state)
    if prepared.state.trail.trace is not None:
        start = (Bounds(*(end.copy() for end in table.bounds)) for table in prepared.grounding.atoms.numbered)
        prepared.state.trail.trace.start = list(start)
    progress = space.progress
    try:
        _settle(prepared, space, round_limit, watch)
    except Unfinished as stopped:
        progress.status = stopped.status
    if progress.status is Status.CONVERGED and progress.creeping:
        progress.status = Status.CREEPING
    elif progress.status is Status.CONVERGED and space.drift.met:
        progress.status = Status.DRIFTING
    return Fixpoint(prepared, space)


def _settle(prepared: Prepared, space: Workspace, round_limit: int, watch: Watch | None) -> None:
    """Alternate completion and rounds until neither changes anything."""
    _renew(space, loosen_comparisons(prepared))
    initialise_comparisons(space)
    catch_up(space, changes(complete(prepared, space, first=True, watch=watch)))
    catch_up(space, changes(_renew(space, initialise_shared(prepared, partial(initialise_neuron, space)))))
    changed: Rows = {}
    pace = Pace()  # gains of rounds and completions together: their alternation may converge slowly too
    while True:
        before = space.progress.rounds
        infer_rounds(space, prepared.inference, round_limit, changed, watch, pace)
        if not prepared.strata or space.progress.status is not Status.CONVERGED or space.progress.rounds == before:
            return
        changed = complete(prepared, space, first=False, watch=watch, pace=pace)
        if not changed:
            return
        if pace.creeps:
            space.progress.status = Status.CREEPING
            space.progress.creeping |= on_cycles(space, pace.slow)
            return
        catch_up(space, changes(changed))


def _renew(space: Workspace, names: set[str | None]) -> Rows:
    """Classify the rows of these tables again; returns them."""
    tables = [table for table in space.grounding.atoms.numbered if table.name in names]
    space.encoded.renew(tables)
    return {table: np.arange(len(table), dtype=np.int32) for table in tables}
