"""Growing sets of entity tuples: every tuple once, numbered in the order of arrival."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

_LIMIT = 2**62  # mixed-radix keys stay below it
_SMALL = 2**12  # so many possible keys are tabulated from the start,
_TABLE = 2**28  # so many at most, once a 32nd of them is there:
_DENSITY = 32
_CHEAP = 2**24  # or so many once a 1024th is there
_SPARSE = 1024


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
        """Add values at the end."""
        start = self._reserve(len(values))
        self._buffer[start : self._length] = values

    def extend(self, count: int, value: float | bool) -> None:
        """Add one value ``count`` times."""
        start = self._reserve(count)
        self._buffer[start : self._length].fill_(value)

    def _reserve(self, count: int) -> int:
        start, needed = self._length, self._length + count
        if needed > len(self._buffer):
            grown = torch.empty(max(needed, 2 * len(self._buffer)), dtype=self._buffer.dtype)
            grown[:start] = self.values
            self._buffer = grown
        self._length = needed
        return start


class Marks:
    """A value for each of a growing number of rows, ``fill`` until it is set. Room is made ahead."""

    __slots__ = ("_fill", "values")

    def __init__(self, dtype: torch.dtype, fill: float | bool) -> None:
        self.values = torch.full((16,), fill, dtype=dtype)
        self._fill = fill

    def reach(self, count: int) -> Tensor:
        """The values, of at least ``count`` rows."""
        length = self.values.numel()
        if length < count:
            grown = torch.full((max(count, 2 * length),), self._fill, dtype=self.values.dtype)
            grown[:length] = self.values
            self.values = grown
        return self.values


class _Runs:
    """Keys in sorted runs, each at least twice as long as the next."""

    def __init__(self) -> None:
        self._runs: list[tuple[Tensor, Tensor]] = []

    def find(self, keys: Tensor) -> Tensor:
        found = torch.full((len(keys),), -1, dtype=torch.int32)
        for sorted_keys, numbers in self._runs:
            place = torch.searchsorted(sorted_keys, keys).clamp_(max=len(sorted_keys) - 1)
            hit = sorted_keys.index_select(0, place) == keys
            found = torch.where(hit, numbers.index_select(0, place), found)
        return found

    def add(self, keys: Tensor, start: int) -> tuple[Tensor, Tensor]:
        """Number keys, new ones from ``start`` on in the order of their first places, which are returned too."""
        unique, inverse = torch.unique(keys, return_inverse=True)
        number = self.find(unique)
        new = (number < 0).nonzero().squeeze(1)
        if len(new):
            first = torch.full((len(unique),), len(keys), dtype=torch.int64)
            first.scatter_reduce_(0, inverse, torch.arange(len(keys)), "amin")
            fresh, order = first.index_select(0, new).sort()
            number[new[order]] = torch.arange(start, start + len(new), dtype=torch.int32)
            self.insert(unique.index_select(0, new), number.index_select(0, new))
        else:
            fresh = new
        return number.index_select(0, inverse), fresh

    def insert(self, keys: Tensor, numbers: Tensor) -> None:
        self._runs.append((keys, numbers))
        while len(self._runs) > 1 and len(self._runs[-2][0]) < 2 * len(self._runs[-1][0]):
            (a, b), (c, d) = self._runs[-2:]
            merged, order = torch.cat([a, c]).sort()
            self._runs[-2:] = [(merged, torch.cat([b, d]).index_select(0, order))]

    def items(self) -> tuple[Tensor, Tensor]:
        keys, numbers = zip(*self._runs, strict=True)
        return torch.cat(keys), torch.cat(numbers)


class _Table:
    """A number for every possible key, -1 where it is not there."""

    def __init__(self, size: int) -> None:
        self._numbers = torch.full((size,), -1, dtype=torch.int32)

    def find(self, keys: Tensor) -> Tensor:
        return self._numbers.index_select(0, keys)

    def add(self, keys: Tensor, start: int) -> tuple[Tensor, Tensor]:
        numbers = self._numbers.index_select(0, keys)
        missing = (numbers < 0).nonzero().squeeze(1)
        if not len(missing):
            return numbers, missing
        every = len(missing) == len(keys)
        new = keys if every else keys.index_select(0, missing)
        place = torch.arange(len(new), dtype=torch.int32)
        self._numbers.index_fill_(0, new, len(new))
        self._numbers.scatter_reduce_(0, new, place, "amin")
        first = self._numbers.index_select(0, new) == place
        count = int(first.sum())
        if count == len(new):
            self._numbers.index_copy_(0, new, place.add_(start) if start else place)
            fresh = missing
        else:
            chosen = first.nonzero().squeeze(1)
            numbered = torch.arange(start, start + count, dtype=torch.int32)
            self._numbers.index_copy_(0, new.index_select(0, chosen), numbered)
            fresh = chosen if every else missing.index_select(0, chosen)
        return self._numbers.index_select(0, keys), fresh

    def insert(self, keys: Tensor, numbers: Tensor) -> None:
        self._numbers.index_copy_(0, keys, numbers.int())


class KeyIndex:
    """Tuples of ids below ``radix`` -> dense numbers, by a mixed-radix key. Wider tuples than 62 bits go by steps.

    Keys are kept in sorted runs, or, where the tuples fill enough of their space, in a table of all possible keys.
    """

    __slots__ = ("_inner", "_length", "_numbers", "_radix", "_size", "_take")

    def __init__(self, width: int, radix: int) -> None:
        self._radix = max(radix, 2)
        self._take = 0
        while self._take < width and self._radix ** (self._take + 1) <= _LIMIT:
            self._take += 1
        # what does not fit: the first columns become one dense number, which leads the key of the rest
        self._inner = KeyIndex(width - self._take + 1, 2**31) if self._take < width else None
        self._size = self._radix**self._take
        self._length = 0
        self._numbers: _Runs | _Table = _Table(self._size) if self._size <= _SMALL else _Runs()

    def load(self, columns: Sequence[Tensor], length: int) -> None:
        """Number distinct tuples in lexicographic order from 0 on, in an empty index."""
        if self._inner is not None:
            self.add(columns, length)
            return
        self._length = length
        keys, numbers = self._key(columns, length), torch.arange(length, dtype=torch.int32)
        if self._worthwhile():
            self._numbers = _Table(self._size)
        self._numbers.insert(keys, numbers)

    def _worthwhile(self) -> bool:
        """Whether a table of all possible keys is."""
        return self._size <= max(
            _SMALL, min(_TABLE, _DENSITY * self._length), min(_CHEAP, _SPARSE * self._length)
        )

    def _key(self, columns: Sequence[Tensor], length: int) -> Tensor:
        if not self._take:
            return torch.zeros(length, dtype=torch.int64)
        key = columns[0].long()
        for column in columns[1 : self._take]:
            key = key * self._radix + column
        return key

    def find(self, columns: Sequence[Tensor], length: int) -> Tensor:
        """The number of each tuple, -1 for those not there."""
        number = self._numbers.find(self._key(columns, length))
        if self._inner is None:
            return number
        found = self._inner.find([number.clamp(min=0), *columns[self._take :]], length)
        return torch.where(number >= 0, found, -1)

    def add(self, columns: Sequence[Tensor], length: int) -> tuple[Tensor, Tensor]:
        """Number every tuple. Returns the numbers, and the positions at which a new tuple stands first."""
        number, fresh = self._numbers.add(self._key(columns, length), self._length)
        self._length += len(fresh)
        if isinstance(self._numbers, _Runs) and self._worthwhile():
            table = _Table(self._size)
            table.insert(*self._numbers.items())
            self._numbers = table
        if self._inner is None:
            return number, fresh
        return self._inner.add([number, *columns[self._take :]], length)


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
        return self._index.find(columns, length)

    def add(self, columns: Sequence[Tensor], length: int) -> tuple[Tensor, Tensor]:
        """Numbers of all ``length`` tuples, and the positions of those that were new, each once."""
        numbers, fresh = self._index.add(columns, length)
        every = len(fresh) == length
        for own, column in zip(self._columns, columns, strict=True):
            own.append(column if every else column.index_select(0, fresh))
        self._length += len(fresh)
        return numbers, fresh

    def load(self, columns: Sequence[Tensor], length: int) -> None:
        """Fill an empty set with distinct tuples in lexicographic order."""
        self.append(columns, length)
        self._index.load(self.columns, length)

    def append(self, columns: Sequence[Tensor], length: int) -> None:
        """Add tuples that are known to be new. They are not indexed: no `find` or `add` may follow."""
        for own, column in zip(self._columns, columns, strict=True):
            own.append(column)
        self._length += length
