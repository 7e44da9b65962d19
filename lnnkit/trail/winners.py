"""The last setter of each bound: the provenance behind explanations and contested answers (see
`lnnkit.engine.contested`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lnnkit.store.columns.growing import Growing
from lnnkit.store.columns.row_arrays import Array, spelled_out, wide

UNSET = -2  # the leaf of a bound that no instance has set
_MANY = 2**10  # greatest number of notes before they are applied


class _Set(NamedTuple):
    """Instances of a batch that set distinct rows through a leaf."""

    rows: Array | range
    batch: int
    leaf: int
    instances: Array | range


class _Side:
    """The last setters of one side of all atoms. Numbers of batches and leaves are stored plus one and plus two: 0
    means that nothing set the side."""

    def __init__(self) -> None:
        self.batch = Growing(np.int32)
        self.leaf = Growing(np.int16)
        self.instance = Growing(np.int32)

    def reach(self, length: int) -> None:
        for column in (self.batch, self.leaf, self.instance):
            column.reach(length)

    def enter(self, each: _Set) -> None:
        batch, leaf, instances = each.batch + 1, each.leaf + 2, spelled_out(each.instances)
        if isinstance(each.rows, range):
            start, stop = each.rows.start, each.rows.stop
            for column, value in ((self.batch, batch), (self.leaf, leaf), (self.instance, instances)):
                column.set(start, stop, value)
            return
        at = wide(each.rows)
        self.reach(int(each.rows.max()) + 1)
        self.batch.values[at] = batch
        self.leaf.values[at] = leaf
        self.instance.values[at] = instances.astype(np.int32, copy=False)


class Winners:
    """For each atom row and side, the batch, the leaf and the instance row that set it last (-1: given, or default).
    Notes are applied lazily: on reading, or when there are many."""

    def __init__(self) -> None:
        self._sides = (_Side(), _Side())
        self._pending: tuple[list[_Set], list[_Set]] = ([], [])

    def winner(self, side: int, rows: Array) -> tuple[Array, Array, Array]:
        """(batch, leaf, instance) of the last setter of each row's lower (0) or upper (1) side."""
        own = self._entered(side)
        own.reach(int(rows.max()) + 1 if len(rows) else 0)
        return (
            own.batch.values.take(rows) - 1,
            own.leaf.values.take(rows) - 2,
            own.instance.values.take(rows),
        )

    def setters(self, side: int) -> list[tuple[Array, int, int, Array]]:
        """The last setters of a lower (0) or upper (1) side: (rows, batch, leaf, instances), one for each leaf."""
        own = self._entered(side)
        batch, leaf, instance = own.batch.values, own.leaf.values, own.instance.values
        known = np.flatnonzero(batch)
        found: list[tuple[Array, int, int, Array]] = []
        for number in np.unique(batch[known]).tolist():
            mine = known[batch[known] == number]
            for index in np.unique(leaf[mine]).tolist():
                rows = mine[leaf[mine] == index]
                found.append((rows, number - 1, index - 2, instance[rows]))
        return found

    def record(self, side: int, rows: Array | range, batch: int, leaf: int, instances: Array | range) -> None:
        """Note that instances set one side of distinct rows through a leaf. The arrays must not be written to
        afterwards."""
        if len(rows):
            pending = self._pending[side]
            pending.append(_Set(rows, batch, leaf, instances))
            if len(pending) == _MANY:
                self._entered(side)

    def _entered(self, side: int) -> _Side:
        """One side, with all notes applied."""
        own = self._sides[side]
        for each in self._pending[side]:
            own.enter(each)
        self._pending[side].clear()
        return own
