"""Inference as one function: facts and a lifted graph in, a fixpoint out. This module has the schedule."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from types import MappingProxyType

import numpy as np

from lnnkit.analysis.relevance import SIDES
from lnnkit.arrays import DOUBLE, quietly
from lnnkit.engine.bounds_state import State
from lnnkit.engine.completion import Unfinished, complete
from lnnkit.engine.inference_run import Pace, Run, Status, Watch, on_cycles, run_of
from lnnkit.engine.merge import Rows, changes
from lnnkit.engine.planning.compiling import FactProfile, Plans
from lnnkit.engine.planning.inference_plan import Outline, Plan
from lnnkit.engine.rounds import infer_rounds
from lnnkit.engine.start.first_bounds import (
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
from lnnkit.logic.bounds import Bounds
from lnnkit.store.layout import Domain, Given, domain
from lnnkit.store.relations import Relations
from lnnkit.store.row_arrays import Array
from lnnkit.trail.events import Trace, Trail


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
    labelled: Mapping[str, Sequence[Array]] = MappingProxyType({}),
    unnamed: Collection[str] = (),
    narrow: bool = False,
) -> Run:
    """The fixpoint of a program whose entities are numbered by ``index``, below its length. ``labelled`` has ids by
    sort, beside those that facts and statements name; ``unnamed`` are the entities that only queries mention.

    ``watch`` is called after every round and may stop there, ``recorder`` at every join; with ``record``, the state
    keeps the history that explanations read, and with ``trace`` all that a replay needs. If ``narrow``, closed derived
    predicates are completed only as far as bound queries need them.
    The ``guard`` is asked before instances of a formula are made, and may raise.
    """
    world = domain(plans.lifted, index, given, labelled, unnamed)
    state = State(dtype, Trail(dtype, trace, values=record), device)
    grounding = _with_facts(plans.outline(world), world, given, state, guard, recorder)
    profile = _profile(grounding.atoms)
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


def _profile(atoms: Relations) -> FactProfile:
    """What the facts in relations bound."""
    tables = atoms.tables.items()
    moved = frozenset((name, side) for name, table in tables for side in SIDES if len(table.listing(side)))
    listed = frozenset(name for name, table in tables if len(table.listing("listed")))
    return FactProfile(moved, listed, frozenset(name for name, table in tables if len(table.listing("given"))))


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
    run.waiting |= run.plan.around_aggregates
    _renew(run, loosen_comparisons(run))
    initialise_comparisons(run)
    begin_aggregates(run, run.plan.lifted.closed_derived)
    changed = complete(run, None, watch)
    start = run.state.trail.chunk_count
    catch_up(run, changes(changed))
    catch_up(run, changes(_renew(run, initialise_shared(run))))
    changed = {}
    pace = Pace()  # gains of rounds and completions together: their alternation may converge slowly too
    while True:
        before = run.progress.rounds
        infer_rounds(run, run.inference, round_limit, changed, watch, pace)
        if not run.strata or run.progress.status is not Status.CONVERGED or run.progress.rounds == before:
            return
        moved = {run.grounding.atoms.numbered[number].name for number in run.state.trail.tables(start)}
        changed = complete(run, moved, watch, pace)
        if not changed:
            return
        if pace.creeps:
            run.progress.status = Status.CREEPING
            run.progress.creeping |= on_cycles(run, pace.slow)
            return
        start = run.state.trail.chunk_count
        catch_up(run, changes(changed))


def _renew(run: Run, names: set[str | None]) -> Rows:
    """Classify the rows of these tables again; returns them."""
    tables = [table for table in run.grounding.atoms.numbered if table.name in names]
    run.encoded.renew(tables)
    return {table: np.arange(len(table), dtype=np.int32) for table in tables}


def copied(run: Run) -> Run:
    """A copy of a run, which shares what rounds only read."""
    grounding = run.grounding
    shared: list[object] = [
        run.plan,
        grounding.guard,
        grounding.domain.index.maps[-1],
        *grounding.domain.sorts.values(),
        *(shape.analysis for shape in grounding.shapes),
        *(table.loaded_bounds for table in grounding.atoms.numbered),
    ]
    return deepcopy(run, {id(part): part for part in shared})
