"""Python values in a told table: which are entities, and which are gaps."""

from __future__ import annotations

import datetime
import sys
import unicodedata
from decimal import Decimal
from typing import cast

import numpy as np

from lnnkit.data.arrow import Column, numbers, strings
from lnnkit.data.names import is_many
from lnnkit.data.source import Unreadable


def entities_in(column: list[object]) -> tuple[list[str], np.ndarray, dict[int, str]]:
    """The distinct texts of a list, the code of each row (-1 for a gap), and by code the reason why a value is not an
    entity."""
    seen: dict[tuple[type, object], int] = {}
    index: dict[str, int] = {}
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
            text, fault = _entity(value)
            code = len(texts) if fault else index.setdefault(text, len(texts))
            if code == len(texts):
                texts.append(text)
            if fault:
                faults[code] = fault
            seen[key] = code
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
