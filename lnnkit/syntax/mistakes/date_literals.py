"""`fact start(ann) = 2024-01-01`, `start(X) > 10:30`: a date or a time of day in the place of a number."""

from __future__ import annotations

import re

from lnnkit.syntax.dates import DATE, date_as_number, hours_hint, is_date
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.span import Span

_CALLED = re.compile(r"(?i:date|datetime|timestamp|to_date)\s*(?:\(\s*)?([\"']?)(?P<date>[^\"'()]*)\1(?:\s*\))?")


def date_literal(fault: Fault) -> Diagnostic | None:
    if fault.in_arguments or fault.expected == {"STRING"} or fault.keyword in ("load", "predicate", "number", "sort"):
        return None
    starts = {fault.start, *(lexeme.start for lexeme in fault.before if lexeme.kind in ("number", "word"))}
    for match in DATE.finditer(fault.source.text, fault.piece.start, fault.piece.end):
        if match.start() in starts and match.start() <= fault.start < match.end():
            return date_as_number(match[0], Span(fault.source, *match.span()))
    return None


def time_of_day(fault: Fault) -> Diagnostic | None:
    """`opens(X) > 10:30`."""
    previous, time = fault.previous, re.match(r":\d{2}(?::\d{2})?(?![\w:])", fault.rest)
    if previous is None or time is None or fault.in_arguments or not re.fullmatch(r"\d{1,2}", previous.text):
        return None
    text = previous.text + time[0]
    hint = hours_hint(text)
    end = fault.start + time.end()
    return fault.report("time-as-number", f"`{text}` is a time where a number is expected", hint, previous.start, end)


def called_date(fault: Fault) -> Diagnostic | None:
    """`fact start(ann) = date("2024-01-05")`, `start(X) > DATE "2024-01-05"`."""
    text, first = fault.source.text, fault.start
    if fault.token == "STRING" and fault.previous is not None:
        first = fault.previous.start
    elif fault.keyword not in ("fact", "label"):
        return None
    called = _CALLED.match(text, first, fault.piece.end)
    if called is None or fault.in_arguments or not is_date(called["date"]):
        return None
    return date_as_number(called["date"], Span(fault.source, *called.span()))
