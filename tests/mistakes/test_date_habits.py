"""Dates as other languages have them, and numbers in the place of dates: the literal that a hint gives is right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.mistakes.trying import findings

HEAD = """date due(item)
date paid(item)
number price(item)
date today
predicate Late(item)
fact today = date "2026-01-01"
fact due(a) = date "2025-01-01"
"""


@pytest.mark.parametrize(
    ("line", "code", "mended"),
    [
        ('fact paid(a) = date "15.01.2024"', "bad-date", 'fact paid(a) = date "2024-01-15"'),
        ("fact paid(a) = date(2024, 1, 15)", "date-as-number", 'fact paid(a) = date "2024-01-15"'),
        ("rule due(X) > date(2024, 1, 15) -> Late(X)", "date-as-number", 'rule due(X) > date "2024-01-15" -> Late(X)'),
        ("fact paid(a) = 2024", "date-and-number", 'fact paid(a) = date "2024-01-01"'),
        ("fact paid(a) = 19737", "date-and-number", 'fact paid(a) = date "2024-01-15"'),
        ("rule due(X) > 2024 -> Late(X)", "date-and-number", 'rule due(X) > date "2024-01-01" -> Late(X)'),
        ("rule due(X) > ?2024 -> Late(X)", "date-and-number", 'rule due(X) > ?date "2024-01-01" -> Late(X)'),
        ("rule due(X) > ?c=2024 -> Late(X)", "date-and-number", 'rule due(X) > ?c=date "2024-01-01" -> Late(X)'),
        ("rule due(X) + 2 weeks < today -> Late(X)", "number-unit", "rule due(X) + 14 days < today -> Late(X)"),
        ("rule due(X) + 30days < today -> Late(X)", "number-unit", "rule due(X) + 30 days < today -> Late(X)"),
        ("fact paid(a) = today", "value-not-number", "rule paid(a) = today"),
        ("fact paid(a)", "number-without-value", 'fact paid(a) = date "2024-01-15"'),
        ("rule due(X) -> Late(X)", "number-as-formula", 'rule due(X) > date "2024-01-15" -> Late(X)'),
    ],
)
def test_what_the_hint_says_is_right(line: str, code: str, mended: str, tmp_path: Path) -> None:
    found = findings(f"{HEAD}{line}\nquery Late(X)\n", tmp_path)
    assert [each.code for each in found if each.severity == "error"] == [code]
    (literal,) = re.findall(r"(?:write|one:|it:|rule:) `([^`]+)`", found[0].hint)
    assert literal in mended
    mended_head = HEAD.replace('fact due(a) = date "2025-01-01"', "") if "fact due" in mended else HEAD
    assert findings(f"{mended_head}{mended}\nquery Late(X)\n", tmp_path) == []


@pytest.mark.parametrize(
    ("line", "code", "hint"),
    [
        ('fact paid(a) = date "2024-02-30"', "bad-date", '"2024-01-15T12:30+02:00"'),
        ('fact price(a) = date "2024-01-15"', "date-and-number", "`date price(entity)`"),
        ('fact paid(a) in [date "2024-02-01", date "2024-01-01"]', "bounds-reversed", 'in [date "2024-01-01", '),
        ("rule due(X) > price(X) -> Late(X)", "date-and-number", "`date price(entity)`"),
        ("rule due(X) + paid(X) > today -> Late(X)", "date-arithmetic", "`due(X) + 30 days`"),
        ("rule 30 - due(X) > 5 -> Late(X)", "date-arithmetic", "`due(X) - 30`"),
        ("rule due(X) * 2 > paid(X) -> Late(X)", "date-arithmetic", 'date "1970-01-01"'),
        ("rule years(due(X)) > 3 -> Late(X)", "date-and-number", "`years(born(X), today)`"),
        ("rule years(due(X), price(X)) > 3 -> Late(X)", "date-and-number", "`date price(entity)`"),
        ("rule due(X) + 3 months < today -> Late(X)", "number-unit", "`months(hired(X), today) >= 3`"),
        ("rule due(X) + price(X) days < today -> Late(X)", "number-unit", "remove it: what is added"),
        ("rule today - due(X) > ?30 days -> Late(X)", "number-unit", "remove it: what is added"),
        ("rule years(min Y: due(Y), today) > 3 -> Late(X)", "aggregate", "an aggregate is in parentheses"),
        ("rule year(due(X)) = 2024 -> Late(X)", "unknown-function", '`date "2024-01-01" <= born(X) <'),
        ("rule datediff(due(X), today) > 3 -> Late(X)", "unknown-function", "`until(X) - since(X)`"),
    ],
)
def test_a_mistake_is_named(line: str, code: str, hint: str, tmp_path: Path) -> None:
    found = findings(f"{HEAD}{line}\nquery Late(X)\n", tmp_path)
    assert [each.code for each in found if each.severity == "error"] == [code]
    assert hint in found[0].hint
