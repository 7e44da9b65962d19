"""Tuple sets against a dictionary."""

from __future__ import annotations

import random

import numpy as np
import pytest

from lnnkit.store.tuple_set import KeyIndex, TupleSet


@pytest.mark.parametrize("loaded", [0, 300, 3000])
@pytest.mark.parametrize(("width", "radix"), [(0, 5), (1, 5), (2, 7), (3, 2**31), (5, 2**20), (9, 2**31), (4, 3)])
def test_numbers_as_a_dictionary_would(width: int, radix: int, loaded: int) -> None:
    """The tuples with which a set was loaded, which ascend, are searched until many were looked up."""
    rng = random.Random(width * 1000 + radix + loaded)
    values = [rng.randrange(radix) for _ in range(30 if loaded else 4)]
    known: dict[tuple[int, ...], int] = {}
    tuples = TupleSet(width, radix)
    if loaded:
        first = sorted({tuple(rng.choice(values) for _ in range(width)) for _ in range(loaded)})
        known = {row: number for number, row in enumerate(first)}
        tuples.load([np.array([row[i] for row in first], dtype=np.int32) for i in range(width)], len(first))
    for _ in range(12):
        drawn = rng.sample(list(known), min(len(known), rng.randrange(4))) if loaded else []
        rows = [tuple(rng.choice(values) for _ in range(width)) for _ in range(rng.randrange(8 if loaded else 30))]
        rows = rng.sample([*drawn, *rows], len(drawn) + len(rows))
        columns = [np.array([row[i] for row in rows], dtype=np.int32) for i in range(width)]
        probe = tuples.find(columns, len(rows))
        assert probe.tolist() == [known.get(row, -1) for row in rows]
        numbers, fresh = tuples.add(columns, len(rows))
        expected_fresh = []
        for position, row in enumerate(rows):
            if row not in known:
                known[row] = len(known)
                expected_fresh.append(position)
        assert sorted(fresh.tolist()) == expected_fresh
        assert numbers.tolist() == [known[row] for row in rows]
        assert len(tuples) == len(known)
        stored = (
            list(zip(*(column.tolist() for column in tuples.columns), strict=True)) if width else [()] * len(tuples)
        )
        assert stored == list(known)


def test_wide_keys_never_overflow() -> None:
    """Ids near 2^31 in many columns: the key is taken in steps, each below 2^62."""
    top = 2**31 - 1
    index = KeyIndex(6, 2**31)
    columns = [np.array([top, top, 0]) for _ in range(6)]
    columns[5] = np.array([top, top - 1, 0])
    numbers, fresh = index.add(columns, 3)
    assert numbers.tolist() == [0, 1, 2]
    assert fresh.tolist() == [0, 1, 2]
    assert index.find(columns, 3).tolist() == [0, 1, 2]
