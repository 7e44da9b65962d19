"""The arrested instances of one formula whose instances are not kept."""

from __future__ import annotations

import torch
from torch import Tensor

from lnnkit.ground.bindings import Bindings
from lnnkit.ground.tuples import TupleSet
from lnnkit.ground.visitor import Visitor


class Arrests:
    """A growing set of assignments of a formula's variables."""

    def __init__(self, visitor: Visitor) -> None:
        self._variables = visitor.formula.blocks[0].variables
        self._set = TupleSet(len(self._variables), visitor.radix)

    def __len__(self) -> int:
        return len(self._set)

    def add(self, found: Bindings, positions: Tensor) -> Tensor:
        """Arrest the instances at ``positions``; returns which of those were not arrested before, each once."""
        some = found.at(positions)
        return self._set.add([some.column(v) for v in self._variables], some.length)[1]

    def flags(self, found: Bindings) -> Tensor:
        """Which instances are arrested."""
        if not len(self._set):
            return torch.zeros(found.length, dtype=torch.bool)
        return self.holds([found.column(v) for v in self._variables], found.length)

    def holds(self, columns: list[Tensor], length: int) -> Tensor:
        """Which assignments are arrested."""
        return self._set.find(columns, length) >= 0
