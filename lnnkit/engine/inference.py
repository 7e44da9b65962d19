"""Inference as one function: facts and a lifted graph in, a fixpoint out. This module has the schedule.

It continues from a fixpoint after the bounds of some atoms were tightened, on a copy. Bounds only tighten, so rounds
from an earlier fixpoint lead to the same one as rounds from the facts, as long as nothing is arrested on the way and no
closed predicate is completed from what changes. Otherwise the caller infers from scratch.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from lnnkit.analysis.relevance import ALL, SIDES
from lnnkit.arrays import DOUBLE, quietly
from lnnkit.engine.bounds_state import State, distinct
from lnnkit.engine.completion import Unfinished, complete
from lnnkit.engine.inference_run import Pace, Run, Status, Watch, on_cycles, run_of
from lnnkit.engine.merge import Rows, changes, note
from lnnkit.engine.planning.compiling import FactProfile, Plans
from lnnkit.engine.planning.inference_plan import Outline, Plan
from lnnkit.engine.rounds import infer_rounds
from lnnkit.engine.start.first_bounds import (
    around_aggregates,
    arrest_impossible,
    begin_aggregates,
    catch_up,
    enter_facts,
    initialise_comparisons,
    initialise_shared,
    list_asked,
    loosen_comparisons,
    work_out_demand,
)
from lnnkit.garbage import collection_paused
from lnnkit.join.instances.grounding import Grounding, Guard
from lnnkit.join.join_plan import Recorder
from lnnkit.join.triggers import Delta
from lnnkit.logic.bounds import Bounds
from lnnkit.store.layout import Domain, Given, domain
from lnnkit.store.relations import Relation, Relations
from lnnkit.store.row_arrays import Array
from lnnkit.trail.events import Kind, Trace, Trail


@quietly
@collection_paused()
def infer(
    plans: Plans,
    index: Mapping[str, int],
    given: Sequence[Given],
    *,
    guard: Guard,
    round_limit: int,
    dtype: np.dtype = DOUBLE,
    device: str = "cpu",
    watch: Watch | None = None,
    recorder: Recorder | None = None,
    record: bool = True,
    trace: Trace | None = None,
    assumable: Collection[str] = (),
    labelled: Mapping[str, Sequence[Array]] = MappingProxyType({}),
    unnamed: Collection[str] = (),
    narrow: bool = False,
) -> Run:
    """The fixpoint of a program whose entities are numbered by ``index``, below its length. ``labelled`` has ids by
    sort, beside those that facts and statements name; ``unnamed`` are the entities that only queries mention.

    ``watch`` is called after every round and may stop there, ``recorder`` at every join; with ``record``, the state
    keeps the history that explanations read, and with ``trace`` all that a replay needs. Bounds of the ``assumable``
    predicates may be tightened later, to continue from the fixpoint (see `assumed`). If ``narrow``,
    closed derived predicates are completed only as far as bound queries need them.
    The ``guard`` is asked before instances of a formula are made, and may raise.
    """
    world = domain(plans.lifted, index, given, labelled, unnamed)
    state = State(dtype, Trail(dtype, trace, values=record), device)
    grounding = _with_facts(plans.outline(world), world, given, state, guard, recorder)
    profile = _profile(grounding.atoms, frozenset(assumable))
    run = _started(plans.plan(world, profile, narrow=narrow), grounding, state)
    _infer(run, round_limit, watch)
    return run


def _with_facts(
    outline: Outline, world: Domain, given: Sequence[Given], state: State, guard: Guard, recorder: Recorder | None
) -> Grounding:
    """The relations of a program with its facts, and no rules yet."""
    atoms = Relations(world.stranger + 1, state.dtype)
    for schema in outline.schemas.values():
        atoms.add(schema)
    enter_facts(atoms, state, given)
    return Grounding(atoms, world, guard, recorder)


def _profile(atoms: Relations, assumable: frozenset[str]) -> FactProfile:
    """What the facts in relations bound."""
    tables = atoms.tables.items()
    moved = frozenset((name, side) for name, table in tables for side in SIDES if len(table.listing(side)))
    listed = frozenset(name for name, table in tables if len(table.listing("listed")))
    return FactProfile(
        moved, listed, frozenset(name for name, table in tables if len(table.listing("given"))), assumable
    )


def _started(plan: Plan, grounding: Grounding, state: State) -> Run:
    """The run of a plan, before anything is inferred."""
    arrest_impossible(plan, grounding, state)
    list_asked(plan, grounding)
    work_out_demand(plan, grounding)
    return run_of(plan, grounding, state)


def _infer(run: Run, round_limit: int, watch: Watch | None) -> None:
    trace, progress = run.state.trail.trace, run.progress
    if trace is not None:
        tables = run.grounding.atoms.numbered
        trace.start = [Bounds(*(end.copy() for end in table.bounds)) for table in tables]
    try:
        _settle(run, round_limit, watch)
    except Unfinished as stopped:
        progress.status = stopped.status
    if progress.status is Status.CONVERGED and progress.creeping:
        progress.status = Status.CREEPING
    elif progress.status is Status.CONVERGED and run.drift.met:
        progress.status = Status.DRIFTING
        progress.creeping = on_cycles(run, run.drift.drifting())


def _settle(run: Run, round_limit: int, watch: Watch | None) -> None:
    """Alternate completion and rounds until neither changes anything."""
    run.waiting |= around_aggregates(run.plan)
    _renew(run, loosen_comparisons(run))
    initialise_comparisons(run)
    begin_aggregates(run, run.plan.lifted.closed_derived)
    catch_up(run, changes(complete(run, first=True, watch=watch)))
    catch_up(run, changes(_renew(run, initialise_shared(run))))
    changed: Rows = {}
    pace = Pace()  # gains of rounds and completions together: their alternation may converge slowly too
    while True:
        before = run.progress.rounds
        infer_rounds(run, run.inference, round_limit, changed, watch, pace)
        if not run.strata or run.progress.status is not Status.CONVERGED or run.progress.rounds == before:
            return
        changed = complete(run, first=False, watch=watch, pace=pace)
        if not changed:
            return
        if pace.creeps:
            run.progress.status = Status.CREEPING
            run.progress.creeping |= on_cycles(run, pace.slow)
            return
        catch_up(run, changes(changed))


def _renew(run: Run, names: set[str | None]) -> Rows:
    """Classify the rows of these tables again; returns them."""
    tables = [table for table in run.grounding.atoms.numbered if table.name in names]
    run.encoded.renew(tables)
    return {table: np.arange(len(table), dtype=np.int32) for table in tables}


# --- further facts ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assumption:
    """An atom by the ids of its entities, and the bounds that it is given."""

    predicate: str
    entities: tuple[int, ...]
    lower: float
    upper: float


def assumed(earlier: Run, assumptions: Sequence[Assumption], round_limit: int) -> Run | None:
    """The fixpoint with the assumptions among its facts; None where it cannot be reached from this one."""
    if not _reachable(earlier, assumptions):
        return None
    run = _copied(earlier)
    state, atoms = run.state, run.grounding.atoms
    moved: tuple[dict[Relation, list[Array]], dict[Relation, list[Array]]] = ({}, {})
    for assumption in assumptions:
        table = atoms.tables[assumption.predicate]
        columns = [np.array([entity], np.int32) for entity in assumption.entities]
        row = atoms.materialise(table, columns, 1)
        for name in ("listed", "given"):
            table.enlist(name, row)
        for side, value in enumerate((assumption.lower, assumption.upper)):
            before = float(table.take(side, row)[0])
            tighter = min(before, value) if side else max(before, value)
            if abs(tighter - before) > state.noise:
                state.put(table, side, row, tighter, Kind.STATED)
                moved[side].setdefault(table, []).append(row)
    arrested, delta, changed = (state.crossings, len(run.progress.arrested)), Delta(), dict[Relation, Array]()
    for table in dict.fromkeys((*moved[0], *moved[1])):
        raised, lowered = (distinct(side.get(table, [])) for side in moved)
        changed[table] = distinct([raised, lowered])
        if len(note(delta, table, raised, lowered, state, run.encoded)):
            return None
    catch_up(run, delta)
    infer_rounds(run, run.inference, round_limit, changed)
    if (state.crossings, len(run.progress.arrested)) != arrested:
        return None
    return run


def _reachable(earlier: Run, assumptions: Sequence[Assumption]) -> bool:
    """Whether the grounding was made for these assumptions."""
    progress, relevance = earlier.progress, earlier.plan.relevance
    if earlier.strata or progress.arrested or earlier.state.crossed or progress.status is not Status.CONVERGED:
        return False
    graph = earlier.plan.lifted.graph
    for assumption in assumptions:
        table = earlier.grounding.atoms.tables[assumption.predicate]
        if graph.nodes[assumption.predicate]["closed"] or table.numeric:
            return False
        sides = [(assumption.predicate, side) for side in SIDES]
        listed_only = [side for side in sides if relevance.mode(*side) != ALL and side in relevance.derived]
        if listed_only and not len(table.listing("listed")):
            return False  # proposals for listed atoms were not prepared
        if _absent(assumption, table) and not _insertable(earlier, assumption, table):
            return False
        informative = (assumption.lower > 0.0, assumption.upper < 1.0)
        for side, says in zip(SIDES, informative, strict=True):
            if says and (assumption.predicate, side) not in relevance.produced:
                return False
    return True


def _absent(assumption: Assumption, table: Relation) -> bool:
    """Whether its atom has no row yet."""
    if not len(table.tuples):
        return True
    columns = [np.array([entity], np.int32) for entity in assumption.entities]
    return int(table.tuples.find(columns, 1)[0]) < 0


def _insertable(run: Run, assumption: Assumption, table: Relation) -> bool:
    """Whether a new atom adds no member to a sort."""
    members = run.grounding.domain.members
    return all(bool(members(sort)[entity]) for sort, entity in zip(table.sorts, assumption.entities, strict=True))


def _copied(run: Run) -> Run:
    """A copy, sharing what rounds only read."""
    grounding = run.grounding
    shared: list[object] = [
        run.plan,
        grounding.domain,
        grounding.guard,
        *(member.formula for member in grounding.members),
        *(shape.formula for shape in grounding.shapes),
        *(shape.analysis for shape in grounding.shapes),
    ]
    return deepcopy(run, {id(part): part for part in shared})
