"""Mistakes whose explanation takes more than a pattern: brackets, quantifiers, arguments, dates, membership; and those
of statements that parse, as something else: comments after `--`, names of rules before `=`."""

from __future__ import annotations

import re

from lnnkit.syntax.dates import DATE, date_as_number, is_date
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import CONNECTIVES, END, Fault
from lnnkit.syntax.identifiers import AGGREGATE_HINT, AGGREGATING, FOREIGN_FUNCTIONS
from lnnkit.syntax.mistakes.rows import in_table
from lnnkit.syntax.rewrite import aggregate_message, between, parts_of_call
from lnnkit.syntax.span import Source, Span
from lnnkit.syntax.split import Slice

_OPAQUE = r'"(?:[^"\\\n]|\\.)*"|#[^\n]*'
_DASHES = re.compile(rf"{_OPAQUE}|(?<!\S)(?P<at>--+)(?=[ \t]+[^\W\d]|[ \t]*$)", re.MULTILINE)
_NAMED = re.compile(
    r"(?P<keyword>rule|axiom)\s+(?P<at>(?P<name>\"[^\"\n]*\"|[^\W\d][\w-]*)\s*:?=)\s*[~¬(]*[^\W\d][\w-]*\([^()]*\)"
)
_IMPORT = re.compile(r"^\s*import\b", re.MULTILINE)
_FORMULAS = ("rule", "axiom", "query", None)
_CALLED = re.compile(r"(?i:date|datetime|timestamp|to_date)\s*(?:\(\s*)?([\"']?)(?P<date>[^\"'()]*)\1(?:\s*\))?")


def date_literal(fault: Fault) -> Diagnostic | None:
    if fault.in_arguments or fault.expected == {"STRING"} or fault.keyword in ("load", "predicate", "number", "sort"):
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
    if called is None or fault.in_arguments or not is_date(called["date"]):
        return None
    return date_as_number(called["date"], Span(fault.source, *called.span()))


def date_in_table(fault: Fault) -> Diagnostic | None:
    """`joined >= 2021-01-01` without quotes: its first digits are parsed as a number."""
    match = _date(fault, "string", "word", "number", "symbol") if in_table(fault) else None
    if match is None:
        return None
    return fault.report("unquoted-value", f"the value `{match[0]}` needs quotes", f'write "{match[0]}"', *match.span())


def foreign_function(fault: Fault) -> Diagnostic | None:
    """`max(age(X), 3)`: parsed as an atom, whose arguments cannot be expressions."""
    if not fault.in_arguments or fault.keyword not in _FORMULAS:
        return None
    for place in (place for place in reversed(fault.open) if place):
        called, text = fault.before[place - 1], fault.source.text
        inside = parts_of_call(text[fault.before[place].start : fault.piece.end])
        if called.text.lower() in AGGREGATING and len(inside) == 1:
            return fault.report_at(called, "aggregate", aggregate_message(called.text), AGGREGATE_HINT)
        if called.text in FOREIGN_FUNCTIONS:
            message = f"`{called.text}` is not a function: there are `abs` and `sqrt`"
            return fault.report_at(called, "unknown-function", message, FOREIGN_FUNCTIONS[called.text])
    return None


_INTERVAL = re.compile(r"in\s*\[\s*([^,\[\]]+?)\s*,\s*([^,\[\]]+?)\s*\]")
_UNIT = re.compile(r"0?\.\d+|[01](?:\.0*)?")


def interval_in_body(fault: Fault) -> Diagnostic | None:
    """`age(X) in [18, 65] & ...`: `in [l, u]` bounds a whole statement."""
    if fault.keyword not in _FORMULAS:
        return None
    if fault.keyword != "query" and not (fault.token == "IN" and fault.open) and fault.token not in CONNECTIVES:
        return None
    place, start, text = len(fault.before), fault.start, fault.source.text
    if fault.token != "IN":
        place = next((i for i in range(len(fault.before) - 1, 0, -1) if fault.before[i].text == "in"), 0)
        if not place or fault.previous is None or fault.previous.text != "]":
            return None
        start = fault.before[place].start
    match = _INTERVAL.match(text, start, fault.piece.end)
    if not match:
        return None
    end = match.end()
    if fault.keyword == "query" and not fault.open and not text[end : fault.piece.end].strip():
        return fault.report("query-bounds", "a query takes no bounds: it asks for them", "remove them", start, end)
    operand = between(fault, place)
    compared = f"{match[1]} <= {operand} <= {match[2]}" if operand and "(" in operand else "l <= age(X) <= u"
    hint = f"write `{compared}`"
    if _UNIT.fullmatch(match[1]) and _UNIT.fullmatch(match[2]):  # of a truth, or of a number
        truth = f"the bounds of a statement are written at its end: `{match[0]}`"
        hint = f"a number is compared: `{compared}`; {'a query takes no bounds' if fault.keyword == 'query' else truth}"
    return fault.report("interval-in-body", "`in [l, u]` bounds a whole statement, not a part of it", hint, start, end)


def unclosed_group(fault: Fault) -> Diagnostic | None:
    trailing = fault.token == "IN" and re.fullmatch(r"in\s*\[[^\[\]]*\]\s*", fault.rest)
    if not fault.open or not (fault.token == END or trailing):
        return None
    opener = fault.before[fault.open[-1]]
    closer = {"(": ")", "[": "]", "{": "}"}[opener.text]
    return fault.report_at(opener, "unclosed-group", f"this `{opener.text}` is never closed", f"add a `{closer}`")


# --- statements of other languages that parse, as something else ------------------------------------------------------


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


def rule_name(source: Source, piece: Slice) -> Diagnostic | None:
    """`rule r1 = P(X) -> Q(X)`, which compares r1, unless that may be a number; `rule r1 := ...` does not parse."""
    match = _NAMED.match(source.text, piece.start, piece.end) if piece.keyword in ("rule", "axiom") else None
    if match is None:
        return None
    name = match["name"]
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", source.text[match.end("at") : piece.end]):
        return None  # a variable, or an entity that the statement mentions
    if not name.startswith('"') and (
        re.search(rf"^\s*number\s+{re.escape(name)}\b", source.text, re.MULTILINE) or _IMPORT.search(source.text)
    ):
        return None
    span = Span(source, *match.span("at"))
    short = re.sub(r"\W+", "-", name.strip('"')).strip("-") or "r1"
    return Diagnostic("rule-name", "a rule's name has a colon", f"write `{short}:`", span)
