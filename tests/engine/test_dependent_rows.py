"""What rests on changed facts, by its definition: an event rests on a row if the instance that set it reads that row,
and it came after what put that row among them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import numpy as np
import pytest

import lnnkit
from lnnkit.engine.inference_run import Run
from lnnkit.engine.revision.changed_sorts import ChangedSorts
from lnnkit.engine.revision.dependent_rows import DependentRows
from lnnkit.formula.unfolding import AUXILIARY, Formula
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.store.relations import Relation
from lnnkit.store.row_arrays import Array, spelled_out
from lnnkit.trail.events import Chunk, Kind
from tests.blocks import at_length
from tests.engine.every_round import entities_of
from tests.engine.test_every_round import KINDS
from tests.kb.test_revising import Graph

Atom = tuple[str, tuple[int, ...]]


def read(run: Run, formula: Formula, named: dict[int, int]) -> Iterator[Atom]:
    """The atoms that an instance reads: for variables of its quantifiers those of all entities."""
    domain, leaves = run.grounding.domain, [*formula.leaves]
    for leaf in [*leaves, *([AUXILIARY] if formula.auxiliary is not None else [])]:
        arguments = formula.arguments(leaf)
        inner = sorted({term for term in arguments if isinstance(term, int) and term not in named})
        for entities in itertools.product(*(domain.sorts[formula.sorts[variable]].tolist() for variable in inner)):
            ids = named | dict(zip(inner, entities, strict=True))
            yield formula.table(leaf), tuple(ids[t] if isinstance(t, int) else domain.index[t] for t in arguments)


def instances(run: Run, chunk: Chunk, changed: ChangedSorts) -> Iterator[tuple[set[Atom], bool]]:
    """The atoms that the setter of each event of a chunk read, and whether it depends on entities that change."""
    grounding, shape = run.grounding, run.grounding.shapes[chunk.shape]
    number = shape.formula.block_of(chunk.leaf)
    tops = shape.tops(number, spelled_out(chunk.instances))
    for top in tops.tolist():
        member = grounding.members[shape.members[int(shape.blocks[0].member[top])]]
        rule = member if isinstance(member, DeltaRule) else member.finder
        columns = grounding.variables(chunk.shape, rule, np.array([top]))
        named = {
            variable: int(column[0])
            for variable, column in zip(rule.formula.blocks[0].variables, columns, strict=False)
            if isinstance(member, DeltaRule) or variable in member.formula.blocks[0].variables
        }
        gone = (int(entity) in changed.leaving.get(rule.formula.sorts[v], ()) for v, entity in named.items())
        yield {*read(run, member.formula, named)}, rule in changed.rules or any(gone)


def closure(run: Run, loosened: set[Atom], changed: ChangedSorts) -> set[Atom]:
    """All that may rest on some atoms, or on entities that change."""
    dependent, atoms = set(loosened), run.grounding.atoms.numbered
    names = {table.name: entities_of(table) for table in atoms}
    defining = {response.rule.formula.auxiliary: response.rule for response in run.responses.values()}
    for formula in run.plan.shared.formulas:  # some have no rows of their own before what they read moves
        table = run.grounding.atoms.tables[str(formula.auxiliary)]
        rule = defining.get(formula.auxiliary)
        if rule is not None and table.default != table.unknown and not formula.compares:
            original, sorts = rule.formula.original, run.grounding.domain.sorts
            free = original.blocks[0].variables
            for entities in itertools.product(*(sorts[original.sorts[variable]].tolist() for variable in free)):
                named = dict(zip(free, entities, strict=True))
                if not dependent.isdisjoint(read(run, original, named)):
                    dependent.add((table.name, tuple(named[int(term)] for term in original.arguments(AUXILIARY))))
    for chunk in run.state.trail.chunks():
        table, rows = atoms[chunk.table], spelled_out(chunk.rows).tolist()
        if chunk.kind == Kind.SENT:
            for row, (atoms_read, rests) in zip(rows, instances(run, chunk, changed), strict=True):
                if rests or not dependent.isdisjoint(atoms_read):
                    dependent.add((table.name, names[table.name][row]))
        elif chunk.kind == Kind.INITIAL and table.name in defining:
            original = defining[table.name].formula.original
            for row in rows:
                named = {
                    int(term): entity
                    for term, entity in zip(original.arguments(AUXILIARY), names[table.name][row], strict=True)
                    if isinstance(term, int)
                }
                if not dependent.isdisjoint(read(run, original, named)):
                    dependent.add((table.name, names[table.name][row]))
    return dependent


def drawn(run: Run, rng: random.Random) -> dict[Relation, Array]:
    """Some rows of facts."""
    tables = [table for table in run.grounding.atoms.tables.values() if len(table.listing("given"))]
    chosen = rng.sample(tables, min(len(tables), rng.choice([1, 2])))
    given = {table: table.listing("given").values.tolist() for table in chosen}
    return {table: np.array(sorted(rng.sample(rows, min(len(rows), 2))), np.int32) for table, rows in given.items()}


def changes(run: Run, rng: random.Random) -> ChangedSorts:
    """An entity that leaves, and rules that depend on how many there are; or neither."""
    if rng.random() < 0.4:
        return ChangedSorts({}, {})
    chosen = rng.sample(sorted(run.grounding.domain.sorts), 1)
    leaving = {sort: ids[[rng.randrange(len(ids))]] for sort in chosen if len(ids := run.grounding.domain.sorts[sort])}
    rules = [response.rule for response in run.responses.values()]
    return ChangedSorts({}, leaving, {*rng.sample(rules, rng.choice([0, 1]))} if leaving else set())


def compared(run: Run, rng: random.Random, *, exactly: bool) -> int:
    """Whether the rows found are those of the definition; the number of these that facts do not give."""
    changed = changes(run, rng)
    loosened = {**drawn(run, rng), **changed.leaving_rows(run)}
    first = {(table.name, entities_of(table)[row]) for table, rows in loosened.items() for row in rows.tolist()}
    expected, tables = closure(run, first, changed), {*run.grounding.atoms.numbered}
    dependent = DependentRows(run, loosened, changed, 10**9, tables)
    by_table = dependent.rows()
    found = {(table.name, entities_of(table)[row]) for table, rows in by_table.items() for row in rows.tolist()}
    assert first <= found <= expected
    assert found == expected or not exactly
    assert dependent.count == len(found) == sum(map(len, by_table.values()))
    for most in {len(first), (len(first) + len(found)) // 2, len(found) - 1}:
        cut = DependentRows(run, loosened, changed, most, tables)
        assert (cut.count > most) == (len(found) > most)
        for table, rows in cut.rows().items():
            assert {*rows.tolist()} <= {*by_table[table].tolist()}
    return len(found - first)


@pytest.mark.parametrize("seed", at_length([*range(4)], plain=1))
@pytest.mark.parametrize("kind", ["chained", "recursive", "degrees"])
def test_rules(kind: str, seed: int) -> None:
    kb = lnnkit.loads(KINDS[kind](seed + 40))
    kb.infer()
    run = kb._session.program_fixpoint().run
    exactly = not run.plan.shared.formulas and all(len(rule.formula.blocks) == 1 for rule in run.plan.rules)
    for place in range(3):
        compared(run, random.Random(10 * seed + place), exactly=exactly)


@pytest.mark.parametrize("seed", at_length([*range(6)], plain=3))
def test_graphs(seed: int) -> None:
    """Rules with quantifiers and shared neurons: rows are left out that cannot matter."""
    graph, dependent = Graph(seed), 0
    run = graph.kb._session.program_fixpoint().run
    for place in range(3):
        dependent += compared(run, random.Random(10 * seed + place), exactly=False)
    assert dependent
