"""Growing sets of entity tuples: every tuple once, numbered in the order of arrival."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import torch
from torch import Tensor

from lnnkit.store.few import Few
from lnnkit.store.growing import Growing
from lnnkit.store.key_index import KeyIndex
from lnnkit.store.seen import Seen, worthwhile


class TupleSet:
    """A set of tuples of entity ids, in columns. What is known to be new is indexed when something is looked up."""

    __slots__ = ("_columns", "_index", "_indexed", "_length", "_seen", "width")

    def __init__(self, width: int, radix: int) -> None:
        self.width = width
        self._columns = tuple(Growing(torch.int32) for _ in range(width))
        self._index = KeyIndex(width, radix)
        self._indexed = 0  # so many tuples are in the index
        self._seen: Seen | None = None  # all of them, where they are many and few are looked up
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __deepcopy__(self, memo: dict[int, object]) -> TupleSet:
        """Without what tells tuples that are there: it is made again."""
        copy = object.__new__(TupleSet)
        copy.width, copy._indexed, copy._length, copy._seen = self.width, self._indexed, self._length, None
        copy._columns, copy._index = deepcopy(self._columns, memo), deepcopy(self._index, memo)
        return copy

    @property
    def columns(self) -> tuple[Tensor, ...]:
        return tuple(column.values for column in self._columns)

    def find(self, columns: Sequence[Tensor], length: int) -> Tensor:
        """(length,) the number of each tuple, -1 where it is not there."""
        return self._ready().find(columns, length)

    def add(self, columns: Sequence[Tensor], length: int) -> tuple[Tensor, Tensor]:
        """Numbers of all ``length`` tuples, and the positions of those that were new, each once."""
        numbers, fresh = self._ready().add(columns, length)
        if fresh.numel():
            self._enter(columns, length, fresh)
            self._indexed = self._length
            self._see(columns, length)
        return numbers, fresh

    def new(self, columns: Sequence[Tensor], length: int) -> Tensor | None:
        """Add tuples; the positions of those that were new, each once. None: all were."""
        size = self._index.size
        if self._seen is None and size is not None and worthwhile(size, self._length):
            self._seen = Seen(size)
            self._seen.add(self._index.key(self.columns, self._length))
        if self._seen is not None:
            fresh = self._seen.new(self._index.key(columns, length))
            self._enter(columns, length, fresh)
            return fresh
        fresh = self._ready().new(columns, length)
        self._enter(columns, length, fresh)
        self._indexed = self._length
        return None if fresh.numel() == length else fresh

    def append(self, columns: Sequence[Tensor], length: int) -> None:
        """Add tuples that are known to be new, each once."""
        self._enter(columns, length, None)
        self._see(columns, length)

    def few(self, *, numbered: bool) -> Few | None:
        """What few tuples are added to, by keys in mixed ``radix``, on the CPU, to be told of by `enter`; None where
        they are too wide. Where they need not be ``numbered``, nothing is indexed for it."""
        if self._seen is not None and not numbered:
            return self._seen.few()
        return self._ready().few()

    @property
    def radix(self) -> int:
        """Of the keys."""
        return self._index.radix

    def enter(self, columns: Sequence[Tensor], length: int, *, numbered: bool) -> None:
        """Add the tuples that have been added a few at a time."""
        if numbered or self._seen is None:
            self._index.grow(length)
            self._indexed += length
            self._see(columns, length)
        self._enter(columns, length, None)

    def _enter(self, columns: Sequence[Tensor], length: int, fresh: Tensor | None) -> None:
        """Add the tuples at the positions ``fresh``, or all."""
        count = length if fresh is None else fresh.numel()
        if count:
            for own, column in zip(self._columns, columns, strict=True):
                own.append(column if fresh is None or count == length else column.index_select(0, fresh))
            self._length += count

    def _see(self, columns: Sequence[Tensor], length: int) -> None:
        if self._seen is not None:
            self._seen.add(self._index.key(columns, length))

    def _ready(self) -> KeyIndex:
        if self._indexed < self._length:
            columns = [column[self._indexed :] for column in self.columns]
            self._index.load(columns, self._length - self._indexed)
            self._indexed = self._length
        return self._index
