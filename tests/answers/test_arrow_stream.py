"""Answers by the Arrow PyCapsule interface."""

from __future__ import annotations

import pyarrow as pa
import pytest

import lnnkit

TEXT = "fact P(anna, b) = 0.25\nfact P(cleo, b)\n"
ROWS = [("anna", "b", 0.25, 0.25, "likely_false", False), ("cleo", "b", 1.0, 1.0, "true", False)]


def answers() -> lnnkit.Answers:
    return lnnkit.loads(TEXT).ask("P(X, Y)")


def test_pyarrow_reads_them() -> None:
    table = pa.table(answers())
    assert table.column_names == ["X", "Y", "lower", "upper", "state", "contested"]
    assert [tuple(row.values()) for row in table.to_pylist()] == ROWS
    assert pa.RecordBatchReader.from_stream(answers()).read_all().num_rows == 2


def test_none_and_one_without_variables() -> None:
    kb = lnnkit.loads(TEXT)
    assert pa.table(kb.ask("P(b, X)")).num_rows == 0
    assert pa.table(kb.ask("P(anna, b)")).to_pylist()[0]["lower"] == 0.25


def test_duckdb_reads_them() -> None:
    duckdb = pytest.importorskip("duckdb")
    found = answers()
    assert len(found) == 2
    with duckdb.connect() as connection:
        assert connection.sql("from found").fetchall() == ROWS
        assert connection.sql("select X from found where lower > 0.5").fetchall() == [("cleo",)]
