"""A column that is compared with a date is read as dates; one in another form is an error whose hint reads it."""

from __future__ import annotations

import datetime
import random
import re
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lnnkit.data.grid import Load
from lnnkit.data.load import read_table
from lnnkit.data.names import SMALL
from lnnkit.syntax import ast
from lnnkit.syntax.parse import parse
from tests.data.reading import STATEMENT, Read

UTC = datetime.UTC


def load(folder: Path, condition: str, name: str = "f.csv", arity: int = 1, columns: str = "id") -> Read:
    program, found = parse(f'load P from "{name}" ({columns}) where {condition}\n')
    assert not found
    (statement,) = program.statements
    assert isinstance(statement, ast.LoadStatement)
    return Read(*read_table(Load("P", arity, False, statement.table, folder, STATEMENT)))


def kept(folder: Path, cells: list[str], condition: str) -> str:
    """The letters of the rows that a condition keeps."""
    rows = (f'{letter},"{cell}"' for letter, cell in zip("abcdefgh", cells, strict=False))
    (folder / "f.csv").write_text("id,at\n" + "\n".join(rows) + "\n")
    got = load(folder, condition)
    assert got.errors == [], [each.message for each in got.diagnostics]
    return "".join(str(key) for (key,) in got.keys)


@pytest.mark.parametrize(
    ("cells", "condition", "rows"),
    [
        (["2024-01-15T23:30:00-05:00", "2024-01-16T00:30:00+09:00"], 'at >= "2024-01-16"', "a"),
        (["2024-01-15T12:30:00+02:00", "2024-01-15 10:30:00Z"], 'at = "2024-01-15T10:30:00Z"', "ab"),
        (
            ["2024-01-15 10:30:00+00", "2024-01-15 10:30:00 UTC", "2024-01-15T05:30:00-0500"],
            'at = "2024-01-15 10:30"',
            "abc",
        ),
        (["2024-01-15T10:30:00.5", "2024-01-15T10:30:00"], 'at > "2024-01-15 10:30:00"', "a"),
        (["2024-01-15 10:30:00.000000001", "2024-01-15 10:30:00"], 'at > "2024-01-15 10:30"', "a"),
        (["2024-01-15", "2024-01-15 00:00", "2024-01-15 00:01", ""], 'at <= "2024-01-15"', "ab"),
        (["2024-01-15", "2024-01-15 00:00", "2024-01-15 00:01", ""], 'at != "2024-01-15"', "c"),
        (["2024-01", "2024-02", "2024-02-01"], 'at >= "2024-02"', "bc"),
        (["2024-2-1", "2024-10-1", "2024/03/01"], 'at < "2024-10-01"', "ac"),
        (["9999-12-31", "0001-01-01", "2024-01-01 9:30"], 'at > "2024-01-01 10:00"', "a"),
        (["2024-01-15 ", " 2024-01-14"], 'at >= "2024-01-15"', "a"),
        (["2024-01-15", "Graz", "7", ""], 'at = "2024-01-15"', "a"),
        (["2024-01-15", "Graz", "7", ""], 'at in ("2024-01-15", "Graz")', "ab"),
        (["2024-01-15", "Graz", ""], 'at != "2024-01-15"', "b"),
        (["31.12.1990", "01.02.2005"], 'at = "01.02.2005"', "b"),  # texts: nothing is compared as a date
        (["a", "b"], 'at >= "b"', "b"),
    ],
)
def test_dates_compare_as_instants(cells: list[str], condition: str, rows: str, tmp_path: Path) -> None:
    assert kept(tmp_path, cells, condition) == rows


OTHER = [
    ("31.12.1990", "dd.mm.yyyy", "1990-12-31"),
    ("31.12.90", "dd.mm.yy", "1990-12-31"),
    ("31/12/1990", "dd/mm/yyyy", "1990-12-31"),
    ("12/31/1990", "mm/dd/yyyy", "1990-12-31"),
    ("12/31/90", "mm/dd/yy", "1990-12-31"),
    ("31-12-1990", "dd-mm-yyyy", "1990-12-31"),
    ("31 Dec 1990", "dd Mon yyyy", "1990-12-31"),
    ("December 31, 1990", "Month dd, yyyy", "1990-12-31"),
    ("31-Dec-90", "dd-Mon-yy", "1990-12-31"),
    ("19901231", "yyyymmdd", "1990-12-31"),
    ("31.12.1990 14:05", "dd.mm.yyyy hh:mm", "1990-12-31 14:05:00"),
    ("12/31/1990 2:05:00 PM", "mm/dd/yyyy hh:mm:ss AM", "1990-12-31 14:05:00"),
]


@pytest.mark.parametrize(("cell", "form", "iso"), OTHER)
def test_another_form_is_named_and_its_hint_reads_it(cell: str, form: str, iso: str, tmp_path: Path) -> None:
    pd.DataFrame({"id": ["a", "b"], "at": [cell, cell]}).to_csv(tmp_path / "f.csv", index=False)
    got = load(tmp_path, 'at >= "1990-12-31"')
    assert got.errors == [("bad-date", 2), ("bad-date", 3)]
    assert got.facts == []
    found = got.diagnostics[0]
    assert form in found.message
    assert iso in found.hint
    hint = re.search(r'`pd.to_datetime\(column, format="(.*?)"\)`', found.hint)
    assert hint
    frame = pd.read_csv(tmp_path / "f.csv", dtype=str)
    frame["at"] = pd.to_datetime(frame["at"], format=hint[1])
    frame.to_csv(tmp_path / "f.csv", index=False)
    assert load(tmp_path, f'at = "{iso}"').keys == [("a",), ("b",)]
    assert load(tmp_path, 'at < "1990-12-31"').keys == []


def test_days_are_told_from_months_by_the_column(tmp_path: Path) -> None:
    def hint(*cells: str) -> str:
        (tmp_path / "f.csv").write_text("id,at\n" + "".join(f"a,{cell}\n" for cell in cells))
        return load(tmp_path, 'at > "2000-01-01"').diagnostics[0].hint

    assert "%d/%m/%Y" in hint("01/02/2005", "13/02/2005") and "%m/%d" not in hint("01/02/2005", "13/02/2005")
    assert "%m/%d/%Y" in hint("01/02/2005", "02/13/2005") and "%d/%m" not in hint("01/02/2005", "02/13/2005")
    assert "%m/%d/%Y" in hint("01/02/2005") and "%d/%m/%Y" in hint("01/02/2005")


@pytest.mark.parametrize("size", [1, SMALL + 1])
def test_dates_of_another_column_do_not_make_one_of_dates(tmp_path: Path, size: int) -> None:
    rows = "2024-01-15,winter,03/04/2021\n2023-05-01,spring,yes\n" * size
    (tmp_path / "f.csv").write_text("id,season,answer\n" + rows)
    got = load(tmp_path, 'season = "Jan 2024"', arity=2, columns="id, season")
    assert (got.keys, got.errors) == ([], [])
    got = load(tmp_path, 'season != "Jan 2024"', arity=2, columns="id, season")
    assert (got.keys, got.errors) == ([("2024-01-15", "winter"), ("2023-05-01", "spring")] * size, [])
    got = load(tmp_path, 'answer > "2024-01-01"', arity=2, columns="id, answer")
    assert "%d/%m/%Y" in got.diagnostics[0].hint or "%m/%d/%Y" in got.diagnostics[0].hint
    assert load(tmp_path, 'id = "Jan 2024"').only().code == "bad-condition"


def test_other_cells_are_errors_unless_left_out(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("id,kind,at\na,day,2024-01-15\nb,city,Graz\nc,day,2024-02-30\n")
    assert load(tmp_path, 'at > "2024-01-01"').errors == [("bad-date", 3), ("bad-date", 4)]
    assert load(tmp_path, 'at > "2024-01-01" and kind = "day"').errors == [("bad-date", 4)]
    (tmp_path / "f.csv").write_text("id,at\na,2024-01-15T10:00:00Z\nb,2024-01-15 10:00:00\nc,2024-01-15\n")
    got = load(tmp_path, 'at > "2024-01-01"')
    assert got.errors == [("bad-date", 3), ("bad-date", 4)]
    assert "time zone" in got.diagnostics[0].message
    (tmp_path / "f.csv").write_text("id,at\na,2024-01-15\nb,unknown\n")
    assert 'missing "unknown"' in load(tmp_path, 'at > "2024-01-01"').only().hint
    assert load(tmp_path, 'at > "2024-01-01" missing "unknown"').keys == [("a",)]


@pytest.mark.parametrize("cell", ["15.01.2024", "01/15/2024", "15.01.24", "Jan 15, 2024"])
@pytest.mark.parametrize("column", ["2024-01-15", "15.01.2024"])
def test_a_condition_is_no_date_of_another_form(cell: str, column: str, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(f"id,at\na,{column}\n")
    found = load(tmp_path, f'at <= "{cell}"').only()
    assert (found.code, found.hint) == ("bad-condition", 'write "2024-01-15"')
    if column == "2024-01-15":
        assert load(tmp_path, f'at = "{cell}"').only().hint == 'write "2024-01-15"'
    found = load(tmp_path, 'at >= "2024-13-45"').only()
    assert found.code == "bad-condition"


@pytest.mark.parametrize(
    "kind", [pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "America/New_York")]
)
def test_timestamps_of_every_type(kind: pa.DataType, tmp_path: Path) -> None:
    times = [datetime.datetime(2024, 1, 15, hour, tzinfo=UTC) for hour in (0, 10, 12)]
    column = pa.array([*times, None]).cast(pa.timestamp("us")).cast(kind)
    table = pa.table({"id": ["a", "b", "c", "d"], "at": column, "coded": column.dictionary_encode()})
    pq.write_table(table, tmp_path / "f.parquet")

    def rows(condition: str) -> str:
        got = load(tmp_path, condition, "f.parquet")
        assert got.errors == []
        return "".join(str(key) for (key,) in got.keys)

    assert rows('at >= "2024-01-15T11:30:00+01:00"') == rows('coded >= "2024-01-15T11:30:00+01:00"') == "c"
    assert rows('at = "2024-01-15"') == "a"
    assert rows('at > "2024-01-15 09:59:59.9999999999"') == "bc"
    assert rows('at < "2024-01-15 10:00:00.000000001"') == "ab"
    assert rows('at <= "9999-12-31"') == "abc"
    assert rows('at != "2024-01-15 00:00:00.000000001"') == "abc"
    assert load(tmp_path, 'at > "15.01.2024"', "f.parquet").only().hint == 'write "2024-01-15"'


def test_days_of_parquet_files(tmp_path: Path) -> None:
    days = [datetime.date(2024, 1, 14), datetime.date(2024, 1, 15), None]
    for kind in (pa.date32(), pa.date64()):
        pq.write_table(pa.table({"id": ["a", "b", "c"], "at": pa.array(days, kind)}), tmp_path / "f.parquet")
        assert load(tmp_path, 'at >= "2024-01-14T12:00"', "f.parquet").keys == [("b",)]
        assert load(tmp_path, 'at = "2024-01-15"', "f.parquet").keys == [("b",)]
        assert load(tmp_path, 'at > "14.01.2024"', "f.parquet").only().hint == 'write "2024-01-14"'


@pytest.mark.parametrize("size", [50, SMALL + 100])
def test_many_stamps_as_numpy_compares_them(size: int, tmp_path: Path) -> None:
    rng = random.Random(7)
    start = datetime.datetime(2020, 1, 1, tzinfo=UTC)
    at = [start + datetime.timedelta(seconds=rng.randrange(10**8)) for _ in range(size)]
    zones = [datetime.timezone(datetime.timedelta(hours=rng.randrange(-11, 12))) for _ in range(size)]
    bound = start + datetime.timedelta(seconds=5 * 10**7)
    expected = [str(row) for row, time in enumerate(at) if time >= bound and row % 7]
    for written in (
        [time.astimezone(zone).isoformat() for time, zone in zip(at, zones, strict=True)],
        [time.replace(tzinfo=None).isoformat(" ") for time in at],
    ):
        cells = [text if row % 7 else "" for row, text in enumerate(written)]
        (tmp_path / "f.csv").write_text("id,at\n" + "".join(f"{row},{cell}\n" for row, cell in enumerate(cells)))
        got = load(tmp_path, f'at >= "{bound.isoformat()}"')
        assert got.errors == []
        assert [key for (key,) in got.keys] == list(expected)
