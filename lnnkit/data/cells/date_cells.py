"""Cells as dates: which of them hold a comparison with an instant, and how those in another form are to be written."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import booleans, view
from lnnkit.data.names import Names
from lnnkit.data.numerals import NUMERAL
from lnnkit.data.source import DataFault
from lnnkit.syntax.dates import Instant, formats, instant, is_date
from lnnkit.syntax.printer import format_string

ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_SAMPLE = 100  # texts in which a form of dates is looked for; 20 tell the days from the months of most columns
_LETTERS = {"%d": "dd", "%m": "mm", "%Y": "yyyy", "%y": "yy", "%b": "Mon", "%B": "Month", "%H": "hh", "%I": "hh"}
_LETTERS |= {"%M": "mm", "%S": "ss", "%p": "AM"}


def as_stamps(texts: pa.StringArray, missing: np.ndarray) -> pa.Array | None:
    """Texts that are all dates, with a zone or without one, as timestamps; null where missing. None for others."""
    from pyarrow.compute import call_function

    if missing.any():
        texts = call_function("if_else", [booleans(missing), pa.scalar(None, pa.string()), texts])
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            return texts.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None


def ordered_stamps(relation: str, stamps: pa.Array, moment: Instant) -> np.ndarray:
    """A mask of the days or timestamps for which a comparison holds; arbitrary where null."""
    if pa.types.is_date(stamps.type):
        stamps = stamps.cast(pa.timestamp("ms"))
    bound, rest = divmod(moment.nanoseconds, _NANOSECONDS[stamps.type.unit])
    if rest:  # between two values of this unit
        relation = {"<": "<=", ">=": ">"}.get(relation, relation)
    holds = ORDERS.get(relation, operator.eq)(view(stamps, np.int64), bound)
    return holds & (relation != "=") if rest else holds


def ordered_texts(relation: str, names: Names, moment: Instant) -> tuple[np.ndarray, np.ndarray]:
    """The texts for which a comparison holds, and those that cannot be compared: for an order all that are no dates or
    lack the zone that others have; for an equality only dates in another form, since any other text is unequal."""
    stamps = as_stamps(names.arrow, np.zeros(len(names), bool))
    if stamps is not None:
        return ordered_stamps(relation, stamps, moment), np.zeros(len(names), bool)
    read = [instant(name) for name in names]
    zoned = any(each is not None and each.zoned for each in read)
    compare = ORDERS.get(relation, operator.eq)
    right = np.array([each is not None and each.zoned == zoned for each in read], bool)
    holds = np.array([each is not None and compare(each.nanoseconds, moment.nanoseconds) for each in read], bool)
    other = np.array([is_date(name) for name in names], bool) if relation == "=" else True
    return holds & right, ~right & other


def is_other_date(cell: str) -> bool:
    """Whether a text is a date that does not begin with the year, or no day of the calendar."""
    return instant(cell) is None and (is_date(cell) or (not cell.isdigit() and bool(formats([cell]))))


def has_dates(names: Names, cell: str) -> bool:
    """Whether some names are dates, and the text ``cell`` is none of them."""
    return names.find(cell) is None and any(instant(name) for name in islice(names, _SAMPLE))


def other_dates(names: Names, title: str) -> Callable[[str], DataFault]:
    """What is wrong with a text among ``names`` that was to be a date."""
    forms: list[list[str]] = []  # those of the column, looked for once

    def fault(text: str) -> DataFault:
        if instant(text) is not None:
            hint = "a time with a zone and one without do not compare: write `Z` behind a time in UTC"
            return DataFault("bad-date", f"{title} is {text!r}, without the time zone that others have", hint)
        if not forms:
            forms.append(formats(list(islice((name for name in names if instant(name) is None), _SAMPLE))))
        found = forms[0] or formats([text])
        if not found and NUMERAL.fullmatch(text):
            hint = "a number compares with a number: write that without quotes"
            return DataFault("bad-date", f"{title} is {text!r}, not a date", hint)
        if not found:
            hint = f"write dates as 2024-01-15; if such a cell is empty, add `missing {format_string(text)}`"
            return DataFault("bad-date", f"{title} is {text!r}, not a date", hint)
        shown = " or ".join(re.sub("%.", lambda match: _LETTERS[match[0]], form) for form in found)
        readers = " or ".join(f"`pd.to_datetime(column, format={format_string(form)})`" for form in found)
        hint = f"dates compare as {_iso(text, found[0])}: rewrite the column, in pandas by {readers}"
        return DataFault("bad-date", f"{title} is {text!r}, a date as {shown}", hint)

    return fault


def as_date(cell: str) -> str:
    """What to write for a text that is no date, or one in another form."""
    readings = dict.fromkeys(format_string(_iso(cell, form)) for form in formats([cell]))
    return f"write {' or '.join(readings)}" if readings else 'a date is written as "2024-01-15"'


def _iso(text: str, form: str) -> str:
    at = datetime.strptime(text.strip(), form)
    return str(at) if "%M" in form else f"{at:%Y-%m-%d}"
