"""Facts that are restated or taken back, by dictionaries: what each atom is given then, where that is less or more than
before, the bounds of rows that are given what facts give them, and bounds that differ by rounding."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

import lnnkit
from lnnkit.analysis.relevance import LISTED, SIDES
from lnnkit.engine.inference_run import Run
from lnnkit.engine.response.proposing import GroupResponse, reader
from lnnkit.engine.response.respond import respond
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.engine.revision import revise
from lnnkit.engine.revision.reset_rows import moved_since, union
from lnnkit.engine.revision.restated_facts import RestatedAtom, enter_restated
from lnnkit.join.bindings import Bindings
from lnnkit.store.relations import Relation
from lnnkit.store.row_arrays import Array
from tests.engine.every_round import Instances, classes, entities_of
from tests.kb.test_newcomers import Town
from tests.kb.test_revising import Graph

Atom = tuple[str, tuple[int, ...]]
Pair = tuple[float, float]
DEGREES = (0.0, 0.25, 0.5, 0.75, 1.0)


class Given:
    """What facts give the atoms of some relations, and which facts list."""

    def __init__(self, run: Run, names: set[str]) -> None:
        self.pairs, self.lists = dict[Atom, Pair](), dict[str, set[Atom]]()
        for table in (run.grounding.atoms.tables[name] for name in names):
            atoms = [(table.name, entities) for entities in entities_of(table)]
            ends = table.stated(np.arange(len(table), dtype=np.int32))
            self.pairs |= dict(zip(atoms, zip(*(end.tolist() for end in ends), strict=True), strict=True))
            for column in ("given", "listed"):
                listed = {atoms[row] for row in table.listing(column).values.tolist()}
                self.lists[column] = self.lists.get(column, set()) | listed


def restated(run: Run, rng: random.Random) -> list[RestatedAtom]:
    """A few facts about predicates and numbers, each about another atom."""
    tables = [table for table in run.grounding.atoms.tables.values() if table.name.isidentifier() and table.sorts]
    changes: dict[Atom, RestatedAtom] = {}
    for _ in range(rng.choice([1, 2, 5])):
        table = rng.choice(tables)
        known, named = entities_of(table), run.grounding.domain.sorts
        if not known or not all(len(named[sort]) for sort in table.sorts):
            continue
        entities = rng.choice(known) if rng.random() < 0.7 else tuple(int(rng.choice(named[s])) for s in table.sorts)
        low, high = sorted(rng.choices(DEGREES, k=2)) if rng.random() < 0.6 else rng.choice([(1.0, 1.0), table.default])
        retracted = rng.random() < 0.5
        bounds = None if retracted and rng.random() < 0.6 else (low, high)
        changes[table.name, entities] = RestatedAtom(table.name, entities, retracted, bounds)
    return [*changes.values()]


def chosen(rows: dict[Relation, Array]) -> set[Atom]:
    return {(table.name, entities_of(table)[row]) for table, some in rows.items() for row in some.tolist()}


@pytest.mark.parametrize("seed", range(40))
def test_what_facts_give(seed: int) -> None:
    rng = random.Random(seed)
    run = (Town(seed + 100) if seed % 2 else Graph(seed + 100)).kb._session.program_fixpoint().run
    facts, tables, relevance = restated(run, rng), run.grounding.atoms.tables, run.plan.relevance
    names = {fact.predicate for fact in facts}
    before = Given(run, names)
    index = run.grounding.domain.index
    asked = {(atom.node, tuple(index[str(text)] for text in atom.arguments)) for atom in run.plan.asked}
    less, more, new, after = set[Atom](), set[Atom](), set[Atom](), dict(before.pairs)
    foreseen, others = True, {table.name for table in tables.values() if table.restated}
    for fact in facts:
        atom, table = (fact.predicate, fact.entities), tables[fact.predicate]
        was_given, was = atom in before.lists["given"], before.pairs.get(atom, table.default)
        kept = was_given and not fact.retracted
        pairs = [*([was] if kept else []), *([fact.bounds] if fact.bounds is not None else [])] or [table.default]
        low, high = after[atom] = max(low for low, _ in pairs), min(high for _, high in pairs)
        foreseen &= low <= high and (fact.bounds is None or bool(table.loaded or atom[0] in others))
        for side, end, default in zip(SIDES, (low, high), table.default, strict=True):
            foreseen &= end == default or (table.name, side) in relevance.produced
        given = kept or fact.bounds is not None
        tighter = low > was[0] or high < was[1]
        differs = tighter or low < was[0] or high > was[1] or given != was_given
        if low < was[0] or high > was[1] or (table.default != table.unknown and differs):
            less.add(atom)
        if tighter:
            more.add(atom)
        if given and atom not in before.lists["listed"] and LISTED in [relevance.mode(table.name, s) for s in SIDES]:
            new.add(atom)
        before.lists["given"] = before.lists["given"] - {atom} | ({atom} if given else set())
        listed = given or (atom in asked and atom in before.lists["listed"])
        before.lists["listed"] = before.lists["listed"] - {atom} | ({atom} if listed else set())
    entered = enter_restated(run, facts)
    assert (entered is not None) == foreseen
    if entered is None:
        return
    loosened, tightened, listed = map(dict, entered)
    assert (chosen(loosened), chosen(tightened), chosen(listed)) == (less, more, new)
    assert all((np.diff(rows) > 0).all() for rows in (*loosened.values(), *tightened.values(), *listed.values()))
    now = Given(run, names)
    assert now.pairs == after
    assert now.lists == before.lists
    tightening(run, tightened)


def tightening(run: Run, tightened: dict[Relation, Array]) -> None:
    """Rows meet what facts give; bounds that cross are arrested."""
    every = {table: np.stack([end.copy() for end in table.bounds]) for table in tightened}
    expected, crossed = {table: ends.copy() for table, ends in every.items()}, False
    for table, rows in tightened.items():
        low, high = table.stated(rows)
        expected[table][0][rows] = np.maximum(expected[table][0][rows], low)
        expected[table][1][rows] = np.minimum(expected[table][1][rows], high)
        crossed |= bool((expected[table][0] > expected[table][1]).any())
    events = len(run.state.trail)
    assert revise._tighten(run, tightened) != crossed
    moved = sum(int((every[table] != expected[table]).sum()) for table in tightened)
    assert crossed or len(run.state.trail) - events == moved  # one for each end
    for table, rows in tightened.items() if not crossed else ():
        assert np.stack(table.bounds).tolist() == expected[table].tolist()
        classes(run, table)
        for column, side in product(("lower", "upper"), (0, 1)):
            differ = rows[table.take(side, rows) != table.default[side]] if column == SIDES[side] else rows[:0]
            assert {*differ.tolist()} <= {*table.listing(column).values.tolist()}
            assert {*differ.tolist()} <= {*table.listing("either").values.tolist()}


@pytest.mark.parametrize("seed", range(20))
def test_rows_that_are_no_tighter_than_before_they_were_reset(seed: int) -> None:
    rng = random.Random(seed)
    run = Graph(seed + 300).kb._session.program_fixpoint().run
    tables = [table for table in run.grounding.atoms.tables.values() if len(table)]

    def some(most: float) -> dict[Relation, Array]:
        chosen = rng.sample(tables, rng.randint(1, len(tables)))
        rows = {t: sorted(rng.sample(range(len(t)), rng.randint(0, round(len(t) * most)))) for t in chosen}
        return {table: np.array(part, np.int32) for table, part in rows.items() if part}

    first, second, reset = some(0.5), some(0.5), some(1)
    both = union(first, second)
    assert {table: rows.tolist() for table, rows in both.items()} == {
        table: sorted({*first.get(table, np.empty(0, int)).tolist(), *second.get(table, np.empty(0, int)).tolist()})
        for table in {*first, *second}
    }
    deviating = revise._deviating(first)
    for table, rows in first.items():
        assert deviating[table].tolist() == [r for r in rows.tolist() if r in table.listing("either").values.tolist()]
    before = {table: table.read(rows) for table, rows in reset.items()}
    moved = dict[Relation, set[int]]()
    for table, rows in reset.items():
        for row in rows.tolist():
            side, low, high = rng.choice([0, 1]), *(float(end[row]) for end in table.bounds)
            if rng.random() < 0.4:
                table.writable(side)[row] = rng.choice(DEGREES)
            if float(table.bounds[0][row]) > low or float(table.bounds[1][row]) < high:
                moved.setdefault(table, set()).add(row)
    kept = moved_since(first, reset, before, tighter=True)
    expected = {
        table: [
            r for r in rows.tolist() if r not in reset.get(table, np.empty(0)).tolist() or r in moved.get(table, ())
        ]
        for table, rows in first.items()
    }
    assert {table: rows.tolist() for table, rows in kept.items()} == {t: rows for t, rows in expected.items() if rows}


PRODUCTS = """
logic product
predicate E(n, n)
predicate S(n)
rule E(X, Y) -> R(X, Y)
rule R(X, Y) & E(Y, Z) -> R(X, Z)
rule E(X, Y) & R(Y, Z) -> R(X, Z)
rule S(X) & (exists Y: E(X, Y) & R(Y, X)) -> A(X)
query R(X, Y)
query A(X)
"""


def test_bounds_that_differ_by_rounding() -> None:
    """An instance gives some end of an atom a bound between its extremes that is not the present one, and no further
    from it than noise."""
    found = 0
    for seed in range(12):
        rng, nodes = random.Random(seed), "abcde"
        degrees = rng.choice([(0.1, 0.3, 0.7, 0.9), (0.5, 1), (1,)])
        edges = {(rng.choice(nodes), rng.choice(nodes)): rng.choice(degrees) for _ in range(7)}
        facts = [f"fact E({x}, {y}) in [{degree}, 1]" for (x, y), degree in edges.items()]
        paths = [(x, z, edges[x, y] * edges[y, z]) for x, y in edges for other, z in edges if y == other]
        facts += [f"fact R({x}, {z}) in [{round(degree, 4)}, 1]" for x, z, degree in paths]  # nearly what rules find
        kb = lnnkit.loads(PRODUCTS + "\n".join(facts + [f"fact S({x})" for x in nodes]) + "\n")
        run = kb._session.program_fixpoint().run
        noise, crisp = run.state.noise, set[str]()
        for table in run.grounding.atoms.tables.values():
            if not table.numeric and {0.0, 1.0}.issuperset(np.concatenate([*table.bounds, table.default]).tolist()):
                crisp.add(table.name)
            assert table.numeric or not revise._crisp(run, table) or table.name in crisp
        rounded = False
        for response in run.responding(run.inference).values():
            for bindings in response.rule.whole():
                expected = any(0 < abs(now - value) <= noise for now, value in given(run, response, bindings))
                assert revise._differs_by_rounding(run, response, bindings) == expected
                rounded |= expected
        assert revise._depends_on_order(run, 0) or not rounded
        found += rounded
    assert 0 < found < 12


def given(run: Run, response: RuleResponse | GroupResponse, bindings: Bindings) -> Iterator[tuple[float, float]]:
    """The present ends, between 0 and 1, of all that instances bound, each with the bound that they give it."""
    if isinstance(response, GroupResponse):
        free = [bindings.column(variable) for variable in response.group.formula.blocks[0].variables]
        view = response.group.assembler.of(free, bindings.length)
        says = respond(response.shape, reader(view, run.state.dtype), view.groupings)
        ends = {target: view.tables[target[0]].bounds[target[1]] for target in says.proposed}
        rows = {leaf: view.rows[leaf] for leaf, _ in says.proposed}
        default = {target: view.tables[target[0]].default[target[1]] for target in says.proposed}
    else:
        instances = Instances(response, bindings)
        says = instances.response(run.state.dtype)
        ends = {target: instances.table(target[0]).bounds[target[1]] for target in says.proposed}
        rows = {leaf: instances.rows(leaf) for leaf, _ in says.proposed}
        default = {target: instances.table(target[0]).default[target[1]] for target in says.proposed}
    for target, (_, values) in says.proposed.items():
        for row, value in zip(rows[target[0]].tolist(), values.tolist(), strict=True):
            now = float(ends[target][row]) if row >= 0 else default[target]
            if 0 < now < 1:
                yield now, value
