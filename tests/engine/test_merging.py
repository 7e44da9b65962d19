"""The merge of proposals, and the other ways in which bounds are written, against lists of rows."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest

from lnnkit.arrays import DOUBLE
from lnnkit.engine.bounds_state import State, distinct, shown
from lnnkit.engine.encoded_bounds import EncodedBounds
from lnnkit.engine.merge import Inbox, Merge, Proposals, changes, note, note_new
from lnnkit.join.triggers import Delta
from lnnkit.logic.bounds import Bounds
from lnnkit.store.relations import DEFAULT, UNKNOWN, Relations, RowNumbers, Schema
from lnnkit.store.row_arrays import Array, spelled_out
from lnnkit.trail.events import NOBODY, Kind, Trail

Setter = tuple[int, int, int]  # a shape, a leaf, and an instance there


class Storing:
    """Pending instances, each numbered when it is stored."""

    def __init__(self, first: int) -> None:
        self.first = first

    def store(self, positions: Array | range) -> Array:
        return spelled_out(positions) + self.first


class Kept:
    """A relation with bounds, and a state that records what is written."""

    def __init__(self, rng: random.Random, *, numeric: bool = False, derived: str = "", rows: int = 12) -> None:
        self.atoms = Relations(1000)
        self.others = self.atoms.add(Schema("Q", ("x",), (0.0, 1.0)))
        default = (math.inf, -math.inf) if derived else (-math.inf, math.inf) if numeric else (0.0, 1.0)
        self.table = self.atoms.add(Schema("P", ("x",), default, None, numeric, derived))
        self.atoms.materialise(self.table, [np.arange(rows, dtype=np.int32)], rows)
        self.state = State(DOUBLE, Trail(DOUBLE))
        self.rng = rng

    def events(self) -> list[tuple[Kind, int, int, float, Setter]]:
        """The kind, side, row, value and setter of each event."""
        numbers = RowNumbers(self.atoms)
        events, found = self.state.trail.events(numbers), []
        for place, start in enumerate(events.start.tolist()):
            stop = [*events.start.tolist(), len(events.row)][place + 1]
            for at in range(start, stop):
                table, row = numbers.behind(int(events.row[at]))
                assert table is self.table
                setter = int(events.shape[place]), int(events.leaf[place]), int(events.instance[at])
                found.append((Kind(events.kind[place]), int(events.side[place]), row, float(events.value[at]), setter))
        return found


def drawn(kept: Kept, side: int, *, rises: bool) -> list[Proposals]:
    """Proposals that are better than what is there: above it, or below."""
    rng, parts = kept.rng, []
    values = rng.choice([[0.25, 0.5, 0.75], [0.5]])
    for number in range(rng.choice([1, 1, 2, 4])):
        rows = [rng.randrange(len(kept.table)) for _ in range(rng.choice([1, 3, 9]))]
        value: Array | float = np.array([rng.choice(values) for _ in rows])
        if rng.random() < 0.4:
            value = values[0]
        if not rises:
            value = -value
        instances: Array | range = np.array([rng.randrange(50) for _ in rows], np.int32)
        pending = Storing(100 * number) if rng.random() < 0.5 else None
        at: Array | range = np.array(rows, np.int32)
        if rng.random() < 0.2:
            at, instances = range(2, 2 + len(rows)), range(7, 7 + len(rows))
        alone = len({*spelled_out(at).tolist()}) == len(at) and rng.random() < 0.5
        parts.append(Proposals(at, value, instances, number, 10 + number, pending, alone))
    return parts


def best(proposals: Sequence[Proposals], *, least: bool) -> dict[int, tuple[float, Setter]]:
    """By row the best value, and who proposed it first."""
    found: dict[int, tuple[float, Setter]] = {}
    for proposal in proposals:
        stored = proposal.instance if proposal.pending is None else proposal.pending.store(proposal.instance)
        triples = zip(proposal.row.tolist(), proposal.values.tolist(), spelled_out(stored).tolist(), strict=True)
        for row, value, instance in triples:
            better = row not in found or (value < found[row][0] if least else value > found[row][0])
            if better:
                found[row] = value, (proposal.shape, proposal.leaf, instance)
    return found


@pytest.mark.parametrize("derived", ["", "min", "max"])
@pytest.mark.parametrize("seed", range(30))
def test_the_best_proposal_wins(seed: int, derived: str) -> None:
    """Of equal ones the first; in a completion upper ends rise, and derived numbers come nearer to the best."""
    rng = random.Random(seed)
    rising, side = derived != "" or rng.random() < 0.5, rng.choice([0, 1])
    both = rising and rng.random() < 0.5
    side = 1 if both else side
    kept = Kept(rng, numeric=bool(derived), derived=derived)
    table, merge = kept.table, Merge(kept.state)
    least = derived == "min" if rising else side == 1
    for end in (0, 1):
        kept.state.put(table, end, np.arange(len(table)), 10.0 if least else -10.0, None)
    proposals = drawn(kept, side, rises=not least)
    expected = best(proposals, least=least)
    before = [table.end(end).tolist() for end in (0, 1)]
    moved = merge.settle(table, side, proposals, rising=rising, both=both)
    assert sorted(moved.tolist()) == sorted(expected)
    for end in (0, 1):
        for row, (value, _) in expected.items() if both or end == side else ():
            before[end][row] = value
        assert table.end(end).tolist() == before[end]
    events = kept.events()
    written = [(Kind.SENT, end, row, *said) for row, said in expected.items() for end in ((0, 1) if both else (side,))]
    assert sorted(events) == sorted(written)
    assert merge.settle(table, side, []).tolist() == []


@pytest.mark.parametrize("seed", range(30))
def test_new_rows_with_one_bound(seed: int) -> None:
    """They are written as a run, if all are new, follow one another, and get the same."""
    rng = random.Random(seed)
    kept, start = Kept(rng, rows=0), rng.choice([0, 3])
    table, both = kept.table, rng.random() < 0.5
    kept.atoms.add_new(table, [np.arange(start, dtype=np.int32)], start)
    kept.state.put(table, 1, range(start), 0.625, None)
    proposals, first, wrong = [], start, rng.choice(["", "", "", "value", "gap", "repeated", "stored"])
    for number in range(rng.choice([1, 2, 3])):
        count, last = rng.randint(1, 4), wrong if number == 1 else ""
        rows = range(first + (last == "gap"), first + (last == "gap") + count)
        first = rows.stop
        pending = None if last == "stored" else Storing(100 * number)
        value = 0.5 if last == "value" else 0.25
        proposals.append(Proposals(rows, value, range(count), number, 10, pending, last != "repeated"))
    kept.atoms.add_new(table, [np.arange(start, first, dtype=np.int32)], first - start)
    found = Merge(kept.state).settle_new(table, 0, proposals, both=both)
    if wrong and len(proposals) > 1:
        assert found is None
        assert kept.events() == [] and table.end(0).tolist() == [0.0] * first
        return
    assert found == (range(start, first), 0.25)
    assert table.end(0).tolist() == [0.0] * start + [0.25] * (first - start)
    assert table.end(1).tolist() == [0.625] * start + [0.25 if both else 1.0] * (first - start)
    expected = best(proposals, least=False)
    events = [(Kind.SENT, end, row, *said) for row, said in expected.items() for end in ((0, 1) if both else (0,))]
    assert sorted(kept.events()) == sorted(events)
    delta, encoded = Delta(), EncodedBounds(kept.atoms)
    sides = (0, 1) if both else (0,)
    assert note_new(delta, table, range(start, first), sides, 0.25, encoded, 1e-9)
    assert delta.rows("P", sides[-1]) == range(start, first)
    for side, name in enumerate(("lower", "upper")):
        listed = [row for row in table.listing(name).values.tolist() if row >= start]
        assert listed == ([*range(start, first)] if side in sides else [])
    codes = encoded.codes(table).values.tolist()
    assert {encoded.pairs[code] for code in codes[start:]} == {(0.25, 0.25 if both else 1.0)}


def test_new_rows_that_cross() -> None:
    kept = Kept(random.Random(0), rows=2)
    kept.table.reserve(DEFAULT, (0.0, 0.5))
    encoded = EncodedBounds(kept.atoms)
    for value, crosses in ((0.5, False), (0.5 + 2e-9, True), (0.5 + 5e-10, False), (0.75, True)):
        delta = Delta()
        assert note_new(delta, kept.table, range(2), (0,), value, encoded, 1e-9) != crosses
        assert [*delta.where] == ([] if crosses else [("P", 0)])


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_bounds_that_cross_are_arrested(seed: int, numeric: bool) -> None:
    """They read as unknown from then on, and show what crossed; what crosses by less than the tolerance stays."""
    rng = random.Random(seed)
    kept = Kept(rng, numeric=numeric)
    table, encoded, state = kept.table, EncodedBounds(kept.atoms), kept.state
    values = [(0.25, 0.5), (0.5, 0.5), (0.5, 0.25), (0.5, 0.5 - 2e-13), (0.5, 0.5 - 1e-6), (0.0, 1.0), (0.75, 1.0)]
    every: dict[int, tuple[float, float]] = {}
    held, order = dict[int, tuple[float, float]](), True
    for turn in range(3):
        rows = sorted(row for row in rng.sample(range(len(table)), 5) if row not in held)
        rising = turn == 1 and rng.random() < 0.5
        raised, lowered = list[int](), list[int]()
        for row in rows:
            pair = rng.choice(values)
            was = every.get(row, table.default)
            every[row] = pair
            sides = [side for side in (0, 1) if pair[side] != was[side]]
            for side in sides:
                state.put(table, side, np.array([row], np.int32), pair[side], Kind.SENT)
                (lowered if side else raised).append(row)
        delta = Delta()
        up, down = (np.array(side, np.int32) for side in (raised, lowered))
        crossed = note(delta, table, up, down, state, encoded, rising=rising)
        moved = {*raised, *lowered}
        expected = sorted(r for r in moved if every[r][0] - every[r][1] > 1e-9) if not rising else []
        order &= rising or not any(0 < every[row][0] - every[row][1] < 1e-9 for row in moved)
        assert sorted(crossed.tolist()) == expected
        held |= {row: every.pop(row) for row in expected}
        for side, ended in enumerate((raised, lowered)):
            left = [row for row in ended if row not in held]
            entered = delta.rows("P", side)
            assert (None if entered is None else spelled_out(entered).tolist()) == (left or None)
        for row in range(len(table)):
            at = np.array([row], np.int32)
            pair = table.unknown if row in held else every.get(row, table.default)
            assert tuple(end.item() for end in table.read(at)) == pair
            assert tuple(end.item() for end in shown(table, at)) == held.get(row, pair)
            assert bool(table.held(at)) == (row in held)
            if not numeric:
                assert encoded.pairs[encoded.codes(table).take(at).item()] == pair
        if any(every[row][0] > every[row][1] for row in every):  # the rest arrests what had risen beyond
            break
    assert state.crossings == len(held) == len(table.crossed)
    assert state.crossed == ([table] if held else [])
    assert table.in_order == order or numeric
    opened = [event[:4] for event in kept.events() if event[0] == Kind.OPENED]
    assert sorted(opened) == sorted((Kind.OPENED, side, row, table.unknown[side]) for row in held for side in (0, 1))
    assert shown(table, np.array([DEFAULT, UNKNOWN]))[0].tolist() == [table.default[0], table.unknown[0]]


def test_relations_with_arrested_rows_are_in_order() -> None:
    kept = Kept(random.Random(0))
    kept.atoms.materialise(kept.others, [np.arange(2, dtype=np.int32)], 2)
    for table in (kept.table, kept.others):
        kept.state.put(table, 1, np.array([1]), -1.0, None)
        assert kept.state.arrest(table, np.array([0, 1], np.int32)).tolist() == [1]
        assert kept.state.arrest(table, np.array([0, 1], np.int32)).tolist() == []
    assert kept.state.crossed == [kept.others, kept.table]
    assert kept.state.crossings == 2


@pytest.mark.parametrize("derived", ["", "min", "max"])
def test_what_completions_begin_with_and_restore(derived: str) -> None:
    kept = Kept(random.Random(0), numeric=True, derived=derived)
    table, state = kept.table, kept.state
    rows = np.array([1, 2, 3], np.int32)
    state.put(table, 0, rows[1:], np.array([2.0, 3.0]), Kind.STATED, 4, 5, np.array([6, 7]))
    state.put(table, 1, rows[1:], np.array([4.0, 3.0]), Kind.STATED)
    state.begin(table, rows)
    worst = {"": None, "min": math.inf, "max": -math.inf}[derived]
    at = (-math.inf, math.inf) if worst is None else (worst, worst)
    assert [end.take(rows).tolist() for end in (table.end(0), table.end(1))] == [[at[0], 2, 3], [at[1], 4, 3]]
    assert [(k, s, r, v, (*who[:2], who[2] if s == 0 else 0)) for k, s, r, v, who in kept.events()] == [
        (Kind.STATED, 0, 2, 2.0, (4, 5, 6)),
        (Kind.STATED, 0, 3, 3.0, (4, 5, 7)),
        (Kind.STATED, 1, 2, 4.0, (NOBODY, 0, 0)),
        (Kind.STATED, 1, 3, 3.0, (NOBODY, 0, 0)),
    ]
    state.restore(table, rows[1:], Bounds(np.array([2.5, 2.0]), np.array([4.5, 2.75])))
    assert [end.take(rows[1:]).tolist() for end in (table.end(0), table.end(1))] == [[2.5, 3], [4, 2.75]]
    assert [event[:4] for event in kept.events()][4:] == [(Kind.RESTORED, 0, 2, 2.5), (Kind.RESTORED, 1, 3, 2.75)]


@pytest.mark.parametrize("seed", range(10))
def test_distinct_rows(seed: int) -> None:
    rng = random.Random(seed)
    most = rng.choice([10, 100_000])
    parts = [[rng.randrange(most) for _ in range(rng.choice([0, 1, 20]))] for _ in range(rng.choice([1, 2, 3]))]
    found = distinct([np.array(part, np.int32) for part in parts])
    assert found.dtype == np.int32 and found.tolist() == sorted({row for part in parts for row in part})


def test_inboxes_and_deltas() -> None:
    kept, inbox = Kept(random.Random(0)), Inbox()
    assert len(inbox) == 0 and not [*inbox.by_relation()]
    for table, side, count in ((kept.table, 1, 2), (kept.others, 0, 3), (kept.table, 1, 4), (kept.table, 0, 5)):
        inbox.add(table, side, Proposals(range(count), 0.5, range(count), 0, 0))
    assert len(inbox) == 14
    sizes = [(table, [[len(sent.rows) for sent in end] for end in sides]) for table, sides in inbox.by_relation()]
    assert sizes == [(kept.others, [[3], []]), (kept.table, [[5], [2, 4]])]
    delta = changes({kept.table: np.array([1, 4]), kept.others: range(0)})
    assert {*delta.where} == {("P", 0), ("P", 1)}
