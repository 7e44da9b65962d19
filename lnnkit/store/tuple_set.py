"""Growing sets of entity tuples, numbered in order of insertion: by direct addressing where their keys are dense,
otherwise by hashing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lnnkit.store.row_arrays import Array, Growing, alike

_LIMIT = 2**62  # mixed-radix keys stay below this
_SPREAD = -7046029254386353131  # 2^64 divided by the golden ratio: multiplicative (Fibonacci) hashing
# A table with this many possible keys pays once it holds this many. The closure of 900 links takes 26 ms by hashing
# alone, 18 ms with tables (`python -m benchmarks.inference_constants paths`)
_WORTHWHILE = ((2**12, 0), (2**20, 2**10), (2**24, 2**14), (2**28, 2**21))
_CLAIM = 2**30  # a key that claims a slot writes its position minus this
_PART = 2**17  # number of keys entered at a time; 2 ** 13 to 2 ** 21 differ by noise (inference_constants.py)


class _Hashed:
    """Open addressing with linear probing, at most half full. A slot holds a number plus one, or 0 if it is free;
    ``_keys`` has the key of each number. Keys are not negative."""

    def __init__(self) -> None:
        self._keys = Growing(np.int64)
        self._resize(8)

    def _resize(self, bits: int) -> None:
        self._shift = 64 - bits
        self._mask = (1 << bits) - 1
        self._slots = np.zeros(1 << bits, np.int32)

    def _first_slots(self, keys: Array) -> Array:
        return (keys * np.int64(_SPREAD) >> self._shift) & self._mask

    def find(self, keys: Array) -> Array:
        """The number of each key; -1 if it is absent."""
        if not len(self._keys):
            return np.full(len(keys), -1, dtype=np.int32)
        slots = self._first_slots(keys)
        numbers = self._slots.take(slots) - 1
        waiting = np.flatnonzero(numbers >= 0)
        other = self._keys.values.take(numbers.take(waiting)) != keys.take(waiting)
        waiting = waiting[other]
        if waiting.size:
            keys, slots = keys.take(waiting), slots.take(waiting)
        while waiting.size:
            slots = (slots + 1) & self._mask
            there = self._slots.take(slots) - 1
            numbers[waiting] = there
            pending = (self._keys.values.take(np.maximum(there, 0)) != keys) & (there >= 0)
            left = np.flatnonzero(pending)
            waiting, keys, slots = (array.take(left) for array in (waiting, keys, slots))
        return numbers

    def add(self, keys: Array) -> tuple[Array, Array]:
        """Number keys; returns the numbers, and the positions at which new keys first occur."""
        numbers = self.find(keys)
        missing = np.flatnonzero(numbers < 0)
        if not missing.size:
            return numbers, missing
        new = keys if missing.size == len(keys) else keys.take(missing)
        self._room(len(self._keys) + new.size)
        slots, first = self._claim(new)
        fresh = np.flatnonzero(first)
        start, count = len(self._keys), fresh.size
        claimed = slots if count == new.size else slots.take(fresh)
        self._slots[claimed] = np.arange(start + 1, start + 1 + count, dtype=np.int32)
        self._keys.append(new if count == new.size else new.take(fresh))
        numbers[missing] = self._slots.take(slots) - 1
        return numbers, missing.take(fresh)

    def load(self, keys: Array) -> None:
        """Number distinct keys that are absent."""
        start = len(self._keys)
        self._room(start + len(keys))
        self._enter(keys, start)
        self._keys.append(keys)

    @property
    def keys(self) -> Array:
        """All keys, by number."""
        return self._keys.values

    def _enter(self, keys: Array, start: int) -> None:
        for part in range(0, len(keys), _PART):
            wanted = self._first_slots(keys[part : part + _PART])
            numbers = np.arange(start + part + 1, start + part + 1 + wanted.size, dtype=np.int32)
            while wanted.size:
                self._take(wanted, numbers)
                left = np.flatnonzero(self._slots.take(wanted) != numbers)
                wanted, numbers = (wanted.take(left) + 1) & self._mask, numbers.take(left)

    def _take(self, wanted: Array, values: Array) -> None:
        """Write each value into the slot that it wants, if that is free; of several values for one slot any is
        written."""
        free = np.flatnonzero(self._slots.take(wanted) == 0)
        if free.size < wanted.size:
            wanted, values = wanted.take(free), values.take(free)
        self._slots[wanted] = values

    def _claim(self, keys: Array) -> tuple[Array, Array]:
        """A slot for each of ``keys``, equal keys sharing one, and which of them occur first. None of the keys is in
        the table yet. Equal keys always probe the same slots, so one of them acts for all."""
        count = len(keys)
        order = np.arange(count, dtype=np.int32)
        owners, pending, pending_keys = order, order, keys
        slots = wanted = self._first_slots(keys)
        while pending.size:
            self._take(wanted, pending - _CLAIM)  # claims are negative
            claim = self._slots.take(wanted)
            owner = np.clip(claim + _CLAIM, 0, count - 1)
            lost = np.flatnonzero((claim >= 0) | (keys.take(owner) != pending_keys))
            if pending is order:
                owners = owner
            else:
                owners[pending] = owner
                slots[pending] = wanted
            pending, pending_keys = pending.take(lost), pending_keys.take(lost)
            wanted = (wanted.take(lost) + 1) & self._mask
        if np.array_equal(owners, order):
            return slots, np.ones(count, dtype=bool)
        leaders = np.full(count, count, dtype=np.int32)
        np.minimum.at(leaders, owners, order)
        return slots, leaders.take(owners) == order

    def _room(self, count: int) -> None:
        """Grow to at least twice as many slots as ``count`` keys."""
        if 2 * count <= self._mask + 1:
            return
        self._resize((4 * count - 1).bit_length())
        self._enter(self._keys.values, 0)


class _DirectTable:
    """Direct addressing: an entry for every possible key, its number plus one, or 0 if the key is absent."""

    def __init__(self, size: int) -> None:
        self._numbers = np.zeros(size, np.int32)  # numpy allocates this array in huge pages

    def find(self, keys: Array) -> Array:
        return self._numbers.take(keys) - 1

    def add(self, keys: Array, start: int) -> tuple[Array, Array]:
        fresh = self.new(keys, start)
        if fresh is None:
            every = np.arange(len(keys), dtype=np.int32)
            return every + np.int32(start), every
        return self._numbers.take(keys) - 1, fresh

    def new(self, keys: Array, start: int) -> Array | None:
        """As ``add``, without the numbers: the positions at which new keys first occur (None: all are new and
        distinct)."""
        table = self._numbers
        there, missing = table.take(keys), None
        if np.count_nonzero(there):
            (missing,) = (there == 0).nonzero()
            keys = keys.take(missing)
        count = keys.size
        numbers = np.arange(start + 1, start + 1 + count, dtype=np.int32)
        table[keys] = numbers
        if np.count_nonzero(table.take(keys) == numbers) == count:
            return missing
        table[keys[::-1]] = numbers[::-1]  # written in reverse, so that the first of equal keys remains
        (first,) = (table.take(keys) == numbers).nonzero()
        table[keys.take(first)] = numbers[: first.size]
        return first if missing is None else missing.take(first)

    def load(self, keys: Array, start: int = 0) -> None:
        """Number distinct keys that are absent, from ``start`` on."""
        self._numbers[keys] = np.arange(start + 1, start + len(keys) + 1, dtype=np.int32)


class KeyIndex:
    """Numbers tuples of ids below ``radix`` by a mixed-radix key. Tuples wider than 62 bits are reduced in steps."""

    __slots__ = ("_factor", "_inner", "_length", "_numbers", "_radix", "_size", "_take")

    def __init__(self, width: int, radix: int) -> None:
        self._radix = max(radix, 2)
        self._factor = np.array(self._radix, np.int64)
        self._take = 0
        while self._take < width and self._radix ** (self._take + 1) <= _LIMIT:
            self._take += 1
        # For wide tuples: the first columns are replaced by one dense number, which becomes the leading digit.
        self._inner = KeyIndex(width - self._take + 1, 2**31) if self._take < width else None
        self._size = self._radix**self._take
        self._length = 0
        self._numbers: _Hashed | _DirectTable = _DirectTable(self._size) if self._worthwhile() else _Hashed()

    def find(self, columns: Sequence[Array], length: int) -> Array:
        """The number of each tuple; -1 if it is absent."""
        number = self._numbers.find(self.key(columns, length))
        if self._inner is None:
            return number
        numbers = self._inner.find([np.maximum(number, 0), *columns[self._take :]], length)
        return np.where(number >= 0, numbers, -1)

    def add(self, columns: Sequence[Array], length: int) -> tuple[Array, Array]:
        """Number every tuple. Returns the numbers, and the positions at which new tuples first occur."""
        key = self.key(columns, length)
        if isinstance(self._numbers, _Hashed):
            number, fresh = self._numbers.add(key)
        else:
            number, fresh = self._numbers.add(key, self._length)
        self.grow(fresh.size)
        if self._inner is None:
            return number, fresh
        return self._inner.add([number, *columns[self._take :]], length)

    def new(self, columns: Sequence[Array], length: int) -> Array | None:
        """Number every tuple; returns the positions at which new ones first occur (None: all are new and distinct)."""
        numbers = self._numbers
        if self._inner is not None or isinstance(numbers, _Hashed):
            fresh = self.add(columns, length)[1]
            return None if len(fresh) == length else fresh
        fresh = numbers.new(self.key(columns, length), self._length)
        self._length += length if fresh is None else fresh.size
        return fresh

    def grow(self, count: int) -> None:
        """Note that ``count`` keys were added; switch to direct addressing once that pays."""
        self._length += count
        if isinstance(self._numbers, _Hashed) and self._worthwhile():
            table = _DirectTable(self._size)
            table.load(self._numbers.keys)
            self._numbers = table

    def load(self, columns: Sequence[Array], length: int) -> None:
        """Number distinct tuples that are absent."""
        if self._inner is not None:
            self.add(columns, length)
            return
        start = self._length
        if not start:  # nothing is to be moved into a table
            self.grow(length)
        if isinstance(self._numbers, _Hashed):
            self._numbers.load(self.key(columns, length))
        else:
            self._numbers.load(self.key(columns, length), start)
        if start:
            self.grow(length)

    def _worthwhile(self) -> bool:
        """Whether direct addressing pays."""
        return any(self._size <= size and self._length >= least for size, least in _WORTHWHILE)

    def key(self, columns: Sequence[Array], length: int) -> Array:
        """The key of each tuple, of as many columns as are given."""
        if not self._take:
            return np.zeros(length, np.int64)
        if self._take == 1:
            return columns[0].astype(np.int64)
        key = np.multiply(columns[0], self._factor, dtype=np.int64)
        key += columns[1]
        for column in columns[2 : self._take]:
            key *= self._factor
            key += column
        return key


# One look-up in the ascending tuples for so many of them takes as long as to index these
_SELDOM = 64


class TupleSet:
    """A set of tuples of entity ids, in columns. Appended tuples are indexed lazily, at the next look-up; the first
    ones, if they ascend, only after so many look-ups that it pays."""

    __slots__ = ("_ascending", "_columns", "_index", "_indexed", "_length", "_sought", "_views", "radix", "width")

    def __init__(self, width: int, radix: int) -> None:
        self.width, self.radix = width, radix
        self._columns = tuple(Growing(np.int32) for _ in range(width))
        self._index = KeyIndex(width, radix)
        self._ascending = 0  # number of tuples that ascend and are not in the index,
        self._sought = 0  # and of look-ups of these
        self._indexed = 0  # number of tuples that ascend or are in the index
        self._length = 0
        self._views: tuple[Array, ...] | None = None  # the current columns

    def __len__(self) -> int:
        return self._length

    @property
    def columns(self) -> tuple[Array, ...]:
        if self._views is None:
            self._views = tuple([column.values for column in self._columns])
        return self._views

    def find(self, columns: Sequence[Array], length: int) -> Array:
        """(length,) the number of each tuple; -1 if it is absent. The set itself, in order, is found without an index:
        a million transfers are summed in .9 CPU seconds, with one in 1.5."""
        if 1 < length == self._length and all(map(alike, columns, self.columns)):
            return np.arange(length, dtype=np.int32)
        if not self._length:
            return np.full(length, -1, np.int32)
        if not self._seldom(length):
            return self._ready().find(columns, length)
        numbers = self._among_ascending(columns, length)
        absent = np.flatnonzero(numbers < 0)
        if len(absent) and self._length > self._ascending:
            later = self._ready().find([column.take(absent) for column in columns], len(absent))
            numbers[absent] = np.where(later < 0, later, later + self._ascending)
        return numbers

    def add(self, columns: Sequence[Array], length: int) -> tuple[Array, Array]:
        """Add tuples: the numbers of all ``length`` of them, and the positions at which new ones first occur."""
        if self._seldom(length):
            numbers = self._among_ascending(columns, length)
            absent = np.flatnonzero(numbers < 0)
            later, fresh = self._ready().add([column.take(absent) for column in columns], len(absent))
            numbers[absent], fresh = later + self._ascending, absent.take(fresh)
        else:
            numbers, fresh = self._ready().add(columns, length)
        if len(fresh):
            self._enter(columns, length, fresh)
            self._indexed = self._length
        return numbers, fresh

    def new(self, columns: Sequence[Array], length: int) -> Array | None:
        """Add tuples; returns the positions at which new ones first occur (None: all are new and distinct)."""
        if self._ascending:
            fresh = self.add(columns, length)[1]
            return None if len(fresh) == length else fresh
        index = self._index if self._indexed == self._length else self._ready()
        fresh = index.new(columns, length)
        self._enter(columns, length, fresh)
        self._indexed = self._length
        return fresh

    def load(self, columns: Sequence[Array], length: int) -> None:
        """Add distinct tuples in lexicographic order to an empty set."""
        self._enter(columns, length, None)
        self._ascending = self._indexed = length if self.width else 0

    def append(self, columns: Sequence[Array], length: int) -> None:
        """Append distinct tuples that are known to be new."""
        self._enter(columns, length, None)

    def _enter(self, columns: Sequence[Array], length: int, fresh: Array | None) -> None:
        """Store the tuples at the positions ``fresh`` (None: all)."""
        count = length if fresh is None else fresh.size
        if count:
            every = count == length
            for growing, column in zip(self._columns, columns):  # noqa: B905  # the index has looked at as many
                growing.append(column if every or fresh is None else column.take(fresh))
            self._length += count
            self._views = None

    def _ready(self) -> KeyIndex:
        if self._indexed < self._length:
            columns = [column[self._indexed :] for column in self.columns]
            self._index.load(columns, self._length - self._indexed)
            self._indexed = self._length
        return self._index

    def _seldom(self, length: int) -> bool:
        """Whether so few tuples are looked up that the ascending ones need no index."""
        self._sought += length
        if self._ascending and self._sought > self._ascending // _SELDOM:
            self._index, self._ascending, self._indexed = KeyIndex(self.width, self.radix), 0, 0
        return self._ascending > 0

    def _among_ascending(self, columns: Sequence[Array], length: int) -> Array:
        """(length,) the number of each tuple among those that ascend; -1 if it is absent."""
        first, *rest = [column[: self._ascending] for column in self.columns]
        starts, stops = (np.searchsorted(first, columns[0], side) for side in ("left", "right"))
        numbers = np.full(length, -1, np.int32)
        for place, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
            for column, wanted in zip(rest, columns[1:], strict=True):
                part, entity = column[start:stop], wanted[place]
                start, stop = (start + int(part.searchsorted(entity, side)) for side in ("left", "right"))
            if start < stop:
                numbers[place] = start
        return numbers
