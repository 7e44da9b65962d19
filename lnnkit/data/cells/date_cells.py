"""Cells as dates: which instants they are, and how those in another form are to be written."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, cast

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import nulls, view, without
from lnnkit.data.cells.text_values import TextValues
from lnnkit.data.names import Names
from lnnkit.data.numerals import NUMERAL
from lnnkit.data.source import DataFault
from lnnkit.syntax.dates import formats, instant, is_date
from lnnkit.syntax.printer import format_string

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {"=": operator.eq, "<": operator.lt, "<=": operator.le}
COMPARISONS |= {">": operator.gt, ">=": operator.ge}
_IN_MICROSECONDS = {"s": 10**6, "ms": 10**3, "us": 1}
_SAMPLE = 100  # texts in which a form of dates is looked for; 20 tell the days from the months of most columns
_LETTERS = {"%d": "dd", "%m": "mm", "%Y": "yyyy", "%y": "yy", "%b": "Mon", "%B": "Month", "%H": "hh", "%I": "hh"}
_LETTERS |= {"%M": "mm", "%S": "ss", "%p": "AM"}


@dataclass(frozen=True, slots=True)
class Dates:
    """(n,) cells as instants: microseconds since 1970 in UTC, and nanoseconds below 1000, where ``dated``. ``foreign``
    ones are dates in a form that is not read, or lack the zone that others have."""

    dated: np.ndarray
    foreign: np.ndarray
    micros: np.ndarray
    nanos: np.ndarray

    def compared(self, relation: str, micros: np.ndarray | int, nanos: np.ndarray | int) -> np.ndarray:
        """A mask of the dates for which a comparison with other instants holds."""
        order = np.sign(self.nanos - nanos)
        order = np.where(self.micros == micros, order, np.where(self.micros > micros, 1, -1))
        return COMPARISONS[relation](order, 0) & self.dated


def typed_dates(array: pa.Array) -> Dates:
    """Days or timestamps of any unit as dates."""
    if pa.types.is_date(array.type):
        array = array.cast(pa.timestamp("ms"))
    held, none = view(array, np.int64), np.zeros(len(array), np.int64)
    unit = array.type.unit
    micros, nanos = np.divmod(held, 1000) if unit == "ns" else (held * _IN_MICROSECONDS[unit], none)
    return Dates(~nulls(array), none.astype(bool), micros, nanos)


def text_dates(texts: TextValues) -> Dates:
    """The rows of a column of texts as dates."""
    missing = texts.empty()
    stamps = _as_stamps(texts.values, missing)
    if stamps is not None:
        dates = typed_dates(stamps)
    else:
        texts = texts.distinct()
        read = [(text, instant(text)) for text in cast("list[str]", texts.values.to_pylist())]
        used = texts.used()
        zoned = any(moment is not None and moment.zoned and used[place] for place, (_, moment) in enumerate(read))
        dated = [moment is not None and moment.zoned == zoned for _, moment in read]
        foreign = [not of and is_date(text) for of, (text, _) in zip(dated, read, strict=True)]
        moments = [divmod(0 if moment is None else moment.nanoseconds, 1000) for _, moment in read]
        dates = Dates(np.array(dated), np.array(foreign), *np.array(moments, np.int64).reshape(-1, 2).T)
    return Dates(*map(texts.by_row, (dates.dated, dates.foreign, dates.micros, dates.nanos)))


def _as_stamps(texts: pa.StringArray, missing: np.ndarray) -> pa.Array | None:
    """Texts that are all dates, with a zone or without one, as timestamps; null where missing. None for others."""
    texts = without(texts, missing)
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            return texts.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None


def is_other_date(cell: str) -> bool:
    """Whether a text is a date that does not begin with the year, or no day of the calendar."""
    return instant(cell) is None and (is_date(cell) or (not cell.isdigit() and bool(formats([cell]))))


def has_dates(texts: TextValues) -> bool:
    """Whether some of the first texts of a column are dates."""
    sample = texts.distinct().values.slice(0, _SAMPLE)
    return any(instant(text) for text in cast("list[str]", sample.to_pylist()))


def other_dates(texts: TextValues, title: str) -> Callable[[str], DataFault]:
    """What is wrong with one of the texts of a column that was to be a date."""
    forms: list[list[str]] = []  # those of the column, looked for once

    def fault(text: str) -> DataFault:
        if instant(text) is not None:
            hint = "a time with a zone and one without do not compare: write `Z` behind a time in UTC"
            return DataFault("bad-date", f"{title} is {text!r}, without the time zone that others have", hint)
        if not forms:
            names = Names.of(text for text in cast("list[str]", texts.distinct().values.to_pylist()) if text)
            forms.append(formats(list(islice((name for name in names if instant(name) is None), _SAMPLE))))
        patterns = forms[0] or formats([text])
        if not patterns:
            hint = f"write dates as 2024-01-15; if such a cell is empty, add `missing {format_string(text)}`"
            if NUMERAL.fullmatch(text):
                hint = "a number compares with a number: write that without quotes"
            return DataFault("bad-date", f"{title} is {text!r}, not a date", hint)
        shown = " or ".join(re.sub("%.", lambda match: _LETTERS[match[0]], form) for form in patterns)
        readers = " or ".join(f"`pd.to_datetime(column, format={format_string(form)})`" for form in patterns)
        hint = f"dates compare as {_iso(text, patterns[0])}: rewrite the column, in pandas by {readers}"
        return DataFault("bad-date", f"{title} is {text!r}, a date as {shown}", hint)

    return fault


def as_date(cell: str) -> str:
    """What to write for a text that is no date, or one in another form."""
    readings = dict.fromkeys(format_string(_iso(cell, form)) for form in formats([cell]))
    return f"write {' or '.join(readings)}" if readings else 'a date is written as "2024-01-15"'


def _iso(text: str, form: str) -> str:
    at = datetime.strptime(text.strip(), form)
    return str(at) if "%M" in form else f"{at:%Y-%m-%d}"
