"""Facts of a fixpoint that were stated or retracted enter its relations, and the sorts of its entities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.analysis.relevance import LISTED, SIDES
from lnnkit.engine.inference_run import Run
from lnnkit.engine.revision.changed_sorts import ChangedSorts, changed_sorts
from lnnkit.engine.revision.reset_rows import RowsOf
from lnnkit.store.relations import Relation
from lnnkit.store.row_arrays import Array


@dataclass(frozen=True, slots=True)
class RestatedAtom:
    """An atom by the ids of its entities: whether its facts were ``retracted``, and the ``bounds`` that facts stated
    since; None for none."""

    predicate: str
    entities: tuple[int, ...]
    retracted: bool
    bounds: tuple[float, float] | None


def enter_restated(run: Run, restated: Sequence[RestatedAtom]) -> tuple[RowsOf, RowsOf, RowsOf] | None:
    """The rows to which facts give less now at some end, those to which they give more, and those that are new among
    the listed ones, where rules bound these alone; None if the plan was not made for such facts, or they contradict
    each other."""
    index, tables = run.grounding.domain.index, run.grounding.atoms.tables
    asked = {(atom.node, tuple(index[str(text)] for text in atom.arguments)) for atom in run.plan.asked}
    loosened, tightened, new = dict[Relation, Array](), dict[Relation, Array](), dict[Relation, Array]()
    for name in dict.fromkeys(atom.predicate for atom in restated):
        table, atoms = tables[name], [atom for atom in restated if atom.predicate == name]
        entities = np.array([atom.entities for atom in atoms], np.int32).reshape(len(atoms), len(table.sorts))
        columns = [column.copy() for column in entities.T]
        stated = np.array([atom.bounds is not None for atom in atoms])
        foreseen = bool(table.loaded or table.restated) or not stated.any()
        rows = run.grounding.atoms.materialise(table, columns, len(atoms))
        before, given_before = table.stated(rows), table.flags("given").take(rows)
        kept = given_before & ~np.array([atom.retracted for atom in atoms])
        ends = np.array([atom.bounds or table.default for atom in atoms], before.lower.dtype).T
        lower = np.where(kept, np.where(stated, np.maximum(before.lower, ends[0]), before.lower), ends[0])
        upper = np.where(kept, np.where(stated, np.minimum(before.upper, ends[1]), before.upper), ends[1])
        for side, end, default in zip(SIDES, (lower, upper), table.default, strict=True):  # rules that read it
            foreseen &= (name, side) in run.plan.relevance.produced or bool((end == default).all())
        if not foreseen or (lower > upper).any():
            return None
        table.restated |= dict(zip(rows.tolist(), zip(lower.tolist(), upper.tolist(), strict=True), strict=True))
        table.changes += 1
        looser = (lower < before.lower) | (upper > before.upper)
        tighter = (lower > before.lower) | (upper < before.upper)
        given, relevance = kept | stated, run.plan.relevance
        if table.default != table.unknown:
            # rules do not listen to ends that come nearer to the default, and proofs tell it from facts
            looser |= tighter | (given != given_before)
        listed_alone = LISTED in [relevance.mode(name, side) for side in SIDES]
        unlisted = given & ~table.flags("listed").take(rows) & listed_alone
        for target, chosen in ((loosened, looser), (tightened, tighter), (new, unlisted)):
            if chosen.any():
                target[table] = np.sort(rows[chosen])
        listed = given | np.array([(name, atom.entities) in asked for atom in atoms])
        for column, flags in (("given", given), ("listed", listed)):
            table.enlist(column, rows[given])
            table.delist(column, rows[~flags])
    return loosened, tightened, new


def restated_sorts(run: Run, restated: Sequence[RestatedAtom]) -> ChangedSorts | None:
    """The sorts that change, once the facts have entered."""
    stated, retracted = dict[str, set[int]](), dict[str, set[int]]()
    for atom in restated:
        for sort, entity in zip(run.grounding.atoms.tables[atom.predicate].sorts, atom.entities, strict=True):
            if atom.bounds is not None:
                stated.setdefault(sort, set()).add(entity)
            elif atom.retracted:
                retracted.setdefault(sort, set()).add(entity)
    return changed_sorts(run, stated, retracted, len(restated))
