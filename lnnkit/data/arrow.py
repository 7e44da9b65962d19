"""Converts between numpy and Arrow through their buffers. ``pa.array`` and ``to_numpy`` do the same, but import pandas
if it is installed (0.3 to 1.4 CPU seconds), which is too slow for the check of a small program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike

from lnnkit.data.files import Unreadable
from lnnkit.syntax.dates import Numeric

Column = pa.Array | pa.ChunkedArray | list[object]


def numbers(values: np.ndarray, kind: DTypeLike = np.int64, known: np.ndarray | None = None) -> pa.Array:
    """An array of numbers of a kind, which shares ``values``' memory if they are of it; null where not ``known``."""
    held = np.ascontiguousarray(values, kind)
    valid = None if known is None else booleans(known).buffers()[1]
    return pa.Array.from_buffers(pa.from_numpy_dtype(held.dtype), len(held), [valid, pa.py_buffer(held)])


def ends(several: Iterable[np.ndarray], numeric: Numeric) -> list[pa.Array]:
    """Ends of bounds; those of dates as timestamps in microseconds, null where they are infinite or too far away."""
    if numeric != "date":
        return [numbers(end + 0.0, np.float64) for end in several]  # no -0.0
    return [_timestamps(end) for end in several]


def _timestamps(days: np.ndarray) -> pa.Array:
    known = abs(days) < 1e8
    held = numbers(np.rint(np.where(known, days, 0.0) * 86400e6).astype(np.int64))
    return without(held.view(pa.timestamp("us")), ~known)


def iso_texts(column: pa.Array) -> pa.Array:
    """Timestamps in microseconds as ISO 8601 texts, as short as `date_text` writes them."""
    from pyarrow.compute import ReplaceSubstringOptions, call_function

    texts: Any = column.cast(pa.string())
    for pattern, shorter in ((" ", "T"), (r"(\.\d*?)0+$", r"\1"), (r"(:00)?\.$", ""), (r"T00:00$", "")):
        texts = call_function("replace_substring_regex", [texts], ReplaceSubstringOptions(pattern, shorter))
    return texts


def booleans(values: np.ndarray) -> pa.Array:
    """A boolean array without nulls."""
    bits = np.packbits(values, bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, pa.py_buffer(bits)])


def strings(texts: Sequence[str]) -> pa.StringArray:
    """A string array without nulls."""
    joined = "".join(texts)
    held = texts if joined.isascii() else [text.encode() for text in texts]
    offsets = np.zeros(len(held) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, held), np.int64, len(held)), out=offsets[1:])
    if offsets[-1] >= 2**31:
        raise Unreadable("unreadable-file", "the distinct texts of one column take more than 2 GB")
    return pa.StringArray.from_buffers(len(held), pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(joined.encode()))


def one(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The column as one array, with its dictionaries unified."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    if not column.num_chunks:
        return pa.nulls(0, column.type)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def concatenated(columns: Sequence[pa.Array | pa.ChunkedArray]) -> pa.Array:
    """Columns of one type (not dictionary-encoded), concatenated."""
    several = [column.chunks if isinstance(column, pa.ChunkedArray) else [column] for column in columns]
    chunks = [chunk for parts in several for chunk in parts if len(chunk)] or [pa.nulls(0, columns[0].type)]
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)


def without_views(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Texts held as views, of which few of Arrow's kernels know, as large binary values; any other column as it is."""
    if not str(value_type(column)).endswith("_view"):
        return column
    coded = pa.types.is_dictionary(column.type)
    return column.cast(pa.dictionary(column.type.index_type, pa.large_binary()) if coded else pa.large_binary())


def value_type(column: pa.Array | pa.ChunkedArray) -> pa.DataType:
    """The type of a column's cells, also if it is dictionary-encoded."""
    return cast("pa.DictionaryType", column.type).value_type if pa.types.is_dictionary(column.type) else column.type


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is one of texts, or of bytes that may be texts."""
    return "string" in str(kind) or "binary" in str(kind)


def filled(texts: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Strings or binary values, with nulls replaced by empty ones."""
    return texts.fill_null(strings([""]).view(texts.type)[0]) if texts.null_count else texts


def without(array: pa.Array, gaps: np.ndarray) -> pa.Array:
    """The array, with nulls where there are ``gaps``."""
    return called("if_else", booleans(gaps), pa.nulls(1, array.type)[0], array) if gaps.any() else array


def called(kernel: str, *arguments: pa.Array | pa.Scalar, options: Any = None) -> Any:
    """The result of one of Arrow's kernels, which are imported by the first call."""
    from pyarrow.compute import call_function

    return call_function(kernel, list(arguments), options)


def mask(truths: pa.BooleanArray) -> np.ndarray:
    """The values of a boolean array; False where null."""
    return (view(truths.cast(pa.uint8()), np.uint8) != 0) & ~nulls(truths)


def nulls(array: pa.Array) -> np.ndarray:
    """A mask of the nulls."""
    bitmap = array.buffers()[0]
    if not array.null_count or bitmap is None:
        return np.zeros(len(array), bool)
    end = array.offset + len(array)
    bits = np.unpackbits(np.frombuffer(bitmap, np.uint8), count=end, bitorder="little")
    return bits[array.offset :] == 0


def view(array: pa.Array, dtype: type[np.generic]) -> np.ndarray:
    """The values of a primitive array, read-only; arbitrary where null."""
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.zeros(0, dtype)
    return np.frombuffer(data, dtype)[array.offset : array.offset + len(array)]


def text_buffers(array: pa.StringArray | pa.LargeStringArray) -> tuple[np.ndarray, np.ndarray]:
    """The offsets of a string array into its bytes, and the bytes."""
    _, offsets, data = array.buffers()
    kind = np.int64 if pa.types.is_large_string(array.type) else np.int32
    if offsets is None or not len(array):
        return np.zeros(1, kind), np.zeros(0, np.uint8)
    places = np.frombuffer(offsets, kind)[array.offset : array.offset + len(array) + 1]
    return places, np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)


def ranked(values: pa.Array) -> tuple[np.ndarray, pa.Array]:
    """The rank (int32) of each value among the distinct ones, and these, sorted: texts by their bytes (in UTF-8 as code
    points are). ``values`` are strings, binary or numbers without nulls; the distinct ones have the same type."""
    coded = cast("pa.DictionaryArray", values.dictionary_encode())
    order = view(called("array_sort_indices", coded.dictionary), np.uint64).astype(np.int64)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place.take(view(coded.indices, np.int32)), coded.dictionary.take(numbers(order, np.int64))
