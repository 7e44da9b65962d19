"""Columns that can name entities, as texts by value."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import Column, filled, nulls, one, strings, text_buffers, value_type, view
from lnnkit.data.cells.objects import entities_in
from lnnkit.data.source import Unreadable


@dataclass(frozen=True, slots=True)
class TextValues:
    """A column as ``values``: strings, or bytes that may not be UTF-8, without nulls; a missing cell is an empty text.
    Each row has a value of its own or, with ``codes`` (int32), the value with that index; -1 is a missing cell.
    ``faults`` gives by index the reason why a value is no text."""

    values: pa.Array | pa.ChunkedArray
    codes: np.ndarray | None = None
    faults: dict[int, str] = field(default_factory=dict)

    def at(self, row: int) -> int:
        """The index of a row's value."""
        return row if self.codes is None else int(self.codes[row])

    def by_row(self, results: np.ndarray, gap: float = 0) -> np.ndarray:
        """The result of each row's value, or ``gap`` where the code is -1."""
        return results if self.codes is None else np.append(results, results.dtype.type(gap)).take(self.codes)

    def text(self, row: int) -> str:
        """The text of a row that has one, cleaned."""
        return cast("str", self.values[self.at(row)].as_py())

    def used(self) -> np.ndarray:
        """A mask of the values that occur: a dictionary may have more."""
        mask = np.full(len(self.values) + 1, self.codes is None)  # the last entry is for -1
        mask[[] if self.codes is None else self.codes] = True
        return mask[:-1]

    def empty(self) -> np.ndarray:
        """A mask of the values, strings, that stand for a missing cell."""
        offsets, _ = text_buffers(self.values)
        mask = offsets[1:] == offsets[:-1]
        mask[list(self.faults)] = False
        return mask

    def distinct(self) -> TextValues:
        """The same texts, with as few values as is quickly done."""
        return self if self.codes is not None else _decoded(one(self.values).dictionary_encode())

    def cleaned(self) -> TextValues:
        """The same texts with strings in NFC as values; those that are not UTF-8 are faults."""
        values = right(one(self.values))
        if values is not None:
            return TextValues(values, self.codes, self.faults)
        coded = self.distinct()
        texts, faults = composed(one(coded.values))
        return TextValues(texts, coded.codes, self.faults | faults)


def text_values(column: Column, title: str) -> TextValues:
    """The texts of a column: integers and integral decimals in decimal notation, booleans as ``true`` and ``false``,
    days as ``2024-01-15``. Raises ``Unreadable`` for any other type: a float, a time or a decimal fraction has several
    spellings, so it would become several entities."""
    if isinstance(column, list):
        texts, codes, faults = entities_in(column)
        return TextValues(strings(texts), codes, faults)
    kind, types = column.type, pa.types
    if types.is_null(kind):
        return TextValues(strings([]), np.full(len(column), -1, np.int32))
    casts = _casts(value_type(column), title)
    if types.is_string(kind) or types.is_binary(kind):
        return TextValues(filled(column))
    if types.is_large_string(kind) and column.nbytes < 2**31:
        return TextValues(filled(column.cast(pa.string())))
    # in one piece first: Arrow's encoding of several shares a growing dictionary that is slow to unify
    encoded = one(column) if types.is_dictionary(kind) else one(column).dictionary_encode()
    return _decoded(encoded, casts)


def _decoded(encoded: pa.Array, casts: tuple[pa.DataType, ...] = ()) -> TextValues:
    array = cast("pa.DictionaryArray", encoded)
    indices = array.indices if array.indices.type == pa.int32() else array.indices.cast(pa.int32())
    codes = view(indices, np.int32)
    if indices.null_count:
        codes = np.where(nulls(indices), np.int32(-1), codes)
    values = array.dictionary
    for step in casts:
        values = values.cast(step)
    return TextValues(filled(values), codes)


def _casts(kind: pa.DataType, title: str) -> tuple[pa.DataType, ...]:
    """The casts that convert a type to text, or to bytes that may not be UTF-8."""
    types = pa.types
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


def right(values: pa.Array) -> pa.StringArray | None:
    """The values as strings if each is UTF-8 in NFC. All are checked as one sequence of bytes: if that is valid, so is
    each part."""
    texts = cast("pa.StringArray", values.view(pa.string()))
    offsets, data = text_buffers(texts)
    data = data[int(offsets[0]) : int(offsets[-1])]
    if data.max(initial=0) >= 128:
        try:
            texts.validate(full=True)
        except pa.ArrowInvalid:
            return None
        if not unicodedata.is_normalized("NFC", data.tobytes().decode()):
            return None
    return texts


def composed(values: pa.Array) -> tuple[pa.StringArray, dict[int, str]]:
    """Each value in NFC, or empty with the reason why it is no text."""
    texts, faults = list[str](), dict[int, str]()
    for place, raw in enumerate(cast("list[bytes]", values.view(pa.binary()).to_pylist())):
        try:
            texts.append(unicodedata.normalize("NFC", raw.decode()))
        except UnicodeDecodeError as error:
            faults[place] = f"is not UTF-8: byte 0x{raw[error.start]:02x} in {raw[:40].decode(errors='replace')!r}"
            texts.append("")
    return strings(texts), faults
