"""Growing sets of entity tuples: every tuple once, numbered in the order of arrival."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.ground.growing import Growing
from lnnkit.ground.keys import KeyIndex


class TupleSet:
    """A set of tuples of entity ids, in columns. What is known to be new is indexed when something is looked up."""

    __slots__ = ("_columns", "_index", "_indexed", "_length", "width")

    def __init__(self, width: int, radix: int) -> None:
        self.width = width
        self._columns = tuple(Growing(torch.int32) for _ in range(width))
        self._index = KeyIndex(width, radix)
        self._indexed = True
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def columns(self) -> tuple[Tensor, ...]:
        return tuple(column.values for column in self._columns)

    def find(self, columns: Sequence[Tensor], length: int) -> Tensor:
        """(length,) the number of each tuple, -1 where it is not there."""
        return self._ready().find(columns, length)

    def add(self, columns: Sequence[Tensor], length: int) -> tuple[Tensor, Tensor]:
        """Numbers of all ``length`` tuples, and the positions of those that were new, each once."""
        numbers, fresh = self._ready().add(columns, length)
        count = fresh.numel()
        if count:
            for own, column in zip(self._columns, columns, strict=True):
                own.append(column if count == length else column.index_select(0, fresh))
            self._length += count
        return numbers, fresh

    def append(self, columns: Sequence[Tensor], length: int) -> None:
        """Add tuples that are known to be new, each once."""
        if self._indexed and self._length:
            self._index.load(columns, length)
        else:
            self._indexed = False
        for own, column in zip(self._columns, columns, strict=True):
            own.append(column)
        self._length += length

    def _ready(self) -> KeyIndex:
        if not self._indexed:
            self._index.load(self.columns, self._length)
            self._indexed = True
        return self._index
