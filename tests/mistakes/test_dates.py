"""Dates without quotes, or in other forms, are errors, and the hint gives the literal to write."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pandas as pd
import pytest

from lnnkit.syntax.dates import days
from lnnkit.syntax.parse import parse
from tests.mistakes.trying import answers, findings

HEAD = 'date start(person)\nfact start(ann) = date "2019-04-14"\nfact start(bob) = date "2022-01-08"\n'


@pytest.mark.parametrize(
    "line",
    [
        "rule start(X) > 2020-01-01 -> New(X)",
        "rule start(X) > 2020-1-1 -> New(X)",
        "rule start(X) > 2020-01-01T12:00 -> New(X)",
        "rule start(X) > 2020-01-01 12:00:00 -> New(X)",
        "rule start(X) > 2020/01/01 -> New(X)",
        "rule start(X) > 2020/1/1 -> New(X)",
        "rule start(X) > 2020.01.01 -> New(X)",
        "rule start(X) > 01.01.2020 -> New(X)",
        "rule start(X) > 1/1/2020 -> New(X)",
        "rule start(X) > 01-01-2020 -> New(X)",
        "rule start(X) > 1-Jan-2020 -> New(X)",
        "rule start(X) > 1 January 2020 -> New(X)",
        "rule start(X) > Jan 1 2020 -> New(X)",
        "rule start(X) > January 1st, 2020 -> New(X)",
        'rule start(X) > "Jan 1, 2020" -> New(X)',
        'rule start(X) > "01.01.2020" -> New(X)',
        "rule start(X) > 2020-01 -> New(X)",
        "rule start(X) > date(2020-01-01) -> New(X)",
        'rule start(X) > date("2020-01-01") -> New(X)',
        'rule start(X) > DATE "2020-01-01" -> New(X)',
        "rule start(X) - 2020-01-01 > 0 -> New(X)",
        "rule start(X) between 2020-01-01 and 2040-12-31 -> New(X)",
        'rule start(X) > "2020-01-01" -> New(X)',
        "rule start(X) > ?since=2020-01-01 -> New(X)",
    ],
)
def test_the_literal_of_the_hint_takes_the_place_of_the_date(line: str, tmp_path: Path) -> None:
    (found,) = [each for each in findings(f"{HEAD}{line}\nquery New(X)\n", tmp_path) if each.severity == "error"]
    assert found.line == 4
    if found.code == "between":  # the whole comparison is written anew
        operands = re.search(r"write `(.*)`", found.hint)
        assert operands is not None
        mended = f"rule {operands[1]} -> New(X)"
    else:
        literal = re.search(r"write `(date [^`]+)`", found.hint)
        assert literal is not None
        assert found.span is not None
        at = found.span.start - len(HEAD)
        mended = line[:at] + literal[1] + line[at + len(found.span.text) :]
    assert answers(f"{HEAD}{mended}\nquery New(X)\n", tmp_path) == [[(("bob",), 1.0, 1.0)]]


@pytest.mark.parametrize(
    ("statement", "column"),
    [
        ("fact start(ann) = 2024-01-01", 19),
        ("fact start(ann) = 2024-01-01T10:30", 19),
        ("label start(ann) = 2024-01-01", 20),
        ("fact start(ann) in [2020-01-01, 2021-01-01]", 21),
        ("rule start(X) > 01.02.2024 -> New(X)", 17),
        ("rule start(X) > 01/02/2024 -> New(X)", 17),
        ("query start(X) > 2024-13-45", 18),
        ("query start(X) > 24-01-05", 18),
        ("query start(X) > 5/1/24", 18),
        ("fact start(ann) = 5th Jan 2024", 19),
        ("fact start(ann) = date(2024-01-05)", 19),
        ("fact start(ann) = 2024-12", 19),
        ("query start(X) > 18000 & start(X) < 2024-12", 37),
        ('fact start(ann) = "1 Jan 2024"', 19),
    ],
)
def test_a_date_is_pointed_at(statement: str, column: int) -> None:
    (found,) = parse(f"date start(person)\n{statement}\n")[1]
    assert (found.code, found.line, found.column) == ("date-as-number", 2, column)
    assert 'write `date "2' in found.hint or 'a date is written `date "2020-01-31"`' in found.hint


@pytest.mark.parametrize("date", ["1970-01-01", "2024-02-29", "1969-12-31", "0001-01-01"])
def test_days_are_those_of_the_calendar(date: str) -> None:
    assert days(date) == (datetime.date.fromisoformat(date) - datetime.date(1970, 1, 1)).days


def test_a_time_is_a_part_of_a_day() -> None:
    assert days("1970-01-02T12:00") == days("1970-01-02 12:00:00Z") == 1.5
    assert days("1970-01-02T12:00+06:00") == 1.25
    assert days("2023-02-29") is None


@pytest.mark.parametrize(
    ("date", "iso"),
    [
        ("05.01.2024", "2024-01-05"),
        ("2024.1.5", "2024-01-05"),
        ("13/05/2024", "2024-05-13"),
        ("05/13/2024", "2024-05-13"),
        ("31-12-2023", "2023-12-31"),
        ("5-Jan-2024", "2024-01-05"),
        ("5 Sept 2024", "2024-09-05"),
        ("December 31st, 2023", "2023-12-31"),
        ("2024-02", "2024-02-01"),
        ("May 2024", "2024-05-01"),
    ],
)
def test_dates_as_people_write_them(date: str, iso: str) -> None:
    assert days(date) == (datetime.date.fromisoformat(iso) - datetime.date(1970, 1, 1)).days


def test_both_readings_of_a_date_are_named(tmp_path: Path) -> None:
    (found,) = findings(f"{HEAD}query start(X) > 03/04/2024\n", tmp_path)
    assert 'write `date "2024-04-03"` or `date "2024-03-04"`' in found.hint
    assert days("03/04/2024") is None


@pytest.mark.parametrize(("time", "hours"), [("10:30", 10.5), ("8:45:00", 8.75)])
def test_times_of_the_day(time: str, hours: float, tmp_path: Path) -> None:
    (tmp_path / "opens.csv").write_text(f"who,opens\nbar,{time}\n")
    (found,) = findings('number opens(p)\nload opens from "opens.csv"\n', tmp_path)
    assert found.code == "bad-number" and f"`{hours:g}` in hours" in found.hint


def test_dates_are_entities_where_entities_stand(tmp_path: Path) -> None:
    (tmp_path / "born.csv").write_text("who,day\nann,2024-01-01\nbob,2023-01-01\n")
    text = 'fact Holiday(2024-01-01)\nfact Holiday("2023-01-01 10:00")\nload Born from "born.csv"\n'
    text += "rule Born(X, D) & Holiday(D) -> Lucky(X)\nquery Lucky(X)\n"
    text += 'load New from "born.csv" (who) where day = "2023-01-01"\nquery New(X)\n'
    assert findings(text, tmp_path) == []
    assert answers(text, tmp_path) == [[(("ann",), 1.0, 1.0)], [(("bob",), 1.0, 1.0)]]


def test_a_subtraction_takes_blanks(tmp_path: Path) -> None:
    text = "number n(p)\nfact n(ann) = 18000\nfact n(bob) = 19000\n"
    text += "rule n(X) > 20000 - 01 - 1998 -> New(X)\nquery New(X)\n"
    assert answers(text, tmp_path) == [[(("bob",), 1.0, 1.0)]]


@pytest.mark.parametrize("date", ["2020-01-01", "1/1/2020", "01.01.2020", '"Jan 1, 2020"', "1-Jan-2020", "2020-1-1"])
def test_a_table_of_dates_says_what_to_declare_and_how_to_write_it(date: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"who": ["ann"], "start": [date.strip('"')]})
    frame.to_csv(tmp_path / "start.csv", index=False)
    (found,) = findings('number start(person)\nload start from "start.csv"\n', tmp_path)
    assert (found.code, found.row) == ("bad-number", 2) and "declare it with `date` instead of `number`" in found.hint
    for code in re.findall(r"`(pd[^`]*)`", found.hint):  # two where the month may be either
        frame.assign(start=eval(code, {"pd": pd, "column": frame["start"]})).to_csv(tmp_path / "start.csv", index=False)
        days = [[(("ann",), 18262.0, 18262.0)]]
        assert answers('date start(person)\nload start from "start.csv"\nquery start(X)\n', tmp_path) == days
