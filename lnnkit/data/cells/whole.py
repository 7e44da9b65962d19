"""Columns of whole numbers (see `lnnkit.data.numerals.whole`): texts read as numbers, distinct ones found fast."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import cast

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import Column, booleans, called, mask, nulls, numbers, one, ranked, text_buffers, view
from lnnkit.data.cells.text_values import is_missing
from lnnkit.data.numerals import WHOLE, whole

EXACT = 2.0**53
"""From here on float64 skips whole numbers."""
# Measured by `python -m benchmarks.load_constants`: 300,000 rows take 235 CPU ms with a `_SPREAD` of 1, 179 with 4, 177
# with 16; `_BLOCK` from 2^13 to 2^19 (173 to 190 ms) differs by noise.
_SPREAD = 4  # distinct numbers are found by direct addressing if their range is at most this many times their count
_BLOCK = 1 << 16  # numbers at a time: they fit a processor's cache

WholeValues = tuple[np.ndarray, np.ndarray | None]
"""Whole numbers (int32 or int64), and for each row the index of its number (int32; -1 in a gap); None: row by row."""


def integers(column: Column) -> WholeValues | None:
    """The values of a column of integers that fit 64 bits with a sign; None for any other."""
    if isinstance(column, list) or not pa.types.is_integer(column.type) or column.type == pa.uint64():
        return None
    held = one(column.cast(pa.int64()))
    values = view(held, np.int64)
    if not held.null_count:
        return values, None
    known = ~nulls(held)
    codes = np.full(len(held), -1, np.int32)
    codes[known] = np.arange(np.count_nonzero(known), dtype=np.int32)
    return values[known], codes


def are_floats(column: Column) -> bool:
    """Whether a column holds floats, or decimals with a fraction, and gaps."""
    if isinstance(column, list):
        floats = all(isinstance(value, float) or is_missing(value) for value in column)
        return floats and any(isinstance(value, float) for value in column)
    return pa.types.is_floating(column.type) or (pa.types.is_decimal(column.type) and column.type.scale > 0)


def whole_floats(column: Column) -> Column:
    """Floats, or decimals, that are all whole (as pandas writes integers with gaps) as integers, and nan as a gap; any
    other column unchanged, and so are floats too large to tell whole numbers apart."""
    if not are_floats(column):
        return column
    if isinstance(column, list):
        values = np.array([np.nan if is_missing(value) else value for value in column], np.float64)
    else:
        held = one(column)
        values = np.where(nulls(held), np.nan, view(held.cast(pa.float64()), np.float64))
    gaps = np.isnan(values)
    numbers = np.where(gaps, 0.0, values)
    if gaps.all() or (np.abs(numbers) >= EXACT).any() or (numbers != np.round(numbers)).any():
        return column
    return pa.Array.from_buffers(
        pa.int64(), len(numbers), [booleans(~gaps).buffers()[1], pa.py_buffer(numbers.astype(np.int64))]
    )


def all_whole(column: pa.Array | pa.ChunkedArray) -> np.ndarray | None:
    """The numbers of a column of strings or binary that contains only whole numbers, as a new array: int32 if all fit,
    otherwise int64. None for any other column."""
    values = np.empty(len(column), np.int32)
    start = 0
    for chunk in getattr(column, "chunks", [column]):
        numbers = _read(chunk)
        if numbers is None:
            return None
        if values.dtype == np.int32 and (numbers.min(initial=0) < -(2**31) or numbers.max(initial=0) >= 2**31):
            values = values.astype(np.int64)
        values[start : start + len(numbers)] = numbers
        start += len(numbers)
    return values


def _read(texts: pa.Array) -> np.ndarray | None:
    """The values of texts that are whole numbers; None if any text is not.

    Arrow parses whole numbers, and a few other spellings. Those are longer than what Python prints (``-0``, ``007``) or
    contain a letter (``0x1F``), so all texts are whole numbers if their total length is right.
    """
    if texts.null_count:
        return None
    strings = texts.view(pa.string()) if pa.types.is_binary(texts.type) else texts
    offsets, data = text_buffers(strings)
    data = data[int(offsets[0]) : int(offsets[-1])]
    if data.max(initial=0) > ord("9"):
        return None
    try:
        numbers = view(strings.cast(pa.int64()), np.int64)
    except pa.ArrowInvalid:
        return None
    return numbers if _length(numbers) == len(data) else None


def _length(numbers: np.ndarray) -> int:
    """The total number of characters in which Python prints the numbers."""
    if not len(numbers):
        return 0
    low, high = int(numbers.min()), int(numbers.max())
    length = len(numbers)
    if low < 0:
        length += int(np.count_nonzero(numbers < 0))
        numbers = np.abs(numbers).view(np.uint64)  # the absolute value of the least integer would overflow
        low, high = int(numbers.min()), int(numbers.max())
    power = 10
    while power <= high:
        length += len(numbers) if power <= low else int(np.count_nonzero(numbers >= power))
        power *= 10
    return length


def united(several: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The distinct numbers of several arrays, ascending (int64), and for each array the ranks (int32) of its numbers.
    Arrays of int32 are overwritten with theirs: a large column is not copied."""
    ranks = [array if array.dtype == np.int32 else np.empty(len(array), np.int32) for array in several]
    filled = [array for array in several if len(array)]
    if not filled:
        return np.empty(0, np.int64), ranks
    if (filled[0][1:] > filled[0][:-1]).all() and all(np.array_equal(array, filled[0]) for array in filled[1:]):
        distinct = filled[0].astype(np.int64)
        for out in ranks:
            out[:] = np.arange(len(out), dtype=np.int32)
        return distinct, ranks
    low, high = min(int(array.min()) for array in filled), max(int(array.max()) for array in filled)
    if high - low > _SPREAD * sum(map(len, filled)):
        places, distinct = ranked(numbers(np.concatenate([array.astype(np.int64, copy=False) for array in several])))
        for out, part in zip(ranks, np.split(places, np.cumsum(list(map(len, several)))[:-1]), strict=True):
            out[:] = part
        return view(distinct, np.int64), ranks
    seen = np.zeros(high - low + 1, bool)
    blocks = [
        (array[start : start + _BLOCK], out[start : start + _BLOCK])
        for array, out in zip(several, ranks, strict=True)
        for start in range(0, len(array), _BLOCK)
    ]
    for block, _ in blocks:
        seen[np.subtract(block, low, dtype=np.int64)] = True
    place = None if seen.all() else np.cumsum(seen, dtype=np.int32) - np.int32(1)
    for block, out in blocks:
        above = np.subtract(block, low, dtype=np.int64)
        out[:] = above if place is None else place.take(above)
    return np.flatnonzero(seen) + low, ranks


def drawn(texts: pa.StringArray) -> tuple[np.ndarray, np.ndarray]:
    """The indices of the whole numbers among distinct texts in ascending order (in the order of their values), and the
    values, ascending."""
    from pyarrow.compute import MatchSubstringOptions

    # a whole number begins with a byte from `-` to `9`
    low, high = (bisect_left(range(len(texts)), mark, key=lambda place: texts[place].as_py()) for mark in "-:")
    among = texts.slice(low, high - low)
    alike = called("match_substring_regex", among, options=MatchSubstringOptions(f"^(?:{WHOLE.pattern})$"))
    places, held = np.flatnonzero(mask(alike)) + low, among.filter(alike)
    numbers = all_whole(held)
    if numbers is None:  # some have too many digits
        read = [whole(text) for text in cast("list[str]", held.to_pylist())]
        places = places[[number is not None for number in read]]
        numbers = np.array([number for number in read if number is not None], np.int64)
    order = np.argsort(numbers)
    return places.take(order), numbers.take(order).astype(np.int64)
