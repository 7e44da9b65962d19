"""Classes of bounds against the pairs of bounds themselves: rows of one class have the same ones."""

from __future__ import annotations

import random

import numpy as np
import pytest

from lnnkit.engine import encoded_bounds
from lnnkit.engine.encoded_bounds import OTHER, EncodedBounds
from lnnkit.logic.bounds import Bounds
from lnnkit.store.relations import DEFAULT, UNKNOWN, UNNAMED, Relations, Schema
from lnnkit.store.row_arrays import Array, spelled_out

Pair = tuple[float, float]


class Modelled:
    """A relation whose bounds change at random, and what is to be known of its classes."""

    def __init__(self, rng: random.Random, most: int, *, numeric: bool) -> None:
        self.rng, self.most = rng, most
        self.atoms = Relations(1000)
        default, unnamed = rng.choice([((0.0, 1.0), None), ((0.0, 0.0), (0.0, 1.0)), ((0.5, 1.0), (0.25, 1.0))])
        self.table = self.atoms.add(Schema("P", ("x",), default, unnamed, numeric=numeric))
        self.pairs: list[Pair] = [(low / 8, high / 8) for low in range(9) for high in range(low, 9)]
        if rng.random() < 0.6:
            self.pairs = rng.sample(self.pairs, rng.choice([1, 2, 5]))
        self.seen = {default}
        self.unsettled = False
        self.load()
        self.encoded = EncodedBounds(self.atoms)
        if not numeric:
            self.saw([*range(len(self.table))])

    def load(self) -> None:
        """Facts, at times all alike."""
        count = self.rng.choice([0, 3, 80])
        pairs = [self.rng.choice(self.pairs) for _ in range(count)]
        if self.rng.random() < 0.3:
            pairs = pairs[:1] * count
        if count:
            columns = [np.arange(count, dtype=np.int32)]
            lower, upper = (np.array(end) for end in zip(*pairs, strict=True))
            self.table.load(columns, Bounds(lower, upper))
            self.atoms.length += count
            self.table.deviate(np.arange(count, dtype=np.int32), lower, upper)

    def pair(self, row: int) -> Pair:
        return float(self.table.end(0)[row]), float(self.table.end(1)[row])

    def saw(self, rows: list[int]) -> None:
        self.seen |= {self.pair(row) for row in rows}

    def put(self, rows: Array, pairs: list[Pair]) -> None:
        for side in (0, 1):
            self.table.writable(side)[rows] = [pair[side] for pair in pairs]

    def change(self) -> None:
        """Bounds of some rows change."""
        if not len(self.table):
            return self.insert()
        rows = np.array(sorted(self.rng.sample(range(len(self.table)), self.rng.randint(1, len(self.table)))), np.int32)
        pairs = [self.rng.choice([*self.pairs, self.table.default]) for _ in rows]
        if self.rng.random() < 0.4:
            pairs = pairs[:1] * len(rows)
        self.put(rows, pairs)
        lower, upper = self.table.read(rows)
        self.table.deviate(rows, lower, upper)
        back = [row for row in rows.tolist() if self.pair(row) == self.table.default]
        if self.rng.random() < 0.5:
            self.encoded.update(self.table, rows, lower, upper)
            self.unsettled |= bool(back)
        else:
            self.encoded.refresh(self.table, rows)
            self.unsettled |= any(self.table.flags("either").take(np.array(back, np.int32)))
        self.saw(rows.tolist())
        return None

    def insert(self) -> None:
        """New rows with one pair of bounds, or at their default."""
        start, count = len(self.table), self.rng.randint(1, 5)
        rows = self.atoms.add_new(self.table, [np.arange(start, start + count, dtype=np.int32)], count)
        if self.rng.random() < 0.5:
            pair = self.rng.choice([pair for pair in [*self.pairs, (0.125, 0.25)] if pair != self.table.default])
            every = spelled_out(rows)
            self.put(every, [pair] * count)
            self.table.deviate(every, *self.table.read(every))
            code = self.encoded.classify_new(self.table, rows, pair)
            self.saw([*rows])
            assert code is None if self.varied or self.table.numeric else self.encoded.pairs[code or 0] == pair

    @property
    def varied(self) -> bool:
        return len(self.seen) > self.most and not self.table.numeric

    def check(self) -> None:
        encoded, table = self.encoded, self.table
        codes = encoded.codes(table)
        assert len(codes) == len(table)
        known = [encoded.pairs[code] for code in encoded.known(table)] if not table.numeric else []
        for row, code in enumerate(codes.values.tolist()):
            assert code == OTHER or encoded.pairs[code] == self.pair(row)
            assert (code != OTHER or self.varied) != table.numeric
        for row, pair in ((DEFAULT, table.default), (UNNAMED, table.unnamed), (UNKNOWN, table.unknown)):
            (code,) = codes.take(np.array([row])).tolist()
            assert code == OTHER if table.numeric else encoded.pairs[code] == pair
        if table.numeric:
            return
        assert encoded.varied(table) == self.varied
        assert known[0] == table.default and len(known) == len({*known})
        if not self.varied:
            assert {*known} == self.seen
        assert encoded.settled(table) == (not self.unsettled and not self.varied)
        sole = encoded.sole(table)
        assert (sole is not None) == (len(known) == 2 and encoded.settled(table))
        if sole is not None:
            assert {self.pair(row) for row in table.listing("either").values.tolist()} <= {encoded.pairs[sole]}
        self.common(codes.values)

    def common(self, codes: Array) -> None:
        count = min(len(codes), self.rng.choice([0, 1, 2, 9]))
        rows = np.array(self.rng.sample(range(len(codes)), count), np.int32)
        classes = {int(code) for code in codes[rows]}
        expected = classes.pop() if len(classes) == 1 and OTHER not in classes else None
        assert self.encoded.common(self.table, rows) == expected


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_classes(seed: int, numeric: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    most = rng.choice([3, 64])
    monkeypatch.setattr(encoded_bounds, "_CLASSES", most)
    modelled = Modelled(rng, most, numeric=numeric)
    modelled.check()
    for _ in range(12):
        rng.choice([modelled.change, modelled.insert])()
        modelled.check()
