"""Keys in order: packed with their positions where both fit one number."""

from __future__ import annotations

import numpy as np
import pytest

from lnnkit.store.row_arrays import arranged, distinct_values, in_order

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


@pytest.mark.parametrize("largest", [1, 3, 2**10, 2**31 - 1])
@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_rows_as_python_sorts_them(width: int, largest: int) -> None:
    rng = np.random.default_rng(width)
    for length in (1, 2, 50):
        columns = [rng.integers(0, 4, length, dtype=np.int32) for _ in range(width)]
        columns[-1][0] = largest
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        order = arranged(columns)
        expected = sorted(range(length), key=rows.__getitem__)
        assert (list(range(length)) if order is None else order.tolist()) == expected
        ready = [column[expected] for column in columns]
        assert arranged(ready) is None or sum(int(column.max()).bit_length() for column in ready) > 63


@pytest.mark.parametrize("width", [1, 2])
def test_distinct_rows_as_python_sorts_them(width: int) -> None:
    rng = np.random.default_rng(width)
    for length in (2, 3, 60):
        places = rng.permutation(length)  # dense keys: a slot for each
        columns = [np.zeros(length, np.int32)] * (width - 1) + [places.astype(np.int32)]
        order = arranged(columns)
        rows = places.tolist()
        assert (list(range(length)) if order is None else order.tolist()) == sorted(range(length), key=rows.__getitem__)


def test_no_rows_to_sort() -> None:
    assert arranged([]) is None
    assert arranged([np.empty(0, np.int32)]) is None


@pytest.mark.parametrize("length", [0, 1, 2, 1000])
@pytest.mark.parametrize("size", [1, 2, 50, 10**6])
def test_distinct_values_ascend(length: int, size: int) -> None:
    values = np.random.default_rng(length).integers(0, size, length)
    assert distinct_values(values).tolist() == sorted(set(values.tolist()))
