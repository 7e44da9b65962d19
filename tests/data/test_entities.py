"""Interning: dense, sorted, the same whatever the order and the size."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lnnkit.data.load import told_table
from lnnkit.data.names import Entities
from lnnkit.data.table import FactTable, intern
from tests.data.in_bulk import reading
from tests.data.reading import in_order

NAME = st.text(st.characters(codec="utf-8"), min_size=1, max_size=3) | st.text("019-+", min_size=1, max_size=4)


def told(rows: list[tuple[str, str]]) -> FactTable:
    table, found = told_table("P", 2, False, rows)
    assert table is not None
    assert not [d for d in found if d.severity == "error"]
    return table


def test_ids_are_places_among_the_sorted_names() -> None:
    entities, ids = intern([told([("b", "a"), ("b", "c")]), told([("\u65e5", "a")])], ["B", "a"])
    assert entities.names == ("B", "a", "b", "c", "\u65e5")
    assert [[column.tolist() for column in table] for table in ids] == [[[2, 2], [1, 3]], [[4], [1]]]
    assert all(column.dtype == np.int32 for table in ids for column in table)
    assert entities.get("c") == 3
    assert entities.get("bb") is None
    assert entities.get("\U0001f600") is None
    assert len(entities) == 5


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(NAME, NAME), max_size=8), st.lists(NAME, max_size=3), st.randoms())
def test_both_ways_agree_and_order_does_not_matter(rows: list[tuple[str, str]], texts: list[str], random) -> None:
    import unicodedata

    texts = [unicodedata.normalize("NFC", text) for text in texts]
    first = told(rows)
    entities, ((left, right),) = intern([first], texts)
    nfc = [tuple(unicodedata.normalize("NFC", text) for text in row) for row in rows]
    assert list(entities.names) == in_order({text for row in nfc for text in row} | set(texts))
    assert [(entities.names[a], entities.names[b]) for a, b in zip(left, right, strict=True)] == nfc
    with reading(in_bulk=True):
        by_arrow, ((left2, right2),) = intern([first], texts)
    assert by_arrow == entities
    assert (left2.tolist(), right2.tolist()) == (left.tolist(), right.tolist())
    random.shuffle(rows)
    assert intern([told(rows)], texts)[0] == entities


@settings(max_examples=60, deadline=None)
@given(st.permutations([range(2, 9), range(4), range(0, 20, 2), range(3, 8, 2), range(-1, 1)]), st.integers(1, 5))
def test_numbers_of_several_tables(several: list[range], count: int) -> None:
    """Some lists of numbers have no gap and hold others."""
    tables = [told([(str(number), str(number)) for number in numbers]) for numbers in several[:count]]
    for in_bulk in (False, True):
        with reading(in_bulk=in_bulk):
            entities, ids = intern(tables, ["6"])
        assert [*entities] == [str(each) for each in sorted({6}.union(*several[:count]))]
        found = [[entities.names[place] for place in left] for left, _ in ids]
        assert found == [[str(number) for number in numbers] for numbers in several[:count]]


def test_without_tables() -> None:
    assert intern([], ["b", "a", "b"]) == (Entities(("a", "b")), [])
    assert intern([], []) == (Entities(()), [])
    table, _ = told_table("P", 0, False, [()])
    assert table is not None
    assert intern([table], ["a"]) == (Entities(("a",)), [()])


def test_the_layer_is_light() -> None:
    """What every check imports brings neither numpy nor Arrow, interning no Arrow; reading a small CSV brings neither
    pandas nor Arrow's kernels."""
    script = """
import sys, tempfile, pathlib
import lnnkit.data.files, lnnkit.data.numerals, lnnkit.data.table
assert not {"numpy", "pyarrow", "torch"} & set(sys.modules)
from lnnkit.data.table import intern
intern([], ["a"])
assert not {"pyarrow", "torch"} & set(sys.modules)
import lnnkit.data.load
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Source, Span
span = Span(Source("p", ""), 0, 0)
with tempfile.TemporaryDirectory() as folder:
    base = pathlib.Path(folder)
    (base / "f.csv").write_text("a,v\\nx,1\\n\\u00e9,2\\n,3\\n", encoding="utf-8")
    load = lnnkit.data.grid.Load("v", 1, True, ast.Table(path="f.csv", span=span), base)
    table, found = lnnkit.data.load.read_table(load)
assert len(table) == 2 and len(found) == 1
intern([table], ["a"])
assert not {"pandas", "pyarrow.compute", "pyarrow.parquet", "torch"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, timeout=60)
