"""Tables as a spreadsheet exports them: semicolons and decimal commas."""

from __future__ import annotations

from pathlib import Path

import pytest

import lnnkit
from lnnkit.data.numerals import decimal_comma, meant
from lnnkit.draft.drafting import draft
from lnnkit.draft.survey import survey

WARD = "id;temp;weight;note\nP1;38,9;80;a,b\nP2;36,6;81,5;c\nP3;;1.079,25;d,e\n"


@pytest.mark.parametrize(
    ("text", "number"),
    [("38,9", "38.9"), ("-0,5", "-0.5"), ("1.234,5", "1234.5"), ("1 234,50", "1234.50"), ("1'234,5", "1234.5")],
)
def test_a_decimal_comma_is_read(text: str, number: str) -> None:
    assert decimal_comma(text) == number
    assert f"write {number}, or end the `load` with `decimal" in meant(text)


@pytest.mark.parametrize("text", ["1,2,3", "a,b", "1.23,4", ",5", "12345.678,9", ""])
def test_what_is_none(text: str) -> None:
    assert decimal_comma(text) is None


def test_init_loads_them(tmp_path: Path) -> None:
    path = tmp_path / "ward.csv"
    path.write_text(WARD)
    kb = lnnkit.loads(draft([survey(path)], [path.name]), tmp_path)
    assert {each.bindings["X"]: each.lower for each in kb.ask("temp(X)")} == {"P1": 38.9, "P2": 36.6}
    assert {each.bindings["X"]: each.lower for each in kb.ask("weight(X)")} == {"P1": 80, "P2": 81.5, "P3": 1079.25}
