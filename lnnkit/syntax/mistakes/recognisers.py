"""Mistakes whose explanation takes more than a pattern: dates, calls of functions, groups that are never closed, and
comments after `--`, with which statements parse, as something else."""

from __future__ import annotations

import re

from lnnkit.syntax.dates import DATE, date_as_number, is_date
from lnnkit.syntax.diagnostic import Diagnostic, Source, Span
from lnnkit.syntax.fault import END, Fault
from lnnkit.syntax.identifiers import (
    AGGREGATE_HINT,
    AGGREGATING,
    DECLARING,
    FOREIGN_DATES,
    FOREIGN_FUNCTIONS,
    FUNCTIONS,
    FUNCTIONS_LISTED,
)
from lnnkit.syntax.mistakes.rows import in_table
from lnnkit.syntax.rewrite import aggregate_message, parts_of_call
from lnnkit.syntax.split import Slice

_OPAQUE = r'"(?:[^"\\\n]|\\.)*"|#[^\n]*'
_DASHES = re.compile(rf"{_OPAQUE}|(?<!\S)(?P<at>--+)(?=[ \t]+[^\W\d]|[ \t]*$)", re.MULTILINE)
_FORMULAS = ("rule", "axiom", "query", None)
_CALLED = re.compile(r"(?i:date|datetime|timestamp|to_date)\s*(?:\(\s*)?([\"']?)(?P<date>[^\"'()]*)\1(?:\s*\))?")


def date_literal(fault: Fault) -> Diagnostic | None:
    if fault.in_arguments or fault.expected == {"STRING"} or fault.keyword in (*DECLARING, "load", "sort"):
        return None
    match = _date(fault, "number", "word")
    return date_as_number(match[0], Span(fault.source, *match.span())) if match else None


def _date(fault: Fault, *kinds: str) -> re.Match[str] | None:
    """The date that the fault is in, if it starts there or with an earlier lexeme of these kinds."""
    starts = {fault.start, *(lexeme.start for lexeme in fault.before if lexeme.kind in kinds)}
    dates = DATE.finditer(fault.source.text, fault.piece.start, fault.piece.end)
    return next((date for date in dates if date.start() in starts and date.start() <= fault.start < date.end()), None)


def called_date(fault: Fault) -> Diagnostic | None:
    """`fact start(ann) = date("2024-01-05")`, `start(X) > DATE "2024-01-05"`."""
    text, first = fault.source.text, fault.start
    if fault.token == "STRING" and fault.previous is not None:
        first = fault.previous.start
    elif fault.keyword not in ("fact", "label"):
        return None
    if fault.token == "STRING" and text[first] == "=" and is_date(fault.text[1:-1]):
        return date_as_number(fault.text[1:-1], Span(fault.source, fault.start, fault.end))
    called = _CALLED.match(text, first, fault.piece.end)
    text = re.sub(r"\s*,\s*", "-", called["date"]) if called else ""
    if called is None or fault.in_arguments or not is_date(text):
        return None
    return date_as_number(text, Span(fault.source, *called.span()))


def date_in_table(fault: Fault) -> Diagnostic | None:
    """`joined >= 2021-01-01` without quotes: its first digits are parsed as a number."""
    match = _date(fault, "string", "word", "number", "symbol") if in_table(fault) else None
    if match is None:
        return None
    return fault.report("unquoted-value", f"the value `{match[0]}` needs quotes", f'write "{match[0]}"', *match.span())


def foreign_function(fault: Fault) -> Diagnostic | None:
    """`max(age(X), 3)`: parsed as an atom, whose arguments cannot be expressions."""
    if not (fault.in_arguments or fault.text == ":") or fault.keyword not in _FORMULAS:
        return None
    for place in (place for place in reversed(fault.open) if place):
        called, text = fault.before[place - 1], fault.source.text
        inside = parts_of_call(text[fault.before[place].start : fault.piece.end])
        if called.text.lower() in AGGREGATING and len(inside) == 1:
            return fault.report_at(called, "aggregate", aggregate_message(called.text), AGGREGATE_HINT)
        name = called.text.lower()
        hint = f"write `{name}(...)`" if name in FUNCTIONS else FOREIGN_FUNCTIONS.get(name)
        listed, hint = FUNCTIONS_LISTED, hint if fault.in_arguments else None
        if called.text in FOREIGN_DATES:
            listed, hint = "there are `years` and `months` of dates", FOREIGN_DATES[called.text]
        if hint:
            return fault.report_at(called, "unknown-function", f"`{called.text}` is not a function: {listed}", hint)
    return None


def unclosed_group(fault: Fault) -> Diagnostic | None:
    trailing = fault.token == "IN" and re.fullmatch(r"in\s*\[[^\[\]]*\]\s*", fault.rest)
    if not fault.open or not (fault.token == END or trailing):
        return None
    opener = fault.before[fault.open[-1]]
    closer = {"(": ")", "[": "]", "{": "}"}[opener.text]
    return fault.report_at(opener, "unclosed-group", f"this `{opener.text}` is never closed", f"add a `{closer}`")


def comment(source: Source, piece: Slice, end: int) -> Diagnostic | None:
    """A comment of SQL or Haskell that starts before ``end``: `fact P(a) -- why` ends before its words."""
    if source.text.find("--", piece.start, piece.end) < 0:
        return None
    for match in _DASHES.finditer(source.text, piece.start, piece.end):
        if match["at"] and match.start("at") < end:
            span = Span(source, *match.span("at"))
            hint = "a comment starts with `#`; less a negative number is `- -`"
            return Diagnostic("foreign-comment", f"`{match['at']}` does not start a comment", hint, span)
    return None
