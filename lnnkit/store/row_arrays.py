"""Arrays of ids, flags, row numbers and bounds: such that grow at their end in amortised constant time; integer keys
sorted, and rows of ids by the keys into which they are packed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from numpy.typing import DTypeLike
import numpy as np

Array = np.ndarray
BITS = 63  # of a key


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


def one_value(values: Array) -> float | None:
    """The common value of ``values``, which are not empty; None if they differ."""
    first = values[0]
    if values.strides == (0,) or (values[-1] == first and (values == first).all()):  # a broadcast value, or equal ones
        return float(first)
    return None


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
        self._length += len(values)
        last = self._chunks[-1] if self._chunks else None
        if isinstance(values, range) and isinstance(last, range) and last.stop == values.start:
            self._chunks[-1] = range(last.start, values.stop)
        else:
            self._chunks.append(values)

    def __deepcopy__(self, memo: dict[int, object]) -> Chunks:
        copy = Chunks(self.values.dtype)
        copy._joined.append(self.values.copy())
        copy._length = self._length
        return copy


# --- sorted keys and rows ---------------------------------------------------------------------------------------------


def packed(columns: Sequence[Array], bits: Sequence[int]) -> Array:
    """(n,) the numbers of each row in one int64, the leftmost highest; a column has numbers of so many ``bits``. A
    single column is returned as it is."""
    if len(columns) == 1:
        return columns[0]
    key = columns[0].astype(np.int64)
    for column, width in zip(columns[1:], bits[1:], strict=True):
        key <<= width
        key |= column
    return key


def arranged(columns: Sequence[Array]) -> Array | None:
    """The stable permutation that sorts rows by their columns of ids from the left; None if they are sorted."""
    if not columns or not len(columns[0]):
        return None
    sizes = [int(column.max()).bit_length() for column in columns]
    if sum(sizes) > BITS:
        return np.lexsort(columns[::-1])
    key = packed(columns, sizes)
    if (key[1:] >= key[:-1]).all():
        return None
    size = 1 << sum(sizes)
    if size <= 4 * len(key):  # a slot for each key, if no two are equal: a million take 8 ms, sorted 75
        slots = np.full(size, -1, np.int32)
        slots[key] = np.arange(len(key), dtype=np.int32)
        order = slots[slots >= 0]
        if len(order) == len(key):
            return order
    return in_order(key, size)[0]


# A million keys of two digits take 0.65 of the time of one sort, of one digit 0.3; a join of 2,000,000 takes 318 CPU
# ms, without any 332 (`python -m benchmarks.inference_constants triangles`)
_COUNTED = 1 << 32


def in_order(key: Array, size: int) -> tuple[Array, Array]:
    """The permutation that sorts (n,) keys, each at least 0 and below ``size``, stably; and the sorted keys. Numpy
    sorts numbers of 16 bits by counting, so up to two such digits are sorted one by one. Of greater keys, if a key and
    its position fit into one integer, these are sorted, which is several times as fast as an argsort."""
    if size <= _COUNTED:
        order = np.argsort(key.astype(np.uint16), kind="stable").astype(np.int32)
        if size > 1 << 16:
            order = order.take(np.argsort((key >> 16).astype(np.uint16).take(order), kind="stable"))
        return order, key.take(order)
    bits = max(len(key) - 1, 0).bit_length()
    if size.bit_length() + bits > 63:
        order = np.argsort(key, kind="stable").astype(np.int32)
        return order, key.take(order)
    placed = key.astype(np.int64)
    placed <<= bits
    placed |= np.arange(len(placed))
    placed.sort()
    order = placed.astype(np.int32)
    order &= np.int32((1 << min(bits, 31)) - 1)
    placed >>= bits
    return order, placed.astype(key.dtype, copy=False)


def distinct_values(values: Array) -> Array:
    """The distinct values, ascending: 0.9 ms for 200,000, where numpy's own function hashes them and takes 40 ms."""
    ordered = np.sort(values)
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered if first.all() else ordered[first]


def first_places(keys: Array, size: int) -> Array | None:
    """The ascending positions at which each of (n,) keys, from 0 to below ``size``, first occurs; None if all are
    distinct."""
    if size <= 4 * len(keys):  # a slot for each key: 200,000 take 2 ms, sorted 16
        slots, places = np.empty(size, np.int32), np.arange(len(keys), dtype=np.int32)
        slots[keys[::-1]] = places[::-1]
        first = slots.take(keys) == places
        return None if first.all() else np.flatnonzero(first)
    order, ordered = in_order(keys, size)
    first = np.ones(len(keys), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    if first.all():
        return None
    flags = np.zeros_like(first)
    flags[order[first]] = True
    return np.flatnonzero(flags)


def first_rows(columns: Sequence[Array], length: int) -> Array | None:
    """The ascending positions at which each row of ids first occurs; None if all are distinct."""
    if length < 2:
        return None
    if not columns:
        return np.zeros(1, np.int64)
    sizes = [int(column.max()).bit_length() for column in columns]
    if sum(sizes) <= BITS:
        return first_places(packed(columns, sizes), 1 << sum(sizes))
    order = np.lexsort(columns[::-1])
    ordered = np.stack(columns).take(order, axis=1)
    first = np.ones(length, bool)
    first[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(0)
    return None if first.all() else np.sort(order[first])


def matches(left: Sequence[Array], right: Sequence[Array]) -> tuple[Array, Array]:
    """The pairs of a row on the left and a row on the right with equal ids: their positions, by those on the right."""
    count = len(left[0])
    both = [np.concatenate(pair) for pair in zip(left, right, strict=True)]
    sizes = [int(column.max(initial=0)).bit_length() for column in both]
    if sum(sizes) > BITS:
        key = np.unique(np.stack(both), axis=1, return_inverse=True)[1].reshape(-1)
    else:
        key = packed(both, sizes)
    order, ordered = in_order(key[:count], int(key.max(initial=0)) + 1)
    low, high = (np.searchsorted(ordered, key[count:], side) for side in ("left", "right"))
    counts = high - low
    at = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(at)) - np.repeat(counts.cumsum() - counts, counts)
    return order.take(low.take(at) + within), at
