"""Keys in order: packed with their positions where both fit one number."""

from __future__ import annotations

import numpy as np
import pytest

from lnnkit.store.columns.sorting import distinct, in_order

WIDEST = 2**62  # with a position they do not fit one number


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("length", [0, 1, 2, 7, 1000, 40_000])
@pytest.mark.parametrize("size", [1, 2, 50, 10**6, 2**31, WIDEST])
def test_equal_keys_keep_their_order(length: int, size: int, dtype: type[np.signedinteger]) -> None:
    most = min(size, np.iinfo(dtype).max + 1)
    rng = np.random.default_rng(length)
    key = rng.integers(0, most, length).astype(dtype)
    key[::3] = most - 1
    before = key.copy()
    order, ordered = in_order(key, size)
    wanted = sorted(range(length), key=lambda place: (int(before[place]), place))
    assert order.tolist() == wanted
    assert ordered.tolist() == [int(before[place]) for place in wanted]
    assert ordered.dtype == dtype
    assert np.array_equal(key, before)


@pytest.mark.parametrize("length", [0, 1, 2, 1000])
@pytest.mark.parametrize("size", [1, 2, 50, 10**6])
def test_distinct_values_ascend(length: int, size: int) -> None:
    values = np.random.default_rng(length).integers(0, size, length)
    assert distinct(values).tolist() == sorted(set(values.tolist()))
