"""Which instance set each bound last: the record behind explanations, and behind what rests on a contradiction (see
`lnnkit.infer.contested`)."""

from __future__ import annotations

import torch
from torch import Tensor

from lnnkit.ground.growing import Marks


class _Side:
    """The last setters of one side of all atoms. Numbers of batches and leaves are kept one and two greater: 0 says
    that nothing has set the side."""

    def __init__(self) -> None:
        self.batch = Marks(torch.int32)
        self.leaf = Marks(torch.int16)
        self.instance = Marks(torch.int32)

    def room(self, count: int) -> None:
        for column in (self.batch, self.leaf, self.instance):
            column.room(count)

    def reach(self, length: int) -> None:
        for column in (self.batch, self.leaf, self.instance):
            column.reach(length)


class Derivations:
    """For each atom row and side, the batch, the leaf and the instance row that set it last (-1: given, or default)."""

    def __init__(self) -> None:
        self._sides = (_Side(), _Side())

    def room(self, count: int) -> None:
        """Make room for so many rows in all: memory is taken when they are set."""
        for side in self._sides:
            side.room(count)

    def winner(self, side: int, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(batch, leaf, instance) of the last setter of each row's lower (0) or upper (1) side."""
        own = self._sides[side]
        own.reach(int(rows.max()) + 1 if len(rows) else 0)
        return (
            own.batch.values.index_select(0, rows) - 1,
            own.leaf.values.index_select(0, rows) - 2,
            own.instance.values.index_select(0, rows),
        )

    def setters(self, side: int) -> list[tuple[Tensor, int, int, Tensor]]:
        """All that set a lower (0) or upper (1) side last: (rows, batch, leaf, instances), one for each leaf."""
        own = self._sides[side]
        batch, leaf, instance = own.batch.values, own.leaf.values, own.instance.values
        known = batch.nonzero().squeeze(1)
        found: list[tuple[Tensor, int, int, Tensor]] = []
        for number in torch.unique(batch[known]).tolist():
            mine = known[batch[known] == number]
            for index in torch.unique(leaf[mine]).tolist():
                rows = mine[leaf[mine] == index]
                found.append((rows, number - 1, index - 2, instance[rows]))
        return found

    def record_run(self, side: int, start: int, stop: int, batch: int, leaf: int, instances: Tensor) -> None:
        """As ``record``, for the rows from ``start`` to ``stop``."""
        own = self._sides[side]
        own.reach(stop)
        own.batch.values[start:stop] = batch + 1
        own.leaf.values[start:stop] = leaf + 2
        own.instance.values[start:stop] = instances

    def record(self, side: int, rows: Tensor, batch: int, leaf: int, instances: Tensor) -> None:
        """Note that instances have set one side of rows, each once, through a leaf."""
        if not len(rows):
            return
        own, index = self._sides[side], rows.long()
        own.reach(int(rows.max()) + 1)
        own.batch.values.index_fill_(0, index, batch + 1)
        own.leaf.values.index_fill_(0, index, leaf + 2)
        own.instance.values.index_copy_(0, index, instances.int())
