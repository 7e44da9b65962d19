"""Whole numbers as names: which texts are, whatever they are read from; their order; and the way back to text."""

from __future__ import annotations

import io
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lnnkit
from lnnkit.data.cells import texts
from lnnkit.data.cells.texts import all_whole, drawn, united
from lnnkit.data.load import told_table
from lnnkit.data.names import Entities, Names
from lnnkit.data.table import intern
from tests.data.in_bulk import reading
from tests.data.reading import Reader, in_order

EDGES = [
    *("0", "-0", "+0", "00", "7", "007", "-7", "-07", "+5", " 5", "5 ", "1_000", "1,000", "1e3", "1.0", "1.", "0x1F"),
    *("9", "10", "-10", "99", "100", "٣", "²", "x", "-", "--1", "- 1", "", ".5", "/", "1/2", "2024-01-15", "12a"),
    *(str(2**63 - 1), str(2**63), str(-(2**63)), str(-(2**63) - 1), str(2**64), str(10**18), str(10**18 - 1)),
    *("0xFFFFFFFFFF", "0x" + "F" * 15, str(2**31), str(-(2**31)), "18446744073709551615", "9" * 19, "9" * 40),
]
WHOLE = st.integers(-(2**63), 2**63 - 1) | st.integers(-120, 120)
NAME = st.one_of(
    WHOLE.map(str),
    st.sampled_from([edge for edge in EDGES if edge and edge != "1.0"]),  # a column of them alone is read as 1
    st.text("019-+ax", min_size=1, max_size=4),
)


def spells(text: str) -> int | None:
    """What a text spells as Python would print it, within 64 bits; by Python's own reading."""
    try:
        number = int(text)
    except ValueError:
        return None
    return number if str(number) == text and -(2**63) <= number <= 2**63 - 1 else None


def test_which_texts_are_whole_numbers() -> None:
    assert {text for text in EDGES if spells(text) is not None} >= {"0", "-7", "10", str(2**63 - 1), str(-(2**63))}
    for text in EDGES:
        assert texts.whole(text) == spells(text), text


@settings(max_examples=100, deadline=None)
@given(st.lists(NAME, max_size=6))
def test_a_column_is_whole_if_each_text_is(column: list[str]) -> None:
    for array in (pa.array(["5", *column]).slice(1), pa.array(column, pa.string()).cast(pa.binary())):
        found = all_whole(array)
        assert (found is not None) == all(spells(text) is not None for text in column)
        if found is not None:
            assert found.tolist() == [int(text) for text in column]


@pytest.mark.parametrize("edge", [edge for edge in EDGES if spells(edge) is None])
def test_one_text_makes_a_column_of_texts(edge: str) -> None:
    for column in ([edge], ["12", "345", edge], [edge, str(2**62), "1"]):
        assert all_whole(pa.array(column)) is None
    assert all_whole(pa.array(["1", None])) is None


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(WHOLE, max_size=8), min_size=1, max_size=3))
def test_numbers_are_numbered_by_value(several: list[list[int]]) -> None:
    for factor in (0, 4, 1000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(texts, "_SPREAD", factor)
            found, places = united([np.array(each, np.int64) for each in several])
            assert found.tolist() == sorted({number for each in several for number in each})
            assert [[int(found[place]) for place in each] for each in places] == several
    for column in ([5, 3, 4, 5], [9, 2**31 - 1, -(2**31), 9], [-7, 2, 900, 2**31 - 1]):
        codes = np.array(column, np.int32)
        distinct, (places,) = united([codes])
        assert distinct.tolist() == sorted(set(column))
        assert places.tolist() == [sorted(set(column)).index(number) for number in column]


@pytest.mark.parametrize("length", [2**16 - 1, 2**16, 2**16 + 1, 2**17 + 1])
def test_a_long_column_that_ascends_but_once_is_numbered_by_value(length: int) -> None:
    for back in (1, length // 2, 2**16 - 1, length - 1):
        column = 10 * np.arange(length)
        column[back:] -= 15  # the number there is below the one before
        distinct, (places, behind) = united([column, column[:0]])
        assert distinct.tolist() == sorted(set(column.tolist()))
        assert (distinct[places] == column).all()
        assert not len(behind)


@pytest.mark.parametrize("in_bulk", [False, True])
@settings(max_examples=75, deadline=None)
@given(column=st.sets(NAME | st.sampled_from(["!", ":", "é", "日"])))
def test_whole_numbers_are_drawn_from_texts(in_bulk: bool, column: set[str]) -> None:
    held = sorted(column)
    with reading(in_bulk):
        places, values = drawn(pa.array(["a", *held], pa.string()).slice(1))
    want = sorted(number for text in held if (number := spells(text)) is not None)
    assert values.tolist() == want
    assert [held[place] for place in places.tolist()] == [str(number) for number in want]


# --- one interning, wherever they come from -----------------------------------------------------------------------


FILES = {"Q": "q.csv", "P": "p.csv", "R": "p.parquet", "S": "s.csv", "T": "t.tsv"}


def of_text(text: str) -> object:
    """What Python code might hand over for an entity: an int where that is the same."""
    number = spells(text)
    return text if number is None or number % 2 else number


def as_csv(rows: list[tuple[str, str]]) -> str:
    return "h1,h2\n" + "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows)


def as_plain_csv(rows: list[tuple[str, str]]) -> str:
    return "h1,h2\n" + "".join(f"{a},{b}\n" for a, b in rows)


def as_tsv(rows: list[tuple[str, str]]) -> str:
    return "h1\th2\n" + "".join(f"{a}\t{b}\n" for a, b in rows)


def as_parquet(rows: list[tuple[str, str]]) -> bytes:
    """Each column as int64 where it holds nothing but whole numbers."""
    columns = []
    for column in zip(*rows, strict=True):
        whole_numbers = all(spells(text) is not None for text in column)
        columns.append(pa.array([int(text) for text in column]) if whole_numbers else pa.array(column))
    sink = io.BytesIO()
    pq.write_table(pa.table(dict(zip(("h1", "h2"), columns, strict=True))), sink)
    return sink.getvalue()


@pytest.mark.parametrize("in_bulk", [False, True])
@settings(max_examples=8, deadline=None)
@given(
    rows=st.lists(st.tuples(NAME, NAME), min_size=1, max_size=8)
    | st.lists(st.tuples(WHOLE.map(str), NAME), min_size=1, max_size=8)
    | st.lists(st.tuples(WHOLE.map(str), WHOLE.map(str)), min_size=1, max_size=8),
    random=st.randoms(use_true_random=False),
)
def test_an_entity_is_the_same_from_everywhere(
    tmp_path_factory: pytest.TempPathFactory, in_bulk: bool, rows: list[tuple[str, str]], random: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    plain = [row for row in rows if not any("," in cell for cell in row)]
    (folder / "q.csv").write_text(as_csv(rows), encoding="utf-8")
    (folder / "p.csv").write_text(as_plain_csv(plain), encoding="utf-8")
    (folder / "t.tsv").write_text(as_tsv(rows), encoding="utf-8")
    (folder / "p.parquet").write_bytes(as_parquet(rows))
    shuffled = random.sample(rows, len(rows))
    (folder / "s.csv").write_text(as_csv(shuffled), encoding="utf-8")
    quoted = [tuple('"' + cell + '"' for cell in row) for row in rows]
    program = [
        *(f'load {name} from "{file}"' for name, file in FILES.items()),
        *(f"fact F({a}, {b})" for a, b in quoted),
        "predicate A(entity, entity)\npredicate B(entity, entity)",
    ]
    random.shuffle(program)
    with reading(in_bulk):
        kb = lnnkit.loads("\n".join(program), base=folder)
        kb.tell("A", [(of_text(a), of_text(b)) for a, b in rows])
        kb.tell("B", {"a": [a for a, _ in rows], "b": [of_text(b) for _, b in rows]})
        for name in "QPRSTFAB":
            found = [(answer.bindings["X"], answer.bindings["Y"]) for answer in kb.ask(f"{name}(X, Y)")]
            assert found == by_entities(plain if name == "P" else rows), name
        for a, b in rows:
            assert all(kb.ask(f'{name}("{a}", "{b}")')[0].state == "true" for name in "QRSTFAB")


def by_entities(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Distinct rows in the order of their entities."""
    place = {text: number for number, text in enumerate(in_order(text for row in rows for text in row))}
    return sorted(set(rows), key=lambda row: (place[row[0]], place[row[1]]))


def test_bad_rows_are_named_by_their_lines(read: Reader, tmp_path: Path) -> None:
    """Among many rows of whole numbers, which are read in bulk."""
    rows = [f"{number},{number * 7 % 1000}" for number in range(30_000)]
    rows[17] = ",3"
    rows[20_001] = "4,5,6"
    rows[20_002] = "007,-0"
    got = read("a,b\n" + "\n".join(rows) + "\n")
    assert got.errors == [("bad-row", 19), ("bad-row", 20_003)]
    assert got.table is not None
    assert len(got.table) == 29_998
    assert got.keys[20_000 - 1] == ("20000", str(140_000 % 1000))
    assert ("007", "-0") in got.keys
    assert list(got.table.names) == in_order(text for row in got.keys for text in map(str, row))


def test_values_that_are_whole_are_shown_as_they_were_written(read: Reader) -> None:
    got = read("a,t\n1,0\n2,2\n3,1\n", arity=1)
    assert got.errors == [("bad-truth", 3)]
    assert "is '2', outside" in got.only().message


def test_names_are_formatted_on_access() -> None:
    held = Names(pa.array(["-0", "007", "a"]), np.array([-7, 0, 5, 12], np.int64))
    shown = ("-7", "0", "5", "12", "-0", "007", "a")
    assert held == shown
    assert (len(held), tuple(held), held[:2], held[-1]) == (7, shown, ("-7", "0"), "a")
    assert [held.find(text) for text in (*shown, "7", "b", "00")] == [*range(7), None, None, None]
    assert held.arrow.to_pylist() == list(shown)
    assert held == Names.of(reversed(shown))
    assert held != Names.of(shown[1:])
    assert "5" in held
    assert "6" not in held
    assert 5 not in held
    assert (held.index("12"), Entities(shown)["007"]) == (3, 5)
    assert held.find("13") is None
    many = Names(pa.array([], pa.string()), np.arange(50))
    assert many.at(np.array([3, 1]), 2) == ["3", "1"]
    assert "python" not in vars(many)
    assert repr(many) == "Names(50: '0', '1', '2', '3', '4', ...)"
    used = np.isin(np.arange(7), [0, 3, 5, 6])
    assert held.some(used) == ("-7", "12", "007", "a")


@pytest.mark.parametrize("in_bulk", [False, True])
@pytest.mark.parametrize("values", [["5", "7", "10"], ["5", "b", "007"], [5, 7, 10]])
def test_what_no_row_uses_is_no_entity(in_bulk: bool, values: list[object]) -> None:
    """A dictionary may hold more than its column does, and a column more than the rows that are kept."""
    held = pa.DictionaryArray.from_arrays(pa.array([2, 0, 2], pa.int32()), pa.array(values))
    with reading(in_bulk):
        for table in (pa.table({"a": held, "b": held}), {"a": held, "b": [str(values[0])] * 3}):
            told, _ = told_table("P", 2, False, table)
            assert told is not None
            assert list(told.names) == in_order({str(values[0]), str(values[2])})
        plain = {"a": [str(value) for value in values], "b": ["5", None, "5"]}
        told, found = told_table("P", 2, False, plain)
        assert told is not None
        assert [finding.row for finding in found] == [2]
        assert list(told.names) == in_order({"5", str(values[2])})


def test_tables_of_numbers_and_texts_are_interned_together() -> None:
    tables = []
    for rows in ([("10", "9"), ("x", "-3")], [("9", "10"), ("9", "9")], [("y", "7"), ("007", "9")]):
        table, _ = told_table("P", 2, False, rows)
        assert table is not None
        tables.append(table)
    for in_bulk in (True, False):
        with reading(in_bulk):
            entities, ids = intern(tables, ["8", "z", "9"])
        assert entities.names == ("-3", "7", "8", "9", "10", "007", "x", "y", "z")
        named = [[tuple(entities.names[place] for place in row) for row in zip(*each, strict=True)] for each in ids]
        assert named == [[("10", "9"), ("x", "-3")], [("9", "10"), ("9", "9")], [("y", "7"), ("007", "9")]]


def test_texts_are_made_of_nothing_that_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("a,b\n" + "".join(f"{n},{n + 1}\n" for n in range(25_000)), encoding="utf-8")
    kb = lnnkit.loads('load E from "e.csv"\npredicate E(node, node) closed', base=tmp_path)
    kb.infer()
    answers = kb.ask("E(24999, X)")
    assert [dict(answer.bindings) for answer in answers] == [{"X": "25000"}]
    held = answers.columns[0].names
    assert "python" not in vars(held)
    assert "arrow" not in vars(held)
    assert len(held.texts) == 0
