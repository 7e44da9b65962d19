"""Dates of which some have a time of day: those that are not known are narrowed to instants, in inference, proofs and
scoring; those of a column of days are narrowed to days."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import lnnkit
from lnnkit.cli import main

PROGRAM = """
date born(person)
date today
fact today = date "2026-11-29"
load born from "people.csv" (name, born)
rule years(born(X), today) >= 18 -> Grown(X)
axiom years(born(eve), today) = 18
query born(eve)
query Grown(X)
"""
DAYS, TIMES = "adam,2001-01-01", "adam,2001-01-01T12:30"


def program(folder: Path, other: str, more: str = "") -> str:
    (folder / "people.csv").write_text(f"name,born\n{other}\neve,\n")
    (folder / "people.lnn").write_text(PROGRAM + more)
    return str(folder / "people.lnn")


@pytest.mark.parametrize(("other", "first"), [(DAYS, "2007-11-30"), (TIMES, "2007-11-29")])
def test_a_missing_date_is_a_day_among_days_and_an_instant_among_times(tmp_path: Path, other: str, first: str) -> None:
    kb = lnnkit.load(program(tmp_path, other))
    (answer,) = (found.as_dict() for found in kb.ask("born(eve)"))
    assert (answer["lower"], answer["upper"]) == (first, "2008-11-29")
    assert kb.explain("born(eve)").verify() == []


def test_no_false_contradiction_where_an_instant_is_known_later(tmp_path: Path) -> None:
    later = 'axiom Noon(X) -> born(X) = date "2007-11-29T12:00"\nfact Noon(eve)\n'
    outcome = lnnkit.load(program(tmp_path, TIMES, later)).infer()
    assert not outcome.contradictions
    assert lnnkit.load(program(tmp_path, DAYS, later)).infer().contradictions


def test_times_that_are_told_later_count() -> None:
    kb = lnnkit.loads('date born(person)\naxiom years(born(eve), date "2026-11-29") = 18')
    assert kb.ask("born(eve)")[0].as_dict()["lower"] == "2007-11-30"
    kb.tell("born", [("adam", "2001-01-01T12:30")])
    assert kb.ask("born(eve)")[0].as_dict()["lower"] == "2007-11-29"


def test_a_date_that_an_equation_gives_a_time_is_no_day() -> None:
    text = 'date sent(i)\ndate due(i)\nrule due(X) = sent(X) + 0.5\naxiom years(due(i1), date "2026-11-29") = 18\n'
    assert lnnkit.loads(text).ask("due(i1)")[0].as_dict()["lower"] == "2007-11-29"
    stated = 'fact due(i2) = date "2020-01-01"\nfact sent(i2) = date "2019-12-31T12:00"\n'
    assert lnnkit.loads(text + stated).ask("due(i1)")[0].as_dict()["lower"] == "2007-11-30"


@pytest.mark.parametrize("term", ["born(eve) + 0.25 days", "born(eve) + days(eve)"])
def test_a_term_with_a_part_of_a_day_is_no_day(term: str) -> None:
    text = f'date born(person)\nnumber days(person)\nfact days(eve) = 0.25\naxiom years({term}, date "2026-11-29") = 18'
    kb = lnnkit.loads(text)
    assert kb.ask("born(eve)")[0].as_dict()["lower"] == "2007-11-28T18:00"


@pytest.mark.parametrize(("other", "first"), [(DAYS, "2008-11-30"), (TIMES, "2008-11-29")])
def test_rows_are_scored_as_they_are_inferred(tmp_path: Path, other: str, first: str) -> None:
    path = Path(program(tmp_path, other))
    path.write_text(
        'date born(person)\nload born from "people.csv" (name, born)\n'
        'load Grown from "people.csv" (name, grown)\n'
        'axiom Grown(X) <-> years(born(X), date "2026-11-29") >= 18\nquery born(X)'
    )
    rows = tmp_path / "people.csv"
    rows.write_text(
        rows.read_text().replace("born\n", "born,grown\n", 1).replace("eve,", "eve,,0").replace(other, other + ",1")
    )
    output = tmp_path / "scores.csv"
    assert main(["score", str(path), "--rows", f"person={rows}", "-o", str(output), "--quiet"]) == 0
    scored = output.read_text().splitlines()
    inferred = lnnkit.load(path).ask("born(X)")[1].as_dict()
    assert scored[2] == f'"eve","{first}",,"date"' and inferred["lower"] == first
    batch = pa.table({"name": ["eve"], "born": pa.array([None], pa.string()), "grown": [0]})
    (alone,) = lnnkit.load(path).scorer("person")(batch).to_pylist()
    assert str(alone["born_lower"])[:10] == "2008-11-29"  # a row alone may be of a column with times


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("turned", [True, False])
def test_dates_and_times_mixed_in_a_column_of_python_objects_keep_their_times(whole: bool, turned: bool) -> None:
    values = [pd.NA, date(2024, 1, 1), None, pd.NaT, datetime(2024, 1, 2, 12, 30)]
    frame = pd.DataFrame(
        {"name": ["a", "b", "c", "d", "e"], "born": pd.Series(values[:: -1 if turned else 1], dtype=object)}
    )
    kb = lnnkit.loads("date born(person)\nquery born(X)")
    kb.tell("born", frame if whole else {"name": frame["name"], "born": frame["born"]})
    shown = [answer.as_dict()["lower"] for answer in kb.ask("born(X)")]
    assert sorted(str(day) for day in shown if day is not None) == ["2024-01-01", "2024-01-02T12:30"]


def test_dates_with_times_are_proved(tmp_path: Path) -> None:
    kb = lnnkit.load(program(tmp_path, TIMES))
    assert kb.prove("Grown(adam)").verdict == "entailed"
