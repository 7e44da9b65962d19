"""Needs that others make superfluous, and what is joined from an atom that moves, by their definitions."""

from __future__ import annotations

import random

import numpy as np
import pytest

import lnnkit
from lnnkit.analysis.needs import Literal
from lnnkit.join import triggers
from lnnkit.join.bindings import Matched
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.literal_join import Joins, Literals
from lnnkit.join.triggers import Delta, at_once, find_triggers, subsumed
from lnnkit.store.relations import LISTS
from tests.blocks import at_length
from tests.join.every_join import tuples

PROGRAM = """
predicate A(x, x)
predicate B(x, x)
predicate C(x)
rule A(X, Y) & B(Y, Z) & C(X) -> H(X, Y, Z)
query H(X, Y, Z)
"""


def joins_of(rng: random.Random) -> Joins:
    """Joins over relations whose facts say all, some or nothing."""
    names, lines = ["a", "b", "c"], ["fact K(a)", "fact K(b)", "fact K(c)"]
    for name in "ABC":
        ends = rng.choice([[""], ["", " in [0, 1]"], [" in [0.2, 0.7]"], [" in [0, 1]"]])
        for _ in range(rng.choice([0, 3, 6])):
            of = ", ".join(rng.choice(names) for _ in range(1 if name == "C" else 2))
            lines.append(f"fact {name}({of}){rng.choice(ends)}")
    kb = lnnkit.loads(PROGRAM + "\n".join(dict.fromkeys(lines)) + "\n")
    members = kb._session.program_fixpoint().run.grounding.members
    (rule,) = (rule for rule in members if isinstance(rule, DeltaRule) and len(rule.formula.blocks[0].variables) == 3)
    return rule.joins


ATOMS: tuple[Matched, ...] = (("A", (0, 1)), ("B", (1, 2)), ("B", (0, 1)), ("C", (0,)), ("H", (0, 1, 2)), ("A", (1, 0)))


def literal(rng: random.Random) -> Literal:
    return Literal(*rng.choice(ATOMS), rng.choice(LISTS))


def drawn(rng: random.Random, sizes: list[int]) -> Literals:
    return tuple(dict.fromkeys(literal(rng) for _ in range(rng.choice(sizes))))


def implies(joins: Joins, one: Literal, other: Literal) -> bool:
    """Whether each row of one literal is a row of another, at any time: what facts list stays, other lists grow."""
    if one == other:
        return True
    if one.atom != other.atom:
        return False
    wider = {("lower", "either"), ("upper", "either"), ("given", "listed")}
    if (one.column, other.column) in wider:
        return True
    if one.column not in ("listed", "given") or other.column not in ("lower", "upper"):
        return False
    table = joins.atoms.tables[one.table]
    rows, others = ({*table.listing(each.column).values.tolist()} for each in (one, other))
    return rows <= others


def superfluous(joins: Joins, needs: list[Literals], number: int, *trigger: Literal) -> bool:
    def finds_all(other: int, of: int) -> bool:
        wanted, there = {*needs[other], *trigger}, {*needs[of], *trigger}
        return all(any(implies(joins, one, each) for one in there) for each in wanted)  # type: ignore[arg-type]

    return any(
        finds_all(other, number) and (not finds_all(number, other) or other < number)
        for other in range(len(needs))
        if other != number
    )


@pytest.mark.parametrize("seed", at_length([*range(40)], plain=10))
def test_needs_that_others_make_superfluous(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    joins, found = joins_of(rng), 0
    for _ in range(20):
        needs = [drawn(rng, [1, 1, 2]) for _ in range(rng.choice([1, 2, 4]))]
        trigger = [literal(rng)] if rng.random() < 0.5 else []
        for number in range(len(needs)):
            expected = superfluous(joins, needs, number, *trigger)
            assert subsumed(joins.atoms, needs, number, *trigger) == expected
            found += expected
        with monkeypatch.context() as patch:
            patch.setattr(triggers, "_COMPARED", len(needs) - 1)
            assert not any(subsumed(joins.atoms, needs, number) for number in range(len(needs)))
            patch.setattr(triggers, "_COMPARED", len(needs))
            assert subsumed(joins.atoms, needs, 0) == superfluous(joins, needs, 0)
    assert found


@pytest.mark.parametrize("seed", at_length([*range(30)], plain=7))
def test_what_is_joined_from_an_atom_that_moves(seed: int) -> None:
    """Nothing, if it names all variables; else each need that finds more than others do, without its own literal. If
    another side finds the same, one of both joins rows that moved on both."""
    rng = random.Random(seed)
    joins = joins_of(rng)
    for _ in range(10):
        needs = [drawn(rng, [1, 2, 2]) for _ in range(rng.choice([0, 1, 2, 3]))]
        reads: dict[tuple[Matched, int], None] = {
            (rng.choice(ATOMS), rng.choice([0, 1])): None for _ in range(rng.choice([1, 3, 5]))
        }
        found = find_triggers(joins, needs, reads)
        expected: list[tuple[int, object, int, frozenset[object], Literal | None]] = []
        for atom, side in sorted(reads, key=lambda read: read[0][0]):
            own = Literal(*atom, "lower" if side == 0 else "upper")
            if {*atom[1]} == {0, 1, 2}:
                having = [number for number, need in enumerate(needs) if own in need]
                if needs:
                    expected.append((min(having, default=0), atom, side, frozenset(), own if having else None))
                continue
            for number, need in enumerate(needs):
                if not superfluous(joins, needs, number, own):
                    rest = frozenset(need) - {own}
                    expected.append((number, atom, side, rest, own if own in need else None))
        assert [(t.need, t.pattern.atom, t.side, frozenset(t.rest), t.literal) for t in found] == expected
        assert [t.moved for t in found] == [(atom, side) for _, atom, side, _, _ in expected]
        assert [t.moving.column for t in found] == [("lower", "upper")[side] for _, _, side, _, _ in expected]
        for trigger in found:
            others = [
                other
                for other in found
                if (other.need, other.pattern.atom, other.side)
                == (trigger.need, trigger.pattern.atom, 1 - trigger.side)
            ]
            twin = trigger.literal is None and any(other.literal is not None or trigger.side for other in others)
            assert trigger.twin == twin


@pytest.mark.parametrize("seed", at_length([*range(30)], plain=7))
def test_needs_of_the_same_variables_are_joined_at_once(seed: int) -> None:
    """By set operations: every assignment once, if the largest table has all of them; the order is that of its rows."""
    rng = random.Random(seed)
    names = [f"n{place}" for place in range(4)]
    pairs = [(one, other) for one in names for other in names]
    shared = rng.sample(pairs, 12)
    lines = [f"fact K({name})" for name in names]
    for name, few in (("A", rng.choice([12, 5])), ("B", 12)):
        rows = shared if rng.random() < 0.8 else pairs
        lines += [f"fact {name}({x}, {y}){rng.choice(['', ' in [0, 0.5]', ' in [0.3, 1]'])}" for x, y in rows[:few]]
    text = "predicate A(n, n)\npredicate B(n, n)\nrule A(X, Y) & B(X, Y) -> H(X, Y)\nquery H(X, Y)\n"
    kb = lnnkit.loads(text + "\n".join(lines) + "\n")
    members = kb._session.program_fixpoint().run.grounding.members
    (joins,) = (rule.joins for rule in members if isinstance(rule, DeltaRule))
    atoms, tables = (("A", (0, 1)), ("B", (0, 1))), joins.atoms.tables
    for _ in range(6):
        columns = rng.sample(("lower", "upper", "listed"), 2)
        every_literal = [Literal(*atom, column) for atom in atoms for column in columns]
        needs = [tuple(rng.sample(every_literal, rng.choice([1, 2]))) for _ in range(rng.choice([1, 2]))]
        found = at_once(joins, needs)
        rows = {
            each: {
                tuple(int(column[row]) for column in tables[each.table].tuples.columns)
                for row in tables[each.table].listing(each.column).values.tolist()
            }
            for need in needs
            for each in need
        }
        expected = set.union(*(set.intersection(*(rows[each] for each in need)) for need in needs))
        used = [tables[name] for name in dict.fromkeys(each.table for need in needs for each in need)]
        every = [{*zip(*(c.tolist() for c in table.tuples.columns), strict=True)} for table in used]
        base = max(every, key=len)
        assert (found is None) == any(not other <= base for other in every)
        if found is not None:
            got = [pair for part in found for pair in tuples(part, (0, 1))]
            assert len(got) == len({*got}) and {*got} == expected


def test_deltas_have_classes() -> None:
    joins = joins_of(random.Random(0))
    table, delta, asked = joins.atoms.tables["A"], Delta(), list[int]()

    def common(_table: object, rows: np.ndarray) -> int | None:
        asked.append(len(rows))
        return 7 if len(rows) < 3 else None

    assert delta.common_class(table, 0, common) is None and not asked
    delta.add(table, 0, range(2))
    delta.add(table, 1, range(3), 5)
    assert [delta.common_class(table, 0, common) for _ in range(2)] == [7, 7]
    assert delta.common_class(table, 1, common) == 5 and asked == [2]  # each once
    assert {*delta.where} == {("A", 0), ("A", 1)}
    assert delta.rows("A", 0) == range(2) and delta.rows("B", 0) is None
