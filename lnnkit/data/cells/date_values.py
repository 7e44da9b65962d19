"""Cells as the values of a date: days since 1970-01-01, with a fraction where the cells have times."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import Column, strings
from lnnkit.data.cells.conditions import Cells
from lnnkit.data.cells.numbers import Reals
from lnnkit.data.cells.text_values import brief, is_missing
from lnnkit.data.files import Unreadable
from lnnkit.data.numerals import NUMERAL
from lnnkit.syntax.dates import NO_DATE
from lnnkit.syntax.diagnostic import Diagnostic

_DAY = 86_400_000_000  # microseconds
_AS_DATES = 'rewrite the column as dates, in pandas by `pd.to_datetime(column, unit="D")` for days since 1970-01-01'
_AS_DATES += ', by `pd.to_datetime(column, format="%Y%m%d")` for numbers such as 20240115'


def dates_of(column: Column, title: str) -> Reals:
    """The dates in a column: days and timestamps of Arrow, `date` and `datetime` objects of Python, and texts in ISO
    8601, with zones or without; a time without a zone is UTC. Raises ``Unreadable`` for a column of another type."""
    if isinstance(column, list):
        return _from_objects(column, title)
    cells = Cells(column, title)
    if not (cells.dated or cells.textual or pa.types.is_null(cells.kind)):
        raise Unreadable("bad-column", f"{title} holds {cells.kind}, not dates", _AS_DATES)
    dates, missing = cells.dates, cells.missing
    whole, rest = np.divmod(dates.micros, _DAY)
    values = np.where(dates.dated, whole + (rest + dates.nanos / 1000) / _DAY, 0.0)

    def fault(row: int) -> Diagnostic:
        if cells.texts.at(row) in cells.texts.faults:
            return Diagnostic("bad-date", f"{title} is {cells.shown(row)}", NO_DATE)
        if NUMERAL.fullmatch(cells.texts.text(row)):
            return Diagnostic("bad-date", f"{title} is {cells.shown(row)}, a number and not a date", _AS_DATES)
        return cells.other_date(cells.texts.text(row))

    return Reals(values, missing, ~dates.dated & ~missing, cells.shown, np.zeros(len(values), bool), fault)


def _from_objects(column: list[object], title: str) -> Reals:
    """A Python list of dates, times, and texts."""
    texts = [_text(value) for value in column]
    reals = dates_of(strings([text or "" for text in texts]), title)
    odd = np.array([text is None for text in texts], bool)

    def shown(row: int) -> str:
        return brief(column[row])

    def wrong(row: int) -> Diagnostic:
        if odd[row] or reals.fault is None:
            return Diagnostic("bad-date", f"{title} is {shown(row)}, not a date", NO_DATE)
        return reals.fault(row)

    return Reals(reals.values, reals.missing & ~odd, reals.wrong | odd, shown, reals.inexact, wrong)


def _text(value: object) -> str | None:
    """The text of a date; empty where it is missing, None for anything else."""
    if isinstance(value, np.datetime64):
        value = None if np.isnat(value) else value.astype("datetime64[us]").item()
    if is_missing(value):
        return ""
    return value.isoformat() if isinstance(value, date) else value if isinstance(value, str) else None
