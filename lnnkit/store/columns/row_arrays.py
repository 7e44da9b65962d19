"""Arrays of ids, flags, row numbers and bounds; and such that grow at their end in amortised constant time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from numpy.typing import DTypeLike
import numpy as np

Array = np.ndarray


def spelled_out(values: Array | range) -> Array:
    """A range as an array; an array unchanged."""
    return np.arange(values.start, values.stop, dtype=np.int32) if isinstance(values, range) else values


@overload
def taken(values: Array, places: Array | range | None) -> Array: ...
@overload
def taken(values: Array | range, places: Array) -> Array: ...
@overload
def taken(values: Array | range, places: Array | range | None) -> Array | range: ...
def taken(values: Array | range, places: Array | range | None) -> Array | range:
    """The values at some places (None: all)."""
    if places is None:
        return values
    if isinstance(places, range):
        return values[places.start : places.stop]
    if isinstance(values, range):
        return np.add(places, values.start, dtype=np.int32, casting="same_kind")
    return values.take(places)


def alike(one: Array, other: Array) -> bool:
    """Whether two arrays are equal. Arrays in the same memory are not compared: tables about the same entities often
    share columns."""
    if one.shape == other.shape and one.strides == other.strides and one.ctypes.data == other.ctypes.data:
        return one.dtype == other.dtype
    return np.array_equal(one, other)


def wide(rows: Array) -> Array:
    """Row numbers in numpy's index type: writing with narrower ones is four times as slow."""
    return rows.astype(np.intp, copy=False)


class Growing:
    """A 1-D array that grows at its end in amortised constant time; what is not set yet is 0. ``reserved`` entries have
    the places before 0: the last of them is -1."""

    __slots__ = ("_buffer", "_length", "_reserved")

    def __init__(self, dtype: DTypeLike, reserved: Sequence[float | bool] = ()) -> None:
        self._reserved = len(reserved)
        self._buffer: Array = np.zeros(16 + self._reserved, dtype)
        self._buffer[16:] = reserved  # at its end, where numpy looks negative places up
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> Array:
        """(length,) a view, valid until the array grows."""
        return self._buffer[: self._length]

    def reach(self, count: int) -> Array:
        """The values, ``count`` of them at least."""
        if count > self._length:
            self._grow(count)
        return self._buffer[: self._length]

    def take(self, places: Array | range) -> Array:
        """The entries at some places, reserved ones too; of a range a view, valid until the array grows."""
        if isinstance(places, range):
            return self._buffer[places.start : places.stop]
        return self._buffer.take(places)

    def put(self, places: Array, values: Array | float | bool) -> None:
        """Set the entries at some places, reserved ones too, to one value or to one each."""
        self._buffer[wide(places)] = values

    def _grow(self, count: int) -> None:
        room = len(self._buffer) - self._reserved
        if count > room:
            buffer = np.zeros(max(count, 2 * room) + self._reserved, self._buffer.dtype)
            buffer[: self._length] = self.values
            buffer[len(buffer) - self._reserved :] = self._buffer[room:]
            self._buffer = buffer
        self._length = count

    def append(self, values: Array) -> None:
        """Add values at the end."""
        start = self._length
        self._grow(start + values.size)
        self._buffer[start : self._length] = values

    def extend(self, count: int, value: float | bool) -> None:
        """Add one value ``count`` times."""
        self.set(self._length, self._length + count, value)

    def set(self, start: int, stop: int, value: Array | float | bool) -> None:
        """Set the entries from ``start`` to ``stop``, to one value or to one each."""
        if stop > self._length:
            self._grow(stop)
        self._buffer[start:stop] = value

    def fill(self, start: int, stop: int, value: float | bool) -> None:
        """Set those entries from ``start`` to ``stop`` that are not there yet."""
        if stop > self._length:
            self.set(max(start, self._length), stop, value)

    def __deepcopy__(self, memo: dict[int, object]) -> Growing:
        copy = Growing(self._buffer.dtype)
        room = len(self._buffer) - self._reserved
        copy._buffer = np.concatenate([self.values, self._buffer[room:]]) if self._length else self._buffer.copy()
        copy._length, copy._reserved = self._length, self._reserved
        return copy


class Chunks:
    """A 1-D array to which chunks are appended, arrays or ranges; they are joined when its values are read."""

    __slots__ = ("_chunks", "_joined", "_length")

    def __init__(self, dtype: DTypeLike = np.int32) -> None:
        self._joined = Growing(dtype)
        self._chunks: list[Array | range] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> Array:
        """(length,) the values; a view, valid until the array grows."""
        if self._chunks:
            for chunk in self._chunks:
                self._joined.append(spelled_out(chunk))
            self._chunks.clear()
        return self._joined.values

    @property
    def run(self) -> range | None:
        """The values as a range, if they are known to be one and have not been read."""
        first = self._chunks[0] if len(self._chunks) == 1 and not len(self._joined) else None
        return first if isinstance(first, range) else None

    def append(self, values: Array | range) -> None:
        """Add values at the end: nobody may write to them."""
        chunks = self._chunks
        if isinstance(values, range):
            self._length += len(values)
            last = chunks[-1] if chunks else None
            if isinstance(last, range) and last.stop == values.start:
                chunks[-1] = range(last.start, values.stop)
                return
        else:
            self._length += values.size
        chunks.append(values)

    def __deepcopy__(self, memo: dict[int, object]) -> Chunks:
        copy = Chunks(self.values.dtype)
        copy._joined.append(self.values.copy())
        copy._length = self._length
        return copy
