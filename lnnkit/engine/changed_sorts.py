"""Entities that join sorts because facts name them now, and entities that leave sorts because nothing does any more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

from lnnkit.analysis.needs import EQUAL
from lnnkit.check.program import ENTITY
from lnnkit.engine.bounds_state import distinct, no_rows
from lnnkit.engine.inference_run import Run
from lnnkit.engine.start.first_bounds import first_assembler
from lnnkit.formula.unfolding import Formula
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.store.relations import Relation
from lnnkit.store.row_arrays import Array

_BLOCK = 2**16  # rows that are searched for an entity at a time

IdsBySort = Mapping[str, Array]
IdSets = Mapping[str, Set[int]]  # by the sorts of positions


@dataclass(frozen=True)
class ChangedSorts:
    """The ids that are ``joining`` and ``leaving`` each sort that changes. ``groups`` are the rules, and ``neurons``
    the definitions of shared neurons, with a quantifier over one of these sorts that may name each of its entities, or
    all but one: elsewhere one more or less at its defaults makes no difference."""

    joining: IdsBySort
    leaving: IdsBySort
    groups: Set[DeltaRule] = frozenset()
    neurons: Sequence[Formula] = ()

    def __bool__(self) -> bool:
        return bool(self.joining or self.leaving)

    def named(self, run: Run) -> Mapping[Relation, Array]:
        """The rows that name an entity that leaves."""
        rows = dict[Relation, Array]()
        for table in run.grounding.atoms.tables.values():
            columns = zip(table.sorts, table.tuples.columns, strict=True)
            at = [np.flatnonzero(_among(column, self.leaving[s])) for s, column in columns if s in self.leaving]
            if any(map(len, at)):
                rows[table] = distinct([part.astype(np.int32) for part in at])
        return rows

    def left(self, rule: DeltaRule, entities: Sequence[Array]) -> Array:
        """(n,) which of the instances of a rule with these entities for its variables have one that leaves."""
        gone = np.zeros(len(entities[0]) if entities else 1, bool)
        for variable, column in zip(rule.formula.blocks[0].variables, entities, strict=True):
            if rule.formula.sorts[variable] in self.leaving:
                gone |= _among(column, self.leaving[rule.formula.sorts[variable]])
        return gone

    def move(self, run: Run) -> None:
        """Let the entities join and leave."""
        domain, atoms = run.grounding.domain, run.grounding.atoms
        for sort in {*self.joining, *self.leaving}:
            domain.move(sort, *(ids.get(sort, no_rows()) for ids in (self.joining, self.leaving)))
        if EQUAL in atoms.tables:
            table = atoms.tables[EQUAL]
            for changes, enter in ((self.joining, table.enlist), (self.leaving, table.delist)):
                ids = changes.get(ENTITY, no_rows())
                enter("lower", atoms.materialise(table, [ids, ids], len(ids)))


def within_sorts(run: Run, rows: Mapping[Relation, Array]) -> Mapping[Relation, Array]:
    """The rows none of whose entities has left its sort."""
    left, kept = run.grounding.domain.left, dict[Relation, Array]()
    for table, some in rows.items():
        for sort, column in zip(table.sorts, table.tuples.columns, strict=True):
            some = some[~left[sort].take(column.take(some))] if sort in left else some
        if len(some):
            kept[table] = some
    return kept


def changed_sorts(run: Run, named: IdSets, gone: IdSets, atoms: int) -> ChangedSorts | None:
    """The sorts that change where so many ``atoms`` were restated: facts have ``named`` entities in positions of a
    sort, and others that named those that may be ``gone`` were taken back. None if the plan was made for other
    sorts."""
    domain, plan = run.grounding.domain, run.plan
    joining, leaving = (_by_sort(ids) for ids in (named, gone))
    joining = _nonempty({sort: ids[~domain.holds(sort, ids)] for sort, ids in joining.items()})
    leaving = _nonempty({sort: _unnamed(run, sort, ids[domain.holds(sort, ids)]) for sort, ids in leaving.items()})
    sorts = joining.keys() | leaving.keys()
    if not sorts:
        return ChangedSorts({}, {})
    sizes = {sort: len(domain.sorts[sort]) for sort in sorts}
    after = {s: size + len(joining.get(s, ())) - len(leaving.get(s, ())) for s, size in sizes.items()}
    asked = {domain.index.get(text, -1) for text in plan.asked_entities}
    moved = np.concatenate([*joining.values(), *leaving.values()])
    if any(min(size, 2) != plan.sizes[sort] for sort, size in after.items()) or not asked.isdisjoint(moved.tolist()):
        return None
    least = {sort: min(size, after[sort]) for sort, size in sizes.items()}
    groups = {rule for rule in run.grounding.members if isinstance(rule, GroupRule)}
    crowded = {rule.finder for rule in groups if rule.assembler.may_name_all(least, atoms)}
    for rule in (run.responses[member].rule for _, members in run.strata for member in members):
        if rule in crowded or not rule.loose.isdisjoint(sorts):
            return None  # a completion finds more, or less
    quantified = (f for f in plan.shared.formulas if any(f.sorts[v] in sorts for b in f.blocks for v in b.bound))
    neurons = [formula for formula in quantified if first_assembler(run, formula).may_name_all(least, atoms)]
    return ChangedSorts(joining, leaving, crowded, neurons)


def _by_sort(by_position: IdSets) -> dict[str, Array]:
    """The ids of each sort, ascending; all belong to `ENTITY`."""
    every = {ENTITY: set[int]().union(*by_position.values())} if by_position else {}
    return {sort: np.array(sorted(ids), np.int32) for sort, ids in {**by_position, **every}.items()}


def _nonempty(ids: IdsBySort) -> IdsBySort:
    return {sort: some for sort, some in ids.items() if len(some)}


def _unnamed(run: Run, sort: str, entities: Array) -> Array:
    """Those of some members of a sort that neither facts nor statements name in its positions any more."""
    tables = [table for table in run.grounding.atoms.tables.values() if table.loaded or table.restated]
    places = ((table, column) for table in tables for column in zip(table.sorts, table.tuples.columns, strict=True))
    for table, (at, column) in places:
        for start in range(0, len(column) if sort in (at, ENTITY) else 0, _BLOCK):
            if not len(entities):
                break  # most are named again soon
            there = start + np.flatnonzero(_among(column[start : start + _BLOCK], entities))
            entities = np.setdiff1d(entities, column.take(there[table.flags("given").take(there)]))
    mentioned = (texts for at, texts in run.plan.stated_entities.items() if sort in (at, ENTITY))
    ids = [run.grounding.domain.index.get(text, -1) for texts in mentioned for text in texts] if len(entities) else ()
    return np.setdiff1d(entities, np.array(ids, np.int32))


def _among(column: Array, ids: Array) -> Array:
    """(n,) which values of a column are among some ids."""
    return column == ids[0] if len(ids) == 1 else np.isin(column, ids)
