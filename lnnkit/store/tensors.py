"""Growing arrays and tuple sets as tensors, for kept instances, which are joined and evaluated in torch."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.store.columns.growing import Growing
from lnnkit.store.tuple_set import TupleSet


class GrowingTensor:
    """`Growing` with tensors for arrays."""

    __slots__ = ("_growing",)

    def __init__(self, dtype: torch.dtype) -> None:
        self._growing = Growing(torch.empty(0, dtype=dtype).numpy().dtype)

    def __len__(self) -> int:
        return len(self._growing)

    @property
    def values(self) -> Tensor:
        """The entries; valid for reading until the next ``append``."""
        return self._growing.tensor

    def append(self, values: Tensor) -> None:
        """Append values."""
        self._growing.append(values.numpy())


class TensorTuples:
    """`TupleSet` with tensors for arrays."""

    __slots__ = ("_tuples",)

    def __init__(self, width: int, radix: int) -> None:
        self._tuples = TupleSet(width, radix)

    def __len__(self) -> int:
        return len(self._tuples)

    @property
    def columns(self) -> tuple[Tensor, ...]:
        return tuple(torch.from_numpy(column) for column in self._tuples.columns)

    def add(self, columns: Sequence[Tensor], length: int) -> tuple[Tensor, Tensor]:
        """Add tuples: the numbers of all ``length`` of them, and the positions at which new ones first occur."""
        numbers, fresh = self._tuples.add([column.numpy() for column in columns], length)
        return torch.from_numpy(numbers), torch.from_numpy(fresh)

    def find(self, columns: Sequence[Tensor], length: int) -> Tensor:
        """(length,) the number of each tuple; -1 if it is absent."""
        return torch.from_numpy(self._tuples.find([column.numpy() for column in columns], length))

    def append(self, columns: Sequence[Tensor], length: int) -> None:
        """Append distinct tuples that are known to be new."""
        self._tuples.append([column.numpy() for column in columns], length)
