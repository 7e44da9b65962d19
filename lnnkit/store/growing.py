"""Tensors that grow."""

from __future__ import annotations

import torch
from torch import Tensor

from lnnkit.store.room import LARGE, Room

_FAR = 2**24  # room for at least so many entries is made ahead, once they are many
_PIECE = 2**14  # so many are kept as they are
_RUN = 2**12  # so many numbers that follow one another are not written down before they are looked at


def _ahead(length: int) -> int:
    return 2 * length if length <= LARGE else max(4 * length, _FAR)


class Growing:
    """A 1-D tensor that grows at its end in amortised constant time."""

    __slots__ = ("_buffer", "_length", "_room", "_values")

    def __init__(self, dtype: torch.dtype) -> None:
        self._buffer = torch.empty(16, dtype=dtype)
        self._room: Room | None = None  # where the buffer stands; None for that of another, or a small one
        self._length = 0
        self._values: Tensor | None = None

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> Tensor:
        """What is there; valid for reading until the next ``append``."""
        if self._values is None:
            self._values = self._buffer[: self._length]
        return self._values

    def room(self, count: int) -> None:
        """Make room for so many values in all."""
        if count > self._buffer.numel():
            self._room = Room(count, self._buffer.dtype)
            self._room.part(0, self._length).copy_(self.values)
            self._buffer, self._values = self._room.entries, None

    def append(self, values: Tensor) -> None:
        """Add values at the end. What is added first, if it is much, is kept as it is: nobody may write to it."""
        count = values.numel()
        if not self._length and count >= LARGE and values.dtype == self._buffer.dtype and values.is_contiguous():
            self._room, self._buffer, self._values = None, values, values
            self._length = count
        else:
            self._reserve(count).copy_(values)

    def extend(self, count: int, value: float | bool) -> None:
        """Add one value ``count`` times."""
        self._reserve(count).fill_(value)

    def __deepcopy__(self, memo: dict[int, object]) -> Growing:
        """Without the room that is free: it comes with the first ``append``."""
        copy = Growing(self._buffer.dtype)
        if self._length:
            copy._buffer = self.values.clone()
            copy._length = self._length
        return copy

    def _reserve(self, count: int) -> Tensor:
        start, needed = self._length, self._length + count
        if needed > self._buffer.numel():
            self.room(max(needed, _ahead(self._buffer.numel())))
        self._length = needed
        self._values = None
        return self._buffer[start:needed] if self._room is None else self._room.part(start, needed)


class Pieces:
    """A 1-D tensor that grows at its end, a piece at a time: a tensor, or a range. They are joined when it is looked
    at."""

    __slots__ = ("_joined", "_length", "_pieces")

    def __init__(self, dtype: torch.dtype = torch.int32) -> None:
        self._joined = Growing(dtype)
        self._pieces: list[Tensor | range] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> Tensor:
        """What is there; valid for reading until the next ``append``."""
        for piece in self._pieces:
            self._joined.append(spelled_out(piece))
        self._pieces.clear()
        return self._joined.values

    @property
    def run(self) -> range | None:
        """What is there, if it is known to follow one another and has not been looked at."""
        first = self._pieces[0] if len(self._pieces) == 1 and not len(self._joined) else None
        return first if isinstance(first, range) else None

    def append(self, values: Tensor | range) -> None:
        """Add values at the end: nobody may write to them."""
        self._length += len(values)
        if self._pieces or len(values) >= (_RUN if isinstance(values, range) else _PIECE):
            self._pieces.append(values)
        else:
            self._joined.append(spelled_out(values))

    def __deepcopy__(self, memo: dict[int, object]) -> Pieces:
        copy = Pieces(self.values.dtype)
        copy._joined.append(self.values.clone())
        copy._length = self._length
        return copy


def spelled_out(values: Tensor | range) -> Tensor:
    """Numbers, written down."""
    return torch.arange(values.start, values.stop, dtype=torch.int32) if isinstance(values, range) else values


class Marks:
    """A number (or a flag) for each of a growing number of rows, 0 until it is set."""

    __slots__ = ("_reached", "_room", "values")

    def __init__(self, dtype: torch.dtype) -> None:
        self._room = Room(16, dtype)
        self.values = self._room.entries
        self._reached = 0

    def room(self, count: int) -> None:
        """Make room for so many rows in all."""
        if count > self.values.numel():
            grown = Room(count, self.values.dtype)
            grown.part(0, self._reached).copy_(self.values[: self._reached])
            self._room, self.values = grown, grown.entries

    def __deepcopy__(self, memo: dict[int, object]) -> Marks:
        """Without the room that nothing has reached."""
        copy = Marks(self.values.dtype)
        copy.room(self._reached)
        copy.values[: self._reached] = self.values[: self._reached]
        copy._reached = self._reached
        return copy

    def reach(self, count: int) -> Tensor:
        """The values, of at least ``count`` rows."""
        if self.values.numel() < count:
            self.room(max(count, _ahead(self.values.numel())))
        self._reached = max(self._reached, count)
        return self.values

    def set(self, start: int, stop: int, value: Tensor | float | bool) -> None:
        """Set the rows from ``start`` to ``stop``, to one value or to one each."""
        self.reach(stop)
        self._room.part(start, stop)[:] = value
