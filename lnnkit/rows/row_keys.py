"""Keys of rows: whether they ascend, and which are repeated. In a stream repeated keys are detected without storing the
keys: if each key is greater than the one before it, none is repeated."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lnnkit.data.arrow import nulls, one, view

if TYPE_CHECKING:
    import pyarrow as pa


def repeated(keys: pa.Array | pa.ChunkedArray) -> list[tuple[int, int]]:
    """The rows that repeat the key of an earlier row, each with the first such row."""
    array = one(keys)
    if len(array) < 2 or array.null_count == len(array) or is_rising(array):
        return []
    there = np.flatnonzero(~nulls(array))  # the code of a null is arbitrary
    coded = array.dictionary_encode()
    if len(coded.dictionary) == len(there):
        return []
    codes = view(coded.indices, np.int32)[there]
    first = np.full(len(coded.dictionary), len(array), np.int64)
    np.minimum.at(first, codes, there)
    repeats = first.take(codes) < there
    return list(zip(there[repeats].tolist(), first.take(codes[repeats]).tolist(), strict=True))


class KeyOrder(NamedTuple):
    """Whether each key is known to be greater than the one before it, in two orders of texts: by their bytes, and by
    their lengths first, which is the order of whole numbers. Whole numbers are compared by value."""

    by_bytes: bool
    by_length: bool


def is_rising(keys: pa.Array) -> bool:
    """Whether the keys rise in one of the orders: then none is repeated."""
    return any(rising(keys))


def rising(keys: pa.Array) -> KeyOrder:
    """The orders in which keys rise."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if keys.null_count or len(keys) < 2:
        return KeyOrder(not keys.null_count, not keys.null_count)
    whole = pa.types.is_integer(keys.type) or (pa.types.is_decimal(keys.type) and keys.type.scale == 0)
    if not (whole or pa.types.is_string(keys.type) or pa.types.is_large_string(keys.type)):
        return KeyOrder(False, False)
    less = pc.less(keys.slice(0, len(keys) - 1), keys.slice(1))  # pyright: ignore[reportAttributeAccessIssue]
    if not whole:
        length = view(pc.binary_length(keys).cast(pa.int64()), np.int64)  # pyright: ignore[reportAttributeAccessIssue]
        after = less.to_numpy(zero_copy_only=False)
        longer, as_long = length[1:] > length[:-1], length[1:] == length[:-1]
        return KeyOrder(bool(after.all()), bool((longer | (as_long & after)).all()))
    greater = not less.false_count
    return KeyOrder(greater, greater)


Key = int | str | None


class KeyRange(NamedTuple):
    """The keys of consecutive rows: whether each is greater than the one before, in the two orders of
    `KeyOrder`, and the ``first`` and ``last`` key; None without rows."""

    by_bytes: bool = True
    by_length: bool = True
    first: Key = None
    last: Key = None

    @staticmethod
    def of(keys: pa.Array) -> KeyRange:
        if not len(keys):
            return KeyRange()
        return KeyRange(*rising(keys), _plain(keys[0].as_py()), _plain(keys[len(keys) - 1].as_py()))

    @property
    def rising(self) -> bool:
        """Whether they rise in one of the orders: then none is repeated."""
        return self.by_bytes or self.by_length

    def then(self, other: KeyRange) -> KeyRange:
        """The range of two consecutive runs of keys."""
        if self.first is None or other.first is None:
            return other if self.first is None else self
        assert self.last is not None
        by_bytes, by_length = _before(self.last, other.first)
        return KeyRange(
            self.by_bytes and other.by_bytes and by_bytes,
            self.by_length and other.by_length and by_length,
            self.first,
            other.last,
        )

    def meets(self, other: KeyRange) -> bool:
        """Whether the last key equals the first of the following rows."""
        return self.last is not None and self.last == other.first


def _plain(key: object) -> Key:
    if isinstance(key, Decimal) and key == key.to_integral_value():
        return int(key)
    return key if isinstance(key, int) else str(key)


def _before(one: Key, other: Key) -> KeyOrder:
    """Whether one key comes before another, in each order."""
    if isinstance(one, str) and isinstance(other, str):
        first, second = one.encode(), other.encode()
        return KeyOrder(first < second, (len(first), first) < (len(second), second))
    less = isinstance(one, int) and isinstance(other, int) and one < other
    return KeyOrder(less, less)
