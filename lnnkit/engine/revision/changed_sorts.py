"""Entities that join sorts because facts name them now, and entities that leave sorts because nothing does any more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

from lnnkit.analysis.needs import EQUAL
from lnnkit.check.program import ENTITY
from lnnkit.engine.bounds_state import distinct, no_rows
from lnnkit.engine.inference_run import Run
from lnnkit.engine.start.first_bounds import first_assembler
from lnnkit.formula.unfolding import Formula
from lnnkit.join.bindings import Bindings
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.store.relations import Relation
from lnnkit.store.row_arrays import Array

_BLOCK = 2**16  # rows that are searched for an entity at a time

IdsBySort = Mapping[str, Array]
IdSets = Mapping[str, Set[int]]  # by the sorts of positions


@dataclass(frozen=True)
class ChangedSorts:
    """The ids that are ``joining`` and ``leaving`` each sort that changes. ``rules``, and the ``definitions`` of shared
    neurons, are those that depend on the number of entities: a quantifier over such a sort may name all of them, or all
    but one. For others one more or less with default bounds makes no difference."""

    joining: IdsBySort
    leaving: IdsBySort
    rules: Set[DeltaRule] = frozenset()
    definitions: Sequence[Formula] = ()

    def __bool__(self) -> bool:
        return bool(self.joining or self.leaving)

    def concerns(self, rule: DeltaRule) -> bool:
        """Whether a rule has other instances, or instances with other values, for these sorts alone."""
        return rule in self.rules or not rule.unrestricted_sorts.isdisjoint(self.joining.keys() | self.leaving.keys())

    def instances(self, rule: DeltaRule) -> Iterator[Bindings]:
        """Those instances; some may be repeated."""
        return rule.all_assignments() if rule in self.rules else rule.with_new_members(self.joining)

    def leaving_rows(self, run: Run) -> Mapping[Relation, Array]:
        """The rows that name an entity that leaves."""
        rows = dict[Relation, Array]()
        for table in run.grounding.atoms.tables.values():
            columns = zip(table.sorts, table.tuples.columns, strict=True)
            at = [np.flatnonzero(_among(column, self.leaving[s])) for s, column in columns if s in self.leaving]
            if any(map(len, at)):
                rows[table] = distinct([part.astype(np.int32) for part in at])
        return rows

    def leaving_instances(self, rule: DeltaRule, entities: Sequence[Array]) -> Array:
        """(n,) which instances of a rule with variables, by the entities of these, have an entity that leaves."""
        leaving = np.zeros(len(entities[0]), bool)
        for variable, column in zip(rule.formula.blocks[0].variables, entities, strict=True):
            if rule.formula.sorts[variable] in self.leaving:
                leaving |= _among(column, self.leaving[rule.formula.sorts[variable]])
        return leaving

    def apply(self, run: Run) -> None:
        """Let the entities join and leave."""
        domain, atoms = run.grounding.domain, run.grounding.atoms
        for sort in {*self.joining, *self.leaving}:
            domain.change_members(sort, self.joining.get(sort, no_rows()), self.leaving.get(sort, no_rows()))
        if EQUAL in atoms.tables:
            table = atoms.tables[EQUAL]
            for changes, enter in ((self.joining, table.enlist), (self.leaving, table.delist)):
                ids = changes.get(ENTITY, no_rows())
                enter("lower", atoms.materialise(table, [ids, ids], len(ids)))


def within_sorts(run: Run, rows: Mapping[Relation, Array]) -> Mapping[Relation, Array]:
    """The rows none of whose entities has left its sort."""
    departed, kept = run.grounding.domain.departed, dict[Relation, Array]()
    for table, some in rows.items():
        for sort, column in zip(table.sorts, table.tuples.columns, strict=True):
            some = some[~departed[sort].take(column.take(some))] if sort in departed else some
        if len(some):
            kept[table] = some
    return kept


def changed_sorts(run: Run, stated: IdSets, retracted: IdSets, atoms: int) -> ChangedSorts | None:
    """The sorts that change when facts about so many ``atoms`` do: by the entities, with the sorts of their positions,
    in facts that were ``stated`` or ``retracted``. None if the plan was made for other sorts."""
    domain, plan = run.grounding.domain, run.plan
    joining = _nonempty({sort: ids[~domain.are_members(sort, ids)] for sort, ids in _by_sort(stated).items()})
    members = {sort: ids[domain.are_members(sort, ids)] for sort, ids in _by_sort(retracted).items()}
    leaving = _nonempty({sort: _no_longer_named(run, sort, ids) for sort, ids in members.items()})
    sorts = joining.keys() | leaving.keys()
    if not sorts:
        return ChangedSorts({}, {})
    sizes = {sort: len(domain.sorts[sort]) for sort in sorts}
    after = {s: size + len(joining.get(s, ())) - len(leaving.get(s, ())) for s, size in sizes.items()}
    asked = {domain.index.get(text, -1) for text in plan.asked_entities}
    ids = np.concatenate([*joining.values(), *leaving.values()])
    if any(min(size, 2) != plan.sizes[sort] for sort, size in after.items()) or not asked.isdisjoint(ids.tolist()):
        return None
    least = {sort: min(size, after[sort]) for sort, size in sizes.items()}
    group_rules = (rule for rule in run.grounding.members if isinstance(rule, GroupRule))
    rules = {rule.finder for rule in group_rules if rule.assembler.depends_on_size(least, atoms)}
    quantified = (f for f in plan.shared.formulas if any(f.sorts[v] in sorts for b in f.blocks for v in b.bound))
    definitions = [formula for formula in quantified if first_assembler(run, formula).depends_on_size(least, atoms)]
    return ChangedSorts(joining, leaving, rules, definitions)


def _by_sort(by_position: IdSets) -> dict[str, Array]:
    """The ids of each sort, ascending; all belong to `ENTITY`."""
    ids = {**by_position, ENTITY: set[int]().union(*by_position.values())}
    return {sort: np.array(sorted(some), np.int32) for sort, some in ids.items()}


def _nonempty(ids: IdsBySort) -> IdsBySort:
    return {sort: some for sort, some in ids.items() if len(some)}


def _no_longer_named(run: Run, sort: str, entities: Array) -> Array:
    """Those of some members of a sort that neither facts nor statements name in its positions any more."""
    tables = [table for table in run.grounding.atoms.tables.values() if table.loaded or table.restated]
    columns = ((table, *pair) for table in tables for pair in zip(table.sorts, table.tuples.columns, strict=True))
    for table, column in ((table, column) for table, position, column in columns if sort in (position, ENTITY)):
        for start in range(0, len(column), _BLOCK):
            if not len(entities):
                break  # most are found early
            rows = start + np.flatnonzero(_among(column[start : start + _BLOCK], entities))
            entities = np.setdiff1d(entities, column.take(rows[table.flags("given").take(rows)]))
    mentioned = (texts for position, texts in run.plan.stated_entities.items() if sort in (position, ENTITY))
    ids = [run.grounding.domain.index.get(text, -1) for texts in mentioned for text in texts] if len(entities) else ()
    return np.setdiff1d(entities, np.array(ids, np.int32))


def _among(column: Array, ids: Array) -> Array:
    """(n,) which values of a column are among some ids."""
    return column == ids[0] if len(ids) == 1 else np.isin(column, ids)
