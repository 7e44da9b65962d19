"""Cells as numbers: truth values, or the values of a numeric attribute; and as dates: which instants they are, and how
those in another form are to be written."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property
from itertools import islice
from typing import cast

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import Column, is_text, nulls, one, strings, value_type, view, without
from lnnkit.data.cells.text_values import TextValues, brief, is_missing, text_values, unboxed
from lnnkit.data.cells.texts import EXACT
from lnnkit.data.files import Unreadable
from lnnkit.data.names import Names, is_many
from lnnkit.data.numerals import NUMERAL, TRUTHS
from lnnkit.syntax.dates import NO_DATE, formats, instant, is_date
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.identifiers import COMPARISONS
from lnnkit.syntax.printer import format_string


@dataclass(frozen=True, slots=True)
class Reals:
    """``values`` (float64) are meaningless where ``missing`` (empty or null) or ``wrong`` (not a number). ``shown``
    gives the value of a row as written; ``inexact`` marks rows with a whole number that float64 cannot hold. ``fault``
    says what is wrong with one, where more is known than that it is no number."""

    values: np.ndarray
    missing: np.ndarray
    wrong: np.ndarray
    shown: Callable[[int], str]
    inexact: np.ndarray
    fault: Callable[[int], Diagnostic] | None = None


class Cells:
    """The cells of one column, which is no list of Python values: as texts, numbers and dates."""

    def __init__(self, column: Column, title: str) -> None:
        assert not isinstance(column, list)
        self.column, self.title = column, title
        self.kind, types = value_type(column), pa.types
        self.numeric = types.is_integer(self.kind) or types.is_floating(self.kind) or types.is_decimal(self.kind)
        self.dated = types.is_date(self.kind) or types.is_timestamp(self.kind)
        self.timed = types.is_temporal(self.kind) and not self.dated
        self.textual = is_text(self.kind)

    @cached_property
    def array(self) -> pa.Array:
        """The column in one array, decoded."""
        return one(self.column.cast(self.kind))

    @cached_property
    def texts(self) -> TextValues:
        """The cells as texts."""
        return text_values(self.column if len(self.column) else [], self.title).cleaned()

    @cached_property
    def dates(self) -> Dates:
        """The cells of a column of days, timestamps or texts as dates."""
        return typed_dates(self.array) if self.dated else text_dates(self.texts)

    @cached_property
    def missing(self) -> np.ndarray:
        """A mask of empty, null and nan cells."""
        if self.textual or pa.types.is_null(self.kind):
            return self.texts.by_row(self.texts.empty(), gap=1)
        if not pa.types.is_floating(self.kind):
            return nulls(self.array)
        return nulls(self.array) | np.isnan(view(self.array.cast(pa.float64()), np.float64))

    def shown(self, row: int) -> str:
        """The value of a row as written."""
        if not self.textual:
            return str(self.array[row].as_py())
        return "text that is not UTF-8" if self.texts.at(row) in self.texts.faults else repr(self.texts.text(row))

    def reals(self, truth: bool) -> Reals:
        """The numbers in the column: numbers of any type, texts that spell one (surrounding blanks are allowed; ``inf``
        is, ``nan`` is not), and for a ``truth`` value also booleans and the words of `TRUTHS`. Raises ``Unreadable``
        for a column of another type."""
        if self.textual:
            return self._spelled(truth)
        if pa.types.is_null(self.kind):
            none = np.zeros(len(self.column), bool)
            return Reals(np.zeros(len(self.column)), ~none, none, self.shown, none)
        boolean = pa.types.is_boolean(self.kind)
        if boolean and not truth:
            raise Unreadable("bad-column", f"{self.title} holds booleans, not numbers", "cast it to 0 and 1")
        if not boolean and not self.numeric:
            hint = "cast it to numbers" + (", such as the days since some day" if self.dated or self.timed else "")
            raise Unreadable("bad-column", f"{self.title} holds {self.kind}, not numbers", hint)
        array, missing = self.array, nulls(self.array)
        wide = array.cast(pa.uint8()) if boolean else array
        values = view(wide.cast(pa.float64(), safe=False), np.float64)
        if array.null_count:
            values = np.where(missing, 0.0, values)
        inexact = np.zeros(len(values), bool)
        if pa.types.is_integer(self.kind):
            for row in np.flatnonzero(np.abs(values) >= EXACT).tolist():
                inexact[row] = int(values[row]) != array[row].as_py()
        return Reals(values, missing, np.isnan(values), self.shown, inexact)

    def _spelled(self, truth: bool) -> Reals:
        """The numbers that texts spell: many in one pass if all are valid; otherwise each distinct one is read once."""
        texts = text_values(self.column, self.title)
        many = is_many(len(texts.values))
        texts = replace(texts, values=one(texts.values).view(pa.string()))
        read = _from_numerals(texts, truth) if many else None
        if read is None:
            texts = (texts.distinct() if many else texts).cleaned()
            parts = np.array([_numeral(text, truth) for text in texts.values.to_pylist()], np.float64).reshape(-1, 3)
            read = parts[:, 0], texts.empty(), (parts[:, 1] != 0) & ~texts.empty(), parts[:, 2] != 0
        values, missing, wrong, inexact = read
        by_row = texts.by_row
        return Reals(by_row(values), by_row(missing, gap=1), by_row(wrong), self.shown, by_row(inexact))

    def days(self) -> Reals:
        """The dates in the column, as days since 1970-01-01: days and timestamps of Arrow, and texts in ISO 8601, with
        zones or without; a time without a zone is UTC. Raises ``Unreadable`` for a column of another type."""
        if not (self.dated or self.textual or pa.types.is_null(self.kind)):
            raise Unreadable("bad-column", f"{self.title} holds {self.kind}, not dates", _AS_DATES)
        dates, missing = self.dates, self.missing
        whole, rest = np.divmod(dates.micros, _DAY)
        values = np.where(dates.dated, whole + (rest + dates.nanos / 1000) / _DAY, 0.0)

        def fault(row: int) -> Diagnostic:
            if self.texts.at(row) in self.texts.faults:
                return Diagnostic("bad-date", f"{self.title} is {self.shown(row)}", NO_DATE)
            if NUMERAL.fullmatch(self.texts.text(row)):
                return Diagnostic("bad-date", f"{self.title} is {self.shown(row)}, a number and not a date", _AS_DATES)
            return self.other_date(self.texts.text(row))

        return Reals(values, missing, ~dates.dated & ~missing, self.shown, np.zeros(len(values), bool), fault)

    @cached_property
    def _forms(self) -> list[str]:
        """The forms of dates in the column that are not read."""
        names = Names.of(text for text in cast("list[str]", self.texts.distinct().values.to_pylist()) if text)
        return formats(list(islice((name for name in names if instant(name) is None), _SAMPLE)))

    def other_date(self, text: str) -> Diagnostic:
        """What is wrong with one of the texts, which was to be a date."""
        if instant(text) is not None:
            hint = "a time with a zone and one without do not compare: write `Z` behind a time in UTC"
            return Diagnostic("bad-date", f"{self.title} is {text!r}, without the time zone that others have", hint)
        patterns = self._forms or formats([text])
        if not patterns:
            hint = f"write dates as 2024-01-15; if such a cell is empty, add `missing {format_string(text)}`"
            if NUMERAL.fullmatch(text):
                hint = "a number compares with a number: write that without quotes"
            return Diagnostic("bad-date", f"{self.title} is {text!r}, not a date", hint)
        shown = " or ".join(re.sub("%.", lambda match: _LETTERS[match[0]], form) for form in patterns)
        readers = " or ".join(f"`pd.to_datetime(column, format={format_string(form)})`" for form in patterns)
        hint = f"dates compare as {_iso(text, patterns[0])}: rewrite the column, in pandas by {readers}"
        return Diagnostic("bad-date", f"{self.title} is {text!r}, a date as {shown}", hint)


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


class ListedCells:
    """The cells of a list of Python values, as numbers and dates."""

    def __init__(self, column: list[object], title: str) -> None:
        self.column, self.title = column, title

    def shown(self, row: int) -> str:
        """The value of a row as written."""
        return brief(self.column[row])

    def reals(self, truth: bool) -> Reals:
        """As `Cells.reals`; a text counts as wrong, even if it spells a number."""
        column = self.column
        if is_many(len(column)) and set(map(type, column)) == {float}:
            values, none = np.array(column, np.float64), np.zeros(len(column), bool)
            return Reals(values, none, np.isnan(values), self.shown, none)
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
        return Reals(values, missing, wrong, self.shown, inexact)

    def days(self) -> Reals:
        """As `Cells.days`, of `date` and `datetime` objects and texts."""
        texts = [_date_text(value) for value in self.column]
        reals = Cells(strings([text or "" for text in texts]), self.title).days()
        odd = np.array([text is None for text in texts], bool)

        def fault(row: int) -> Diagnostic:
            if odd[row] or reals.fault is None:
                return Diagnostic("bad-date", f"{self.title} is {self.shown(row)}, not a date", NO_DATE)
            return reals.fault(row)

        return Reals(reals.values, reals.missing & ~odd, reals.wrong | odd, self.shown, reals.inexact, fault)


def cells_of(column: Column, title: str) -> Cells | ListedCells:
    """The cells of any column."""
    return ListedCells(column, title) if isinstance(column, list) else Cells(column, title)


def _date_text(value: object) -> str | None:
    """The text of a date; empty where it is missing, None for anything else."""
    if isinstance(value, np.datetime64):
        value = None if np.isnat(value) else value.astype("datetime64[us]").item()
    if is_missing(value):
        return ""
    return value.isoformat() if isinstance(value, date) else value if isinstance(value, str) else None


_DAY = 86_400_000_000  # microseconds
_AS_DATES = 'rewrite the column as dates, in pandas by `pd.to_datetime(column, unit="D")` for days since 1970-01-01'
_AS_DATES += ', by `pd.to_datetime(column, format="%Y%m%d")` for numbers such as 20240115'
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
        zones = np.array([moment is not None and moment.zoned for _, moment in read], bool)
        zoned = texts.by_row(zones).any()  # a dictionary may have values that do not occur
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


def as_date(cell: str) -> str:
    """What to write for a text that is no date, or one in another form."""
    readings = dict.fromkeys(format_string(_iso(cell, form)) for form in formats([cell]))
    return f"write {' or '.join(readings)}" if readings else 'a date is written as "2024-01-15"'


def _iso(text: str, form: str) -> str:
    at = datetime.strptime(text.strip(), form)
    return str(at) if "%M" in form else f"{at:%Y-%m-%d}"
