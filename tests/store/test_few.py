"""Keys in bulk and a few at a time, however they are kept: as a plain dictionary numbers them."""

from __future__ import annotations

import numpy as np
import pytest

from lnnkit.store.tuple_set import TupleSet


@pytest.mark.parametrize("seed", range(120))
def test_tuples_are_numbered_in_any_mixture_of_ways(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(seed)
    if seed % 3:
        monkeypatch.setattr("lnnkit.store.key_index._WORTHWHILE", () if seed % 3 == 1 else ((2**20, 50),))
    radix = int(draw.integers(2, 60))
    tuples, known = TupleSet(2, radix), dict[tuple[int, int], int]()
    for _ in range(12):
        drawn = draw.integers(0, radix, (2, int(draw.integers(1, 120)))).astype(np.int32)
        columns, pairs = list(drawn), list(zip(*drawn.tolist(), strict=True))
        first = [place for place, pair in enumerate(pairs) if pair not in known and pairs.index(pair) == place]
        before = [known.get(pair, -1) for pair in pairs]
        if draw.random() < 0.3:
            assert tuples.find(columns, len(pairs)).tolist() == before
        for place in first:
            known[pairs[place]] = len(known)
        match int(draw.integers(0, 4)):
            case 0:
                numbers, fresh = tuples.add(columns, len(pairs))
                assert numbers.tolist() == [known[pair] for pair in pairs]
                assert fresh.tolist() == first
            case 1:
                fresh = tuples.new(columns, len(pairs))
                assert (list(range(len(pairs))) if fresh is None else fresh.tolist()) == first
            case 2:
                tuples.append([column[first] for column in columns], len(first))
            case _:
                few = tuples.few()
                assert few is not None
                if not few.room(len(tuples) + len(pairs)):
                    tuples.add(columns, len(pairs))
                    continue
                keys = drawn[0].astype(np.int64) * tuples.radix + drawn[1]
                assert sorted(few.find(keys).tolist()) == sorted(number for number in before if number >= 0)
                count, chosen = few.add(keys, len(tuples))
                assert (list(range(count)) if chosen is None else chosen.tolist()) == first
                tuples.enter([column[first] for column in columns], len(first))
        assert len(tuples) == len(known)
    every = tuples.columns
    assert list(zip(*(column.tolist() for column in every), strict=True)) == list(known)
    assert tuples.find(every, len(tuples)).tolist() == list(range(len(known)))
