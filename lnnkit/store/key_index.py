"""Keys -> dense numbers: by a table of all possible keys where they fill enough of it, by hashing else."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import numpy as np
import torch
from torch import Tensor

from lnnkit.flags import all_set, chosen, where_set
from lnnkit.store.few import SPREAD, Few, FewHashed, FewTabled
from lnnkit.store.growing import Growing

_LIMIT = 2**62  # mixed-radix keys stay below it
# a table of so many possible keys is worthwhile once so many of them are there
_WORTHWHILE = ((2**12, 0), (2**20, 2**10), (2**24, 2**14), (2**28, 2**25))
_CLAIM = 2**30  # a key that claims a slot writes its place less so much
_PART = 2**17  # so many keys are entered at once


def _slots(count: int) -> Tensor:
    """(count,) zeros to be read and written here and there: numpy, other than torch, asks for huge pages."""
    if torch.get_default_device().type != "cpu":
        return torch.zeros(count, dtype=torch.int32)
    return torch.from_numpy(np.zeros(count, dtype=np.int32))


def _copied(slots: Tensor) -> Tensor:
    return _slots(len(slots)).copy_(slots)


class _Hashed:
    """Open addressing with linear probing, at most half full. A slot holds one more than a number, 0 where it is free;
    ``_keys`` has the key of each number. Keys are not negative."""

    def __init__(self) -> None:
        self._keys = Growing(torch.int64)
        self._resize(8)

    def _resize(self, bits: int) -> None:
        self._shift = 64 - bits
        self._mask = (1 << bits) - 1
        self._slots = _slots(1 << bits)

    def __deepcopy__(self, memo: dict[int, object]) -> _Hashed:
        copy = _Hashed()
        copy._keys = deepcopy(self._keys, memo)
        copy._shift, copy._mask, copy._slots = self._shift, self._mask, _copied(self._slots)
        return copy

    def _first_slots(self, keys: Tensor) -> Tensor:
        return ((keys * SPREAD) >> self._shift).bitwise_and_(self._mask)

    def find(self, keys: Tensor) -> Tensor:
        """Each key's number, -1 where it is not there."""
        if not len(self._keys):
            return torch.full((keys.numel(),), -1, dtype=torch.int32)
        slots = self._first_slots(keys)
        found = self._slots.index_select(0, slots) - 1
        waiting = where_set(found >= 0)
        other = self._keys.values.index_select(0, found.index_select(0, waiting)) != keys.index_select(0, waiting)
        waiting = chosen(other, waiting)
        if waiting.numel():
            keys, slots = keys.index_select(0, waiting), slots.index_select(0, waiting)
        while waiting.numel():
            slots = (slots + 1) & self._mask
            there = self._slots.index_select(0, slots) - 1
            found.index_copy_(0, waiting, there)
            pending = (self._keys.values.index_select(0, there.clamp(min=0)) != keys).logical_and_(there >= 0)
            left = where_set(pending)
            waiting, keys, slots = (each.index_select(0, left) for each in (waiting, keys, slots))
        return found

    def add(self, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Number keys, new ones in the order of their first places, which are returned too."""
        numbers = self.find(keys)
        missing = where_set(numbers < 0)
        if not missing.numel():
            return numbers, missing
        new = keys if missing.numel() == keys.numel() else keys.index_select(0, missing)
        self._room(len(self._keys) + new.numel())
        slots, first = self._claim(new)
        fresh = where_set(first)
        start, count = len(self._keys), fresh.numel()
        own = slots if count == new.numel() else slots.index_select(0, fresh)
        self._slots.index_copy_(0, own, torch.arange(start + 1, start + 1 + count, dtype=torch.int32))
        self._keys.append(new if count == new.numel() else new.index_select(0, fresh))
        numbers.index_copy_(0, missing, self._slots.index_select(0, slots) - 1)
        return numbers, missing.index_select(0, fresh)

    def load(self, keys: Tensor) -> None:
        """Number distinct keys that are not there."""
        start = len(self._keys)
        self._room(start + keys.numel())
        self._enter(keys, start)
        self._keys.append(keys)

    @property
    def keys(self) -> Tensor:
        """By their numbers."""
        return self._keys.values

    def few(self) -> Few:
        return FewHashed(self._slots.numpy(), self._keys, self._shift)

    def _enter(self, keys: Tensor, start: int) -> None:
        for part in range(0, keys.numel(), _PART):
            wanted = self._first_slots(keys[part : part + _PART])
            numbers = torch.arange(start + part + 1, start + part + 1 + wanted.numel(), dtype=torch.int32)
            while wanted.numel():
                self._take(wanted, numbers)
                left = where_set(self._slots.index_select(0, wanted) != numbers)
                wanted, numbers = (wanted.index_select(0, left) + 1) & self._mask, numbers.index_select(0, left)

    def _take(self, wanted: Tensor, values: Tensor) -> None:
        """Write values into those slots that are free; any one into a slot that several want."""
        free = where_set(self._slots.index_select(0, wanted) == 0)
        if free.numel() < wanted.numel():
            wanted, values = wanted.index_select(0, free), values.index_select(0, free)
        self._slots.index_copy_(0, wanted, values)

    def _claim(self, keys: Tensor) -> tuple[Tensor, Tensor]:
        """A slot for each of ``keys``, equal keys sharing one, and which keys stand first. None of them is there yet.
        Equal keys always want the same slot, and one of them stands for all."""
        count = keys.numel()
        order = torch.arange(count, dtype=torch.int32)
        owners, pending, own = order, order, keys
        slots = wanted = self._first_slots(keys)
        while pending.numel():
            self._take(wanted, pending - _CLAIM)  # a claim is negative
            claim = self._slots.index_select(0, wanted)
            owner = (claim + _CLAIM).clamp_(0, count - 1)
            lost = where_set((claim >= 0) | (keys.index_select(0, owner) != own))
            if pending is order:
                owners = owner
            else:
                owners.index_copy_(0, pending.long(), owner)
                slots.index_copy_(0, pending.long(), wanted)
            pending, own = pending.index_select(0, lost), own.index_select(0, lost)
            wanted = (wanted.index_select(0, lost) + 1) & self._mask
        if torch.equal(owners, order):
            return slots, torch.ones(count, dtype=torch.bool)
        leaders = torch.full((count,), count, dtype=torch.int32)
        leaders.scatter_reduce_(0, owners.long(), order, "amin")
        return slots, leaders.index_select(0, owners) == order

    def _room(self, count: int) -> None:
        """Have twice as many slots as so many keys need at least."""
        if 2 * count <= self._mask + 1:
            return
        self._resize((4 * count - 1).bit_length())
        self._enter(self._keys.values, 0)


class _Table:
    """A number for every possible key. What is kept is one more: 0 where a key is not there."""

    def __init__(self, size: int) -> None:
        self._numbers = _slots(size)

    def __deepcopy__(self, memo: dict[int, object]) -> _Table:
        copy = _Table(0)
        copy._numbers = _copied(self._numbers)
        return copy

    def find(self, keys: Tensor) -> Tensor:
        return self._numbers.index_select(0, keys) - 1

    def add(self, keys: Tensor, start: int) -> tuple[Tensor, Tensor]:
        numbers = self._numbers.index_select(0, keys)
        missing = where_set(numbers == 0)
        if not missing.numel():
            return numbers - 1, missing
        fresh, added = self._number(keys, missing, start)
        if added is not None and added.numel() == keys.numel():
            return added - 1, fresh
        return self._numbers.index_select(0, keys) - 1, fresh

    def new(self, keys: Tensor, start: int) -> Tensor:
        """As ``add``, for when nobody asks for the numbers."""
        missing = where_set(self._numbers.index_select(0, keys) == 0)
        return self._number(keys, missing, start)[0] if missing.numel() else missing

    def _number(self, keys: Tensor, missing: Tensor, start: int) -> tuple[Tensor, Tensor | None]:
        """Number the keys at the positions ``missing``, of which there are some; returns the first of these for each
        key, and the numbers, plus one, that are kept of them, if all differ."""
        count = missing.numel()
        every = count == keys.numel()
        new = keys if every else keys.index_select(0, missing)
        order = torch.arange(count, 0, -1, dtype=torch.int32)  # the first is the greatest
        self._numbers.scatter_reduce_(0, new, order, "amax")
        first = self._numbers.index_select(0, new) == order
        if all_set(first):
            numbered = torch.arange(start + 1, start + 1 + count, dtype=torch.int32)
            self._numbers.index_copy_(0, new, numbered)
            return missing, numbered
        chosen = where_set(first)
        numbered = torch.arange(start + 1, start + 1 + chosen.numel(), dtype=torch.int32)
        self._numbers.index_copy_(0, new.index_select(0, chosen), numbered)
        return chosen if every else missing.index_select(0, chosen), None

    def few(self) -> Few:
        return FewTabled(self._numbers.numpy())

    def load(self, keys: Tensor, start: int = 0) -> None:
        """Number distinct keys that are not there, from ``start`` on."""
        self._numbers.index_copy_(0, keys, torch.arange(start + 1, start + keys.numel() + 1, dtype=torch.int32))


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
        number = self._numbers.find(self.key(columns, length))
        if self._inner is None:
            return number
        found = self._inner.find([number.clamp(min=0), *columns[self._take :]], length)
        return torch.where(number >= 0, found, -1)

    def add(self, columns: Sequence[Tensor], length: int) -> tuple[Tensor, Tensor]:
        """Number every tuple. Returns the numbers, and the positions at which a new tuple stands first."""
        key = self.key(columns, length)
        if isinstance(self._numbers, _Hashed):
            number, fresh = self._numbers.add(key)
        else:
            number, fresh = self._numbers.add(key, self._length)
        self.grow(fresh.numel())
        if self._inner is None:
            return number, fresh
        return self._inner.add([number, *columns[self._take :]], length)

    def new(self, columns: Sequence[Tensor], length: int) -> Tensor:
        """Number every tuple; returns the positions at which a new one stands first."""
        if self._inner is not None or isinstance(self._numbers, _Hashed):
            return self.add(columns, length)[1]
        fresh = self._numbers.new(self.key(columns, length), self._length)
        self.grow(fresh.numel())
        return fresh

    def few(self) -> Few | None:
        """What few keys, of columns in mixed radix, are added to on the CPU, `grow` being told of it in the end; None
        where tuples are too wide."""
        return None if self._inner is not None or not self._take else self._numbers.few()

    def grow(self, count: int) -> None:
        """So many keys have been added: go over to a table as soon as it is worthwhile."""
        self._length += count
        self._tabled()

    def _tabled(self) -> None:
        if isinstance(self._numbers, _Hashed) and self._worthwhile():
            table = _Table(self._size)
            table.load(self._numbers.keys)
            self._numbers = table

    @property
    def radix(self) -> int:
        """Of the keys."""
        return self._radix

    @property
    def size(self) -> int | None:
        """All keys are below it; None where tuples are too wide for one."""
        return self._size if self._inner is None else None

    def load(self, columns: Sequence[Tensor], length: int) -> None:
        """Number distinct tuples that are not there."""
        if self._inner is not None:
            self.add(columns, length)
            return
        start = self._length
        self._length += length
        if isinstance(self._numbers, _Hashed):
            if start or not self._worthwhile():
                self._numbers.load(self.key(columns, length))
                self._tabled()
                return
            self._numbers = _Table(self._size)
        self._numbers.load(self.key(columns, length), start)

    def _worthwhile(self) -> bool:
        """Whether a table of all possible keys is."""
        return any(self._size <= size and self._length >= least for size, least in _WORTHWHILE)

    def key(self, columns: Sequence[Tensor], length: int) -> Tensor:
        """The key of each tuple, as far as its columns go."""
        if not self._take:
            return torch.zeros(length, dtype=torch.int64)
        if self._take == 1:
            return columns[0].long()
        key = columns[0].to(torch.int64, copy=True)
        for column in columns[1 : self._take]:
            key.mul_(self._radix).add_(column)
        return key
