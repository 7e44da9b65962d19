"""Detects repeated keys in a stream without storing the keys: if each key is greater than the one before it, none is
repeated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lnnkit.rows.row_keys import is_rising

if TYPE_CHECKING:
    import pyarrow as pa

Key = int | str | None


@dataclass(frozen=True, slots=True)
class KeyRange:
    """The keys of some rows that follow one another: whether each is greater than the one before (``rising``), and the
    ``first`` and the ``last`` of them; None where there is no row."""

    rising: bool = True
    first: Key = None
    last: Key = None

    @staticmethod
    def of(keys: pa.Array) -> KeyRange:
        if not len(keys):
            return KeyRange()
        return KeyRange(is_rising(keys), _plain(keys[0].as_py()), _plain(keys[len(keys) - 1].as_py()))

    @property
    def told(self) -> list[object]:
        return [self.rising, self.first, self.last]

    def then(self, other: KeyRange) -> KeyRange:
        """The range of two consecutive runs of keys."""
        if self.first is None or other.first is None:
            return other if self.first is None else self
        assert self.last is not None
        rising = type(self.last) is type(other.first) and _before(self.last, other.first)
        return KeyRange(self.rising and other.rising and rising, self.first, other.last)

    def meets(self, other: KeyRange) -> bool:
        """Whether the last key equals the first of the following rows."""
        return self.last is not None and self.last == other.first


def _plain(key: object) -> Key:
    return key if isinstance(key, int) else str(key)


def _before(one: Key, other: Key) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one.encode() < other.encode()
    return isinstance(one, int) and isinstance(other, int) and one < other
