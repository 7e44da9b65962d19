"""What a trial on tables of other people's making found: hints that led astray, followed to the end."""

from __future__ import annotations

from pathlib import Path

import pytest

import lnnkit
from lnnkit.draft.drafting import draft
from lnnkit.draft.survey import survey
from tests.mistakes.trying import findings


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["24-01-15", "23-02-11"], '`pd.to_datetime(column, format="%y-%m-%d")`'),  # the year may stand first
        (["2024", "2023"], "a number compares with a number"),
        (["15.01.2024", "11.02.2023"], '`pd.to_datetime(column, format="%d.%m.%Y")`'),
    ],
)
def test_cells_that_are_no_dates(cells: list[str], told: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,d\n" + "".join(f"{n},{cell}\n" for n, cell in enumerate(cells)))
    found = findings('load P from "t.csv" (id) where d >= "2024-01-01"\nquery P(X)\n', tmp_path)
    assert {each.code for each in found} == {"bad-date"}
    assert any(told in each.hint for each in found) and not any("missing" in each.hint for each in found)


def test_a_day_that_there_is_not(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,d\n1,2024-01-15\n")
    (found,) = findings('load P from "t.csv" (id) where d >= "2024-02-30"\nquery P(X)\n', tmp_path)
    assert found.message.endswith("no day of the calendar")


@pytest.mark.parametrize("blank", ["\u00a0", "\u202f", " ", "'"])
def test_thousands_with_any_blank(blank: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"id,n\na,1{blank}234\n")
    (found,) = findings('number n(e)\nload n from "t.csv"\nquery n(X)\n', tmp_path)
    assert found.hint == "a number has no separators: write 1234"


@pytest.mark.parametrize("closed", ["", " closed"])
def test_truths_in_another_language(closed: str, tmp_path: Path) -> None:
    """To take `ja` for a missing cell, as a hint said, would make every truth unknown."""
    (tmp_path / "t.csv").write_text("id,t\na,ja\nb,nein\n")
    text = f'predicate P(e){closed}\nload P from "t.csv" (id, t)\nquery P(X)\n'
    first = findings(text, tmp_path)[0]
    assert first.code == "bad-truth" and "missing" not in first.hint
    where = first.hint.split("`")[1]
    kb = lnnkit.loads(text.replace("(id, t)", f"(id) {where}"), tmp_path)
    assert [(each.bindings["X"], each.lower) for each in kb.ask("P(X)")] == [("a", 1)]


def test_a_number_that_names_rows_of_another_table(tmp_path: Path) -> None:
    (tmp_path / "kunden.csv").write_text("id,name\n7,Acme\n12,Bolt\n31,Nut\n")
    (tmp_path / "rechnungen.csv").write_text("rechnung,kunde,betrag\nR1,12,1\nR2,7,2\nR3,7,3\n")
    paths = ["kunden.csv", "rechnungen.csv"]
    kb = lnnkit.loads(draft([survey(tmp_path / path) for path in paths], paths), tmp_path)
    assert [each.bindings["X"] for each in kb.ask("Kunde(X, 7)")] == ["R2", "R3"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("number age(p)\nfact age(a) = 1\nfact age(b) in [3..5]", "write `in [3, 5]`"),
        ('load P(X, Y) from "t.csv" (id, name)', '`load Parent from "people.csv" (name, child) where age > 18`'),
        ("fact P(a)\nrule count{X: P(X)} > 2 -> Q", "write `(count Y: Owns(X, Y)) > 3`"),
    ],
)
def test_what_is_said_of_statements(wrong: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,name,n\n1,anna,1\n")
    assert told in findings(f"{wrong}\n", tmp_path)[0].hint


@pytest.mark.parametrize(
    ("test", "right"),
    [("age > 2 * 9", ["1"]), ("year(born) = 1990", ["1"]), ("(age + 1) / 2 > 8.5", ["1", "2"])],
)
def test_a_calculation_in_a_condition_is_a_query(test: str, right: list[str], tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    (tmp_path / "t.csv").write_text("id,age,born\n1,34,1990-05-01\n2,17,2001-01-01\n3,11,2020-01-01\n")
    found = findings(f'load P from "t.csv" (id) where {test}\nquery P(X)\n', tmp_path)
    instead = found[0].hint.removeprefix("write `").rpartition("`")[0]
    kb = lnnkit.loads(f"{instead}\nquery P(X)", tmp_path)
    assert [each.bindings["X"] for each in kb.ask("P(X)")] == right
