"""Tables above the size at which columns are read in bulk, against the same tables read in pieces."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from lnnkit.data.load import told_table
from tests.blocks import at_length
from tests.data.in_bulk import reading
from tests.data.reading import Read, Reader, in_order

ENV = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def told(table: object, arity: int = 2, *, numeric: bool = False) -> Read:
    return Read(*told_table("P", arity, numeric, table))


@pytest.fixture(params=[False, True], ids=["small", "bulk"])
def in_bulk(request: pytest.FixtureRequest) -> Iterator[bool]:
    with reading(request.param):
        yield request.param


WORDS = ["anna", "bob", "e\u0301", "\u00e9", "日本", "07", "7", "-7", " x", "a\0b", "person_1", "person_12", "z" * 40]


@pytest.mark.parametrize("seed", at_length([*range(10)], plain=3))
def test_texts(read: Reader, in_bulk: bool, seed: int) -> None:
    rng = random.Random(seed)
    words = rng.sample(WORDS, 6)
    rows = [(rng.choice(words), rng.choice(words)) for _ in range(50)]
    nfc = [tuple(unicodedata.normalize("NFC", text) for text in row) for row in rows]
    got = read("h1,h2\n" + "".join(f"{a},{b}\n" for a, b in rows))
    ways = [
        got,
        told(rows),
        told({"a": [row[0] for row in rows], "b": [row[1] for row in rows]}),
        told(pa.table({"a": [row[0] for row in rows], "b": [row[1] for row in rows]})),
        told(pa.table({"a": pa.array([row[0] for row in rows]).dictionary_encode(), "b": [row[1] for row in rows]})),
        told(pa.table({"a": pa.array([row[0] for row in rows], pa.large_string()), "b": [row[1] for row in rows]})),
    ]
    for way in ways:
        assert way.keys == nfc
        assert not way.errors
        assert way.table is not None
        assert list(way.table.names) == in_order(text for row in nfc for text in row)
        assert len({id(column.names) for column in way.table.columns}) == 1


def test_whole_numbers(in_bulk: bool) -> None:
    wide = [0, -5, 7, 2**62, -(2**63), 10, 9, 7]
    for column in (wide, np.array(wide), pa.array(wide), [3, 1, 2, 1, 12, 3, 3, 2]):
        got = told({"a": column}, 1)
        assert got.keys == [(str(int(str(value))),) for value in column]
    assert told({"a": [2**70, 1]}, 1).keys == [(str(2**70),), ("1",)]
    assert told(pa.table({"a": pa.array([1, None, 3])}), 1).errors == [("bad-row", 2)]
    assert told(pa.table({"a": pa.array([2**64 - 1, 3], pa.uint64())}), 1).keys == [(str(2**64 - 1),), ("3",)]
    assert told({"a": [True, 1, "1"]}, 1).keys == [("true",), ("1",), ("1",)]


def test_gaps_and_bytes_that_are_no_text(read: Reader, in_bulk: bool) -> None:
    got = read(b"a,b\nx,y\n,y\nx,\xff\xfe\ny,x\n\xc3,\xa9\n")
    assert got.keys == [("x", "y"), ("y", "x")]
    assert sorted(got.errors) == [("bad-row", 3), ("bad-row", 4), ("bad-row", 6), ("bad-row", 6)]  # in two columns
    assert "is empty" in got.diagnostics[0].message
    assert "not UTF-8" in got.diagnostics[1].message
    assert sorted(told({"a": ["x", None, "", "\ud800"]}, 1).errors) == [("bad-row", row) for row in (2, 3, 4)]


def test_truth_values(read: Reader, in_bulk: bool) -> None:
    assert read("a,t\nx,0.25\ny,1e-1\nz,.5\n", arity=1).facts == [("x", 0.25, 0.25), ("y", 0.1, 0.1), ("z", 0.5, 0.5)]
    got = read("a,t\nx,0.5\ny,1.5\nz,\nw,nan\nv,high\nu,inf\n", arity=1)
    assert got.facts == [("x", 0.5, 0.5), ("z", 0.0, 1.0)]
    assert sorted(got.errors) == [("bad-truth", row) for row in (3, 5, 6, 7)]
    got = read("a,n\nx,9007199254740993\ny,3\n", arity=1, numeric=True)
    assert got.found == [("inexact-number", 2)]
    got = read("a,n\nx,9007199254740993\ny,\nz,-0.5\nw,1e400\n", arity=1, numeric=True)
    assert got.facts == [("x", 2.0**53, 2.0**53), ("y", -math.inf, math.inf), ("z", -0.5, -0.5)]
    assert got.found == [("bad-number", 5), ("inexact-number", 2)]
    assert read("a,l,u\nx,0.5,0.4\n", arity=1).errors == [("bad-truth", 2)]
    assert told({"a": ["x", "y"], "t": [0.5, float("nan")]}, 1).errors == [("bad-truth", 2)]
    assert told({"a": ["x", "y"], "t": [0.5, -0.0]}, 1).facts == [("x", 0.5, 0.5), ("y", 0.0, 0.0)]


def test_a_filter_leaves_only_what_its_rows_use(read: Reader, in_bulk: bool) -> None:
    got = read("s,p,o\na,knows,b\nc,likes,d\nb,knows,a\n", ("s", "o"), where={"p": "knows"})
    assert got.keys == [("a", "b"), ("b", "a")]
    assert got.table is not None
    assert list(got.table.names) == ["a", "b"]


def test_rows_of_one_width_and_others() -> None:
    assert told([("a", "b"), ["c", "d"]]).keys == [("a", "b"), ("c", "d")]
    assert told([("a", "b", "c", "d", "e")] * 2).table is None
    assert told([("a", "b"), ("c",)]).errors == [("bad-row", 2)]


@pytest.mark.slow
def test_large_tables_are_read_without_pandas(tmp_path: Path) -> None:
    script = """
import sys
import lnnkit
from tests.blocks import at_length
rows = [(f"person {number} \\u00e9", str(number % 50), f"0.{number}") for number in range(30_000)]
with open("f.csv", "w", encoding="utf-8") as file:
    file.write("left,right,truth\\n" + "".join(f"{a},{b},{t}\\n" for a, b, t in rows) * 12)
kb = lnnkit.loads('load P from "f.csv"\\nquery P(Person, nobody)')
kb.tell("P", {"a": [None if number == 5 else a for number, (a, _, _) in enumerate(rows)][6:], "b": range(6, 30_000)})
kb.tell("P", [(a, b, 0.5) for a, b, _ in rows[:25_000]])
assert len(kb.ask("P(X, Y)").to_arrow()) > 30_000
assert "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, timeout=120, cwd=tmp_path, env=ENV)
