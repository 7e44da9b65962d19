"""Growing sets of entity tuples: every tuple once, numbered in the order of arrival."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

_LIMIT = 2**62


class Growing:
    """A 1-D tensor that grows at its end in amortised constant time."""

    __slots__ = ("_buffer", "_length")

    def __init__(self, dtype: torch.dtype) -> None:
        self._buffer = torch.empty(16, dtype=dtype)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> Tensor:
        """A view of what is there; it stays valid for reading until the next ``append``."""
        return self._buffer[: self._length]

    def append(self, values: Tensor) -> None:
        needed = self._length + len(values)
        if needed > len(self._buffer):
            grown = torch.empty(max(needed, 2 * len(self._buffer)), dtype=self._buffer.dtype)
            grown[: self._length] = self.values
            self._buffer = grown
        self._buffer[self._length : needed] = values
        self._length = needed


class KeyIndex:
    """Tuples of ids below ``radix`` -> dense numbers, by a mixed-radix key. Wider tuples than 62 bits go by steps."""

    __slots__ = ("_inner", "_keys", "_numbers", "_radix", "_take")

    def __init__(self, width: int, radix: int) -> None:
        self._radix = max(radix, 2)
        self._take = 0
        while self._take < width and self._radix ** (self._take + 1) <= _LIMIT:
            self._take += 1
        # what does not fit: the first columns become one dense number, which leads the key of the rest
        self._inner = KeyIndex(width - self._take + 1, 2**31) if self._take < width else None
        self._keys = torch.empty(0, dtype=torch.int64)
        self._numbers = torch.empty(0, dtype=torch.int64)

    def _key(self, columns: Sequence[Tensor], length: int) -> Tensor:
        key = torch.zeros(length, dtype=torch.int64)
        for column in columns:
            key = key * self._radix + column
        return key

    def find(self, columns: Sequence[Tensor], length: int) -> Tensor:
        """The number of each tuple, -1 for those not there."""
        key = self._key(columns[: self._take], length)
        if len(self._keys):
            place = torch.searchsorted(self._keys, key).clamp_(max=len(self._keys) - 1)
            number = self._numbers.index_select(0, place)
            number = torch.where(self._keys.index_select(0, place) == key, number, -1)
        else:
            number = torch.full((length,), -1, dtype=torch.int64)
        if self._inner is None:
            return number
        found = self._inner.find([number.clamp(min=0), *columns[self._take :]], length)
        return torch.where(number >= 0, found, -1)

    def add(self, columns: Sequence[Tensor], length: int) -> tuple[Tensor, Tensor]:
        """Number every tuple. Returns the numbers, and the positions at which a new tuple stands first."""
        key = self._key(columns[: self._take], length)
        number, fresh = self._add(key)
        if self._inner is None:
            return number, fresh
        return self._inner.add([number, *columns[self._take :]], length)

    def _add(self, key: Tensor) -> tuple[Tensor, Tensor]:
        unique, inverse = torch.unique(key, return_inverse=True)
        if len(self._keys):
            place = torch.searchsorted(self._keys, unique).clamp_(max=len(self._keys) - 1)
            known = self._keys.index_select(0, place) == unique
            number = torch.where(known, self._numbers.index_select(0, place), -1)
        else:
            known = torch.zeros(len(unique), dtype=torch.bool)
            number = torch.full((len(unique),), -1, dtype=torch.int64)
        new = (~known).nonzero().squeeze(1)
        first = torch.full((len(unique),), len(key), dtype=torch.int64)
        first.scatter_reduce_(0, inverse, torch.arange(len(key)), "amin")
        fresh, order = first.index_select(0, new).sort()
        number[new[order]] = torch.arange(len(new)) + len(self._keys)
        if len(new):
            keys = torch.cat([self._keys, unique.index_select(0, new)])
            numbers = torch.cat([self._numbers, number.index_select(0, new)])
            self._keys, order = keys.sort()
            self._numbers = numbers.index_select(0, order)
        return number.index_select(0, inverse), fresh


class TupleSet:
    """A set of tuples of entity ids, in columns."""

    __slots__ = ("_columns", "_index", "_length", "width")

    def __init__(self, width: int, radix: int) -> None:
        self.width = width
        self._columns = tuple(Growing(torch.int32) for _ in range(width))
        self._index = KeyIndex(width, radix)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def columns(self) -> tuple[Tensor, ...]:
        return tuple(column.values for column in self._columns)

    def find(self, columns: Sequence[Tensor], length: int) -> Tensor:
        """(length,) the number of each tuple, -1 where it is not there."""
        return self._index.find([column.long() for column in columns], length)

    def add(self, columns: Sequence[Tensor], length: int) -> tuple[Tensor, Tensor]:
        """Numbers of all ``length`` tuples, and the positions of those that were new, each once."""
        numbers, fresh = self._index.add([column.long() for column in columns], length)
        for own, column in zip(self._columns, columns, strict=True):
            own.append(column.index_select(0, fresh))
        self._length += len(fresh)
        return numbers, fresh
