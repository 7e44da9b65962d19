"""Incremental inference: continues from a fixpoint after the bounds of some atoms were tightened, on a copy.

Bounds only tighten, so rounds from an earlier fixpoint lead to the same one as rounds from the facts, as long as
nothing is arrested on the way and no closed predicate is completed from what changes. Otherwise the caller infers
from scratch.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from lnnkit.analysis.relevance import ALL, SIDES
from lnnkit.engine.bounds_state import distinct
from lnnkit.engine.inference_run import Run, Status
from lnnkit.engine.moves import Delta, note
from lnnkit.engine.rounds import infer_rounds
from lnnkit.engine.start.first_bounds import catch_up
from lnnkit.store.columns.row_arrays import Array
from lnnkit.store.relations import Relation
from lnnkit.trail.events import Kind


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
