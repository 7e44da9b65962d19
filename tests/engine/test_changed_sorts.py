"""Entities that join and leave sorts, by loops over all facts and rows."""

from __future__ import annotations

import random

import numpy as np
import pytest

import lnnkit
from lnnkit.analysis.needs import EQUAL
from lnnkit.check.program import ENTITY
from lnnkit.engine.inference_run import Run
from lnnkit.engine.revision import changed_sorts as changing
from lnnkit.engine.revision.changed_sorts import ChangedSorts, changed_sorts, within_sorts
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.store.relations import Relation
from lnnkit.store.row_arrays import Array
from tests.engine.every_round import entities_of
from tests.kb.test_newcomers import Town

TOLD = """
predicate E(n, n)
predicate B(m)
predicate S(entity)
predicate C(entity)
rule E(X, Y) & S(Y) -> R(X, Y)
rule (forall Y: E(X, Y) -> S(Y)) -> C(X)
rule (forall Y: B(Y)) -> P
rule B(kim) -> C(kim)
rule S(X) & (forall Y: X = Y | E(X, Y)) -> C(X)
rule S(X) & S(Y) & X = Y -> C(X)
query R(X, Y)
query C(X)
query P
query C(ann)
"""


def drawn(seed: int) -> tuple[Run, random.Random]:
    """An inference from facts that name entities in positions of several sorts."""
    if seed % 2:
        return Town(seed).kb._session.program_fixpoint().run, random.Random(seed)
    rng = random.Random(seed)
    names = ["ann", "bob", "kim", "lea", "max", "una"]
    lines = [f"fact E({rng.choice(names)}, {rng.choice(names)})" for _ in range(rng.choice([2, 4, 8]))]
    lines += [f"fact {rng.choice('BS')}({rng.choice(names)}){rng.choice(['', ' in [0, 1]'])}" for _ in range(6)]
    kb = lnnkit.loads(TOLD + "\n".join(dict.fromkeys(lines)) + "\n")
    return kb._session.program_fixpoint().run, rng


def named(run: Run) -> set[tuple[str, int]]:
    """The sorts of positions in which facts or statements name an entity, with it; all are entities."""
    index, pairs = run.grounding.domain.index, set[tuple[str, int]]()
    for table in run.grounding.atoms.tables.values():
        rows = entities_of(table)
        for row in table.listing("given").values.tolist() if table.loaded or table.restated else ():
            pairs |= {*zip(table.sorts, rows[row], strict=True)}
    pairs |= {
        (sort, index[text]) for sort, texts in run.plan.stated_entities.items() for text in texts if text in index
    }
    return pairs | {(ENTITY, entity) for _, entity in pairs}


@pytest.mark.parametrize("seed", range(24))
def test_sorts_change_by_what_facts_name(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changing, "_BLOCK", seed % 3 + 1)
    run, rng = drawn(seed)
    domain, plan = run.grounding.domain, run.plan
    before = {sort: {*ids.tolist()} for sort, ids in domain.sorts.items()}
    stated, retracted = dict[str, set[int]](), dict[str, set[int]]()
    for table in run.grounding.atoms.tables.values():
        rows, given = entities_of(table), table.listing("given").values.tolist()
        gone = rng.sample(given, rng.randint(0, len(given))) if table.loaded or table.restated else []
        table.delist("given", np.array(gone, np.int32))
        for sort, entity in (pair for row in gone for pair in zip(table.sorts, rows[row], strict=True)):
            retracted.setdefault(sort, set()).add(entity)
    for sort in rng.sample([*before], rng.randint(0, len(before))):
        stated.setdefault(sort, set()).update(rng.choices(range(domain.count + 2), k=rng.choice([1, 3])))
    still = named(run)

    def of(sort: str, by_position: dict[str, set[int]]) -> set[int]:
        return set().union(*(ids for at, ids in by_position.items() if sort in (at, ENTITY)))

    joining = {sort: of(sort, stated) - ids for sort, ids in before.items()}
    leaving = {sort: {e for e in of(sort, retracted) & ids if (sort, e) not in still} for sort, ids in before.items()}
    changed = changed_sorts(run, stated, retracted, 3)
    moving = {sort for sort in before if joining[sort] or leaving[sort]}
    sizes = {sort: len(before[sort] | joining[sort]) - len(leaving[sort]) for sort in moving}
    asked = {domain.index.get(text, -1) for text in plan.asked_entities}
    other = any(min(size, 2) != plan.sizes[sort] for sort, size in sizes.items())
    other |= any(not asked.isdisjoint(joining[sort] | leaving[sort]) for sort in moving)
    if changed is None:
        assert other
        return
    assert not other
    assert bool(changed) == bool(moving)
    assert {sort: ids.tolist() for sort, ids in changed.joining.items()} == {
        s: sorted(joining[s]) for s in joining if joining[s]
    }
    assert {sort: ids.tolist() for sort, ids in changed.leaving.items()} == {
        s: sorted(leaving[s]) for s in leaving if leaving[s]
    }
    for rule in run.grounding.members if moving else ():
        if isinstance(rule, GroupRule):
            least = {sort: min(sizes[sort], len(before[sort])) for sort in moving}
            assert (rule.finder in changed.rules) == rule.assembler.depends_on_size(least, 3)
    applied(run, changed, before)


def applied(run: Run, changed: ChangedSorts, before: dict[str, set[int]]) -> None:
    """The rows and instances that name those who leave; and the sorts once all have joined and left."""
    gone = {sort: {*ids.tolist()} for sort, ids in changed.leaving.items()}
    leaving, tables = changed.leaving_rows(run), run.grounding.atoms.tables
    for table in tables.values():
        expected = [
            row
            for row, entities in enumerate(entities_of(table))
            if any(entity in gone.get(sort, ()) for sort, entity in zip(table.sorts, entities, strict=True))
        ]
        assert leaving.get(table, np.empty(0)).tolist() == expected
    for rule in (response.rule for response in run.responses.values()):
        sorts = [rule.formula.sorts[variable] for variable in rule.formula.blocks[0].variables]
        ids = np.arange(run.grounding.domain.count, dtype=np.int32)
        for place in range(len(sorts)):
            columns = [ids if at == place else np.zeros_like(ids) for at in range(len(sorts))]
            flags = changed.leaving_instances(rule, columns)
            expected_flags = [
                any(int(c[i]) in gone.get(sort, ()) for sort, c in zip(sorts, columns, strict=True)) for i in ids
            ]
            assert flags.tolist() == expected_flags
    changed.apply(run)
    after = {sort: {*ids.tolist()} for sort, ids in run.grounding.domain.sorts.items()}
    assert after == {
        sort: (ids | {*changed.joining.get(sort, np.empty(0, int)).tolist()}) - gone.get(sort, set())
        for sort, ids in before.items()
    }
    if EQUAL in tables:
        rows = entities_of(tables[EQUAL])
        pairs = {rows[row] for row in tables[EQUAL].listing("lower").values.tolist()}
        assert pairs == {(entity, entity) for entity in after[ENTITY]}
    every: dict[Relation, Array] = {table: np.arange(len(table), dtype=np.int32) for table in tables.values()}
    kept = within_sorts(run, every)
    for table in tables.values():
        expected = [
            row
            for row, entities in enumerate(entities_of(table))
            if all(entity not in gone.get(sort, ()) for sort, entity in zip(table.sorts, entities, strict=True))
        ]
        assert kept.get(table, np.empty(0)).tolist() == expected
