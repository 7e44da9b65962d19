"""Detects repeated keys in a stream without storing the keys: if each key is greater than the one before it, none is
repeated."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from lnnkit.rows.row_keys import KeyOrder, rising

if TYPE_CHECKING:
    import pyarrow as pa

Key = int | str | None


class KeyRange(NamedTuple):
    """The keys of consecutive rows: whether each is greater than the one before, in the two orders of
    `lnnkit.rows.row_keys.KeyOrder`, and the ``first`` and ``last`` key; None without rows."""

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
