"""Indexes of growing lists against loops over their rows; ranges of numbers by comparing each."""

from __future__ import annotations

import itertools
import random
from collections import ChainMap

import numpy as np
import pytest

from lnnkit.analysis.needs import Literal
from lnnkit.join import join_index
from lnnkit.join.bindings import NOTHING, Bindings, Pattern
from lnnkit.join.join_index import Hits, JoinIndex, RangeIndex
from lnnkit.join.join_plan import JoinStep, Recorder
from lnnkit.numeric import Interval
from lnnkit.store.layout import Domain
from lnnkit.store.relations import Relation, Relations, Schema
from lnnkit.store.row_arrays import Array, spelled_out
from tests.blocks import at_length

Row = tuple[int, ...]


class Listed:
    """A relation of three columns whose list grows, and at times shrinks."""

    def __init__(self, rng: random.Random, radix: int) -> None:
        self.rng, self.radix, self.atoms = rng, radix, Relations(radix)
        self.table = self.atoms.add(Schema("P", ("x", "x", "x"), (0.0, 1.0)))
        self.number = self.atoms.add(Schema("n", ("x",), (-np.inf, np.inf), None, True))
        ids = np.arange(min(radix, 12), dtype=np.int32)
        self.atoms.materialise(self.number, [ids], len(ids))
        self.renumber()
        constants = ((0, rng.randrange(min(radix, 4))),) if rng.random() < 0.3 else ()
        repeats = ((1, 2),) if rng.random() < 0.2 else ()
        members = np.array([entity for entity in range(radix) if rng.random() < 0.8], np.int32)
        self.domain = Domain({"narrow": members}, ChainMap(), radix, frozenset(), radix)
        narrowed = ((2, "narrow"),) if rng.random() < 0.3 else ()
        self.pattern = Pattern(self.table, (0, 1, 2), {0: 0, 1: 1, 2: 2}, constants, repeats, narrowed, self.domain)

    def renumber(self) -> None:
        for row in range(len(self.number)):
            low = self.rng.randrange(8)
            high = low + self.rng.choice([0, 0, 0, 2])
            if self.rng.random() < 0.1:
                low, high = high + 1, low - 1  # no value
            self.number.writable(0)[row], self.number.writable(1)[row] = low, high
        self.number.changes += 1

    def grow(self) -> None:
        count, most = self.rng.choice([1, 1, 2, 9, 40]), min(self.radix, 12)
        rows = {tuple(self.rng.randrange(most) for _ in range(3)) for _ in range(count)}
        columns = [np.array(column, np.int32) for column in zip(*sorted(rows), strict=True)]
        found = self.atoms.materialise(self.table, columns, len(rows))
        self.table.enlist("lower", found if self.rng.random() < 0.8 else found[::2])
        if self.rng.random() < 0.3:
            inside = self.domain.sorts["narrow"]
            others = np.setdiff1d(np.arange(self.radix, dtype=np.int32), inside)
            self.domain.change_members("narrow", *(ids[: self.rng.randrange(3)] for ids in (others, inside)))

    def rows(self) -> list[tuple[int, Row]]:
        """What the list has that fits the pattern."""
        tuples = [*zip(*(column.tolist() for column in self.table.tuples.columns), strict=True)]
        return [
            (row, tuples[row])
            for row in self.table.listing("lower").values.tolist()
            if all(tuples[row][place] == entity for place, entity in self.pattern.constants)
            and all(tuples[row][one] == tuples[row][other] for one, other in self.pattern.repeats)
            and all(tuples[row][place] in self.domain.sorts[sort] for place, sort in self.pattern.narrowed)
        ]


def expanded(hits: list[Hits], count: int) -> list[tuple[int, int]]:
    """The (key position, row) pairs of hits."""
    pairs: list[tuple[int, int]] = []
    for hit in hits:
        left, rows = hit.expand()
        places = np.arange(count) if left is None else left
        assert len(rows) == hit.total > 0
        assert not hit.single or int(hit.counts.max()) <= 1
        assert int(hit.counts.sum()) == hit.total
        pairs += zip(places.tolist(), rows.tolist(), strict=True)
    return pairs


@pytest.mark.parametrize("seed", at_length([*range(40)], plain=10))
def test_indexes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows of each key, as the list grows, and after rows were taken out of it."""
    rng = random.Random(seed)
    monkeypatch.setattr(join_index, "_DENSE", rng.choice([0, 2**16]))
    listed = Listed(rng, rng.choice([4, 12, 2000]))
    places = rng.sample(range(3), rng.choice([1, 2, 3]))
    index, sizes = JoinIndex(listed.pattern, "lower", places, listed.radix), list[int]()
    for turn in range(8):
        listed.grow()
        if turn == 5:
            gone = np.array(rng.sample(range(len(listed.table)), len(listed.table) // 2), np.int32)
            listed.table.delist("lower", gone)
        keys = [tuple(rng.randrange(min(listed.radix, 14)) for _ in places) for _ in range(rng.choice([1, 5, 30]))]
        keys = [tuple(min(entity, listed.radix - 1) for entity in key) for key in keys]
        columns = [np.array(column, np.int32) for column in zip(*keys, strict=True)]
        expected = [
            (position, row)
            for position, key in enumerate(keys)
            for row, entities in listed.rows()
            if tuple(entities[place] for place in places) == key
        ]
        assert sorted(expanded(index.find(columns), len(keys))) == sorted(expected)
        sizes = [segment.length for segment in index._segments]
        assert all(one >= 2 * other for one, other in itertools.pairwise(sizes))
        assert sum(sizes) == len(listed.rows())
        entities = dict(listed.rows())
        for segment in index._segments:
            key = [tuple(entities[row][place] for place in places) for row in segment.rows.tolist()]
            assert segment.find(index._key(columns, len(keys))).single == (len({*key}) == len(key))


@pytest.mark.parametrize("seed", at_length([*range(40)], plain=10))
def test_ranges(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows of a key whose numbers may lie within limits, and of others none where numbers are points; those without
    a value may be anywhere."""
    rng = random.Random(seed)
    monkeypatch.setattr(join_index, "_DENSE", rng.choice([0, 2**16]))
    monkeypatch.setattr(join_index, "_BITS", rng.choice([3, 62]))
    listed = Listed(rng, 12)
    if rng.random() < 0.5:
        low = listed.number.end(0).copy()
        listed.number.writable(1)[np.arange(len(low))] = low  # points
    exact = bool((listed.number.end(0) == listed.number.end(1)).all())
    places, at = rng.choice([[], [0], [1], [0, 1]]), [2]
    index = RangeIndex(listed.pattern, "lower", places, listed.radix, listed.number, at)
    for turn in range(6):
        listed.grow()
        if turn == 4 and not exact:
            listed.renumber()
        keys = [tuple(rng.randrange(12) for _ in places) for _ in range(rng.choice([1, 5, 30]))]
        columns = [np.array(column, np.int32) for column in zip(*keys, strict=True)] if places else []
        ends = [sorted(rng.choice([*range(-1, 11), -np.inf, np.inf]) for _ in range(2)) for _ in keys]
        if rng.random() < 0.3:
            ends = [[high, low] for low, high in ends]  # nothing lies between
        limits = Interval(*(np.array(end, float) for end in zip(*ends, strict=True)))
        inside, may = list[tuple[int, int]](), list[tuple[int, int]]()
        for position, (key, (low, high)) in enumerate(zip(keys, ends, strict=True)):
            for row, entities in listed.rows():
                if tuple(entities[place] for place in places) == key:
                    may.append((position, row))
                    least, most = (float(end[entities[2]]) for end in listed.number.bounds)
                    if max(least, most) >= low and min(least, most) <= high:
                        inside.append((position, row))
        found = expanded(index.between(columns, limits), len(keys))
        assert len(found) == len({*found})
        assert {*inside} <= {*found} <= {*may}
        if exact:
            assert {*inside} == {*found} or any(low > high for low, high in ends)


def test_how_many_columns_fit_into_a_key() -> None:
    for radix, reach in ((2, 62), (3, 31), (4, 31), (5, 20), (2**20, 3), (2**20 + 1, 2), (2**31, 2), (0, 62)):
        assert JoinIndex.reach(radix) == reach


@pytest.mark.parametrize("seed", at_length([*range(20)], plain=5))
def test_assignments_in_layers(seed: int) -> None:
    """However layers are stacked and cut, columns are those of the rows of a table that all assignments stand for."""
    rng = random.Random(seed)
    atoms = Relations(50)
    tables: list[Relation] = []
    for number in range(2):
        table = atoms.add(Schema(f"P{number}", ("x", "x"), (0.0, 1.0)))
        columns = [np.array(rng.choices(range(50), k=30), np.int32) for _ in range(2)]
        table.tuples.append(columns, 30)
        tables.append(table)
    rows: Array | range = np.arange(30, dtype=np.int32) if rng.random() < 0.5 else range(30)
    first, second = ("P0", (0, 1)), ("P1", (2, 3))
    known = NOTHING.match(first, frozenset({0, 1}))
    bindings = Bindings(30, known, None, {0: 0, 1: 1}, tables[0].tuples.columns, rows, (first,))
    pairs: list[tuple[int, int | None]] = [(row, None) for row in range(30)]
    for _ in range(5):
        kind = rng.choice(["at", "slice", "join"])
        if kind == "at":
            at = np.array(rng.choices(range(len(pairs)), k=rng.choice([1, 10, 40])))
            bindings, pairs = bindings.at(at), [pairs[place] for place in at.tolist()]
        elif kind == "slice":
            start = rng.randrange(len(pairs))
            stop = rng.randint(start + 1, len(pairs))
            bindings, pairs = bindings.slice(start, stop), pairs[start:stop]
        elif second not in bindings.known.matched:
            count = rng.choice([1, 60])
            via = np.array(sorted(rng.choices(range(len(pairs)), k=count)), np.int64)
            at = np.array(rng.choices(range(30), k=count), np.int32)
            then = bindings.known.match(second, frozenset({2, 3}))
            bindings = Bindings(count, then, None, {2: 0, 3: 1}, tables[1].tuples.columns, at, (second,), bindings, via)
            pairs = [(pairs[place][0], row) for place, row in zip(via.tolist(), at.tolist(), strict=True)]
        assert bindings.length == len(pairs)
        for atom, table, at_ in ((first, tables[0], 0), (second, tables[1], 1)):
            if atom not in bindings.known.matched:
                continue
            expected = [pair[at_] for pair in pairs]
            some = np.array(rng.choices(range(len(pairs)), k=3))
            assert spelled_out(bindings.rows(atom, some)).tolist() == [expected[place] for place in some.tolist()]
            assert spelled_out(bindings.rows(atom)).tolist() == expected
            fewer, positions = bindings.once(atom)
            every = spelled_out(fewer) if positions is None else spelled_out(fewer).take(positions)
            assert every.tolist() == expected and len(fewer) <= len(pairs)
            assert bindings.local(atom).tolist() == expected
            for place, variable in enumerate(atom[1]):
                ids = table.tuples.columns[place].tolist()
                assert bindings.column(int(variable)).tolist() == [ids[row] for row in expected if row is not None]


def test_recorded_joins() -> None:
    """The same steps are added up; what ended early is counted with what began in the same way."""
    a, b, c = (Literal(name, (0,), "lower") for name in "ABC")
    recorder = Recorder()
    for _ in range(2):  # A, then B, then C
        recorder.begin(7, 0, {b: 5, c: 6})
        recorder.stepped((a,), 4, 4)
        recorder.stepped((a, b), 5, 3)
        recorder.stepped((a, b), 5, 2)  # another part
        recorder.stepped((a, b, c), 6, 1)
    recorder.begin(7, 0, {b: 5, c: 9})  # nothing is left after A
    recorder.stepped((a,), 4, 0)
    recorder.begin(7, 0, {b: 5, c: 6})  # parts in two orders
    recorder.stepped((a,), 4, 4)
    recorder.stepped((a, b), 5, 3)
    recorder.stepped((a, c), 6, 2)
    recorder.begin(7, 1, {})
    made = recorder.made(7, 0)
    assert made is not None
    by_reads = {tuple(step.reads for step in join.steps): join for join in made}
    assert by_reads.keys() == {(a, b, c), (a, c, b)}
    whole, other = by_reads[a, b, c], by_reads[a, c, b]
    assert whole.times == 4 and other.times == 1
    assert whole.steps == [JoinStep(a, 16, 12), JoinStep(b, 15, 13), JoinStep(c, 12, 2)]
    assert other.steps == [JoinStep(a, 4, 4), JoinStep(c, 6, 2), JoinStep(b, 5, None)]
    assert whole.reached == (a, b, c) and other.reached == (a, c)
    assert recorder.made(7, 1) is recorder.made(8, 0) is None


def test_time_and_proposals_are_by_formula() -> None:
    recorder, inbox = Recorder(), [1]
    for member, more in ((3, 2), (3, 1), (4, 5)):
        with recorder.measured(member, inbox):
            inbox += range(more)
    assert recorder.proposals == {3: 3, 4: 5}
    assert all(0 <= recorder.seconds[member] <= recorder.elapsed for member in (3, 4))
    assert 0 <= recorder.elapsed < 60
