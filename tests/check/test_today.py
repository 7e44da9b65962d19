"""Findings about dates and about which day `today` is."""

from __future__ import annotations

from pathlib import Path

import pytest

from lnnkit.check import check
from lnnkit.syntax.parse import parse

HEAD = "date due(item)\ndate today\n"


@pytest.mark.parametrize(
    ("text", "today", "code"),
    [
        (f"{HEAD}rule due(X) < today -> Late(X)", None, "unknown-today"),
        (f'{HEAD}fact today = date "2026-01-01"\nrule due(X) < today -> Late(X)', "2026-11-30", "two-todays"),
        ("fact Late(anna)", "2026-11-30", "undeclared-today"),
        (f"{HEAD}rule due(X) < 5 -> Late(X)", "2026-11-30", "date-and-number"),
        (f"{HEAD}rule due(X) + today < today -> Late(X)", "2026-11-30", "date-arithmetic"),
    ],
)
def test_a_finding(text: str, today: str | None, code: str) -> None:
    program, findings = parse(f"{text}\nquery Late(X)\n")
    assert findings == []
    assert [found.code for found in check(program, Path(), today=today)[1]] == [code]
