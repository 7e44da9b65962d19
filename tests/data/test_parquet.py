"""Typed columns: which types name entities, which are numbers."""

from __future__ import annotations

import datetime
import decimal
import io
import math
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.data.reading import Read, Reader


def parquet(columns: dict[str, Any], **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, **options)
    return sink.getvalue()


@pytest.fixture
def typed(read: Reader) -> Any:
    def reader(columns: dict[str, Any], chosen: Any = None, row_group_size: int | None = None, **options: Any) -> Read:
        return read(parquet(columns, row_group_size=row_group_size), chosen, name="f.parquet", **options)

    return reader


def test_no_rows(typed: Any) -> None:
    got = typed({"who": pa.array([], pa.string())}, arity=1)
    assert (got.keys, got.found) == ([], [("no-rows", None)])


ENTITIES = [
    (pa.array(["007", "b", None]), ["007", "b"]),
    (pa.array(["a", "cafe\u0301", ""], pa.large_string()), ["a", "caf\u00e9"]),
    (pa.array(["a", "b", None]).dictionary_encode(), ["a", "b"]),
    (pa.array([b"a", b"\xff", None]), ["a"]),
    (pa.array([7, -12, None], pa.int8()), ["7", "-12"]),
    (pa.array([2**64 - 1, 0, None], pa.uint64()), ["18446744073709551615", "0"]),
    (pa.array([True, False, None]), ["true", "false"]),
    (pa.array([datetime.date(2024, 1, 15), datetime.date(1, 2, 3), None]), ["2024-01-15", "0001-02-03"]),
    (pa.array([decimal.Decimal(12), decimal.Decimal(-5), None], pa.decimal128(9, 0)), ["12", "-5"]),
    (pa.nulls(3), []),
]


@pytest.mark.parametrize(("column", "expected"), ENTITIES, ids=lambda value: str(getattr(value, "type", "")))
def test_entities_of_every_type(typed: Any, column: pa.Array, expected: list[str]) -> None:
    got = typed({"a": column}, arity=1)
    assert [key for (key,) in got.keys] == expected
    assert got.rows == list(range(1, len(expected) + 1))
    assert got.errors == [("bad-row", row) for row in range(len(expected) + 1, 4)]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1.0, 2.5]),
        pa.array([1.0, 2.0**53]),
        pa.array([1.0, math.inf]),
        pa.array([1.5, 2.0]).dictionary_encode(),
        pa.array([datetime.datetime(2024, 1, 15)] * 2),
        pa.array([decimal.Decimal("1.50")] * 2),
        pa.array([["a"], ["b"]]),
        pa.array([{"x": 1}] * 2),
        pa.array([datetime.time(1)] * 2),
    ],
    ids=lambda column: str(column.type),
)
def test_types_that_name_no_entity(typed: Any, column: pa.Array) -> None:
    got = typed({"a": column, "b": pa.array(["x", "y"])}, arity=2)
    assert got.table is None
    only = got.only()
    assert only.code == "bad-column"
    assert 'column "a"' in only.message


def test_row_groups_and_names(typed: Any) -> None:
    names = [f"p{i % 5}" for i in range(100)]
    got = typed({"x.y": names, "n": list(range(100))}, ("n", "x.y"), row_group_size=7)
    assert got.keys == [(str(i), name) for i, name in enumerate(names)]
    assert got.rows == list(range(1, 101))


def test_numbers_and_truth(typed: Any) -> None:
    columns = {
        "a": pa.array(["x", "y", "z"]),
        "i": pa.array([1, None, 0], pa.int32()),
        "f": pa.array([0.5, math.nan, None], pa.float32()),
        "b": pa.array([True, False, None]),
        "d": pa.array([decimal.Decimal("0.25"), None, decimal.Decimal(2)], pa.decimal128(5, 2)),
        "t": pa.array(["1", "", "nan"]),
    }
    inf = math.inf
    assert typed(columns, ("a", "i"), arity=1, numeric=True).facts == [("x", 1, 1), ("y", -inf, inf), ("z", 0, 0)]
    got = typed(columns, ("a", "f"), arity=1, numeric=True)
    assert got.facts == [("x", 0.5, 0.5), ("z", -inf, inf)]
    assert got.found == [("bad-number", 2)]
    assert typed(columns, ("a", "d"), arity=1, numeric=True).facts == [("x", 0.25, 0.25), ("y", -inf, inf), ("z", 2, 2)]
    got = typed(columns, ("a", "t"), arity=1, numeric=True)
    assert got.facts == [("x", 1, 1), ("y", -inf, inf)]
    assert got.found == [("bad-number", 3)]
    got = typed(columns, ("a", "b"), arity=1)
    assert got.facts == [("x", 1, 1), ("y", 0, 0), ("z", 0, 1)]
    assert got.found == []
    assert typed(columns, ("a", "b"), arity=1, numeric=True).errors == [("bad-column", None)]
    assert typed(columns, ("a", "d"), arity=1).errors == [("bad-truth", 3)]


def test_large_integers(typed: Any) -> None:
    got = typed({"a": ["x", "y"], "v": [2**53 + 1, 2**60]}, arity=1, numeric=True)
    assert got.found == [("inexact-number", 1)]


def test_where_on_typed_columns(typed: Any) -> None:
    got = typed({"a": ["x", "y"], "n": [1, 2]}, ("a",), arity=1, where={"n": "2"})
    assert got.keys == [("y",)]


def test_damaged_and_empty(read: Reader) -> None:
    whole = parquet({"a": ["x"] * 100})
    assert read(whole[:-20], name="f.parquet").errors == [("unreadable-file", None)]
    assert read("a,b\n", name="f.parquet").errors == [("unreadable-file", None)]
    assert read(parquet({"a": pa.array([], pa.string())}), name="f.parquet", arity=1).facts == []
    assert read(parquet({}), name="f.parquet").errors == [("empty-file", None)]
    assert read("\n\n", name="f.jsonl").errors == [("empty-file", None)]


def test_a_pandas_index_is_no_column(read: Reader) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": ["x", "y", "z"], "p": [0.1, 0.2, 0.3]})
    sink = io.BytesIO()
    frame[frame.p > 0.15].to_parquet(sink)
    assert read(sink.getvalue(), name="f.pq", arity=1).facts == [("y", 0.2, 0.2), ("z", 0.3, 0.3)]
