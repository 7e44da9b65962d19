"""What grows, seen as tensors: for the instances that are kept, which are found and evaluated in torch."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.store.columns.growing import Growing
from lnnkit.store.tuple_set import TupleSet


class GrowingTensor:
    """As `Growing`."""

    __slots__ = ("_growing",)

    def __init__(self, dtype: torch.dtype) -> None:
        self._growing = Growing(torch.empty(0, dtype=dtype).numpy().dtype)

    def __len__(self) -> int:
        return len(self._growing)

    @property
    def values(self) -> Tensor:
        """What is there; valid for reading until the next ``append``."""
        return self._growing.tensor

    def append(self, values: Tensor) -> None:
        """Add values at the end."""
        self._growing.append(values.numpy())


class TensorTuples:
    """As `TupleSet`."""

    __slots__ = ("_tuples",)

    def __init__(self, width: int, radix: int) -> None:
        self._tuples = TupleSet(width, radix)

    def __len__(self) -> int:
        return len(self._tuples)

    @property
    def columns(self) -> tuple[Tensor, ...]:
        return tuple(torch.from_numpy(column) for column in self._tuples.columns)

    def add(self, columns: Sequence[Tensor], length: int) -> tuple[Tensor, Tensor]:
        """Numbers of all ``length`` tuples, and the positions of those that were new, each once."""
        numbers, fresh = self._tuples.add([column.numpy() for column in columns], length)
        return torch.from_numpy(numbers), torch.from_numpy(fresh)

    def find(self, columns: Sequence[Tensor], length: int) -> Tensor:
        """(length,) the number of each tuple, -1 where it is not there."""
        return torch.from_numpy(self._tuples.find([column.numpy() for column in columns], length))

    def append(self, columns: Sequence[Tensor], length: int) -> None:
        """Add tuples that are known to be new, each once."""
        self._tuples.append([column.numpy() for column in columns], length)
