"""An empty truth of an open predicate is unknown, as an empty number is; of a closed one it is an error; as a label it
is none."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lnnkit
from lnnkit.cli import main
from lnnkit.data.names import SMALL

UNKNOWN = {"a": (1.0, 1.0), "b": (0.0, 1.0), "c": (0.0, 0.25)}


def bounds(kb: lnnkit.KnowledgeBase, query: str = "Risky(X)") -> dict[str, tuple[float, float]]:
    return {each.bindings["X"]: (each.lower, each.upper) for each in kb.ask(query)}


def told(answers: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Those that say something: an answer leaves out what is unknown."""
    return {key: ends for key, ends in answers.items() if ends != (0.0, 1.0)}


@pytest.mark.parametrize("name", ["f.csv", "f.tsv", "f.parquet"])
def test_tables(name: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": ["a", "b", "c"], "low": [1, None, None], "high": [1, None, 0.25]})
    if name.endswith("parquet"):
        frame.to_parquet(tmp_path / name)
    else:
        frame.to_csv(tmp_path / name, index=False, sep="," if name.endswith("csv") else "\t")
    kb = lnnkit.loads(f'predicate Risky(row)\nload Risky from "{name}" (id, low, high)', base=tmp_path)
    assert told(bounds(kb)) == told(UNKNOWN)
    kb = lnnkit.loads(f'predicate Risky(row)\nload ~Risky from "{name}" (id, low)', base=tmp_path)
    assert told(bounds(kb)) == {"a": (0.0, 0.0)}
    text = 'predicate Risky(row) closed\nload Risky from "f.csv" (id, low)'.replace("f.csv", name)
    with pytest.raises(lnnkit.DataError) as problem:
        lnnkit.loads(text, base=tmp_path)
    found = problem.value.diagnostics
    assert [each.code for each in found] == ["bad-truth", "bad-truth"]
    assert "where low is not null" in found[0].hint
    kb = lnnkit.loads(f"{text} where low is not null", base=tmp_path)
    assert told(bounds(kb)) == {"a": (1.0, 1.0)}


def test_marks_of_missing_truths(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("id,p\na,yes\nb,NA\nc,no\n")
    text = 'predicate Risky(row)\nload Risky from "f.csv"'
    with pytest.raises(lnnkit.DataError) as problem:
        lnnkit.loads(text, base=tmp_path)
    (found,) = problem.value.diagnostics
    assert 'missing "NA"' in found.hint
    kb = lnnkit.loads(f'{text} missing "NA"', base=tmp_path)
    assert told(bounds(kb)) == {"a": (1.0, 1.0), "c": (0.0, 0.0)}


@pytest.mark.parametrize(
    "table",
    [
        [("a", 1.0), ("b", None)],
        {"id": ["a", "b"], "p": [True, None]},
        pd.DataFrame({"id": ["a", "b"], "p": [1.0, math.nan]}),
        pa.table({"id": ["a", "b"], "p": [1, None]}),
    ],
)
def test_told_tables(table: object) -> None:
    kb = lnnkit.loads(
        "predicate Risky(row)\npredicate Sure(row) closed\nrule Risky(X) -> Bad(X)\nrule Sure(X) -> Bad(X)"
    )
    kb.tell("Risky", table)
    assert told(bounds(kb)) == {"a": (1.0, 1.0)}
    assert told(bounds(kb, "Bad(X)")) == {"a": (1.0, 1.0)}
    with pytest.raises(lnnkit.DataError) as problem:
        kb.tell("Sure", table)
    assert [(each.code, each.row) for each in problem.value.diagnostics] == [("bad-truth", 2)]


def test_a_label_without_a_value_is_none(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("id,total\na,6\nb,\n")
    program = "number total(item)\nnumber half(item)\nfact half(a) = 3\nfact half(b) = 3\n"
    program += "rule total(X) = half(X) * (?k=2)\n"
    table = lnnkit.loads(f'{program}label total from "l.csv" (id, total)\n', base=tmp_path)
    one_by_one = lnnkit.loads(f"{program}label total(a) = 6\n")
    assert table.evaluate() == one_by_one.evaluate()


def test_a_label_without_a_truth_is_none(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("id,p\na,1\nb,\nc,0\n")
    program = "fact A(a)\nfact A(b)\nfact ~A(c)\nrule A(X) -> B(X)\n"
    table = lnnkit.loads(f'{program}label B from "l.csv" (id, p)\n', base=tmp_path)
    one_by_one = lnnkit.loads(f"{program}label B(a)\nlabel B(c) = 0\n")
    told_later = lnnkit.loads(program)
    told_later.label("B", {"id": ["a", "b", "c"], "p": [1, None, 0]})
    for kb in (table, told_later):
        assert kb.evaluate() == one_by_one.evaluate()


PROGRAM = """predicate Risky(row)
number amount(row)
load Risky from "{name}" (id, p)
load amount from "{name}" (id, amount)
rule Risky(X) -> Bad(X)
query Bad(X)
query Risky(X)
"""


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
@pytest.mark.parametrize("size", [4, SMALL + 4])
def test_streams(name: str, size: int, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"id": [f"r{row}" for row in range(size)], "p": [1.0, None, 0.5, None] * (size // 4), "amount": 1}
    )
    if name.endswith("csv"):
        frame.to_csv(tmp_path / name, index=False)
    else:
        pq.write_table(pa.Table.from_pandas(frame), tmp_path / name)
    (tmp_path / "p.lnn").write_text(PROGRAM.format(name=name))
    out = tmp_path / "out.csv"
    assert main(["score", str(tmp_path / "p.lnn"), "--rows", f"row={tmp_path / name}", "-o", str(out)]) == 0
    got = pd.read_csv(out)
    assert got.iloc[:4, 1].tolist() == [1, 0, 0.5, 0]
    assert got.iloc[:4, 4].tolist() == [1, 0, 0.5, 0] and got.iloc[:4, 5].tolist() == [1, 1, 0.5, 1]
    closed = PROGRAM.format(name=name).replace("predicate Risky(row)", "predicate Risky(row) closed")
    (tmp_path / "p.lnn").write_text(closed)
    assert (
        main(["score", str(tmp_path / "p.lnn"), "--rows", f"row={tmp_path / name}", "-o", str(tmp_path / "o.csv")]) == 1
    )
