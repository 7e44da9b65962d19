"""Keys of rows: whether they ascend, and which are repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lnnkit.data.arrow import nulls, one, view

if TYPE_CHECKING:
    import pyarrow as pa


def repeated(keys: pa.Array | pa.ChunkedArray) -> list[tuple[int, int]]:
    """The rows that repeat the key of an earlier row, each with the first such row."""
    array = one(keys)
    if len(array) < 2 or is_rising(array):
        return []
    coded = array.dictionary_encode()
    codes = view(coded.indices, np.int32)
    if len(coded.dictionary) == len(codes):
        return []
    first = np.full(len(coded.dictionary), len(codes), np.int64)
    np.minimum.at(first, codes, np.arange(len(codes)))
    again = np.flatnonzero(first.take(codes) < np.arange(len(codes)))
    empty = nulls(array)
    return [(row, int(first[codes[row]])) for row in again.tolist() if not empty[row]]


def is_rising(keys: pa.Array) -> bool:
    """Whether each key is known to be greater than the one before it: integers by value, texts by their bytes."""
    import pyarrow as pa

    if keys.null_count or len(keys) < 2:
        return not keys.null_count
    if pa.types.is_int64(keys.type):
        values = view(keys, np.int64)
        return bool((values[1:] > values[:-1]).all())
    if pa.types.is_integer(keys.type):
        try:
            return is_rising(keys.cast(pa.int64()))
        except pa.ArrowInvalid:
            return False
    if pa.types.is_string(keys.type) or pa.types.is_large_string(keys.type):
        import pyarrow.compute as pc

        less = pc.less(keys.slice(0, len(keys) - 1), keys.slice(1))  # pyright: ignore[reportAttributeAccessIssue]
        return bool(pc.all(less).as_py())  # pyright: ignore[reportAttributeAccessIssue]
    return False
