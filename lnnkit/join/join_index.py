"""An index of a growing list of atoms by the entities in some of their columns, and by ranges: rows in which a number
lies between limits are found by binary search.

A comparison limits one of its numbers, given the others: those limits are what it says of that number downward. Numbers
are intervals, so the rows of a key are sorted by their lower ends, and from these the greatest upper end so far is
never descending: rows between two places in both orders may meet the limits, and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import is_not
from typing import Literal

import numpy as np

from lnnkit.analysis.needs import Range
from lnnkit.arrays import quietly
from lnnkit.join.bindings import Matched, Pattern
from lnnkit.numeric import Interval, point, unknown
from lnnkit.store.relations import Relation
from lnnkit.store.row_arrays import Array, in_order, spelled_out, taken

_BITS = 62  # of mixed-radix keys
# Up to this many possible keys are tabulated, or up to four times the number of rows. 2 ** 10 to 2 ** 22 take 338 to
# 365 ms (`python -m benchmarks.inference_constants triangles`).
_DENSE = 2**16


@dataclass(slots=True, eq=False)
class Hits:
    """The matches of each key in one segment: their number (``counts``; flags if no key has more than one: ``single``),
    and the position in ``rows`` of the first (``starts``). ``rows`` is None where positions are rows, from ``base``
    on."""

    counts: Array
    starts: Array
    rows: Array | None
    base: int
    total: int
    single: bool

    def expand(self) -> tuple[Array | None, Array]:
        """(total,) the positions of the keys, repeated (None: each once), and the matching rows."""
        counts, places = self.counts, self.starts
        left: Array | None = None
        if not self.single and int(counts.max()) > 1:
            left = np.arange(len(counts)).repeat(counts)
            places = (places - (counts.cumsum() - counts)).take(left)
            places += np.arange(self.total)
        elif self.total < len(counts):
            (left,) = counts.nonzero()
            places = places.take(left)
        if self.rows is not None:
            return left, self.rows.take(places)
        return left, places + self.base if self.base else places


class Segment:
    """Rows sorted by key: ``ends`` by key, or the sorted ``keys`` with their ``ends``."""

    __slots__ = ("_base", "_ends", "_flags", "_keys", "_rows", "_starts", "length")

    def __init__(self, rows: Array | range, key: Array, size: int) -> None:
        self.length = len(rows)
        if (key[1:] < key[:-1]).any():
            order, key = in_order(key, size)
            rows = order + np.int32(rows.start) if isinstance(rows, range) else rows.take(order)
        self._keys: Array | None = None
        if size <= max(_DENSE, 4 * len(rows)):
            counts = np.bincount(key, minlength=size)
        else:
            first = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
            self._keys = key.take(first)
            counts = np.diff(first, append=len(key))
        ends = np.zeros(len(counts) + 1, np.intp)  # numpy's index type
        counts.cumsum(out=ends[1:])
        self._starts, self._ends = ends[:-1], ends[1:]
        # with flags, 300,000 atoms joined by keys that occur once take 150 CPU ms, by counts alone 170
        self._flags = counts.astype(bool) if int(counts.max()) <= 1 else None
        self._rows = rows
        self._base = rows.start if isinstance(rows, range) else -1

    @property
    def rows(self) -> Array:
        """The rows, sorted by key."""
        self._rows = spelled_out(self._rows)
        return self._rows

    def find(self, key: Array) -> Hits:
        place, rows = self._place(key), None if self._base >= 0 else self.rows
        starts = self._starts.take(place)
        if self._flags is not None:
            counts = self._flags.take(place)
            if self._keys is not None:
                counts &= self._keys.take(place) == key
            return Hits(counts, starts, rows, self._base, int(np.count_nonzero(counts)), True)
        counts = self._ends.take(place) - starts
        if self._keys is not None:
            counts *= self._keys.take(place) == key
        return Hits(counts, starts, rows, self._base, int(counts.sum()), False)

    def _place(self, key: Array) -> Array:
        """Where the rows of keys begin and end; of a key that is not there, those of another."""
        return key if self._keys is None else np.minimum(self._keys.searchsorted(key), len(self._keys) - 1)


class JoinIndex:
    """Finds the rows in the list ``column`` that fit ``pattern``, by the ids in the columns ``places``. Rows are kept
    in segments, each at least twice as long as the next, so that growth costs amortised logarithmic time a row."""

    def __init__(self, pattern: Pattern, column: str, places: Sequence[int], radix: int) -> None:
        self.places = tuple(places)
        self._pattern = pattern
        self._column = column
        self._listing = pattern.table.listing(column)
        self._changes = 0  # of the facts about its numbers
        self._members = pattern.members
        self._radix = max(radix, 2)
        self._read = 0
        self._segments: list[Segment] = []

    @staticmethod
    def reach(radix: int) -> int:
        """The number of columns that fit into one key."""
        return _BITS // (max(radix, 2) - 1).bit_length()

    def find(self, columns: Sequence[Array]) -> list[Hits]:
        """The rows of each tuple of ids, by segment; segments without a match are left out."""
        self._extend()
        key = self._key(columns, len(columns[0]))
        return [hit for segment in self._segments if (hit := segment.find(key)).total]

    def _key(self, columns: Sequence[Array], length: int) -> Array:
        key = columns[0] if columns else np.zeros(length, np.int32)
        for column in columns[1:]:
            key = key.astype(np.int64) * self._radix + column
        return key

    def _extend(self) -> None:
        listing, changes = self._pattern.table.listing(self._column), self._number_changes()
        members = self._pattern.members
        others = listing is not self._listing or any(map(is_not, members, self._members))
        if others or changes != self._changes:  # other rows are listed or fit, or have other numbers
            self._listing, self._read, self._changes, self._members = listing, 0, changes, members
            self._segments.clear()
        if self._read == len(listing):
            return
        rows = self._fresh()
        self._read = len(self._listing)
        if not len(rows):
            return
        while self._segments and self._segments[-1].length < 2 * len(rows):
            rows = np.concatenate([self._segments.pop().rows, spelled_out(rows)])
        columns = [taken(self._pattern.table.tuples.columns[place], rows) for place in self.places]
        self._segments.append(self._segment(rows, self._key(columns, len(rows))))

    def _number_changes(self) -> int:
        return 0

    def _segment(self, rows: Array | range, key: Array) -> Segment:
        return Segment(rows, key, self._radix ** len(self.places))

    def _fresh(self) -> Array | range:
        """The matching rows listed since the last call."""
        run = None if self._read else self._listing.run
        if run is not None and self._pattern.plain:
            return run
        return self._pattern.fitting(self._listing.values[self._read :])


_SLACK = 1e-9  # limits are let out by more than the tolerance of comparisons: rows that are found are compared anyway


@quietly
def limits(ranges: Sequence[tuple[Range, int]], read: Callable[[Matched], Interval], length: int) -> Interval:
    """(length,) the numbers for which comparisons may hold, given the others; each with its place among theirs."""
    given = dict.fromkeys(n for limit, place in ranges for at, n in enumerate(limit.numbers) if at != place)
    boxes = {number: _points(read(number)) for number in given}
    free, anything, true = unknown(length), Interval(np.zeros(length), np.ones(length)), point(np.ones(length))
    lower, upper = free
    for limit, place in ranges:
        inputs = [free if at == place else boxes[number] for at, number in enumerate(limit.numbers)]
        left = limit.comparison.narrow(inputs, anything, true)
        low, high = left.inputs[place]
        lower = np.maximum(lower, np.where(left.empty, np.inf, low))
        upper = np.minimum(upper, np.where(left.empty, -np.inf, high))
    return Interval(lower - _SLACK * (1 + np.abs(lower)), upper + _SLACK * (1 + np.abs(upper)))


def _points(numbers: Interval) -> Interval:
    """Both ends in one array, where they are equal."""
    return point(numbers.lower) if np.array_equal(*numbers) else numbers


class RangeIndex(JoinIndex):
    """Also by the ``number`` of each row, of which the arguments are in its columns ``at``."""

    def __init__(
        self, pattern: Pattern, column: str, places: Sequence[int], radix: int, number: Relation, at: Sequence[int]
    ) -> None:
        super().__init__(pattern, column, places, radix)
        self._number = number
        self._at = at

    def between(self, columns: Sequence[Array], limits: Interval) -> list[Hits]:
        """The rows of each tuple of ids whose numbers may lie within its limits, by segment."""
        self._extend()
        key = self._key(columns, len(limits.lower))
        hits = (segment.between(key, limits) for segment in self._segments if isinstance(segment, _RangeSegment))
        return [hit for hit in hits if hit.total]

    def _number_changes(self) -> int:
        return self._number.changes

    def _segment(self, rows: Array | range, key: Array) -> Segment:
        rows = spelled_out(rows)
        columns = [self._pattern.table.tuples.columns[place].take(rows) for place in self._at]
        ends = self._number.read(self._number.tuples.find(columns, len(rows)))
        numbers = _points(Interval(np.minimum(*ends), np.maximum(*ends)))  # without a value, it may be any
        return _RangeSegment(rows, key, self._radix ** len(self.places), numbers)


class _RangeSegment(Segment):
    """Rows sorted by key and by the lower ends of their numbers."""

    __slots__ = ("_lower", "_upper")

    def __init__(self, rows: Array, key: Array, size: int, numbers: Interval) -> None:
        values, rank = np.unique(numbers.lower, return_inverse=True)
        if size * len(values) < 1 << _BITS:
            order = in_order(key * np.int64(len(values)) + rank, size * len(values))[0]
        else:
            order = np.lexsort((rank, key))
        super().__init__(rows.take(order), key.take(order), size)
        place = np.arange(len(self._starts)).repeat(self._ends - self._starts)
        self._lower = self._upper = _Ascending(place, values, rank.take(order))
        if numbers.lower is not numbers.upper:
            values, rank = np.unique(numbers.upper, return_inverse=True)
            self._upper = _Ascending(place, values, rank.take(order))

    def between(self, key: Array, limits: Interval) -> Hits:
        """The rows of each key whose numbers may lie within its limits."""
        place = self._place(key)
        start, stop = self._upper.first(place, limits.lower, "left"), self._lower.first(place, limits.upper, "right")
        counts = np.maximum(stop - start, 0)
        if self._keys is not None:
            counts *= self._keys.take(place) == key
        return Hits(counts, start, self.rows, -1, int(counts.sum()), False)


class _Ascending:
    """The greatest of the ``values`` so far, at each place in the order of its rows; these have a ``rank`` each."""

    def __init__(self, place: Array, values: Array, rank: Array) -> None:
        self._values = values
        self._codes = np.maximum.accumulate(self._code(place, rank))

    def first(self, place: Array, limit: Array, side: Literal["left", "right"]) -> Array:
        """The first row at each place, or at the next, from which on values are at least the limit, or above it."""
        code = self._code(place, self._values.searchsorted(limit, side))
        order, found = np.argsort(code), np.empty(len(code), np.intp)
        found[order] = self._codes.searchsorted(code.take(order))  # a million: 0.15 s with the sort, as they come 0.52
        return found

    def _code(self, place: Array, rank: Array) -> Array:
        return place * np.int64(len(self._values) + 1) + rank
