"""Growing sets of entity tuples, numbered in order of insertion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lnnkit.store.columns.growing import Growing
from lnnkit.store.columns.row_arrays import Array
from lnnkit.store.key_index import KeyIndex


class TupleSet:
    """A set of tuples of entity ids, in columns. Appended tuples are indexed lazily, at the next look-up."""

    __slots__ = ("_columns", "_index", "_indexed", "_length", "_views", "width")

    def __init__(self, width: int, radix: int) -> None:
        self.width = width
        self._columns = tuple(Growing(np.int32) for _ in range(width))
        self._index = KeyIndex(width, radix)
        self._indexed = 0  # number of tuples in the index
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
        """(length,) the number of each tuple; -1 if it is absent."""
        return self._ready().find(columns, length)

    def add(self, columns: Sequence[Array], length: int) -> tuple[Array, Array]:
        """Add tuples: the numbers of all ``length`` of them, and the positions at which new ones first occur."""
        numbers, fresh = self._ready().add(columns, length)
        if len(fresh):
            self._enter(columns, length, fresh)
            self._indexed = self._length
        return numbers, fresh

    def new(self, columns: Sequence[Array], length: int) -> Array | None:
        """Add tuples; returns the positions at which new ones first occur (None: all are new and distinct)."""
        index = self._index if self._indexed == self._length else self._ready()
        fresh = index.new(columns, length)
        self._enter(columns, length, fresh)
        self._indexed = self._length
        return fresh

    def append(self, columns: Sequence[Array], length: int) -> None:
        """Append distinct tuples that are known to be new."""
        self._enter(columns, length, None)

    def _enter(self, columns: Sequence[Array], length: int, fresh: Array | None) -> None:
        """Store the tuples at the positions ``fresh`` (None: all)."""
        count = length if fresh is None else fresh.size
        if count:
            every = count == length
            for own, column in zip(self._columns, columns):  # noqa: B905  # the index has looked at as many
                own.append(column if every or fresh is None else column.take(fresh))
            self._length += count
            self._views = None

    def _ready(self) -> KeyIndex:
        if self._indexed < self._length:
            columns = [column[self._indexed :] for column in self.columns]
            self._index.load(columns, self._length - self._indexed)
            self._indexed = self._length
        return self._index
