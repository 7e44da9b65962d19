"""Columns that can name entities, as texts by value; and which Python values in a told table are entities, and which
are gaps."""

from __future__ import annotations

import datetime
import sys
import unicodedata
from dataclasses import dataclass, field
from decimal import Decimal
from typing import cast

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import Column, filled, nulls, numbers, one, strings, text_buffers, value_type, view
from lnnkit.data.files import Unreadable
from lnnkit.data.names import is_many


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
        texts, codes, faults = _entities_in(column)
        return TextValues(strings(texts), codes, faults)
    kind, types = column.type, pa.types
    if types.is_null(kind):
        return TextValues(strings([]), np.full(len(column), -1, np.int32))
    casts = _casts(value_type(column), title)
    large = types.is_large_string(kind) and column.nbytes < 2**31
    if types.is_string(kind) or types.is_binary(kind) or large:
        return TextValues(filled(column.cast(pa.string()) if large else column))
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


# --- Python values ------------------------------------------------------------------------------------------------


def _entities_in(column: list[object]) -> tuple[list[str], np.ndarray, dict[int, str]]:
    """The texts of the distinct values of a list, the code of each row (-1 for a gap), and by code the reason why a
    value is not an entity."""
    seen: dict[tuple[type, object], int] = {}
    texts: list[str] = []
    faults: dict[int, str] = {}
    codes = np.empty(len(column), np.int32)
    for row, value in enumerate(column):
        if is_missing(value) or (isinstance(value, str) and not value):
            codes[row] = -1
            continue
        try:
            key = (type(value), value)
            code = seen.get(key)
        except TypeError:  # not hashable
            key, code = (type(value), repr(value)), None
        if code is None:
            code = seen[key] = len(texts)
            text, fault = _entity(value)
            texts.append(text)
            if fault:
                faults[code] = fault
        codes[row] = code
    return texts, codes, faults


def in_bulk(column: Column) -> Column:
    """A long list of only texts (and gaps, as empty texts) or only whole numbers as an Arrow array, without a Python
    step for each; any other column unchanged."""
    if not isinstance(column, list) or not is_many(len(column)):
        return column
    kinds = set(map(type, column))
    try:
        if kinds == {int}:
            return numbers(np.array(column, np.int64), np.int64)
        if str in kinds and kinds <= {str, type(None)}:
            return strings(cast("list[str]", column if kinds == {str} else [text or "" for text in column]))
    except (OverflowError, UnicodeEncodeError, Unreadable):
        pass
    return column


def brief(value: object) -> str:
    """A Python value, shortened; a whole number that no float holds, by its first digits and its size."""
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        return f"{Decimal(value):.3g}"
    return f"{value!r:.60}"


def _entity(value: object) -> tuple[str, str]:
    """The text of one Python value, or the reason why it has none."""
    value = unboxed(value)
    if isinstance(value, str):
        text = unicodedata.normalize("NFC", value)
        if text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text):
            return text, ""
        return "", f"is not valid Unicode: {text[:40]!r}"
    if isinstance(value, bool):
        return "true" if value else "false", ""
    if isinstance(value, int):
        try:
            return str(value), ""
        except ValueError:  # Python writes no whole number of thousands of digits
            return "", f"is {brief(value)}, which has too many digits for a name"
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value.isoformat(), ""
    kind = type(value).__name__
    return "", f"is {value!r:.40}, a {kind}: entities are text or whole numbers"


def is_missing(value: object) -> bool:
    """Whether a value is None, or NA or NaT of pandas (without importing pandas); nan is an invalid number, not a
    gap."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def unboxed(value: object) -> object:
    """The Python value of a numpy scalar; anything else unchanged."""
    return value.item() if isinstance(value, np.generic) else value
