"""Numbering few keys at a time, in numpy, whose calls take a fraction of torch's: what rounds of small changes need.

The numbers are those that `lnnkit.store.key_index` would give, and are written into its own tables.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from lnnkit.store.columns.arrays import Array
from lnnkit.store.columns.growing import Growing

SPREAD = -7046029254386353131  # 2^64 divided by the golden ratio: multiplying by it scatters keys


class Few(Protocol):
    """Numbered int64 keys, to which few are added at a time."""

    def room(self, count: int) -> bool:
        """Whether so many keys find room in all."""
        ...

    def find(self, keys: Array) -> Array:
        """The numbers of those keys that are there, in some order."""
        ...

    def add(self, keys: Array, start: int) -> tuple[int, Array | None]:
        """Number keys, new ones from ``start`` on in the order of their first places: how many there are, and those
        places (None: all)."""
        ...


class FewTabled:
    """In a table of all possible keys, which holds one more than a number."""

    def __init__(self, numbers: Array) -> None:
        self._numbers = numbers

    def room(self, count: int) -> bool:
        return True

    def find(self, keys: Array) -> Array:
        there = self._numbers.take(keys)
        return there[there > 0] - 1

    def add(self, keys: Array, start: int) -> tuple[int, Array | None]:
        table = self._numbers
        there = table.take(keys)
        missing: Array | None = None
        if np.count_nonzero(there):
            missing = np.flatnonzero(there == 0)
            keys = keys.take(missing)
        count = len(keys)
        numbers = np.arange(start + 1, start + 1 + count, dtype=np.int32)
        table[keys] = numbers
        if np.count_nonzero(table.take(keys) == numbers) == count:
            return count, missing
        table[keys[::-1]] = numbers[::-1]  # of equal keys the first is written last
        first = np.flatnonzero(table.take(keys) == numbers)
        table[keys.take(first)] = numbers[: len(first)]
        return len(first), first if missing is None else missing.take(first)


class FewHashed:
    """In slots with linear probing, which hold one more than a number; ``keys`` has the key of each number."""

    def __init__(self, slots: Array, keys: Growing, shift: int) -> None:
        self._slots = slots
        self._keys = keys
        self._shift = shift
        self._mask = len(slots) - 1

    def room(self, count: int) -> bool:
        return 2 * count <= len(self._slots)

    def find(self, keys: Array) -> Array:
        stored = self._keys.values
        slot = self._first_slots(keys)
        found: list[Array] = []
        while len(keys) and len(stored):
            there = self._slots.take(slot) - 1
            same = (stored.take(np.maximum(there, 0)) == keys) & (there >= 0)
            found.append(there[same])
            left = np.flatnonzero(~same & (there >= 0))
            keys, slot = keys.take(left), (slot.take(left) + 1) & self._mask
        return np.concatenate(found) if found else np.empty(0, dtype=np.int32)

    def add(self, keys: Array, start: int) -> tuple[int, Array | None]:
        table, stored = self._slots, self._keys.values
        if not len(stored):
            stored = np.full(1, -1)  # equal to no key
        slot = self._first_slots(keys)
        held = np.zeros(len(keys), dtype=np.int64)  # one more than a number, or a claim by a place among ``keys``
        own = slot.copy()
        pending, wanted = np.arange(len(keys)), keys
        while len(pending):
            there = table.take(slot)
            free = np.flatnonzero(there == 0)[::-1]  # of several the first is written last
            if len(free):
                table[slot.take(free)] = -1 - pending.take(free)
                there = table.take(slot)
            holder = np.where(there > 0, stored.take(np.maximum(there - 1, 0)), keys.take(np.maximum(-1 - there, 0)))
            same = holder == wanted
            at = pending[same]
            held[at] = there[same]
            own[at] = slot[same]
            left = np.flatnonzero(~same)
            pending, wanted, slot = pending.take(left), wanted.take(left), (slot.take(left) + 1) & self._mask
        fresh = np.flatnonzero(held == -1 - np.arange(len(keys)))
        count = len(fresh)
        table[own.take(fresh)] = np.arange(start + 1, start + 1 + count, dtype=np.int32)
        self._keys.append(keys.take(fresh))
        return count, None if count == len(keys) else fresh

    def _first_slots(self, keys: Array) -> Array:
        return (keys * np.int64(SPREAD) >> self._shift) & self._mask
