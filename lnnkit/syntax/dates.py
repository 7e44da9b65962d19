"""Dates in place of numbers: `2020-01-01` without blanks parses as a subtraction, which is never meant."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.span import Span

_MONTH, _DATE_OF_MONTH = r"(?:1[0-2]|0?[1-9])", r"(?:3[01]|[12]\d|0?[1-9])"
_DAY = (
    r"\d{4}-\d{2}-\d{2}|\d{4}/\d{2}/\d{2}|\d\d?([./])\d\d?\2(?:19|20)\d{2}"
    rf"|\d{{4}}-{_MONTH}-{_DATE_OF_MONTH}"
)
_TIME = r"[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?Z|[+-]\d{2}:?\d{2})?"
DATE = re.compile(rf"(?<![\w.])(?P<day>{_DAY})(?P<time>{_TIME})?(?![\w.])")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def days(text: str) -> float | None:
    """The days from 1970-01-01 to a date, with a fraction for its time; None if there is no such date."""
    match = DATE.fullmatch(text.strip())
    if match is None:
        return None
    parts = re.split("[-/.]", match["day"])
    if len(parts[0]) < 4:
        return None  # nobody knows whether the month or the day is first
    year, month, day = parts
    time = (match["time"] or "").replace(",", ".").replace(" Z", "Z")
    if time[2:3] == ":":
        time = f"{time[0]}0{time[1:]}"
    try:
        found = datetime.fromisoformat(f"{year}-{month:0>2}-{day:0>2}{time}")
    except ValueError:
        return None
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    return (found - _EPOCH).total_seconds() / 86400


def date_hint(text: str) -> str:
    """What to write for a date among numbers; the language has no type for dates yet."""
    number = days(text)
    if number is None:
        return "write the days since 1970-01-01, as `18262` for 2020-01-01, and use that unit for all dates"
    return f"write `{number:.15g}`, the days since 1970-01-01, and use that unit for all dates"


def date_as_number(text: str, span: Span) -> Diagnostic:
    """The error for an unquoted date where a number is expected."""
    hint = f'{date_hint(text)} (there is no date type yet); write an entity as "{text}", and a subtraction with blanks'
    return Diagnostic("date-as-number", f"`{text}` is a date where a number is expected", hint, span)
