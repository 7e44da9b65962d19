"""Arrays that grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from lnnkit.store.columns.arrays import Array, spelled_out
from lnnkit.store.columns.room import LARGE, Room

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

_FAR = 2**24  # room for at least so many entries is made ahead, once they are many
_MUCH = 2**16  # so many are written at once by large pages


def _ahead(length: int) -> int:
    return 2 * length if length <= LARGE else max(4 * length, _FAR)


Late = list[tuple[int, int, float]]  # positions from a start to below a stop that have one value: nobody has looked yet
_LATE = 2**8  # so many of them are kept at most


def _tell(late: Late, start: int, stop: int, value: float) -> None:
    """From ``start`` to ``stop`` there is one value now, whatever was."""
    while late:
        first, last, old = late[-1]
        if last == start:
            if old == value:
                late[-1] = first, stop, value
                return
            break
        if start <= first and last <= stop:
            late.pop()
        elif first < start < last <= stop:
            late[-1] = first, start, old
        else:
            break
    late.append((start, stop, value))


class Growing:
    """A 1-D array that grows at its end in amortised constant time. Runs of one value are written when somebody looks:
    what a thousand rounds add in turn is written once."""

    __slots__ = ("_buffer", "_late", "_length", "_room", "_values")

    def __init__(self, dtype: DTypeLike) -> None:
        self._buffer: Array = np.empty(16, dtype)
        self._room: Room | None = None  # where the buffer stands; None for that of another, or a small one
        self._length = 0
        self._values: Array | None = None
        self._late: Late = []

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> Array:
        """What is there; valid for reading until the next ``append``."""
        if self._values is None:
            if self._late:
                self._write()
            self._values = self._buffer[: self._length]
        return self._values

    @property
    def tensor(self) -> Tensor:
        """As ``values``, in the same memory."""
        return torch.from_numpy(self.values)

    def room(self, count: int) -> None:
        """Make room for so many values in all."""
        if count > len(self._buffer):
            there = min(self._length, len(self._buffer))  # what is late may lie beyond
            room = Room(count, self._buffer.dtype)
            room.part(0, there)[:] = self._buffer[:there]
            self._room, self._buffer, self._values = room, room.entries, None

    def append(self, values: Array) -> None:
        """Add values at the end. What is added first, if it is much, is kept as it is: nobody may write to it."""
        if self._late:
            self._write()
        start, count = self._length, values.size
        stop = start + count
        if count < _MUCH and stop <= self._buffer.size:
            self._buffer[start:stop] = values
            self._length, self._values = stop, None
        elif (
            not start and count >= LARGE and values.dtype == self._buffer.dtype and values.strides == (values.itemsize,)
        ):
            self._room, self._buffer, self._values = None, values, values
            self._length = count
        else:
            self._reserve(count)[:] = values

    def extend(self, count: int, value: float | bool) -> None:
        """Add one value ``count`` times."""
        start, late = self._length, self._late
        self._length = stop = start + count
        if late and late[-1][1:] == (start, value):
            late[-1] = late[-1][0], stop, value
            self._values = None
        else:
            self.set(start, stop, value)

    def set(self, start: int, stop: int, value: float) -> None:
        """Set what stands from ``start`` to ``stop`` to one value."""
        if start < stop:
            if len(self._late) == _LATE:
                self._write()
            _tell(self._late, start, stop, value)
            self._values = None

    def _write(self) -> None:
        """Write what is late."""
        if self._length > len(self._buffer):
            self.room(max(self._length, _ahead(len(self._buffer))))
        for start, stop, value in self._late:
            many = stop - start >= _MUCH and self._room is not None
            (self._room.part(start, stop) if many and self._room else self._buffer[start:stop])[:] = value
        self._late.clear()

    def __deepcopy__(self, memo: dict[int, object]) -> Growing:
        """Without the room that is free: it comes with the first ``append``."""
        copy = Growing(self._buffer.dtype)
        if self._length:
            copy._buffer = self.values.copy()
            copy._length = self._length
        return copy

    def _reserve(self, count: int) -> Array:
        start, needed = self._length, self._length + count
        if needed > len(self._buffer):
            self.room(max(needed, _ahead(len(self._buffer))))
        self._length = needed
        self._values = None
        return self._buffer[start:needed] if self._room is None else self._room.part(start, needed)


class Pieces:
    """A 1-D array that grows at its end, a piece at a time: an array, or a range. They are joined when it is looked
    at."""

    __slots__ = ("_joined", "_length", "_pieces")

    def __init__(self, dtype: DTypeLike = np.int32) -> None:
        self._joined = Growing(dtype)
        self._pieces: list[Array | range] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> Array:
        """What is there; valid for reading until the next ``append``."""
        if self._pieces:
            for piece in self._pieces:
                self._joined.append(spelled_out(piece))
            self._pieces.clear()
        return self._joined.values

    @property
    def tensor(self) -> Tensor:
        """As ``values``, in the same memory."""
        return torch.from_numpy(self.values)

    @property
    def run(self) -> range | None:
        """What is there, if it is known to follow one another and has not been looked at."""
        first = self._pieces[0] if len(self._pieces) == 1 and not len(self._joined) else None
        return first if isinstance(first, range) else None

    def append(self, values: Array | range) -> None:
        """Add values at the end: nobody may write to them."""
        pieces = self._pieces
        if isinstance(values, range):
            self._length += len(values)
            last = pieces[-1] if pieces else None
            if isinstance(last, range) and last.stop == values.start:
                pieces[-1] = range(last.start, values.stop)
                return
        else:
            self._length += values.size
        pieces.append(values)

    def __deepcopy__(self, memo: dict[int, object]) -> Pieces:
        copy = Pieces(self.values.dtype)
        copy._joined.append(self.values.copy())
        copy._length = self._length
        return copy


class Marks:
    """A number (or a flag) for each of a growing number of rows, 0 until it is set. Runs of one value are written when
    somebody looks."""

    __slots__ = ("_entries", "_late", "_reached", "_room")

    def __init__(self, dtype: DTypeLike) -> None:
        self._room = Room(16, dtype)
        self._entries = self._room.entries
        self._reached = 0
        self._late: Late = []

    @property
    def values(self) -> Array:
        """What there is room for; all that has been set is among it."""
        if self._late or self._reached > len(self._entries):
            self.reach(self._reached)
        return self._entries

    def room(self, count: int) -> None:
        """Make room for so many rows in all."""
        if count > len(self._entries):
            grown = Room(count, self._entries.dtype)
            there = min(self._reached, len(self._entries))  # what is late may lie beyond
            grown.part(0, there)[:] = self._entries[:there]
            self._room, self._entries = grown, grown.entries

    def __deepcopy__(self, memo: dict[int, object]) -> Marks:
        """Without the room that nothing has reached."""
        copy = Marks(self.values.dtype)
        copy.room(self._reached)
        copy.values[: self._reached] = self.values[: self._reached]
        copy._reached = self._reached
        return copy

    def extend(self, count: int) -> None:
        """Have a value for ``count`` rows at least."""
        if count > self._reached:
            self._reached = count

    def reach(self, count: int) -> Array:
        """The values, of at least ``count`` rows."""
        if count > self._reached:
            self._reached = count
        if self._reached > len(self._entries):
            self.room(max(self._reached, _ahead(len(self._entries))))
        if self._late:
            self._write()
        return self._entries

    def set(self, start: int, stop: int, value: Array | float | bool) -> None:
        """Set the rows from ``start`` to ``stop``, to one value or to one each."""
        if stop > self._reached:
            self._reached = stop
        if isinstance(value, Array):
            self._part(start, stop)[:] = value
        elif start < stop:
            if len(self._late) == _LATE:
                self._write()
            _tell(self._late, start, stop, value)

    def _part(self, start: int, stop: int) -> Array:
        entries = self.reach(stop)
        return entries[start:stop] if stop - start < _MUCH else self._room.part(start, stop)

    def _write(self) -> None:
        """Write what is late."""
        late, self._late = self._late, []
        for start, stop, value in late:
            self._part(start, stop)[:] = value
