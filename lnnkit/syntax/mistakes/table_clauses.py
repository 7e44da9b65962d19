"""Faults after the path of a table: SQL keywords, and values without quotes."""

from __future__ import annotations

import re

from lnnkit.syntax.dates import DATE
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault

_WORDS = ("where", "and", "in", "is", "not", "null", "missing", "delimiter", "trust", "no", "true", "false")
_WORDS += ("decimal", "encoding", "trim")
_CELL = r"""(?:"(?:[^"\\\n]|\\.)*"|-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?|true|false)"""
_BETWEEN = re.compile(rf"between\s+({_CELL})\s+(?:and|&|,)\s+({_CELL})(?![\w.-])", re.IGNORECASE)
_NOT_IN = re.compile(rf"not\s+in\s*\(\s*({_CELL}(?:\s*,\s*{_CELL})*)\s*\)", re.IGNORECASE)
_BEFORE_VALUE = ("=", "!=", "<", "<=", ">", ">=", "(", ",")


def _in_table(fault: Fault) -> bool:
    """Whether the fault is after the path of a ``load`` or ``label ... from``."""
    return fault.keyword in ("load", "label") and any(
        word.text in ("from", "query", "table") and path.kind == "string"
        for word, path in zip(fault.before, fault.before[1:], strict=False)
    )


def capitals(fault: Fault) -> Diagnostic | None:
    word = fault.word
    if word is None or not _in_table(fault) or not word.text.isupper() or word.text.lower() not in _WORDS:
        return None
    message = f"`{word.text}` in capitals is not a word of the language"
    return fault.report("capital-word", message, f"write `{word.text.lower()}`", end=word.end)


def alternative(fault: Fault) -> Diagnostic | None:
    """``or``, or a comma, between conditions."""
    if fault.open or fault.token not in ("OR", "COMMA") or not _in_table(fault) or "AND" not in fault.expected:
        return None
    if fault.touching and re.match(r",\d{3}(?!\d)", fault.rest):  # a number with separators, which is told as such
        return None
    if fault.token == "COMMA":
        return fault.report("bad-condition", "a comma cannot join conditions", "write `and`")
    hint = 'write one statement for each, or `in ("a", "b")` for several values of one column'
    return fault.report("bad-condition", "conditions are joined by `and` alone", hint)


def null(fault: Fault) -> Diagnostic | None:
    """``is None``, ``is empty``, ``= null``."""
    word, previous = fault.word, fault.previous
    if word is None or previous is None or not _in_table(fault):
        return None
    if previous.text == "is" or (previous.text == "not" and "NULL" in fault.expected):
        hint = "write `null` for a cell that is empty; to compare it, write `=` instead of `is`"
        return fault.report("bad-condition", f"`{word.text}` cannot follow `is`", hint, end=word.end)
    if word.text.lower() == "null" and previous.text in ("=", "!="):
        operator = "is null" if previous.text == "=" else "is not null"
        message = "no comparison with a missing cell holds"
        return fault.report("bad-condition", message, f"write `{operator}`", previous.start, word.end)
    return None


def several_conditions(fault: Fault) -> Diagnostic | None:
    """`age between 18 and 65`, `town not in ("Rome", "Oslo")`: each must be written as two or more conditions."""
    column = fault.previous
    if column is None or column.kind == "symbol" or "IS" not in fault.expected or not _in_table(fault):
        return None
    if found := _BETWEEN.match(fault.rest):
        instead = f"{column.text} >= {found[1]} and {column.text} <= {found[2]}"
        word = "between"
    elif found := _NOT_IN.match(fault.rest):
        instead = " and ".join(f"{column.text} != {cell}" for cell in re.findall(_CELL, found[1]))
        word = "not in"
    else:
        return None
    end = fault.start + found.end()
    return fault.report("bad-condition", f"`{word}` is not an operator", f"write `{instead}`", column.start, end)


def date(fault: Fault) -> Diagnostic | None:
    """`joined >= 2021-01-01` without quotes: its first digits are parsed as a number."""
    if fault.keyword not in ("load", "label") or not _in_table(fault):
        return None
    for match in DATE.finditer(fault.source.text, fault.piece.start, fault.piece.end):
        value = match.start() == fault.start or any(lexeme.start == match.start() for lexeme in fault.before)
        if value and match.start() <= fault.start < match.end():
            message = f"the value `{match[0]}` needs quotes"
            return fault.report("unquoted-value", message, f'write "{match[0]}"', *match.span())
    return None


def denied(fault: Fault) -> Diagnostic | None:
    """``not`` in front of a condition."""
    previous = fault.previous
    if fault.token != "NOT" or previous is None or previous.text not in ("where", "and", "&") or not _in_table(fault):
        return None
    return fault.report("bad-condition", f"`{fault.shown}` cannot deny a condition", "write `!=`, or `is not null`")


def unquoted_value(fault: Fault) -> Diagnostic | None:
    previous = fault.previous
    if previous is None or "STRING" not in fault.expected or "NAME" in fault.expected or not _in_table(fault):
        return None
    clause = previous.text in _BEFORE_VALUE or previous.text in ("missing", "delimiter", "decimal", "encoding")
    word = re.match(r"[^\s(),\"'#]+", fault.rest)
    if not clause or word is None:
        return None
    end = fault.start + len(word[0])
    hint = f'write "{word[0]}"'
    if previous.text in ("<", "<=", ">", ">="):
        hint += " for a text; columns are not compared with each other"
    return fault.report("unquoted-value", f"the value `{word[0]}` needs quotes", hint, end=end)
