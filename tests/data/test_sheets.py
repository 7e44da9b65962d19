"""A file that several statements name is parsed once, and gives each of them what it would have had alone."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lnnkit.check import check
from lnnkit.data import load
from lnnkit.data.files import RawTable, read_source
from lnnkit.data.grid import Load
from lnnkit.data.load import Sheets, key_of, read_table
from lnnkit.syntax import ast
from lnnkit.syntax.parse import parse
from tests.data.reading import STATEMENT, Read, statement

TRIPLES = "s,p,o,t\nanna,knows,bob,0.5\nbob,likes\nbob,knows,,1\ncl\u00e9o,likes,anna,2\n"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are read."""
    names: list[str] = []

    def reading(path: Path) -> RawTable:
        names.append(path.name)
        return read_source(path)

    monkeypatch.setattr(load, "read_source", reading)  # how often a file is read shows in no result
    return names


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "f.csv").write_text(TRIPLES, encoding="utf-8")
    table = pa.table({"s": ["anna", "bob"], "p": ["knows", "likes"], "o": [1, 2], "t": [0.5, 1.0]})
    pq.write_table(table, tmp_path / "f.parquet")
    return tmp_path


STATEMENTS: list[tuple[int, tuple[ast.ColumnReference, ...], dict[ast.ColumnReference, str]]] = [
    (2, ("s", "o"), {"p": "knows"}),
    (2, ("o", "s", "t"), {}),
    (1, (1,), {"p": "likes"}),
    (1, ("s",), {"s": "anna"}),
    (2, ("s", "nope"), {}),
    (3, ("s", "p", "o", "t"), {}),
]


@pytest.mark.parametrize("name", ["f.csv", "f.parquet"])
def test_every_statement_has_what_it_would_have_alone(folder: Path, opened: list[str], name: str) -> None:
    tables = [(arity, statement(name, columns, where)) for arity, columns, where in STATEMENTS]
    alone = [Read(*read_table(Load("P", arity, False, table, folder, STATEMENT))) for arity, table in tables]
    shared = Sheets(key_of(table, folder) for _, table in tables)
    opened.clear()
    for (arity, table), want in zip(tables, alone, strict=True):
        got = Read(*read_table(Load("P", arity, False, table, folder, STATEMENT), shared))
        assert got.diagnostics == want.diagnostics
        assert (got.table is None) == (want.table is None)
        if got.table is not None and want.table is not None:
            assert got.facts == want.facts
            assert got.rows == want.rows
            assert got.table.names == want.table.names
    assert opened == [name]


def test_nothing_is_held_behind_the_last_statement(folder: Path, opened: list[str]) -> None:
    shared = Sheets([key_of(statement("f.csv", ("s",)), folder)] * 2)
    for _ in range(3):
        read_table(Load("P", 1, False, statement("f.csv", ("s",)), folder, STATEMENT), shared)
    assert opened == ["f.csv"] * 2  # the third was not expected


def test_a_program_reads_a_file_once_and_reports_its_rows_once(folder: Path, opened: list[str]) -> None:
    text = "".join(f'load P{i} from "f.csv" (s, t) where p = "knows"\n' for i in range(5))
    program, _ = parse(text + 'load Q from "f.csv" no header\nload R from "f.parquet"\n', "p.lnn")
    _, found = check(program, folder)
    assert opened == ["f.csv", "f.csv", "f.parquet"]  # with a header and without
    bad = [finding for finding in found if finding.code == "bad-row"]
    assert [finding.row for finding in bad] == [3, 4]  # an empty cell in line 4 matters to `Q` alone
    assert bad[0].span is not None and bad[0].span.line == 1
