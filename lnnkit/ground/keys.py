"""Keys -> dense numbers: by a table of all possible keys where they fill enough of it, by hashing else."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.ground.growing import zeros

_LIMIT = 2**62  # mixed-radix keys stay below it
# a table of so many possible keys is worthwhile once so many of them are there
_WORTHWHILE = ((2**12, 0), (2**24, 2**14), (2**28, 2**21))
_SPREAD = -7046029254386353131  # 2^64 divided by the golden ratio: multiplying by it scatters keys
_EMPTY = -1
_LAST = torch.iinfo(torch.int32).max


class _Hashed:
    """Open addressing with linear probing, at most half full. Keys are not negative."""

    def __init__(self) -> None:
        self._resize(8)
        self._length = 0

    def _resize(self, bits: int) -> None:
        self._shift = 64 - bits
        self._mask = (1 << bits) - 1
        self._keys = torch.full((1 << bits,), _EMPTY, dtype=torch.int64)
        self._numbers = torch.full((1 << bits,), _LAST, dtype=torch.int32)

    def _slots(self, keys: Tensor) -> Tensor:
        return ((keys * _SPREAD) >> self._shift) & self._mask

    def find(self, keys: Tensor) -> Tensor:
        """Each key's number, -1 where it is not there."""
        slots = self._slots(keys)
        there = self._keys.index_select(0, slots)
        hit = there == keys
        found = torch.where(hit, self._numbers.index_select(0, slots), -1)
        pending = (~hit & (there != _EMPTY)).nonzero().squeeze(1)
        if pending.numel():
            keys, slots = keys.index_select(0, pending), slots.index_select(0, pending)
        while pending.numel():
            slots = (slots + 1) & self._mask
            there = self._keys.index_select(0, slots)
            hit = there == keys
            if bool(hit.any()):
                found.index_copy_(0, pending[hit], self._numbers.index_select(0, slots[hit]))
            left = (~hit & (there != _EMPTY)).nonzero().squeeze(1)
            pending, keys, slots = (each.index_select(0, left) for each in (pending, keys, slots))
        return found

    def add(self, keys: Tensor, start: int) -> tuple[Tensor, Tensor]:
        """Number keys, new ones from ``start`` on in the order of their first places, which are returned too."""
        numbers = self.find(keys)
        missing = (numbers < 0).nonzero().squeeze(1)
        if not missing.numel():
            return numbers, missing
        while 2 * (self._length + missing.numel()) > self._keys.numel():
            self._grow()
        new = keys.index_select(0, missing)
        slot, first = self._claim(new)
        fresh = first.nonzero().squeeze(1)
        self._numbers.index_copy_(
            0, slot.index_select(0, fresh), torch.arange(start, start + fresh.numel(), dtype=torch.int32)
        )
        self._length += fresh.numel()
        numbers.index_copy_(0, missing, self._numbers.index_select(0, slot))
        return numbers, missing.index_select(0, fresh)

    def insert(self, keys: Tensor, numbers: Tensor) -> None:
        """Enter distinct keys that are not there."""
        while 2 * (self._length + keys.numel()) > self._keys.numel():
            self._grow()
        slot, _ = self._claim(keys)
        self._numbers.index_copy_(0, slot, numbers)
        self._length += keys.numel()

    def items(self) -> tuple[Tensor, Tensor]:
        there = (self._keys != _EMPTY).nonzero().squeeze(1)
        return self._keys.index_select(0, there), self._numbers.index_select(0, there)

    def _claim(self, keys: Tensor) -> tuple[Tensor, Tensor]:
        """A slot for each of ``keys``, equal keys sharing one, and which keys stand first. Of the keys that want one
        slot the first gets it; equal keys always want the same."""
        slots = self._slots(keys)
        first = torch.zeros(keys.numel(), dtype=torch.bool)
        pending = torch.arange(keys.numel())
        wanted, waiting = slots.clone(), keys
        while pending.numel():
            free = self._keys.index_select(0, wanted) == _EMPTY
            order = torch.where(free, pending.int(), _LAST)
            self._numbers.scatter_reduce_(0, wanted, order, "amin")
            won = (free & (self._numbers.index_select(0, wanted) == order)).nonzero().squeeze(1)
            self._keys.index_copy_(0, wanted.index_select(0, won), waiting.index_select(0, won))
            first.index_fill_(0, pending.index_select(0, won), True)
            slots.index_copy_(0, pending, wanted)
            left = (self._keys.index_select(0, wanted) != waiting).nonzero().squeeze(1)
            pending, waiting = pending.index_select(0, left), waiting.index_select(0, left)
            wanted = (wanted.index_select(0, left) + 1) & self._mask
        return slots, first

    def _grow(self) -> None:
        keys, numbers = self.items()
        self._resize((self._mask + 1).bit_length() + 1)
        slot, _ = self._claim(keys)
        self._numbers.index_copy_(0, slot, numbers)


class _Table:
    """A number for every possible key. What is kept is one more: 0 where a key is not there."""

    def __init__(self, size: int) -> None:
        self._numbers = zeros(size, torch.int32)

    def find(self, keys: Tensor) -> Tensor:
        return self._numbers.index_select(0, keys) - 1

    def add(self, keys: Tensor, start: int) -> tuple[Tensor, Tensor]:
        numbers = self._numbers.index_select(0, keys)
        missing = (numbers == 0).nonzero().squeeze(1)
        count = missing.numel()
        if not count:
            return numbers - 1, missing
        every = count == keys.numel()
        new = keys if every else keys.index_select(0, missing)
        order = torch.arange(count, 0, -1, dtype=torch.int32)  # the first is the greatest
        self._numbers.scatter_reduce_(0, new, order, "amax")
        first = self._numbers.index_select(0, new) == order
        if bool(first.all()):
            numbered = torch.arange(start + 1, start + 1 + count, dtype=torch.int32)
            self._numbers.index_copy_(0, new, numbered)
            return numbered - 1 if every else self._numbers.index_select(0, keys) - 1, missing
        chosen = first.nonzero().squeeze(1)
        numbered = torch.arange(start + 1, start + 1 + chosen.numel(), dtype=torch.int32)
        self._numbers.index_copy_(0, new.index_select(0, chosen), numbered)
        fresh = chosen if every else missing.index_select(0, chosen)
        return self._numbers.index_select(0, keys) - 1, fresh

    def insert(self, keys: Tensor, numbers: Tensor) -> None:
        self._numbers.index_copy_(0, keys, numbers + 1)


class KeyIndex:
    """Tuples of ids below ``radix`` -> dense numbers, by a mixed-radix key. Wider tuples than 62 bits go by steps."""

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
        self._numbers: _Hashed | _Table = _Table(self._size) if self._worthwhile() else _Hashed()

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
        self._length += fresh.numel()
        if isinstance(self._numbers, _Hashed) and self._worthwhile():
            table = _Table(self._size)
            table.insert(*self._numbers.items())
            self._numbers = table
        if self._inner is None:
            return number, fresh
        return self._inner.add([number, *columns[self._take :]], length)

    def load(self, columns: Sequence[Tensor], length: int) -> None:
        """Number distinct tuples from 0 on, in an empty index."""
        if self._inner is not None:
            self.add(columns, length)
            return
        self._length = length
        if self._worthwhile():
            self._numbers = _Table(self._size)
        self._numbers.insert(self._key(columns, length), torch.arange(length, dtype=torch.int32))

    def _worthwhile(self) -> bool:
        """Whether a table of all possible keys is."""
        return any(self._size <= size and self._length >= least for size, least in _WORTHWHILE)

    def _key(self, columns: Sequence[Tensor], length: int) -> Tensor:
        if not self._take:
            return torch.zeros(length, dtype=torch.int64)
        key = columns[0].long()
        for column in columns[1 : self._take]:
            key = (key * self._radix).add_(column)
        return key
