"""Columns of whole numbers (see `lnnkit.data.numerals.whole`): texts read as numbers, distinct ones found fast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import numbers, text_buffers, view
from lnnkit.data.names import is_many
from lnnkit.data.numerals import WHOLE, whole

EXACT = 2.0**53
"""From here on float64 skips whole numbers."""
# Measured by `python -m benchmarks.load_constants`: 300,000 rows take 235 CPU ms with a `_SPREAD` of 1, 179 with 4, 177
# with 16; `_BLOCK` from 2^13 to 2^19 (173 to 190 ms) differs by noise.
_SPREAD = 4  # distinct numbers are found by direct addressing if their range is at most this many times their count
_BLOCK = 1 << 16  # numbers at a time: they fit a processor's cache
_NINE = ord("9")
_BEFORE, _BEHIND = ord("-"), ord("9") + 1  # a whole number begins with a byte between these


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
    if data.max(initial=0) > _NINE:
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


def coded(several: Sequence[np.ndarray], codes: Sequence[np.ndarray]) -> np.ndarray:
    """The distinct numbers of several arrays, ascending (int64). The rank of each number is written to ``codes``
    (int32), one array for each, which may share memory with the numbers."""
    filled = [array for array in several if len(array)]
    if not filled:
        return np.empty(0, np.int64)
    if ascending(filled[0]) and all(np.array_equal(array, filled[0]) for array in filled[1:]):
        distinct = filled[0].astype(np.int64)
        for out in codes:
            out[:] = np.arange(len(out), dtype=np.int32)
        return distinct
    low, high = min(int(array.min()) for array in filled), max(int(array.max()) for array in filled)
    if high - low > _SPREAD * sum(map(len, filled)):
        return _by_hashing(several, codes)
    seen = np.zeros(high - low + 1, bool)
    for array in filled:
        for start in range(0, len(array), _BLOCK):
            seen[np.subtract(array[start : start + _BLOCK], low, dtype=np.int64)] = True
    place = None if seen.all() else np.cumsum(seen, dtype=np.int32) - np.int32(1)
    for array, out in zip(several, codes, strict=True):
        for start in range(0, len(array), _BLOCK):
            above = np.subtract(array[start : start + _BLOCK], low, dtype=np.int64)
            out[start : start + _BLOCK] = above if place is None else place.take(above)
    return np.flatnonzero(seen) + low


def gapless(numbers: np.ndarray) -> bool:
    """Whether ascending distinct numbers, at least one, are all from the least to the greatest."""
    return int(numbers[-1]) - int(numbers[0]) == len(numbers) - 1


def ascending(numbers: np.ndarray) -> bool:
    """Whether each number is greater than the one before it, as keys in the order of their table are."""
    front, behind = numbers[:-1], numbers[1:]
    starts = range(0, len(front), _BLOCK)
    return all((front[start : start + _BLOCK] < behind[start : start + _BLOCK]).all() for start in starts)


def _by_hashing(several: Sequence[np.ndarray], codes: Sequence[np.ndarray]) -> np.ndarray:
    """As `coded`, for numbers that are far apart."""
    together = np.concatenate([array.astype(np.int64, copy=False) for array in several])
    hashed = cast("pa.DictionaryArray", numbers(together, np.int64).dictionary_encode())
    distinct = view(hashed.dictionary, np.int64)
    order = np.argsort(distinct)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    indices, start = view(hashed.indices, np.int32), 0
    for out in codes:
        place.take(indices[start : start + len(out)], out=out, mode="clip")  # needs no buffer
        start += len(out)
    return distinct.take(order)


def united(several: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The distinct numbers of several arrays, ascending, and for each array the ranks (int32) of its own."""
    places = [np.empty(len(array), np.int32) for array in several]
    return coded(several, places), places


def drawn(texts: pa.StringArray) -> tuple[np.ndarray, np.ndarray]:
    """The indices of the whole numbers among distinct texts in ascending order (in the order of their values), and the
    values, ascending."""
    low, high = (_bisected(texts, byte) for byte in (_BEFORE, _BEHIND))
    places, numbers = _whole_among(texts.slice(low, high - low)) if high > low else (np.empty(0, np.int64),) * 2
    order = np.argsort(numbers)
    return places.take(order) + low, numbers.take(order)


def _bisected(texts: pa.StringArray, byte: int) -> int:
    """The number of ascending texts that begin with a lesser byte."""
    offsets, data = text_buffers(texts)
    low, high = 0, len(texts)
    while low < high:
        middle = (low + high) // 2
        start = int(offsets[middle])
        if start == int(offsets[middle + 1]) or data[start] < byte:
            low = middle + 1
        else:
            high = middle
    return low


def _whole_among(texts: pa.StringArray) -> tuple[np.ndarray, np.ndarray]:
    """The indices of the texts that are whole numbers, and the numbers."""
    places = np.arange(len(texts))
    if is_many(len(texts)):
        numbers = all_whole(texts)
        if numbers is None:
            from pyarrow.compute import MatchSubstringOptions, call_function

            alike = call_function("match_substring_regex", [texts], MatchSubstringOptions(f"^(?:{WHOLE.pattern})$"))
            places, texts = np.flatnonzero(alike), texts.filter(alike)
            numbers = all_whole(texts)
        if numbers is not None:
            return places, numbers.astype(np.int64)
    read = [whole(text) for text in cast("list[str]", texts.to_pylist())]
    right = np.array([number is not None for number in read], bool)
    return places[right], np.array([number for number in read if number is not None], np.int64)
