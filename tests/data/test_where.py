"""``where`` keeps the rows that DuckDB keeps; ``missing``, ``delimiter``, ``~`` and ``_``; what cannot be compared."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lnnkit
from lnnkit.data.grid import Load
from lnnkit.data.load import read_table
from lnnkit.data.names import SMALL
from lnnkit.syntax import ast
from lnnkit.syntax.parse import parse
from tests.blocks import at_length
from tests.data.reading import STATEMENT, Read

Loading = Callable[..., Read]

WORDS = ("", "a", "b", "B", "ab", "é", "zebra", "10", "9", "x y", "2024-01-15")


@pytest.fixture
def load(tmp_path: Path) -> Loading:
    """Write a file, if there is a content, and read it by a statement."""

    def reader(clauses: str, content: str | None = None, *, name: str = "f.csv", arity: int = 1, numeric: bool = False):
        if content is not None:
            (tmp_path / name).write_text(content, "utf-8")
        program, found = parse(f'load P from "{name}" {clauses}\n')
        assert not found, [finding.render() for finding in found]
        (statement,) = program.statements
        assert isinstance(statement, ast.LoadStatement)
        return Read(*read_table(Load("P", arity, numeric, statement.table, tmp_path, STATEMENT)))

    return reader


def condition(rng: random.Random) -> tuple[str, str]:
    """A condition, and the same in SQL."""
    column = rng.choice(("word", "count", "share"))
    kind = rng.choice(("=", "!=", "<", "<=", ">", ">=", "in", "is null", "is not null"))

    def cell() -> tuple[str, str]:
        if column == "word":
            word = rng.choice(WORDS[1:] if kind in ("=", "!=", "in") else WORDS[1:-1])  # an order would read dates
            return f'"{word}"', f"'{word}'"
        number = str(rng.choice((-3, 0, 2, 5))) if column == "count" else rng.choice(("0.5", "-1", "1e2", "2.25"))
        return number, number

    if kind in ("is null", "is not null"):
        return f"{column} {kind}", f"{column} {kind}"
    cells = [cell() for _ in range(rng.randint(1, 3) if kind == "in" else 1)]
    ours, theirs = (", ".join(cell[side] for cell in cells) for side in (0, 1))
    if kind == "in":
        return f"{column} in ({ours})", f"{column} in ({theirs})"
    return f"{column} {kind} {ours}", f"{column} {kind} {theirs}"


@pytest.mark.parametrize("size", [40, SMALL + 1000])
@pytest.mark.parametrize("seed", at_length([0, 1, 2], plain=1))
def test_the_rows_that_duckdb_keeps(load: Loading, tmp_path: Path, size: int, seed: int) -> None:
    rng = random.Random(seed)
    table = pa.table(
        {
            "id": pa.array([f"r{row}" for row in range(size)]),
            "word": pa.array([rng.choice(WORDS) or None for _ in range(size)]),
            "count": pa.array([rng.choice((None, -3, 0, 1, 2, 5, 10**6)) for _ in range(size)], pa.int64()),
            "share": pa.array([rng.choice((None, -1.0, 0.25, 0.5, 2.25, 100.0)) for _ in range(size)], pa.float64()),
        }
    )
    pq.write_table(table, tmp_path / "f.parquet")
    cells = ("" if cell is None else str(cell) for row in table.to_pylist() for cell in row.values())
    rows = zip(*[cells] * 4, strict=True)
    (tmp_path / "f.csv").write_text("id,word,count,share\n" + "".join(",".join(row) + "\n" for row in rows), "utf-8")
    base = duckdb.connect()
    base.register("facts", table)
    for _ in range(30 if size < SMALL else 6):
        pairs = [condition(rng) for _ in range(rng.randint(1, 3))]
        ours, theirs = (" and ".join(pair[side] for pair in pairs) for side in (0, 1))
        expected = [row for (row,) in base.execute(f"select id from facts where {theirs}").fetchall()]
        for name in ("f.csv", "f.parquet"):
            got = load(f"(id) where {ours}", name=name)
            assert got.errors == [], ours
            assert [key for (key,) in got.keys] == expected, (name, ours)


PEOPLE = "id,age,class,ok\na,12,+,True\nb,NA,-,no\nc,40.0,-,YES\nd,,?,f\ne,007,+,t\n"


def kept(got: Read) -> str:
    assert got.errors == []
    return "".join(str(key) for (key,) in got.keys)


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ('where age > 10 missing "NA"', "ac"),
        ('where age = 40 missing "NA"', "c"),
        ('where age = 7 missing "NA"', "e"),
        ('where age = "7" missing "NA"', ""),
        ('where age = "007"', "e"),
        ('where age is null missing "NA"', "bd"),
        ('where age = ""', "d"),
        ('where age != ""', "abce"),
        ('where age != 12 missing "NA"', "ce"),
        ('where class = "+" and age > 10', "a"),  # of `NA` nothing is asked
        ('where age > 10 and class = "+"', "a"),
        ("where ok = true", "ace"),
        ("where ok != true", "bd"),
        ('where ok = "True"', "a"),
        ('where class != "+" missing "?"', "bc"),
        ('where class in ("+", "?")', "ade"),
        ('where age in (12, "NA")', "ab"),
        ('where class >= "-" and class < "?"', "bc"),
        ('where 3 = "-" and id != "b"', "c"),
    ],
)
def test_what_is_kept(load: Loading, clauses: str, expected: str) -> None:
    got = load(f"(id) {clauses}", PEOPLE)
    if expected or got.errors:
        assert kept(got) == expected
    else:
        assert got.found == [("no-rows", None)]


def test_marks_of_gaps_as_limits(load: Loading) -> None:
    text = "id,age\na,-1\nb,0\nc,7\nd,-5\n"
    assert kept(load("(id) where age > -1 missing -1", text)) == "bc"
    assert kept(load("(id) where age <= 7 missing -1, 7", text)) == "bd"
    assert load("(id) where age = -1 missing -1", text).errors == [("bad-condition", None)]


@pytest.mark.parametrize(
    ("clauses", "code", "row", "hint"),
    [
        ("where age > 10", "bad-number", 3, 'missing "NA"'),
        ('where age > "10" missing "NA"', "bad-condition", None, "write 10 without quotes"),
        ('where class = "?" missing "?"', "bad-condition", None, "`is null`"),
        ('where class != "?" missing "?"', "bad-condition", None, "`is not null`"),
        ("where class = true", "bad-truth", 2, "in quotes"),
        ("where class = 1", "bad-number", 2, 'write "1" in quotes'),
    ],
)
def test_what_cannot_be_compared(load: Loading, clauses: str, code: str, row: int | None, hint: str) -> None:
    got = load(f"(id) {clauses}", PEOPLE)
    assert got.errors[0] == (code, row)
    assert hint in got.diagnostics[0].hint


def test_typed_columns(load: Loading, tmp_path: Path) -> None:
    import datetime

    times = [datetime.datetime(2024, 1, day, 12) for day in (1, 2, 3)]
    columns: dict[str, Any] = {
        "id": ["a", "b", "c"],
        "big": pa.array([2**53, 2**53 + 1, None], pa.int64()),
        "real": pa.array([float("nan"), 1.5, None]),
        "ok": pa.array([True, False, None]),
        "day": pa.array([time.date() for time in times]),
        "time": pa.array(times),
        "price": pa.array(["1.10", "2.20", None]).cast(pa.decimal128(9, 2)),
        "none": pa.nulls(3),
        "coded": pa.array(["u", "v", None]).dictionary_encode(),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")

    def rows(condition: str) -> str:
        got = load(f"(id) where {condition}", name="t.parquet")
        assert got.errors == [], condition
        return "".join(str(key) for (key,) in got.keys)

    assert rows(f"big = {2**53 + 1}") == "b"
    assert rows(f"big > {2**53}") == "b"
    assert rows(f'big = "{2**53}"') == "a"
    assert rows(f"big < {10**30}") == "ab"
    assert rows("real is null") == "ac"  # nan is no number
    assert rows("real != 7") == "b"
    assert rows("ok = false") == rows('ok = "False"') == "b"
    assert rows('day >= "2024-01-02"') == "bc"
    assert rows('time > "2024-01-02 11:00:00"') == "bc"
    assert rows("price = 2.2") == "b"
    assert rows("none is null") == "abc"
    assert rows('coded != "u"') == "b"
    for condition, hint in (
        ('real = "1.5"', "1.5 without quotes"),
        ('big > "5"', "5 without quotes"),
        ("ok > 0", "true or false"),
        ("day > 2023", "a text"),
        ('time > "noon"', "2024"),
    ):
        only = load(f"(id) where {condition}", name="t.parquet").only()
        assert only.code == "bad-condition" and hint in only.hint and only.file is None


def test_missing_in_typed_columns(load: Loading, tmp_path: Path) -> None:
    columns: dict[str, Any] = {"id": ["a", "b"], "n": pa.array([-9, 4]), "x": pa.array([-9.0, 4.0])}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    for column in ("n", "x"):
        got = load(f'(id, {column}) missing "?", -9', name="t.parquet", numeric=True)
        assert got.facts == [("a", -float("inf"), float("inf")), ("b", 4.0, 4.0)]


@pytest.mark.parametrize("clause", ["", "trim", 'missing "?"', 'where who != "b"', "where who = other"])
def test_texts_held_as_views(load: Loading, tmp_path: Path, clause: str) -> None:
    """Arrow has few kernels for them."""
    columns = {name: pa.array(["a", "?", None], pa.string_view()) for name in ("who", "other")}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    got = load(f"(who) {clause}", name="t.parquet", arity=1)
    assert got.keys == ([("a",)] if clause.startswith("missing") else [("a",), ("?",)])


@pytest.mark.parametrize(("mark", "name"), [(";", "f.csv"), ("\\t", "f.csv"), ("|", "f.txt"), (" ", "f.tsv")])
def test_delimiters(load: Loading, mark: str, name: str) -> None:
    cell = mark.replace("\\t", "\t")
    text = f'id{cell}note\na{cell}"x{cell}""y"""\n\nb{cell}"two\nlines"\nc{cell}z\nd\n'
    got = load(f'delimiter "{mark}"', text, name=name, arity=2)
    assert got.keys == [("a", f'x{cell}"y"'), ("b", "two\nlines"), ("c", "z")]
    assert got.rows == [2, 4, 6]
    assert got.found == [("bad-row", 7)]


def test_a_delimiter_of_parquet(load: Loading, tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["a"]}), tmp_path / "t.parquet")
    assert load('delimiter ";"', name="t.parquet").only().code == "bad-delimiter"


def test_words_for_truths(load: Loading) -> None:
    text = "id,p\na,True\nb,FALSE\nc,Yes\nd,no\ne,T\nf,n\ng,0.5\nh, true \ni,perhaps\n"
    got = load("(id, p)", text)
    assert [fact[1] for fact in got.facts] == [1, 0, 1, 0, 1, 0, 0.5, 1]
    assert got.found[0] == ("bad-truth", 10)
    assert load("(id, p)", "id,v\na,yes\n".replace("v", "p"), numeric=True).found == [("bad-number", 2)]


def test_negated_tables_and_columns_that_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("id,x,class,p\na,1,-,0.25\nb,2,+,1\n", "utf-8")
    kb = lnnkit.loads(
        "predicate Sure(entity)\n"
        'load ~Good from "f.csv" (id, _, _) where class = "-"\nload ~Sure from "f.csv" (id, p)\n'
        'load Class from "f.csv" (id, _, class)\n',
        base=tmp_path,
    )
    assert [(row.bindings, row.upper) for row in kb.ask("Good(X)")] == [({"X": "a"}, 0.0)]
    assert [(row.lower, row.upper) for row in kb.ask("Sure(X)")] == [(0.75, 0.75), (0.0, 0.0)]
    assert [row.bindings["Y"] for row in kb.ask("Class(X, Y)")] == ["-", "+"]
    with pytest.raises(lnnkit.ProgramError) as caught:
        lnnkit.loads('number age(entity)\nload ~age from "f.csv" (id, x)\n', base=tmp_path)
    assert [finding.code for finding in caught.value.diagnostics] == ["number-as-formula"]


def test_negated_labels(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("id,class\na,-\nb,+\n", "utf-8")
    load = 'label {}Good from "f.csv" (id) where class = "{}"\n'
    kb = lnnkit.loads("fact Good(a) = 0\nfact Good(b)\n" + load.format("", "+") + load.format("~", "-"), base=tmp_path)
    assert kb.evaluate().predicates["Good"].accuracy == 1
    assert kb.evaluate().predicates["Good"].n == 2


def test_faults_of_several_columns_are_grouped(load: Loading) -> None:
    rows = "".join(f"k{n},{'x' if n % 2 else '0.5'},{'1' if n % 3 else '2'}\n" for n in range(60))
    got = load("(id, l, u)", "id,l,u\n" + rows)
    codes = [finding.row for finding in got.diagnostics]
    assert codes == [2, 5, 8, 11, 14, None, 3, 5, 7, 9, 11, None]
    assert got.diagnostics[5].message == 'and 15 more rows where column "u" is outside [0, 1]'
    assert got.diagnostics[11].message == 'and 25 more rows where column "l" is not a truth value'
