"""The rows of a growing list of atoms, found by the entities in some of their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lnnkit.flags import all_set, any_set
from lnnkit.join.pattern import Pattern
from lnnkit.store.growing import Pieces, spelled_out
from lnnkit.store.sorting import in_order

_LIMIT = 2**62  # mixed-radix keys stay below it
_DENSE = 2**16  # so many possible keys are tabulated, or four times as many as there are rows


@dataclass(frozen=True, slots=True)
class Hits:
    """For each key, how many rows one segment holds (``counts``), and from which position of ``rows`` on
    (``starts``). ``rows`` is None where positions are rows."""

    counts: Tensor
    starts: Tensor
    rows: Tensor | None
    total: int

    def expand(self) -> tuple[Tensor, Tensor]:
        """(total,) the keys' positions, repeated, and the rows."""
        if self.total == len(self.counts) and all_set(self.counts == 1):
            left = torch.arange(self.total, dtype=torch.int32)
            places = self.starts
        else:
            left = torch.repeat_interleave(self.counts, output_size=self.total)
            offset = self.starts - (self.counts.cumsum(0, dtype=torch.int32) - self.counts)
            places = offset.index_select(0, left)
            places += torch.arange(self.total, dtype=torch.int32)
        return left, places if self.rows is None else self.rows.index_select(0, places)


class Segment:
    """Rows in the order of their keys: ``ends`` by key, or ``keys`` in order with their ``ends``."""

    __slots__ = ("_base", "_ends", "_keys", "_rows", "length")

    def __init__(self, rows: Tensor | range, key: Tensor, size: int) -> None:
        self.length = len(rows)
        if len(key) > 1 and any_set(key[1:] < key[:-1]):
            order, key = in_order(key, size)
            rows = order + rows.start if isinstance(rows, range) else rows.index_select(0, order)
        self._keys: Tensor | None = None
        if size <= max(_DENSE, 4 * len(rows)):
            self._ends = torch.zeros(size + 1, dtype=torch.int32)
            self._ends[1:] = torch.bincount(key, minlength=size).cumsum(0, dtype=torch.int32)
        else:
            self._keys, counts = torch.unique_consecutive(key, return_counts=True)
            self._ends = torch.zeros(len(counts) + 1, dtype=torch.int32)
            self._ends[1:] = counts.cumsum(0, dtype=torch.int32)
        self._rows = rows
        self._base = rows.start if isinstance(rows, range) else -1

    @property
    def rows(self) -> Tensor:
        """In their order."""
        self._rows = spelled_out(self._rows)
        return self._rows

    def arrays(self) -> tuple[Tensor, Tensor | None, Tensor | None, int]:
        """The ends, the keys, and the rows in their order; None where they follow one another from a base on."""
        return self._ends, self._keys, None if self._base >= 0 else self.rows, self._base

    def find(self, key: Tensor) -> Hits:
        if self._keys is None:
            starts = self._ends.index_select(0, key)
            counts = self._ends[1:].index_select(0, key).sub_(starts)
        else:
            place = torch.searchsorted(self._keys, key).clamp_(max=len(self._keys) - 1)
            hit = self._keys.index_select(0, place) == key
            starts = self._ends.index_select(0, place)
            counts = torch.where(hit, self._ends[1:].index_select(0, place) - starts, 0)
        total = _sum(counts)
        if self._base >= 0:
            return Hits(counts, starts + self._base if self._base else starts, None, total)
        return Hits(counts, starts, self.rows, total)


def _sum(counts: Tensor) -> int:
    """Their sum; torch would first copy them all as wider numbers."""
    return int(counts.numpy().sum(dtype=np.int64)) if counts.device.type == "cpu" else int(counts.sum())


class JoinIndex:
    """Finds the rows of ``listing`` that fit ``pattern``, by the ids in the columns ``places``. Rows are kept in
    segments, each at least twice as long as the next, so that growth costs amortised logarithmic time a row."""

    def __init__(self, pattern: Pattern, listing: Pieces, places: Sequence[int], radix: int) -> None:
        self.places = tuple(places)
        self._pattern = pattern
        self._listing = listing
        self._radix = max(radix, 2)
        self._read = 0
        self._segments: list[Segment] = []

    @staticmethod
    def reach(radix: int) -> int:
        """How many columns fit one key."""
        count = 1
        while max(radix, 2) ** (count + 1) <= _LIMIT:
            count += 1
        return count

    def find(self, columns: Sequence[Tensor]) -> list[Hits]:
        """The rows of each tuple of ids, by segment; segments in which none has any are left out."""
        self._extend()
        key = self._key(columns)
        hits = [segment.find(key) for segment in self._segments]
        return [each for each in hits if each.total]

    def segments(self) -> list[Segment]:
        """All rows, of longer segments first."""
        self._extend()
        return self._segments

    def _key(self, columns: Sequence[Tensor]) -> Tensor:
        key = columns[0]
        for column in columns[1:]:
            key = key.long() * self._radix + column
        return key

    def _extend(self) -> None:
        if self._read == len(self._listing):
            return
        rows = self._fresh()
        self._read = len(self._listing)
        if not len(rows):
            return
        while self._segments and self._segments[-1].length < 2 * len(rows):
            rows = torch.cat([self._segments.pop().rows, spelled_out(rows)])
        rows = _following(rows)
        columns = [self._pattern.table.tuples.columns[place] for place in self.places]
        if isinstance(rows, range):
            columns = [column[rows.start : rows.stop] for column in columns]
        else:
            columns = [column.index_select(0, rows) for column in columns]
        self._segments.append(Segment(rows, self._key(columns), self._radix ** len(self.places)))

    def _fresh(self) -> Tensor | range:
        """What has come to be listed since the list was read last, as far as it fits."""
        run = None if self._read else self._listing.run
        if run is not None and self._pattern.plain:
            return run
        return self._pattern.fitting(self._listing.values[self._read :])


def _following(rows: Tensor | range) -> Tensor | range:
    """Rows that follow one another as a range."""
    if isinstance(rows, range):
        return rows
    first = int(rows[0])
    if int(rows[-1]) - first != len(rows) - 1 or not all_set(rows[1:] > rows[:-1]):
        return rows
    return range(first, first + len(rows))
