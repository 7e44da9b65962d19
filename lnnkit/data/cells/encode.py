"""Encodes columns of any type: codes for their distinct whole numbers and texts, in NFC; empty texts become gaps.
Several columns of a kind are encoded at once."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import Column, booleans, concatenated, filled, nulls, one, ranked, strings, text_buffers, view
from lnnkit.data.cells.objects import alike, entities_in, is_missing
from lnnkit.data.cells.whole import EXACT, all_whole, coded, united
from lnnkit.data.names import is_many
from lnnkit.data.source import Unreadable


@dataclass(frozen=True, slots=True)
class Piece:
    """The rows of some ``columns`` (by position), one column after another, as ``codes`` (int32, -1 for a gap). Codes
    index ``numbers`` (int64, distinct, ascending) followed by ``values`` (strings, or bytes that may not be UTF-8),
    with the reasons why some are not entities. ``ordered`` means that the values are distinct and sorted, ``used`` that
    each value occurs in a row of the pieces that share it, unless some rows are gaps."""

    codes: np.ndarray
    values: pa.Array
    faults: dict[int, str] = field(default_factory=dict)
    ordered: bool = False
    used: bool = False
    numbers: np.ndarray | None = None
    columns: tuple[int, ...] = (0,)


def encoded(columns: Sequence[tuple[Column, str]]) -> list[Piece]:
    """Encodes columns of equal length as pieces. In a large table, columns of whole numbers (typed or spelt out)
    share their numbers, and columns of plain texts form one piece. Raises ``Unreadable`` for a column without
    entities."""
    columns = [(whole_floats(_in_bulk(column)) if len(column) else [], title) for column, title in columns]
    kinds = [None if isinstance(column, list) else column.type for column, _ in columns]
    spelled = [() if kind is None else _spelling(kind, title) for kind, (_, title) in zip(kinds, columns, strict=True)]
    arrays = {place: column for place, (column, _) in enumerate(columns) if not isinstance(column, list)}
    texts = {place: array for place, array in arrays.items() if _is_text(array.type)}
    whole = {
        place: array for place, array in arrays.items() if pa.types.is_integer(array.type) and array.type != pa.uint64()
    }
    pieces: list[Piece] = []
    many = is_many(sum(map(len, (*texts.values(), *whole.values()))))
    if whole or (texts and many):
        pieces += _from_whole_numbers(texts if many else {}, whole)
        read = {place for piece in pieces for place in piece.columns}
        texts = {place: array for place, array in texts.items() if place not in read}
        if texts and many and sum(array.nbytes for array in texts.values()) < 2**31:
            pieces.append(_from_texts(texts))
    read = {place for piece in pieces for place in piece.columns}
    for place, ((column, _), casts) in enumerate(zip(columns, spelled, strict=True)):
        if place not in read:
            pieces.append(replace(_piece(column, casts), columns=(place,)))
    return pieces


def _in_bulk(column: Column) -> Column:
    if not isinstance(column, list) or not is_many(len(column)):
        return column
    array = alike(column)
    return column if array is None else array


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


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_binary(kind) or pa.types.is_large_string(kind)


def _from_texts(columns: Mapping[int, pa.Array | pa.ChunkedArray]) -> Piece:
    plain = [array if pa.types.is_binary(array.type) else array.cast(pa.binary()) for array in columns.values()]
    codes, values = ranked(concatenated([filled(array) for array in plain]))
    return Piece(codes, values, ordered=True, used=True, columns=tuple(columns))


def _from_whole_numbers(
    texts: Mapping[int, pa.Array | pa.ChunkedArray], whole: Mapping[int, pa.Array | pa.ChunkedArray]
) -> list[Piece]:
    """Pieces that share their numbers: the ``whole`` columns, and those of ``texts`` that spell only whole numbers."""
    numbers: dict[int, np.ndarray] = {}
    gaps: dict[int, np.ndarray] = {}
    for place, array in texts.items():
        read = all_whole(array)
        if read is not None:
            numbers[place] = read
    for place, array in whole.items():
        held = one(array.cast(pa.int64()))
        numbers[place] = view(held, np.int64)
        if held.null_count:
            gaps[place] = nulls(held)
            known = numbers[place][~gaps[place]]
            numbers[place] = np.where(gaps[place], known[0] if len(known) else 0, numbers[place])
    codes = {at: array if array.dtype == np.int32 else np.empty(len(array), np.int32) for at, array in numbers.items()}
    distinct = coded(list(numbers.values()), list(codes.values()))
    for place, missing in gaps.items():
        codes[place][missing] = -1
    return [Piece(ranks, strings([]), used=True, numbers=distinct, columns=(place,)) for place, ranks in codes.items()]


def _piece(column: Column, casts: tuple[pa.DataType, ...]) -> Piece:
    if isinstance(column, list):
        distinct, codes, faults = entities_in(column)
        return Piece(codes, strings(distinct), faults)
    if pa.types.is_null(column.type):
        return Piece(np.full(len(column), -1, np.int32), strings([]))
    if not pa.types.is_dictionary(column.type):
        # in one piece first: Arrow's encoding of several shares a growing dictionary that is slow to unify
        if casts != (pa.string(),) and column.nbytes >= 2**31:
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
    if is_many(len(values)):
        numbers = all_whole(values)
        if numbers is not None:
            distinct, (places,) = united([numbers])
            return Piece(renumbered(codes, places), strings([]), numbers=distinct)
    return Piece(codes, values)


def _spelling(kind: pa.DataType, title: str) -> tuple[pa.DataType, ...]:
    """The casts that convert a type to text, or to bytes that may not be UTF-8."""
    types = pa.types
    if types.is_dictionary(kind):
        return _spelling(cast("pa.DictionaryType", kind).value_type, title)
    if types.is_null(kind) or types.is_string(kind) or types.is_binary(kind):
        return ()
    if types.is_large_string(kind) or types.is_large_binary(kind):
        return (pa.binary(),)
    if types.is_integer(kind) or types.is_boolean(kind) or (types.is_decimal(kind) and kind.scale == 0):
        return (pa.string(),)
    if types.is_date(kind):
        return (pa.date32(), pa.string())
    hint = "entities are text or whole numbers: cast the column to text"
    if types.is_floating(kind):
        hint = "cast the column to whole numbers or to text (in pandas, gaps turn integers into floats: use Int64)"
    raise Unreadable("bad-column", f"{title} holds {kind}, which cannot name entities", hint)


def renumbered(codes: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The new codes (int32) of old ones, by ``place``; -1 stays."""
    return np.append(place, np.int32(-1)).take(codes)


def cleaned(piece: Piece) -> Piece:
    """The piece with valid strings in NFC as its values, and empty ones as gaps; those that are not UTF-8 are recorded.
    Texts are checked one by one only if not all are valid."""
    if piece.numbers is not None:
        return piece
    codes, values = piece.codes, filled(piece.values)
    if not pa.types.is_string(values.type):
        values = values.view(pa.string())
    offsets, data = text_buffers(values)
    empty = offsets[1:] == offsets[:-1]
    empty[list(piece.faults)] = False
    if empty.any():
        codes = renumbered(codes, np.where(empty, np.int32(-1), np.arange(len(values), dtype=np.int32)))
    piece = replace(piece, codes=codes, values=values)
    data = data[int(offsets[0]) : int(offsets[-1])]
    return piece if int(data.max(initial=0)) < 128 or _right(values, data) else _composed(piece)


def _right(values: pa.StringArray, data: np.ndarray) -> bool:
    """Whether each text is UTF-8 in NFC. All texts are checked as one sequence of bytes: if that is valid, so is each
    part."""
    try:
        values.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return unicodedata.is_normalized("NFC", data.tobytes().decode())


def _composed(piece: Piece) -> Piece:
    """The distinct texts in NFC, or recorded as faulty, one by one."""
    texts, first, moved = [], {}, {}
    faults = dict(piece.faults)
    for code, raw in enumerate(piece.values.view(pa.binary()).to_pylist()):
        assert isinstance(raw, bytes)
        try:
            text = unicodedata.normalize("NFC", raw.decode())
        except UnicodeDecodeError as error:
            faults[code] = f"is not UTF-8: byte 0x{raw[error.start]:02x} in {raw[:40].decode(errors='replace')!r}"
            texts.append("")
            continue
        texts.append(text)
        if code not in faults and first.setdefault(text, code) != code:
            moved[code] = first[text]
    place = np.arange(len(texts), dtype=np.int32)
    place[list(moved)] = list(moved.values())
    codes = renumbered(piece.codes, place) if moved else piece.codes
    return Piece(codes, strings(texts), faults, columns=piece.columns)
