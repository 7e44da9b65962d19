"""Dates in programs, tables and frames, and as they are shown: answers, proofs, CSV, JSON, Arrow, editors, scoring."""

from __future__ import annotations

import csv
import json
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lnnkit
from lnnkit.cli import main
from lnnkit.syntax.dates import date_text, days_of
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_program
from tests.editor.test_editor import hover, suggested

ADULTS = """date born(person)
date today
rule years(born(X), today) >= 18 -> Adult(X)
query born(X)
query Adult(X)
"""


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (0, "1970-01-01"),
        (-1, "1969-12-31"),
        (19782, "2024-02-29"),
        (0.5, "1970-01-01T12:00"),
        (19782 + 1 / 86400, "2024-02-29T00:00:01"),
        (-719163, "+0000-12-31"),
        (2932897, "+10000-01-01"),
        (20000 + 1 / 86_400_000, "2024-10-04T00:00:00.001"),
        (1e300, "1e+300 days after 1970-01-01"),
    ],
)
def test_dates_as_text(days: float, text: str) -> None:
    assert date_text(days) == text
    assert abs(days) > 1e10 or days_of(text) == days


def test_a_program_prints_to_itself() -> None:
    text = "\n".join(
        (
            "date due(item)",
            "date today",
            'fact due(anna) = date "2024-01-15T12:30"',
            'fact due(ben) in [date "2024-01-15", inf]',
            "rule due(X) + 30 days < today & years(due(X), today) >= 1 -> Late(X)",
            'rule due(X) < ?cut=date "2024-01-15" -> Late(X)',
            'rule months(due(X) + 1 day, today - 3) > ?date "2024-01-15" - today -> Late(X)',
            'query max X: due(X) where due(X) < date "2024-01-15"',
            "",
        )
    )
    program, findings = parse(text)
    assert findings == []
    assert format_program(program) == text


ANNA, BEN = 14213, 14214
BERLIN = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    "table",
    [
        [("anna", date(2008, 11, 30)), ("ben", "2008-12-01"), ("cleo", None)],
        [("anna", datetime(2008, 11, 30, 2, tzinfo=BERLIN)), ("ben", datetime(2008, 12, 1, tzinfo=UTC))],
        pd.DataFrame({"n": ["anna", "ben"], "d": pd.to_datetime(["2008-11-30", "2008-12-01"])}),
        pd.DataFrame({"n": ["anna", "ben"], "d": ["2008-11-30", "2008-12-01T02:00+02:00"]}).iloc[:1],
        pl.DataFrame({"n": ["anna", "ben"], "d": [date(2008, 11, 30), date(2008, 12, 1)]}),
        pa.table({"n": ["anna", "ben"], "d": pa.array([ANNA, BEN], pa.date32())}),
        pa.table({"n": ["anna"], "d": pa.array([datetime(2008, 11, 30)], pa.timestamp("ns", "America/New_York"))}),
    ],
)
def test_frames_and_rows(table: object) -> None:
    kb = lnnkit.loads(ADULTS, today=date(2026, 11, 30))
    kb.tell("born", table)
    known = {answer.bindings["X"]: answer.lower for answer in kb.ask("born(X)")}
    assert known.items() <= {"anna": ANNA, "ben": BEN}.items()
    assert [answer.bindings["X"] for answer in kb.ask("Adult(X)")] == ["anna"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("a", 2008)], "2008, not a date"),
        ([("a", True)], "True, not a date"),
        ([("a", "20081130")], "a number and not a date"),
        ([("a", "30.11.2008")], "a date as dd.mm.yyyy"),
        ([("a", "2008-02-30")], "'2008-02-30', not a date"),
        ([("a", "2008-02-03T10:00Z"), ("b", "2008-02-03T10:00")], "without the time zone"),
    ],
)
def test_cells_that_are_no_dates(rows: list[tuple[str, object]], said: str) -> None:
    kb = lnnkit.loads(ADULTS, today="2026-11-30")
    with pytest.raises(lnnkit.DataError, match=said):
        kb.tell("born", rows)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("name,born\nanna,2008-11-30\nben,2008-12-01T06:30\ncleo,\n")
    text = ADULTS.replace("rule", 'load born from "people.csv" (name, born)\nrule') + "query born(X) + 30 days\n"
    (tmp_path / "p.lnn").write_text(text)
    return tmp_path


def test_the_command_line_prints_dates(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "p.lnn", "--today", "2026-11-30"]) == 0
    out = capsys.readouterr().out
    assert "anna  2008-11-30        date" in out and "ben   2008-12-31T06:30  date" in out
    assert "(today is 2026-11-30)" in out
    assert main(["explain", "p.lnn", "Adult(anna)", "--today", "2026-11-30"]) == 0
    out = capsys.readouterr().out
    assert "born(anna) <= 2008-11-30   fact, people.csv:2" in out and "today >= 2026-11-30   fact, --today:1" in out
    assert main(["explain", "p.lnn", "Adult(ben)", "--why-not", "--today", "2026-11-30"]) == 0
    assert "where born(ben) is 2008-12-01T06:30 and today is 2026-11-30" in capsys.readouterr().out
    assert main(["run", "p.lnn", "--today", "2026-11-30", "--format", "csv", "-q", "born(X)"]) == 0
    rows = list(csv.reader(capsys.readouterr().out.splitlines()))
    assert rows[1] == ["anna", "2008-11-30", "2008-11-30", "date"]
    assert main(["run", "p.lnn", "--today", "2026-11-30", "--format", "json", "-q", "born(X)"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["today"] == "2026-11-30"
    assert found["queries"][0]["answers"][1]["upper"] == "2008-12-01T06:30"
    assert main(["prove", "p.lnn", 'Adult(anna) & ~(born(ben) < date "2008-12-01")', "--today", "2026-11-30"]) == 0
    assert "entailed" in capsys.readouterr().out


def test_today_is_never_guessed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "p.lnn", "-q", "Adult(X)"]) == 0
    shown = capsys.readouterr()
    assert "unknown-today" in shown.err and "no answers" in shown.out
    (folder / "p.lnn").write_text((folder / "p.lnn").read_text() + 'fact today = date "2026-01-01"\n')
    assert main(["run", "p.lnn", "--today", "2026-11-30"]) == 1
    assert "error[two-todays]" in capsys.readouterr().err
    (folder / "q.lnn").write_text("fact A(a)\nquery A(X)\n")
    assert main(["run", "q.lnn", "--today", "2026-11-30"]) == 1
    assert capsys.readouterr().err.count("error[") == 1
    assert main(["run", "p.lnn", "--today", "30.11.2026"]) == 2


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_scored_dates(name: str, folder: Path) -> None:
    assert main(["score", "p.lnn", "--rows", "person=people.csv", "-o", name, "--today", "2026-11-30", "--quiet"]) == 0
    if name.endswith("csv"):
        rows = list(csv.DictReader((folder / name).read_text().splitlines()))
        assert [row["born_lower"] for row in rows] == ["2008-11-30", "2008-12-01T06:30", ""]
    else:
        found = pq.read_table(folder / name).column("born_upper").to_pylist()
        assert found == [datetime(2008, 11, 30), datetime(2008, 12, 1, 6, 30), None]


def test_assumed_dates() -> None:
    kb = lnnkit.loads(ADULTS + "fact Known(anna)\n", today="2026-11-30")
    assert kb.assume({"born(anna)": "2008-11-30"}).ask("Adult(anna)")[0].state == "true"
    assert kb.assume({"born(anna)": (date(2008, 11, 1), "2008-12-31")}).ask("Adult(anna)")[0].state == "unknown"
    with pytest.raises(ValueError, match="needs one date"):
        kb.assume({"born(anna)": "2008-02-30"})


def test_a_threshold_is_learned_and_written_as_a_date(tmp_path: Path) -> None:
    days = [date(2020, 1, 1) + timedelta(11 * place) for place in range(100)]
    lines = [f'fact made(i{place}) = date "{day}"' for place, day in enumerate(days)]
    lines += [f"label {'' if day < date(2021, 6, 1) else '~'}Recall(i{place})" for place, day in enumerate(days)]
    rules = ["rule made(X) < ?cut -> Recall(X)", "rule made(X) >= ?cut -> ~Recall(X)"]
    kb = lnnkit.loads("\n".join(["date made(item)", *lines, *rules]))
    kb.fit()
    assert '< ?cut=date "2021-0' in kb.text
    assert lnnkit.loads(kb.text).ask("Recall(i0)")[0].state == "true"


@pytest.mark.parametrize("start", ['?cut=date "2024-03-01"', "?cut", "?"])
def test_what_training_writes_is_trained_again(start: str) -> None:
    kb = lnnkit.loads(
        f"date due(t)\npredicate Late(t)\nrule due(X) < {start} -> Late(X)\nrule due(X) >= {start} -> ~Late(X)\n"
        'fact due(a) = date "2024-01-05"\nfact due(b) = date "2024-02-05"\nlabel Late(a)\nlabel ~Late(b)\n'
    )
    for _ in range(2):
        kb.fit()
        assert 'date "2024-0' in kb.text.split("fact")[0]
        kb = lnnkit.loads(kb.text)
        assert [(answer.bindings["X"], answer.lower) for answer in kb.ask("Late(X)")] == [("a", 1), ("b", 0)]


@pytest.mark.parametrize("term", ["floor(born(X))", "exp(born(X))", "min(born(X), 5)"])
def test_functions_of_numbers_are_of_no_date(term: str) -> None:
    with pytest.raises(lnnkit.ProgramError, match="date-arithmetic"):
        lnnkit.loads(f'date born(p)\nfact born(a) = date "2024-01-05"\nquery {term}\n')


def test_editors_know_dates() -> None:
    said = hover('date born(person)\nfact born(a) = date "2008-11-30"\nquery ¦born(X) > date "2000-01-01"')
    assert "date born(person)" in said and "a date: what is not listed is unknown" in said
    assert suggested("da¦")["date"] == "keyword"
    assert suggested("sort person\ndate born(p¦") == {"person": "sort", "entity": "sort"}
