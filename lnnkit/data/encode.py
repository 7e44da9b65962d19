"""Columns of any type to codes and distinct texts, as they are written; several of a kind are encoded at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from lnnkit.data.arrow import concatenated, filled, int64s, nulls, one, strings, view
from lnnkit.data.objects import alike, entities_in
from lnnkit.data.ranked import ranked
from lnnkit.data.table_fault import Unreadable

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from lnnkit.data.arrow import Column

SMALL = 20_000  # below this many distinct values plain Python beats importing pyarrow.compute
_SPREAD = 4  # whole numbers are told apart by a table of all in their range, if it has so many times their number


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows as ``codes`` (int32, -1 for a gap) of ``values`` (strings, or bytes that may not be UTF-8), with why some
    are no entity. ``ordered`` says that the values are distinct and sorted."""

    codes: np.ndarray
    values: pa.Array
    faults: dict[int, str] = field(default_factory=dict)
    ordered: bool = False


def encoded(columns: Sequence[tuple[Column, str]]) -> list[Piece]:
    """A piece a column, or one for all of them, one behind the other, where they are plain texts or whole numbers.
    ``Unreadable`` for a column that holds no entities."""
    import pyarrow as pa

    columns = [(_in_bulk(column), title) for column, title in columns]
    kinds = [None if isinstance(column, list) else column.type for column, _ in columns]
    spelled = [() if kind is None else _spelling(kind, title) for kind, (_, title) in zip(kinds, columns, strict=True)]
    arrays = [column for column, _ in columns if not isinstance(column, list)]
    if len(arrays) == len(columns) and sum(map(len, arrays)) > SMALL:
        if all(_is_text(array.type) for array in arrays) and sum(array.nbytes for array in arrays) < 2**31:
            return [_from_texts(arrays)]
        if all(pa.types.is_integer(array.type) and array.type != pa.uint64() for array in arrays):
            return [_from_whole_numbers(arrays)]
    return [_piece(column, casts) for (column, _), casts in zip(columns, spelled, strict=True)]


def _in_bulk(column: Column) -> Column:
    if not isinstance(column, list) or len(column) <= SMALL:
        return column
    array = alike(column)
    return column if array is None else array


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return pa.types.is_string(kind) or pa.types.is_binary(kind) or pa.types.is_large_string(kind)


def _from_texts(arrays: Sequence[pa.Array | pa.ChunkedArray]) -> Piece:
    import pyarrow as pa

    plain = [array if pa.types.is_binary(array.type) else array.cast(pa.binary()) for array in arrays]
    codes, values = ranked(concatenated([filled(array) for array in plain]))
    return Piece(codes, values, ordered=True)


def _from_whole_numbers(arrays: Sequence[pa.Array | pa.ChunkedArray]) -> Piece:
    import numpy as np
    import pyarrow as pa

    array = concatenated([array.cast(pa.int64()) for array in arrays])
    gaps = nulls(array)
    numbers = view(array, np.int64)
    if gaps.any():
        numbers = np.where(gaps, 0, numbers)
    low, high = int(numbers.min()), int(numbers.max())
    if high - low <= _SPREAD * len(numbers):
        seen = np.zeros(high - low + 1, bool)
        seen[numbers - low] = True
        distinct = np.flatnonzero(seen) + low
        codes = (np.cumsum(seen, dtype=np.int32) - np.int32(1)).take(numbers - low)
    else:
        order = np.argsort(numbers)
        ascending = numbers.take(order)
        first = np.append(True, ascending[1:] != ascending[:-1])
        distinct = ascending[first]
        codes = np.empty(len(numbers), np.int32)
        codes[order] = np.cumsum(first, dtype=np.int32) - np.int32(1)
    if gaps.any():
        codes[gaps] = -1
    return Piece(codes, int64s(distinct).cast(pa.string()))


def _piece(column: Column, casts: tuple[pa.DataType, ...]) -> Piece:
    import numpy as np
    import pyarrow as pa

    if isinstance(column, list):
        distinct, codes, faults = entities_in(column)
        return Piece(codes, strings(distinct), faults)
    if pa.types.is_null(column.type):
        return Piece(np.full(len(column), -1, np.int32), strings([]))
    if not pa.types.is_dictionary(column.type):
        # in one piece first: Arrow's encoding of several shares a growing dictionary that is slow to unify
        if str(column.type) == "string_view" or (casts != (pa.string(),) and column.nbytes >= 2**31):
            column = column.cast(pa.large_binary())
        column = one(column).dictionary_encode()
    array = cast("pa.DictionaryArray", one(column))
    indices = array.indices if array.indices.type == pa.int32() else array.indices.cast(pa.int32())
    codes = view(indices, np.int32)
    if indices.null_count:
        codes = np.where(nulls(indices), np.int32(-1), codes)
    values = array.dictionary
    for step in casts or ((pa.binary(),) if pa.types.is_large_binary(values.type) else ()):
        values = values.cast(step)
    return Piece(codes, values)


def _spelling(kind: pa.DataType, title: str) -> tuple[pa.DataType, ...]:
    """The casts that bring a type to text, or to bytes that need not be UTF-8 yet."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        return _spelling(cast("pa.DictionaryType", kind).value_type, title)
    if types.is_null(kind) or types.is_string(kind) or types.is_binary(kind):
        return ()
    if types.is_large_string(kind) or types.is_large_binary(kind) or str(kind) in ("string_view", "binary_view"):
        return (pa.binary(),)
    if types.is_integer(kind) or types.is_boolean(kind) or (types.is_decimal(kind) and kind.scale == 0):
        return (pa.string(),)
    if types.is_date(kind):
        return (pa.date32(), pa.string())
    hint = "entities are text or whole numbers: cast the column to text"
    if types.is_floating(kind):
        hint = "cast the column to whole numbers or to text (in pandas, gaps turn integers into floats: use Int64)"
    raise Unreadable("bad-column", f"{title} holds {kind}, which cannot name entities", hint)
