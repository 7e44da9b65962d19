"""Dates as text: what is one, which instant it names, and the formats that others are written in; and as numbers, the
days since 1970-01-01 in the proleptic Gregorian calendar. Dates in place of numbers: `2020-01-01` without blanks parses
as a subtraction, which is never meant."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from lnnkit.syntax.diagnostic import Diagnostic, Span
from lnnkit.syntax.identifiers import DECLARING, in_digits

if TYPE_CHECKING:
    from lnnkit.syntax.fault import Fault

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH, _DATE_OF_MONTH = r"(?:1[0-2]|0?[1-9])", r"(?:3[01]|[12]\d|0?[1-9])"
_NAME = r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
_NAME = f"(?i:{_NAME}|Nov(?:ember)?|Dec(?:ember)?))"
_NTH = rf"{_DATE_OF_MONTH}(?:st|nd|rd|th)?"
_DAY = "|".join(
    (
        r"\d{4}-\d{2}-\d{2}",
        rf"\d{{4}}(?P<sign>[-/.]){_MONTH}(?P=sign){_DATE_OF_MONTH}",
        r"\d\d?(?P<between>[-/.])\d\d?(?P=between)(?:19|20)\d{2}",
        rf"{_DATE_OF_MONTH}/{_DATE_OF_MONTH}/\d{{2}}",
        r"\d{2}-0[1-9]-\d{2}|\d{2}-\d{2}-0[1-9]|0[1-9]-\d{2}-\d{2}",
        rf"{_NTH}[-. ]\s?{_NAME}[-., ]\s?\d{{4}}",
        rf"{_NAME}[-. ]\s?{_NTH}[-, ]\s?\d{{4}}",
        rf"{_NAME}[- ]\d{{4}}|(?:19|20)\d{{2}}-(?:0[1-9]|1[0-2])(?!-)",
    )
)
_CLOCK = r"[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,](?P<part>\d+))?)?"
_TIME = rf"(?P<clock>{_CLOCK})(?:\s?(?P<zone>Z|UTC|[+-]\d{{2}}(?::?\d{{2}})?))?"
DATE = re.compile(rf"(?<![\w.])(?P<day>{_DAY})(?:{_TIME})?(?![\w.])")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_DAY_FORMATS = (
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y"),
    *("%d-%m-%y", "%m-%d-%y", "%y-%m-%d", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y"),
    *("%B %d, %Y", "%b %d %Y", "%b %Y", "%B %Y", "%Y%m%d"),
)
_CLOCK_FORMATS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", "T%H:%M:%S")


Numeric = bool | Literal["date"]
"""Whether a predicate or term holds a number, and whether that number is a date."""

NO_DATE = 'write a date as "2024-01-15", with a time as "2024-01-15T12:30" or "2024-01-15T12:30+02:00"'
_CYCLE, _CYCLE_YEARS = 146097, 400  # days after which the calendar repeats
_FARTHEST = 1e10  # days; dates farther away are shown as days
_EXPANDED = re.compile(r"([+-]\d{4,})-(\d\d)-(\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?")
_STEPS = (86_400_000_000, 60_000_000, 1_000_000, 1000, 1)  # microseconds in what a time is shown to


@dataclass(frozen=True, slots=True)
class Instant:
    """Nanoseconds from 1970-01-01 UTC, exact; ``zoned`` if its zone is written. Without a zone a time is UTC."""

    nanoseconds: int
    zoned: bool


def instant(text: str) -> Instant | None:
    """The instant of a date that begins with the year: ISO 8601, as ``2024-01-15``, ``2024-01`` (its first day) or
    ``2024-01-15T12:30:00.5+02:00``, or with other marks between its numbers, as ``2024/1/15``. None for any other
    text."""
    match = DATE.fullmatch(text.strip())
    return _instant(match, _orders(match["day"])[0]) if match and match["day"][:4].isdecimal() else None


def days_of(text: str) -> float | int | None:
    """The days from 1970-01-01 to a date as `instant` reads it, also to one outside the years 1 to 9999 as `date_text`
    writes it; a date without a time has a whole number. None for any other text."""
    moment, days = instant(text), None
    if moment is not None:
        days = Fraction(moment.nanoseconds, 86400 * 10**9)
    elif match := _EXPANDED.fullmatch(text.strip()):
        cycles, year = divmod(int(match[1]), _CYCLE_YEARS)
        moment = instant(f"{year + 2000}-{match[2]}-{match[3]}T{match[4] or '00:00'}")
        if moment is not None:
            days = Fraction(moment.nanoseconds, 86400 * 10**9) + (cycles - 5) * _CYCLE
    return None if days is None else days.numerator if days.denominator == 1 else float(days)


def date_text(days: float) -> str:
    """The date so many days after 1970-01-01, in ISO 8601 and with its time in UTC: ``2024-01-15``,
    ``2024-01-15T08:30``. As many digits of the time as `days_of` needs to read the same number, microseconds at most.
    Dates outside the years 1 to 9999 have a sign before the year (0 is the year before 1); ``inf`` and ``-inf`` have no
    date."""
    if not abs(days) <= _FARTHEST:
        return f"{days:g}" if math.isinf(days) else f"{in_digits(days)} days after 1970-01-01"
    exact = Fraction(days) * _STEPS[0]
    rounded = (round(exact / step) * step for step in _STEPS)
    micros = next((count for count in rounded if count / _STEPS[0] == days), round(exact))
    whole, micros = divmod(micros, _STEPS[0])
    cycles, whole = divmod(whole, _CYCLE)  # in the years from 1970 to 2369
    day = date(1970, 1, 1) + timedelta(whole)
    year = day.year + cycles * _CYCLE_YEARS
    shown = f"{year:04}" if 1 <= year <= 9999 else f"{year:+05}"
    time = (datetime.min + timedelta(microseconds=micros)).time()
    clock = time.isoformat("minutes" if micros % _STEPS[1] == 0 else "auto").rstrip("0" if micros % 10**6 else "")
    return f"{shown}-{day:%m-%d}" + (f"T{clock}" if micros else "")


def shown_number(value: float, numeric: Numeric = True) -> str:
    """A number as people read it: whole ones in full, others to ten digits; or the date that it is."""
    return date_text(value) if numeric == "date" else in_digits(value)


def _instant(match: re.Match[str], order: tuple[str, str, str]) -> Instant | None:
    """The instant of a date, with its year, month and day in ``order``; None if there is no such day or time."""
    year, month, day = order
    clock, zone = (match["clock"] or " 0:00")[1:].partition(".")[0].partition(",")[0], match["zone"]
    offset = "" if zone in (None, "Z", "UTC") else zone
    try:
        at = datetime.fromisoformat(f"{year}-{month:0>2}-{day:0>2}T{clock:0>{len(clock) + (clock[1] == ':')}}{offset}")
    except ValueError:
        return None
    since = (at if offset else at.replace(tzinfo=UTC)) - _EPOCH
    part = (match["part"] or "")[:9]
    return Instant((since.days * 86400 + since.seconds) * 10**9 + int(f"{part:0<9}"), zone is not None)


def formats(texts: Sequence[str]) -> list[str]:
    """The formats, as ``strptime`` takes them, in which all ``texts`` are dates: none if they are not dates or begin
    with the year, two where nothing tells the day from the month."""
    if not re.search(r"\d", "".join(texts)):
        return []
    forms = (day + clock for clock in _CLOCK_FORMATS for day in _DAY_FORMATS)
    return [form for form in forms if all(_fits(text, form) for text in texts)]


def _fits(text: str, form: str) -> bool:
    try:
        datetime.strptime(text.strip(), form)
    except ValueError:
        return False
    return True


def is_date(text: str) -> bool:
    """Whether a text is written as a date, with a time or without; there may be no such day."""
    return DATE.fullmatch(text.strip()) is not None


def days(text: str) -> float | None:
    """The days from 1970-01-01 to a date, with a fraction for its time; None if there is no such date, or if nobody
    knows which of its numbers is the month."""
    readings = _readings(text)
    return readings[0] if len(readings) == 1 else None


def _readings(text: str) -> list[float]:
    """The days from 1970-01-01 to each date that may be meant: `03/04/2024` may be in March or in April."""
    match = DATE.fullmatch(text.strip())
    if match is None:
        return []
    read = [_instant(match, order) for order in _orders(match["day"])]
    return list(dict.fromkeys(instant.nanoseconds / 86400e9 for instant in read if instant is not None))


def _orders(date: str) -> list[tuple[str, str, str]]:
    """The year, month and day of a date, in each order that is in use."""
    parts = [part for part in re.findall(r"\d+|[^\W\d_]+", date) if part not in ("st", "nd", "rd", "th")]
    named = [place for place, part in enumerate(parts) if part[0].isalpha()]
    if named:
        month = str(_MONTHS.index(parts.pop(named[0])[:3].lower()) + 1)
        return [(parts[-1], month, parts[0] if len(parts) == 2 else "1")]
    if len(parts) == 2:
        return [(parts[0], parts[1], "1")]
    first, second, last = parts
    if len(first) == 4:
        return [(first, second, last)]
    if len(last) < 4:
        return []  # with two digits each, any part may be the year
    return [(last, second, first)] if "." in date else [(last, second, first), (last, first, second)]


def date_hint(text: str, otherwise: str = 'a date is written `date "2020-01-31"`') -> str:
    """What to write for a date in another form."""
    written = [f'`date "{date_text(number)}"`' for number in _readings(text)]
    return f"write {' or '.join(written)}" if written else otherwise


def hours_hint(text: str) -> str:
    """What to write for a time of day, as `10:30`."""
    hours, minutes, *seconds = map(int, text.split(":"))
    number = hours + minutes / 60 + sum(seconds) / 3600
    return f"write `{number:.15g}` in hours, or `{number * 60:.15g}` in minutes, and use that unit for all times"


def date_as_number(text: str, span: Span) -> Diagnostic:
    """The error for an unquoted date where a number is expected."""
    hint = f'{date_hint(text)}, and declare `date`, not `number`, what holds dates; an entity is "{text}"'
    return Diagnostic("date-as-number", f"`{text}` is a date where a number is expected", hint, span)


# --- dates where a statement cannot be parsed -------------------------------------------------------------------------

_CALLED_DATE = re.compile(r"(?i:date|datetime|timestamp|to_date)\s*(?:\(\s*)?([\"']?)(?P<date>[^\"'()]*)\1(?:\s*\))?")


def unquoted_date(fault: Fault) -> Diagnostic | None:
    """`start(X) > 2024-01-05`, `joined >= 2021-01-01` of a table: the first digits are parsed as a number."""
    kinds = ("string", "word", "number", "symbol") if fault.in_table else ("number", "word")
    if fault.in_arguments or fault.expected == {"STRING"} or fault.keyword in (*DECLARING, "sort"):
        return None
    starts = {fault.start, *(lexeme.start for lexeme in fault.before if lexeme.kind in kinds)}
    for found in DATE.finditer(fault.source.text, fault.piece.start, fault.piece.end):
        if found.start() in starts and found.start() <= fault.start < found.end():
            if fault.in_table:
                hint = f'write "{found[0]}"'
                return fault.report("unquoted-value", f"the value `{found[0]}` needs quotes", hint, *found.span())
            return None if fault.keyword == "load" else date_as_number(found[0], Span(fault.source, *found.span()))
    return None


def called_date(fault: Fault) -> Diagnostic | None:
    """`fact start(ann) = date("2024-01-05")`, `start(X) > DATE "2024-01-05"`."""
    text, first = fault.source.text, fault.start
    if fault.token == "STRING" and fault.previous is not None:
        first = fault.previous.start
    elif fault.keyword not in ("fact", "label"):
        return None
    if fault.token == "STRING" and text[first] == "=" and is_date(fault.text[1:-1]):
        return date_as_number(fault.text[1:-1], Span(fault.source, fault.start, fault.end))
    called = _CALLED_DATE.match(text, first, fault.piece.end)
    text = re.sub(r"\s*,\s*", "-", called["date"]) if called else ""
    if called is None or fault.in_arguments or not is_date(text):
        return None
    return date_as_number(text, Span(fault.source, *called.span()))
