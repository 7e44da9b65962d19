"""``where`` with two columns: numbers with numbers, dates with dates, and an error for what does not compare."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lnnkit
from lnnkit.syntax.diagnostic import Diagnostic
from tests.mistakes.trying import findings

BILLS = """id,due,paid,price,limit
a,2024-02-15,2024-02-20,9,10
b,2024-02-15T12:00:00,2024-02-15,10.0,10
c,2024-02-15,,7,
d,9999-12-31,2024/3/1,100,20
"""


def kept(folder: Path, condition: str, name: str = "bills.csv", clauses: str = "") -> list[str]:
    kb = lnnkit.loads(f'load P from "{name}" (id) where {condition} {clauses}\nquery P(X)', folder)
    return [answer.bindings["X"] for answer in kb.ask("P(X)")]


def found(folder: Path, condition: str, name: str = "bills.csv") -> list[Diagnostic]:
    return findings(f'load P from "{name}" (id) where {condition}\nquery P(X)\n', folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bills.csv").write_text(BILLS)
    return tmp_path


@pytest.mark.parametrize(
    ("condition", "right"),
    [
        ("paid > due", ["a"]),
        ("paid <= due", ["b", "d"]),  # noon is after midnight
        ("price < limit", ["a"]),  # 100 is above 20, and "100" before "20"
        ("price = limit", ["b"]),
        ("price != limit", ["a", "d"]),  # no comparison with a missing cell holds
        ("id = due", []),
        ("id != due", ["a", "b", "c", "d"]),
        ('paid > due and id = "a"', ["a"]),
    ],
)
def test_numbers_and_dates(folder: Path, condition: str, right: list[str]) -> None:
    assert kept(folder, condition) == right


def test_texts_are_equal_or_not(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,x,y\na,red,red\nb,red,blue\nc,007,7\nd,01.02.2024,01.02.2024\n")
    assert kept(tmp_path, "x = y", "t.csv") == ["a", "c", "d"]
    assert kept(tmp_path, "x != y", "t.csv") == ["b"]


def test_long_numbers_that_floats_confuse(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "id,x,y\na,9007199254740993,9007199254740992\nb,9007199254740993,9007199254740993\n"
    )
    assert [each.row for each in found(tmp_path, "x = y", "t.csv") if each.severity == "error"] == [2]
    (tmp_path / "t.parquet").touch()
    big = pa.table({"id": ["a", "b"], "x": [2**60, 2**60 + 1], "y": [2**60 + 1, 2**60 + 1]})
    pq.write_table(big, tmp_path / "t.parquet")
    assert kept(tmp_path, "x = y", "t.parquet") == ["b"]
    assert kept(tmp_path, "x < y", "t.parquet") == ["a"]


def test_typed_dates_and_stamps_with_zones(tmp_path: Path) -> None:
    days = pa.array([dt.date(2024, 1, 2), dt.date(9999, 12, 31), None], pa.date32())
    stamps = pa.array([dt.datetime(2024, 1, 1, 23), dt.datetime(2024, 1, 2), dt.datetime(2024, 1, 2)])
    table = pa.table({"id": ["a", "b", "c"], "day": days, "at": stamps.cast(pa.timestamp("ns", "Europe/Vienna"))})
    pq.write_table(table, tmp_path / "t.parquet")
    assert kept(tmp_path, "at < day", "t.parquet") == ["a", "b"]
    (tmp_path / "z.csv").write_text(
        "id,x,y\na,2024-01-01T10:00:00+02:00,2024-01-01T09:00:00Z\nb,2024-01-01T23:00:00-05:00,2024-01-02T00:00:00Z\n"
    )
    assert kept(tmp_path, "x < y", "z.csv") == ["a"]


@pytest.mark.parametrize(
    ("left", "right", "code", "told"),
    [
        ("15.02.2024", "2024-02-20", "bad-date", "dd.mm.yyyy"),
        ("15.02.2024", "20.02.2024", "bad-date", 'format="%d.%m.%Y"'),
        ("anna", "2024-02-20", "bad-number", "only numbers and dates are ordered"),
        ("2024-02-20", "7", "bad-number", "compare columns of one kind"),
        ("1,5", "7", "bad-number", "write 1.5"),
    ],
)
def test_what_does_not_compare(tmp_path: Path, left: str, right: str, code: str, told: str) -> None:
    (tmp_path / "t.csv").write_text(f"id;x;y\na;1;2\nb;{left};{right}\n")
    (one,) = findings('load P from "t.csv" (id) where x < y delimiter ";"\nquery P(X)\n', tmp_path)
    assert (one.code, one.row) == (code, 3)
    assert told in f"{one.message} {one.hint}"


def test_decimal_commas(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id;x;y\na;1.234,5;1.300,0\nb;10,0;9,5\n")
    assert kept(tmp_path, "x < y", "t.csv", 'delimiter ";" decimal ","') == ["a"]


def test_a_text_without_quotes_is_no_column(folder: Path) -> None:
    (one,) = found(folder, "id = anna")
    assert one.code == "unquoted-value" and one.span is not None and one.span.text == "anna"
    assert one.hint.startswith('write "anna" for a text')
    (one,) = found(folder, "paid < deu")
    assert 'did you mean "due"?' in one.hint
    (one,) = found(folder, "paid = NULL")
    assert one.code == "bad-condition" and one.hint == "write `is null`"


def test_batches_of_a_stream_decide_alike(folder: Path) -> None:
    text = 'predicate Late(bill)\npredicate Remind(bill)\nload Late from "bills.csv" (id) where paid > due\n'
    text += "rule Late(X) -> Remind(X)\nquery Remind(X)"
    whole = lnnkit.loads(text, folder)
    scorer = lnnkit.loads(text, folder).scorer("bill")
    rows = [dict(zip(BILLS.split("\n")[0].split(","), line.split(","), strict=True)) for line in BILLS.split()[1:]]
    for row in rows:
        batch = pa.RecordBatch.from_pylist([row])
        true = [each.bindings["X"] for each in whole.ask("Remind(X)") if each.lower == 1]
        assert (scorer(batch).to_pylist()[0]["Remind_lower"] == 1) == (row["id"] in true)


def test_bytes_that_are_no_text_equal_themselves_and_are_not_ordered(tmp_path: Path) -> None:
    rows = b"id,x,y\na,\xff,\xff\nb,\xff,\xfe\nc,u,\xff\nd,u,u\ne,1,2\n"
    (tmp_path / "bytes.csv").write_bytes(rows)
    assert kept(tmp_path, "x = y", "bytes.csv") == ["a", "d"]
    assert kept(tmp_path, "x != y", "bytes.csv") == ["b", "c", "e"]
    assert kept(tmp_path, 'x < "v"', "bytes.csv") == ["c", "d", "e"]
    assert kept(tmp_path, 'y <= "v"', "bytes.csv") == ["d", "e"]
    ordered = found(tmp_path, "x < y", "bytes.csv")
    assert [(finding.code, finding.row) for finding in ordered] == [
        *(("bad-row", row) for row in (2, 3)),
        *(("bad-number", row) for row in (4, 5)),
    ]
    assert "compared with text that is not UTF-8" in ordered[0].message
