"""Python tables of every kind say the same."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from lnnkit.data.load import told_table
from tests.data.reading import Read

INF = math.inf


def tell(table: object, arity: int = 2, numeric: bool = False) -> Read:
    return Read(*told_table("P", arity, numeric, table))


FRAME = pd.DataFrame({"a": ["x", "y"], "b": ["1", "2"], "p": [0.25, 1.0]})
ARROW = pa.table({"a": ["x", "y"], "b": [1, 2], "p": [0.25, 1.0]})
SAME: dict[str, object] = {
    "pandas": FRAME,
    "pandas, named index": FRAME.set_index("a"),
    "pandas, rows chosen": pd.concat([FRAME, FRAME])[lambda f: f.index >= 0].iloc[:2],
    "pandas, categories": FRAME.astype({"a": "category"}),
    "interchange only": SimpleNamespace(__dataframe__=ARROW.__dataframe__),
    "arrow": ARROW,
    "arrow batch": ARROW.to_batches()[0],
    "arrow reader": ARROW.to_reader(),
    "arrow stream": SimpleNamespace(__arrow_c_stream__=ARROW.__arrow_c_stream__),
    "string views": ARROW.set_column(0, "a", ARROW.column("a").cast(pa.string_view())),
    "columns": {"a": ["x", "y"], "b": [1, 2], "p": [0.25, True]},
    "columns of arrays": {"a": np.array(["x", "y"]), "b": np.array([1, 2]), "p": np.array([0.25, 1])},
    "columns of series": {"a": FRAME["a"], "b": FRAME["b"], "p": FRAME["p"]},
    "columns of arrow": {"a": ARROW["a"], "b": ARROW["b"].chunk(0), "p": ARROW["p"]},
    "rows": [("x", 1, 0.25), ("y", 2, 1)],
    "rows as lists": [["x", "1", np.float32(0.25)], ["y", np.int8(2), True]],
    "rows as mappings": [{"a": "x", "b": 1, "p": 0.25}, {"p": 1.0, "a": "y", "b": 2}],
    "rows from a generator": (row for row in [("x", 1, 0.25), ("y", 2, Decimal(1))]),
    "object array": np.array([["x", 1, 0.25], ["y", 2, 1.0]], dtype=object),
}


@pytest.mark.parametrize("kind", SAME)
def test_every_kind_of_table(kind: str) -> None:
    got = tell(SAME[kind])
    assert got.facts == [("x", "1", 0.25, 0.25), ("y", "2", 1.0, 1.0)]
    assert got.rows == [1, 2]
    assert not got.diagnostics


def test_a_named_index_of_pandas_that_is_a_range() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    assert tell(frame.set_index("a")).facts == tell(frame).facts == [("1", "3", 1, 1), ("2", "4", 1, 1)]


def test_duckdb_relations() -> None:
    relation = duckdb.sql("select * from (values ('x', 1, 0.25), ('y', 2, 1.0)) as t(a, b, p)")
    assert tell(relation).facts == [("x", "1", 0.25, 0.25), ("y", "2", 1.0, 1.0)]


def test_polars_frames() -> None:
    polars: Any = pytest.importorskip("polars", reason="polars is no test dependency")
    assert tell(polars.DataFrame({"a": ["x", "y"], "b": [1, 2], "p": [0.25, 1.0]})).keys == [("x", "1"), ("y", "2")]


def test_one_argument() -> None:
    for table in (["x", "y"], np.array(["x", "y"]), pd.Series(["x", "y"]), [("x",), ("y",)], {"a": ["x", "y"]}):
        assert tell(table, 1).facts == [("x", 1.0, 1.0), ("y", 1.0, 1.0)]
    assert tell([7, 8], 1).keys == [("7",), ("8",)]
    assert sorted(tell({"x", "y"}, 1).keys) == [("x",), ("y",)]


def test_propositions_and_nothing() -> None:
    assert tell([()], 0).facts == [(1.0, 1.0)]
    assert tell([(0.5,)], 0).facts == [(0.5, 0.5)]
    assert tell([(0, 0.5)], 0).facts == [(0.0, 0.5)]
    for empty, arity in (([], 0), ([], 2), ({"a": [], "b": []}, 2), (FRAME.iloc[:0], 2), ({}, 0)):
        got = tell(empty, arity)
        assert got.facts == []
        assert not got.diagnostics


def test_numbers() -> None:
    got = tell([("x", 34), ("y", None), ("z", 1.5), ("u", "7"), ("v", math.nan), ("w", True)], 1, numeric=True)
    assert got.facts == [("x", 34.0, 34.0), ("y", -INF, INF), ("z", 1.5, 1.5)]
    assert got.found == [("bad-number", 4), ("bad-number", 5), ("bad-number", 6)]
    assert tell([("x", 1, 2), ("y", None, 2), ("z", 3, 2)], 1, numeric=True).facts == [("x", 1, 2), ("y", -INF, 2)]
    assert tell([("x", 2**53 + 1)], 1, numeric=True).found == [("inexact-number", 1)]
    assert tell([("x", 10**400)], 1, numeric=True).errors == [("bad-number", 1)]
    assert tell([], 1, numeric=True).facts == []
    assert tell([(7,)], 0, numeric=True).facts == [(7, 7)]
    frame = pd.DataFrame({"a": ["x", "y"], "v": [1.5, None]})
    assert tell(frame, 1, numeric=True).facts == [("x", 1.5, 1.5), ("y", -INF, INF)]


@pytest.mark.parametrize("first", [[3, 4, 5, 6], [3, 4, 5, 7], [3, 5], []])
@pytest.mark.parametrize(
    "own",
    [[3, 4, 5, 6], [3, 4, 6, 5], [2, 3, 4, 5], [3, 5, 4, 6], [3, 4, 4, 6], [3, 4, 5, 7], [3, 4, 6, 7], [3, 5], []],
)
def test_only_the_same_entities_in_order_share_names(first: list[int], own: list[int]) -> None:
    like, _ = told_table("P", 1, False, {"a": np.array(first, np.int64)})
    table, _ = told_table("Q", 1, False, {"a": np.array(own, np.int64)}, like=like)
    assert like is not None
    assert table is not None
    assert list(table.columns[0]) == list(map(str, own))
    assert (table.names is like.names) == (own == first)


@pytest.mark.parametrize("count", [2, 100_000, 600_000])
def test_arrays_that_change_afterwards(count: int) -> None:
    """600,000 numbers are copied into huge pages."""
    rng = np.random.default_rng(0)
    names, upper = np.arange(count), rng.uniform(0.5, 1, count)
    lower = np.where(upper < 0.6, -0.0, upper / 2)
    table, _ = told_table("P", 1, False, {"row": names, "lower": lower, "upper": upper})
    assert table is not None
    before = names.copy(), lower.copy(), upper.copy()
    for own in (names, lower, upper):
        own[:] = 7
    np.testing.assert_array_equal(table.names.numbers[table.columns[0].codes], before[0])
    np.testing.assert_array_equal(table.lower, before[1])
    np.testing.assert_array_equal(table.upper, before[2])
    assert not np.signbit(table.lower).any()


@pytest.mark.parametrize("row", [0, 99_999, 600_000])
@pytest.mark.parametrize("value", [math.nan, -0.5, 1.5])
def test_one_bad_number_in_a_large_array(row: int, value: float) -> None:
    truths = np.full(600_001, 0.5)
    truths[row] = value
    assert tell({"row": np.arange(len(truths)), "truth": truths}, 1).errors == [("bad-truth", row + 1)]


@pytest.mark.parametrize("digits", [400, 5000])
def test_whole_numbers_that_no_float_holds(digits: int) -> None:
    only = tell([("x", -(10**digits))], 1, numeric=True).only()
    assert f"-1.00e+{digits}" in only.message
    assert "too large for a float" in only.hint


def test_entities_of_more_digits_than_python_writes() -> None:
    assert tell([(10**400,)], 1).keys == [("1" + "0" * 400,)]
    assert "too many digits" in tell([(10**5000,)], 1).only().message


def test_an_empty_frame_has_columns_of_floats() -> None:
    got = tell(pd.DataFrame({"a": [], "b": []}))
    assert not got.facts and not got.diagnostics


def test_bad_rows() -> None:
    odd = [("a", None), ("a", 1.5), ("a", ""), (pd.NA, "b"), ("a", "\ud800"), ("a", [1]), ("a",), "ab", ("a", b"b")]
    got = tell([("a", "b"), *odd, ("a", datetime.date(2024, 1, 15)), ("a", True), ("a", 1), ("a", "cafe\u0301")])
    assert got.keys == [("a", "b"), ("a", "2024-01-15"), ("a", "true"), ("a", "1"), ("a", "caf\u00e9")]
    assert sorted(got.errors) == [("bad-row", row) for row in range(2, 11)]
    assert {diagnostic.file for diagnostic in got.diagnostics} == {"<told P>"}
    assert tell([{"a": "x", "b": "y"}, {"a": "x"}, ("x", "y")]).errors == [("bad-row", 2), ("bad-row", 3)]


def test_float_keys() -> None:
    only = tell(pd.DataFrame({"a": [1.5, None], "b": ["x", "y"]})).only()
    assert only.code == "bad-column"
    assert "Int64" in only.hint
    assert tell(np.array([[1.0, 2.5]])).errors == [("bad-column", None)]
    assert tell(np.array([[1, 2]])).keys == [("1", "2")]
    for table in (
        pd.DataFrame({"a": [7.0, None], "b": ["x", "y"]}),
        {"a": [7.0, math.nan], "b": ["x", "y"]},
        {"a": np.array([7.0, math.nan]), "b": ["x", "y"]},
        [(7.0, "x"), (None, "y")],
    ):
        got = tell(table)
        assert got.keys == [("7", "x")]
        assert got.found == [("bad-row", 2), ("float-keys", None)]
    assert tell([(7.0, "x"), (7.5, "y")]).errors == [("bad-row", 1), ("bad-row", 2)]
    assert tell([("7.0", "x")]).keys == [("7.0", "x")]


@pytest.mark.parametrize(
    "table", ["f.csv", 7, None, {"anna": 34}, {"a": ["x"], "b": ["y", "z"]}, {"a": "xy", "b": "zw"}, {"a": np.eye(2)}]
)
def test_what_is_no_table(table: object) -> None:
    got = tell(table)
    assert got.table is None
    assert got.errors == [("wrong-table", None)]


def test_the_wrong_number_of_columns() -> None:
    assert tell(FRAME, 4).errors == [("wrong-columns", None)]
    assert tell([("a", "b", 0, 1, 2)]).errors == [("wrong-columns", None)]
    assert tell([("a",)], 1, numeric=True).errors == [("wrong-columns", None)]


def test_a_table_that_raises() -> None:
    class Broken:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise RuntimeError("out of reach")

    only = tell(Broken()).only()
    assert only.code == "wrong-table"
    assert "out of reach" in only.message


def test_rows_that_are_none() -> None:
    found = tell(["a", "b"]).diagnostics
    assert [each.message for each in found] == ["'a' is not a row of 2 columns", "'b' is not a row of 2 columns"]
    assert "tuple of 2" in found[0].hint
