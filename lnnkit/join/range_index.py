"""Joins by ranges: rows in which a number lies between limits are found by binary search in a sorted index.

A comparison limits one of its numbers, given the others: those limits are what it says of that number downward. Numbers
are intervals, so the rows of a key are sorted by their lower ends, and from these the greatest upper end so far is
never descending: rows between two places in both orders may meet the limits, and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from lnnkit.arrays import quietly
from lnnkit.join.bindings import Matched, Pattern
from lnnkit.join.join_index import Hits, JoinIndex, Segment
from lnnkit.numeric import Comparison, Interval, point, unknown
from lnnkit.store.relations import Relation
from lnnkit.store.row_arrays import Array, Chunks, spelled_out

_SLACK = 1e-9  # limits are let out by more than the tolerance of comparisons: rows that are found are compared anyway


class Range(NamedTuple):
    """A comparison that must not be false, over the ``numbers`` of atoms, whose bounds no inference changes."""

    comparison: Comparison
    numbers: tuple[Matched, ...]

    @quietly
    def limits(self, place: int, read: Callable[[Matched], Interval], length: int) -> Interval:
        """(length,) the numbers at ``place`` for which the comparison may hold, given the others."""
        boxes = [unknown(length) if at == place else read(number) for at, number in enumerate(self.numbers)]
        truth, true = self.comparison.truth(boxes), point(np.ones(length))
        left = self.comparison.narrow(boxes, truth, true)
        lower, upper = left.inputs[place]
        never = left.empty | (truth.upper <= 0)
        lower, upper = np.where(never, np.inf, lower), np.where(never, -np.inf, upper)
        return Interval(lower - _SLACK * (1 + np.abs(lower)), upper + _SLACK * (1 + np.abs(upper)))


class RangeIndex(JoinIndex):
    """Also by the ``number`` of each row, of which the arguments are in its columns ``at``."""

    def __init__(
        self, pattern: Pattern, listing: Chunks, places: Sequence[int], radix: int, number: Relation, at: Sequence[int]
    ) -> None:
        super().__init__(pattern, listing, places, radix)
        self._number = number
        self._at = at

    def between(self, columns: Sequence[Array], limits: Interval) -> list[Hits]:
        """The rows of each tuple of ids whose numbers may lie within its limits, by segment."""
        self._extend()
        key = self._key(columns, len(limits.lower))
        hits = (segment.between(key, limits) for segment in self._segments if isinstance(segment, _RangeSegment))
        return [hit for hit in hits if hit.total]

    def _segment(self, rows: Array | range, key: Array) -> Segment:
        rows = spelled_out(rows)
        columns = [self._pattern.table.tuples.columns[place].take(rows) for place in self._at]
        ends = self._number.read(self._number.tuples.find(columns, len(rows)))
        numbers = Interval(np.minimum(*ends), np.maximum(*ends))  # without a value, it may be any
        order = np.lexsort((numbers.lower, key))
        ordered = Interval(*(end.take(order) for end in numbers))
        return _RangeSegment(rows.take(order), key.take(order), self._radix ** len(self.places), ordered)


class _RangeSegment(Segment):
    """Rows sorted by key and by the lower ends of their numbers."""

    __slots__ = ("_lower", "_upper")

    def __init__(self, rows: Array, key: Array, size: int, numbers: Interval) -> None:
        super().__init__(rows, key, size)
        place = np.arange(len(self._starts)).repeat(self._ends - self._starts)
        self._lower, self._upper = (_Ascending(place, end) for end in numbers)

    def between(self, key: Array, limits: Interval) -> Hits:
        """The rows of each key whose numbers may lie within its limits."""
        place = self._place(key)
        start, stop = self._upper.first(place, limits.lower, "left"), self._lower.first(place, limits.upper, "right")
        counts = np.maximum(stop - start, 0)
        if self._keys is not None:
            counts *= self._keys.take(place) == key
        return Hits(counts, start, self.rows, -1, int(counts.sum()), False)


class _Ascending:
    """The greatest of the values so far, at each place in the order of its rows."""

    def __init__(self, place: Array, values: Array) -> None:
        self._values, rank = np.unique(values, return_inverse=True)
        self._codes = np.maximum.accumulate(self._code(place, rank))

    def first(self, place: Array, limit: Array, side: Literal["left", "right"]) -> Array:
        """The first row at each place, or at the next, from which on values are at least the limit, or above it."""
        return self._codes.searchsorted(self._code(place, self._values.searchsorted(limit, side)))

    def _code(self, place: Array, rank: Array) -> Array:
        return place * np.int64(len(self._values) + 1) + rank
