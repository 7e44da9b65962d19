"""Dates among numbers are errors, and the hint gives the number to write."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pytest

from lnnkit.syntax.dates import days
from lnnkit.syntax.parse import parse
from tests.mistakes.trying import answers, findings

HEAD = "number start(person)\nfact start(ann) = 18000\nfact start(bob) = 19000\n"


@pytest.mark.parametrize(
    "line",
    [
        "rule start(X) > 2020-01-01 -> New(X)",
        "rule start(X) > 2020-1-1 -> New(X)",
        "rule start(X) > 2020-01-01T12:00 -> New(X)",
        "rule start(X) > 2020-01-01 12:00:00 -> New(X)",
        "rule start(X) > 2020/01/01 -> New(X)",
        "rule start(X) - 2020-01-01 > 0 -> New(X)",
        "rule start(X) between 2020-01-01 and 2040-12-31 -> New(X)",
        'rule start(X) > "2020-01-01" -> New(X)',
        "rule start(X) > ?since=2020-01-01 -> New(X)",
    ],
)
def test_the_number_of_the_hint_takes_the_place_of_the_date(line: str, tmp_path: Path) -> None:
    (found,) = findings(f"{HEAD}{line}\nquery New(X)\n", tmp_path)
    assert found.severity == "error" and found.line == 4
    date = r"\"?\d{4}[-/]\d+[-/]\d+(?:[T ][\d:]+)?\"?"
    if found.code == "between":  # the whole comparison is written anew
        operands = re.search(r"write `(.*)`", found.hint)
        assert operands is not None
        mended = f"rule {operands[1]} -> New(X)"
    else:
        number = re.search(r"write `([\d.]+)`", found.hint)
        assert number is not None
        mended = re.sub(date, number[1], line)
    assert answers(f"{HEAD}{mended}\nquery New(X)\n", tmp_path) == [[(("bob",), 1.0, 1.0)]]


@pytest.mark.parametrize(
    ("statement", "column"),
    [
        ("fact start(ann) = 2024-01-01", 19),
        ("fact start(ann) = 2024-01-01T10:30", 19),
        ('fact start(ann) = "2024-01-01"', 19),
        ("label start(ann) = 2024-01-01", 20),
        ("fact start(ann) in [2020-01-01, 2021-01-01]", 21),
        ("rule start(X) > 01.02.2024 -> New(X)", 17),
        ("rule start(X) > 01/02/2024 -> New(X)", 17),
        ("query start(X) > 2024-13-45", 18),
    ],
)
def test_a_date_is_pointed_at(statement: str, column: int) -> None:
    (found,) = parse(f"number start(person)\n{statement}\n")[1]
    assert (found.code, found.line, found.column) == ("date-as-number", 2, column)
    assert "days since 1970-01-01" in found.hint


@pytest.mark.parametrize("date", ["1970-01-01", "2024-02-29", "1969-12-31", "0001-01-01"])
def test_days_are_those_of_the_calendar(date: str) -> None:
    assert days(date) == (datetime.date.fromisoformat(date) - datetime.date(1970, 1, 1)).days


def test_a_time_is_a_part_of_a_day() -> None:
    assert days("1970-01-02T12:00") == days("1970-01-02 12:00:00Z") == 1.5
    assert days("1970-01-02T12:00+06:00") == 1.25
    assert days("2023-02-29") is None


def test_dates_are_entities_where_entities_stand(tmp_path: Path) -> None:
    (tmp_path / "born.csv").write_text("who,day\nann,2024-01-01\nbob,2023-01-01\n")
    text = 'fact Holiday(2024-01-01)\nfact Holiday("2023-01-01 10:00")\nload Born from "born.csv"\n'
    text += "rule Born(X, D) & Holiday(D) -> Lucky(X)\nquery Lucky(X)\n"
    text += 'load New from "born.csv" (who) where day = "2023-01-01"\nquery New(X)\n'
    assert findings(text, tmp_path) == []
    assert answers(text, tmp_path) == [[(("ann",), 1.0, 1.0)], [(("bob",), 1.0, 1.0)]]


def test_a_subtraction_takes_blanks(tmp_path: Path) -> None:
    text = f"{HEAD}rule start(X) > 20000 - 01 - 1998 -> New(X)\nquery New(X)\n"
    assert answers(text, tmp_path) == [[(("bob",), 1.0, 1.0)]]


def test_a_table_of_dates_says_which_number_to_write(tmp_path: Path) -> None:
    (tmp_path / "start.csv").write_text("who,start\nann,2020-01-01\n")
    (found,) = findings('number start(person)\nload start from "start.csv"\n', tmp_path)
    assert (found.code, found.row) == ("bad-number", 2) and "`18262`" in found.hint
