"""Rows of quantifiers, by loops over entities: each instance has a row for each entity of which a literal knows
something, and one for all others."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import lnnkit
from lnnkit.analysis.needs import Literal
from lnnkit.engine.inference_run import Run
from lnnkit.formula.unfolding import LEAF
from lnnkit.join.instances import assembled
from lnnkit.join.instances.assembled import Assembler, Instances
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.store.relations import DEFAULT, RowNumbers
from tests.blocks import at_length
from tests.engine.every_round import rows_of
from tests.programs import MODES, generate, to_text

Ids = dict[int, int]


class Loops:
    """What the literals of a formula's blocks know of entities."""

    def __init__(self, assembler: Assembler) -> None:
        self._assembler = assembler
        self._listed: dict[Literal, set[tuple[int, ...]]] = {}
        self._found: dict[object, set[tuple[int, ...]]] = {}

    def found(self, number: int, around: Ids) -> set[tuple[int, ...]]:
        """The entities of a block's own variables of which all literals of some set know something."""
        key = number, tuple(sorted(around.items()))
        if key not in self._found:
            known = self._found[key] = set[tuple[int, ...]]()
            bound, sorts = self._assembler.formula.blocks[number].bound, self._assembler.domain.sorts
            for literals in self._assembler._literals[number]:
                for ids in self._unified(around, literals):
                    free = [v for v in bound if v not in ids]
                    of = (sorts[self._assembler.formula.sorts[variable]].tolist() for variable in free)
                    for entities in itertools.product(*of):
                        all_ids = ids | dict(zip(free, entities, strict=True))
                        known.add(tuple(all_ids[variable] for variable in bound))
        return self._found[key]

    def _unified(self, ids: Ids, literals: Any) -> Iterator[Ids]:
        """The assignments for which all literals list their atoms, one literal after another."""
        if not literals:
            yield ids
            return
        (literal, *rest), formula, domain = literals, self._assembler.formula, self._assembler.domain
        if literal not in self._listed:
            table = self._assembler.atoms.tables[literal.table]
            rows = {*table.listing(literal.column).values.tolist()}
            self._listed[literal] = {entities for entities, row in rows_of(table).items() if row in rows}
        for entities in self._listed[literal]:
            more = dict(ids)
            for term, entity in zip(literal.arguments, entities, strict=True):
                if isinstance(term, str):
                    fits = domain.index[term] == entity
                else:
                    fits = more.setdefault(term, entity) == entity and entity in domain.sorts[formula.sorts[term]]
                if not fits:
                    break
            else:
                yield from self._unified(more, rest)


def compared(assembler: Assembler, view: Instances, loops: Loops) -> int:
    """Compares the rows of all blocks; returns how many there are."""
    formula, domain, count = assembler.formula, assembler.domain, 0
    for number, block in enumerate(formula.blocks[1:], 1):
        grouping, parent = view.groupings[number], block.parent
        assert grouping is not None
        if block.unnamed or any(formula.sorts[variable] in domain.open_sorts for variable in block.bound):
            return count
        total = math.prod(len(domain.sorts[formula.sorts[variable]]) for variable in block.bound)
        own = [view.ids[number][variable].tolist() for variable in block.bound]
        members: dict[int, list[int]] = {}
        for row, group in enumerate(grouping.group.tolist()):
            members.setdefault(group, []).append(row)
        of = range(view.length(parent)) if grouping.of is None else grouping.of.tolist()
        assert grouping.groups == (max(of, default=-1) + 1 if grouping.of is not None else view.length(parent))
        for above, group in enumerate(of):
            around = {variable: int(view.ids[parent][variable][above]) for variable in block.free}
            if any(entity >= domain.generic for entity in around.values()):
                continue
            rows = members.get(group, [])
            named = [row for row in rows if all(column[row] < domain.generic for column in own)]
            tuples = [tuple(column[row] for column in own) for row in named]
            expected = loops.found(number, around)
            assert len({*tuples}) == len(tuples)
            whole = number in assembler._expands
            assert {*tuples} == expected or (len(tuples) == total and (len(expected) == total - 1 or whole))
            others = [row for row in rows if row not in named]
            assert len(others) == (len(tuples) < total and number not in assembler._left_out)
            assert [int(grouping.copies[row]) for row in named] == [1] * len(named)
            assert [int(grouping.copies[row]) for row in others] == [total - len(tuples)] * len(others)
            assert not grouping.virtual[named].any() and grouping.virtual[others].all()
            for row in rows:
                for variable in block.free:
                    assert view.ids[number][variable][row] == around[variable]
            count += len(rows)
    return count


def resized(assembler: Assembler, view: Instances, loops: Loops) -> None:
    """One entity more or less matters to a quantifier if it may have rows for all of them but one after some changes;
    it does not where its literals name too few, whatever the group."""
    formula, domain = assembler.formula, assembler.domain
    sizes = {sort: len(ids) for sort, ids in domain.sorts.items()}
    assert not assembler.depends_on_size({}, 0)
    for changed in (0, 1, 2):
        most = 0
        for number, block in enumerate(formula.blocks[1:], 1):
            total = math.prod(sizes[formula.sorts[variable]] for variable in block.bound)
            parent = view.ids[block.parent]
            for row in range(view.length(block.parent)):
                around = {variable: int(parent[variable][row]) for variable in block.free}
                named = len(loops.found(number, around)) if max(around.values(), default=0) < domain.generic else 0
                most = max(most, named + changed + 1 - total + 1) if number not in assembler._left_out else most
        assert assembler.depends_on_size(sizes, changed) or most <= 0


def atoms(view: Instances, assembler: Assembler) -> None:
    """The row of each leaf is that of its atom."""
    formula, index = assembler.formula, assembler.domain.index
    for leaf in formula.leaves:
        if formula.neurons[leaf].kind != LEAF:
            continue
        block, known = formula.block_of(leaf), rows_of(view.tables[leaf])
        for row in range(view.length(block)):
            entities = tuple(
                index[term] if isinstance(term, str) else int(view.ids[block][term][row])
                for term in formula.arguments(leaf)
            )
            if all(entity < assembler.domain.generic for entity in entities):
                assert view.column(leaf)[row] == known.get(entities, DEFAULT)


def ways(view: Instances, rng: random.Random) -> None:
    """Rows lead to their instances, and are found again by their entities."""
    for number in range(1, len(view.formula.blocks)):
        tops = view.tops(number)
        grouping, parent = view.groupings[number], view.formula.blocks[number].parent
        assert grouping is not None
        assert tops.tolist() == [view.tops(parent)[group] for group in grouping.group.tolist()]
        columns = list(view.ids[number].values())
        rows = np.array(rng.choices(range(view.length(number)), k=5 if view.length(number) else 0), np.int64)
        again = view.place(number, tops.take(rows), [column.take(rows) for column in columns])
        for row, place in zip(rows.tolist(), again.tolist(), strict=True):
            assert tops[row] == tops[place] and all(column[row] == column[place] for column in columns)
        flags = np.array([rng.random() < 0.3 for _ in range(view.length(0))])
        silenced = view.silenced(number, flags)
        for row in range(view.length(number)):
            at, quiet = row, False
            for inner in reversed(view.formula.path(number)[1:]):
                group = view.groupings[inner]
                assert group is not None
                quiet |= bool(group.virtual[at])
                at = int(group.group[at])
            assert silenced[row] == (quiet or flags[at])


def marks(view: Instances, assembler: Assembler) -> None:
    """Rows that stand for others, and those of unnamed individuals; the latter may be any of several variables."""
    generic, stranger = assembler.domain.generic, assembler.domain.stranger
    for number, block in enumerate(view.formula.blocks[1:], 1):
        grouping = view.groupings[number]
        assert grouping is not None
        for row in range(view.length(number)):
            ids = {variable: int(column[row]) for variable, column in view.ids[number].items()}
            assert grouping.virtual[row] == any(entity >= generic for entity in ids.values())
            assert grouping.stranger[row] == any(ids[variable] == stranger for variable in block.bound)
            assert grouping.copies[row] == 1 or any(ids[variable] == generic for variable in block.bound)


def individuals(assembler: Assembler) -> None:
    """Which variables of a quantifier may be unnamed individuals together: all that some literals do not name, but
    those that are compared, or about which statements say something, may be named too."""
    formula = assembler.formula
    equal = {term for neuron in formula.neurons if neuron.kind == "same" for term in neuron.arguments}
    said = {term for leaf in formula.leaves if _said(assembler, leaf) for term in formula.arguments(leaf)}
    for number, block in enumerate(formula.blocks[1:], 1):
        opens = {v for v in block.bound if formula.sorts[v] in assembler.domain.open_sorts}
        apart = opens & (equal | said) if assembler._separates else set[int]()
        apart = opens if () in assembler._literals[number] else apart
        expected = set[frozenset[int]]()
        for literals in ((), *assembler._literals[number]):
            left = opens - {term for literal in literals for term in literal.arguments}
            for flags in itertools.product((False, True), repeat=len(left & apart)):
                named = {v for v, flag in zip(sorted(left & apart), flags, strict=True) if flag}
                expected.add(frozenset(left - named))
        assert {*assembler._unnamed(number)} == {part for part in expected if part}


def _said(assembler: Assembler, leaf: int) -> bool:
    """Whether unnamed individuals have other bounds than the default."""
    return assembler.formula.neurons[leaf].kind == LEAF and assembler.tables[leaf].unnamed_differs


def kept(run: Run) -> int:
    """Instances that are stored have, when they are built again, the rows through which they set bounds."""
    numbers, count = RowNumbers(run.grounding.atoms), 0
    for number, shape in enumerate(run.grounding.shapes):
        for place, block in enumerate(shape.blocks if len(shape.blocks) > 1 else ()):
            rows = np.arange(len(block))
            if not len(rows):
                continue
            instances, tops, which, places = run.grounding.rebuilt(number, place, rows, numbers)
            assert tops.take(which).tolist() == shape.tops(place, rows).tolist()
            assert instances.length(0) == len(tops)
            for inner, grouping in enumerate(instances.groupings[1:], 1):
                assert grouping is not None
                assert grouping.groups == instances.length(shape.formula.blocks[inner].parent)
                assert len(grouping.group) == instances.length(inner)
            for leaf in block.columns:
                then = run.grounding.among_all(number, leaf, rows, numbers)
                now = instances.rows[leaf].take(places)
                there = block.columns[leaf].values.take(rows) >= 0  # others may have been made since
                assert now[there].tolist() == then[there].tolist()
            count += len(rows)
    return count


def groups(run: Run) -> list[GroupRule]:
    return [member for member in run.grounding.members if isinstance(member, GroupRule)]


@pytest.mark.parametrize("seed", at_length([*range(12)], plain=3))
def test_rows_of_quantifiers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr(assembled, "_FEWER", rng.choice([0, 8, 1000]))
    kb = lnnkit.loads(to_text(generate(seed, 4, MODES[seed % 3], few=0.5).program))
    kb.infer(max_rounds=5)
    run = kb._session.program_fixpoint().run
    kept(run)
    for rule in groups(run):
        if not all(isinstance(each, Literal) for part in rule.assembler._literals for need in part for each in need):
            continue
        looked_at(rule, rng)


def looked_at(rule: GroupRule, rng: random.Random) -> int:
    """Compares some instances of a rule; returns how many rows they have."""
    assembler, sorts, rows = rule.assembler, rule.assembler.domain.sorts, 0
    free = [sorts[rule.formula.sorts[variable]].tolist() for variable in rule.formula.blocks[0].variables]
    every = list(itertools.product(*free))
    chosen = rng.sample(every, rng.randint(1, min(len(every), 6))) if every else []
    columns, loops = [np.array(column, np.int32) for column in zip(*chosen, strict=True)], Loops(assembler)
    for apart in (False, True):
        view = assembler.of(columns, len(chosen), apart=apart)
        assert view.length(0) == len(chosen)
        rows += compared(assembler, view, loops)
        resized(assembler, view, loops)
        atoms(view, assembler)
        marks(view, assembler)
        if apart or all(grouping is None or grouping.of is None for grouping in view.groupings):
            ways(view, rng)
    return rows


GROUPED = """
predicate E(n, n){closed}
predicate S(n)
predicate W(n, n)
fact S(n0)
fact S(n1) in [0.2, 0.6]
rule (forall Y: E(X, Y) -> S(Y)) -> P(X)
rule (forall Y: E(X, Y) -> (exists Z: E(Y, Z) & W(X, Z))) in [0.3, 1]
axiom A(X) <-> (exists Y, Z: E(X, Y) & E(Y, Z) & ~S(Z))
rule (exists Y: S(Y) & (forall Z: W(Y, Z) -> E(Z, X))) & S(X) -> B(X)
query P(X)
query A(X)
query B(X)
"""


OPEN = """
sort n open
predicate E(n, n)
predicate S(n)
fact E(a, b)
fact S(a)
rule (forall Y, Z: E(X, Y) & E(Y, Z) -> S(Z)) -> P(X)
rule (exists Y, Z: E(X, Y) & ~S(Z)) -> Q(X)
rule (exists Y, Z: E(X, Y) & Y != Z & ~S(Z)) -> R(X)
query P(X)
query Q(X)
query R(X)
"""


def test_unnamed_individuals_of_several_variables() -> None:
    kb, strangers = lnnkit.loads(OPEN), 0
    kb.infer()
    for rule in groups(kb._session.program_fixpoint().run):
        view = rule.assembler.of([np.arange(2, dtype=np.int32)], 2)
        marks(view, rule.assembler)
        individuals(rule.assembler)
        strangers += sum(int(each.stranger.sum()) for each in view.groupings if each is not None)
    assert strangers


@pytest.mark.parametrize("seed", at_length([*range(6)], plain=3))
def test_rows_of_graphs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From none to all of the entities are linked."""
    rng, rows = random.Random(seed), 0
    monkeypatch.setattr(assembled, "_FEWER", rng.choice([0, 8, 1000]))
    names = [f"n{place}" for place in range(5)]
    share = rng.choice([0.1, 0.5, 0.8, 1])
    lines = [f"fact {r}({x}, {y})" for r in "EW" for x in names for y in names if rng.random() < share]
    lines += [f"fact K({name})" for name in names] + ["fact E(n0, n1)", "fact W(n0, n1)"]
    text = GROUPED.replace("{closed}", rng.choice(["", " closed"])) + "\n".join(dict.fromkeys(lines)) + "\n"
    kb = lnnkit.loads(text)
    kb.infer(max_rounds=5)
    run = kb._session.program_fixpoint().run
    for rule in groups(run):
        rows += looked_at(rule, rng)
    assert rows and kept(run)


SIZED = """
predicate E(n, n) closed
predicate S(n)
predicate K(n)
rule (forall Y: E(X, Y) -> S(Y)) -> P(X)
query P(X)
"""


@pytest.mark.parametrize(("linked", "changed", "matters"), [(2, 0, False), (2, 2, True), (3, 1, True), (4, 0, True)])
def test_when_the_size_of_a_sort_matters(linked: int, changed: int, matters: bool) -> None:
    """Five entities: those to whom some are linked are the most that rows may name."""
    lines = [f"fact K(n{place})" for place in range(5)] + ["fact S(n0)"]
    lines += [f"fact E(n{place}, n{place % linked})" for place in range(5)]
    kb = lnnkit.loads(SIZED + "\n".join(lines) + "\n")
    (rule,) = groups(kb._session.program_fixpoint().run)
    assert rule.assembler.depends_on_size({"n": 5}, changed) == matters
    assert not rule.assembler.depends_on_size({"m": 5}, changed)


COUNTED = """
predicate K(n)
predicate E(n, n){closed}
predicate F(n, n)
rule (count Y: E(X, Y)) > 1 -> P(X)
rule (count Y, Z: E(X, Y) & F(Y, Z)) > 2 -> Q(X)
rule (count Y: E(X, Y) & ~F(Y, X)) > 1 & K(X) -> R(X)
rule (count Y: E(X, Y) & (exists Z: F(Y, Z) & E(X, Z))) > 1 -> S(X)
query P(X)
query Q(X)
query R(X)
query S(X)
"""


@pytest.mark.parametrize("closed", ["", " closed"])
def test_joins_of_aggregates_are_recorded_by_need(closed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reads the literals of its need, or of its rows; those that list all entities of a group read no other."""
    rng, recorded, whole = random.Random(0), 0, 0
    for few in (0, 8, 8, 8):
        monkeypatch.setattr(assembled, "_FEWER", few)
        names = [f"n{place}" for place in range(4)]
        share = rng.choice([0.5, 0.9])
        lines = [f"fact {name}({x}, {y})" for name in "EF" for x in names for y in names if rng.random() < share]
        lines += [f"fact K({name})" for name in names]
        kb = lnnkit.loads(COUNTED.format(closed=closed) + "\n".join(lines) + "\n")
        kb.plan()
        recorder = kb._session.program_fixpoint().run.grounding.recorder
        assert recorder is not None
        for member, number in [*recorder.joins]:
            entered, made = recorder.entered[member], recorder.made(member, number) or ()
            if entered.purpose != "first bounds":
                continue
            fills = (family for _, families in sorted(entered.needs.fills.items()) for family in families)
            needs = [*(need.literals for need in entered.needs.rows), *fills]
            for join in made:
                reads = {step.reads for step in join.steps if not isinstance(step.reads, int)}
                assert reads == ({*needs[number]} if number >= 0 else set())
                recorded += 1
                whole += number < 0
    assert recorded > 10 and whole
