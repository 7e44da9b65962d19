"""A column as numbers: truth values, or the values of a numeric attribute."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import Column, is_text, nulls, one, value_type, view, without
from lnnkit.data.cells.text_values import TextValues, brief, is_missing, text_values, unboxed
from lnnkit.data.cells.whole import EXACT
from lnnkit.data.names import is_many
from lnnkit.data.numerals import NUMERAL, TRUTHS
from lnnkit.data.source import Unreadable


@dataclass(frozen=True, slots=True)
class Reals:
    """``values`` (float64) are meaningless where ``missing`` (empty or null) or ``wrong`` (not a number). ``shown``
    gives the value of a row as written; ``inexact`` marks rows with a whole number that float64 cannot hold."""

    values: np.ndarray
    missing: np.ndarray
    wrong: np.ndarray
    shown: Callable[[int], str]
    inexact: np.ndarray


def reals_of(column: Column, title: str, truth: bool) -> Reals:
    """The numbers in a column: numbers of any type, texts that spell one (surrounding blanks are allowed; ``inf`` is,
    ``nan`` is not), and for truth values also booleans and the words of `TRUTHS`. Raises ``Unreadable`` for a column of
    another type."""
    if isinstance(column, list):
        return _from_objects(column, truth)
    kind, types = value_type(column), pa.types
    if types.is_null(kind):
        none = np.zeros(len(column), bool)
        return Reals(np.zeros(len(column)), ~none, none, str, none)
    if types.is_boolean(kind) and not truth:
        raise Unreadable("bad-column", f"{title} holds booleans, not numbers", "cast it to 0 and 1")
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind):
        return _from_arrow(column, kind)
    if is_text(kind):
        return _from_texts(column, title, truth)
    timed = types.is_temporal(kind)
    hint = "cast it to numbers" + (", such as the days since some day" if timed else "")
    raise Unreadable("bad-column", f"{title} holds {kind}, not numbers", hint)


def _from_arrow(column: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> Reals:
    array = one(column.cast(kind))  # decoded, if it is dictionary-encoded
    missing = nulls(array)
    wide = array.cast(pa.uint8()) if pa.types.is_boolean(kind) else array
    values = view(wide.cast(pa.float64(), safe=False), np.float64)
    if array.null_count:
        values = np.where(missing, 0.0, values)
    inexact = np.zeros(len(values), bool)
    if pa.types.is_integer(kind):
        for row in np.flatnonzero(np.abs(values) >= EXACT).tolist():
            inexact[row] = int(values[row]) != array[row].as_py()
    return Reals(values, missing, np.isnan(values), lambda row: str(array[row].as_py()), inexact)


def _from_texts(column: pa.Array | pa.ChunkedArray, title: str, truth: bool) -> Reals:
    """Many texts in one pass if all are valid; otherwise each distinct one is read once."""
    texts = text_values(column, title)
    many = is_many(len(texts.values))
    texts = replace(texts, values=one(texts.values).view(pa.string()))
    read = _from_numerals(texts, truth) if many else None
    if read is None:
        texts = (texts.distinct() if many else texts).cleaned()
        parts = np.array([_numeral(text, truth) for text in texts.values.to_pylist()], np.float64).reshape(-1, 3)
        read = parts[:, 0], texts.empty(), (parts[:, 1] != 0) & ~texts.empty(), parts[:, 2] != 0

    def shown(row: int) -> str:
        return "text that is not UTF-8" if texts.at(row) in texts.faults else repr(texts.text(row))

    values, missing, wrong, inexact = read
    by_row = texts.by_row
    return Reals(by_row(values), by_row(missing, gap=1), by_row(wrong), shown, by_row(inexact))


def _from_numerals(texts: TextValues, truth: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """The arrays of `Reals` for each text; None if one that is not empty spells no number."""
    missing = texts.empty()
    try:
        values = view(without(texts.values, missing).cast(pa.float64()), np.float64)
    except pa.ArrowInvalid:
        return None
    values = np.where(missing, 0.0, values)
    wrong, inexact = (np.zeros(len(values), bool) for _ in range(2))
    for place in np.flatnonzero(~(np.abs(values) < EXACT)).tolist():
        values[place], wrong[place], inexact[place] = _numeral(texts.values[place].as_py(), truth)
    return values, missing, wrong, inexact


def _numeral(text: str, truth: bool) -> tuple[float, bool, bool]:
    """The number that a text spells, whether it spells none, and whether it is a whole one that float64 cannot hold."""
    match = NUMERAL.fullmatch(text)
    if match is None:
        word = TRUTHS.get(text.strip().lower()) if truth else None
        return word or 0.0, word is None, False
    value = float(text)
    finite = abs(value) != float("inf")
    whole = finite and abs(value) >= EXACT and text.strip().lstrip("+-").isdigit()
    return value, not finite and match["inf"] is None, whole and int(value) != int(text)


def _from_objects(column: list[object], truth: bool) -> Reals:
    """A Python list of numbers and other objects; a text counts as wrong, even if it spells a number."""
    if is_many(len(column)) and set(map(type, column)) == {float}:
        values, none = np.array(column, np.float64), np.zeros(len(column), bool)
        return Reals(values, none, np.isnan(values), lambda row: brief(column[row]), none)
    values = np.zeros(len(column))
    missing, wrong, inexact = (np.zeros(len(column), bool) for _ in range(3))
    for row, value in enumerate(column):
        if is_missing(value):
            missing[row] = True
            continue
        value = unboxed(value)
        boolean = isinstance(value, bool)
        if (boolean and not truth) or not (isinstance(value, numbers.Real) or type(value).__name__ == "Decimal"):
            wrong[row] = True
            continue
        try:
            number = float(cast("float", value))
        except (OverflowError, ValueError):
            wrong[row] = True
            continue
        values[row], wrong[row] = number, math.isnan(number)
        inexact[row] = isinstance(value, int) and abs(number) >= EXACT and int(number) != value
    return Reals(values, missing, wrong, lambda row: brief(column[row]), inexact)
