"""Keys that pandas wrote as floats, since its column had gaps, are whole numbers, and join."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lnnkit
from lnnkit.cli import main
from lnnkit.data.names import SMALL

PROGRAM = """\
predicate Cust(c, n) closed
predicate Ord(o, c) closed
load Cust from "k1.csv"
load Ord from "{name}" where cust is not null
rule Ord(O, C) & Cust(C, N) -> Buys(O, N)
"""


def bought(folder: Path, name: str) -> tuple[dict[str, str], list[str]]:
    (folder / "k1.csv").write_text("id,name\n7,anna\n8,bob\n9007199254740993,cleo\n-3,dora\n")
    kb = lnnkit.loads(PROGRAM.format(name=name), base=folder)
    answers = {each.bindings["O"]: each.bindings["N"] for each in kb.ask("Buys(O, N)")}
    return answers, [each.code for each in kb.warnings]


def test_whole_floats_join_with_whole_numbers(tmp_path: Path) -> None:
    (tmp_path / "k2.csv").write_text("order,cust\no1,7.0\no2,8.00\no3,\no4,9007199254740993\no5,-3.0\n")
    expected = {"o1": "anna", "o2": "bob", "o4": "cleo", "o5": "dora"}
    assert bought(tmp_path, "k2.csv") == (expected, ["float-keys"])
    frame = pd.DataFrame({"order": ["o1", "o2", "o3"], "cust": [7, None, 8]})
    frame.to_csv(tmp_path / "pandas.csv", index=False)
    frame.to_parquet(tmp_path / "pandas.parquet")
    for name in ("pandas.csv", "pandas.parquet"):
        assert bought(tmp_path, name) == ({"o1": "anna", "o3": "bob"}, ["float-keys"])


@pytest.mark.parametrize("cell", ["7.5", "x", "007", "1e3", "9007199254740992.0", "-0.0"])
def test_a_column_with_other_texts_stays_text(cell: str, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(f"a,b\nx,7.0\ny,{cell}\n")
    kb = lnnkit.loads('load P from "f.csv"', base=tmp_path)
    assert {each.bindings["Y"] for each in kb.ask("P(X, Y)")} == {"7.0", cell}
    assert not kb.warnings


def test_conditions_compare_what_is_written(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("a,b\nx,7.0\ny,8\n")
    for condition in ('b = "7.0"', "b = 7", "b < 8"):
        kb = lnnkit.loads(f'load P from "f.csv" where {condition}', base=tmp_path)
        assert [each.bindings for each in kb.ask("P(X, Y)")] == [{"X": "x", "Y": "7"}]


@pytest.mark.parametrize("size", [3, SMALL + 3])
def test_many_keys_of_two_columns(size: int, tmp_path: Path) -> None:
    rows = "".join(f"{row},{row + 1}.0\n" for row in range(size))
    (tmp_path / "f.csv").write_text(f"a,b\n{rows}")
    kb = lnnkit.loads('load Next from "f.csv"\nrule Next(X, Y) -> Next2(Y)', base=tmp_path)
    assert {each.bindings["X"] for each in kb.ask("Next2(X)")} == {str(row) for row in range(1, size + 1)}


def test_streams_look_up_whole_floats(tmp_path: Path) -> None:
    (tmp_path / "vip.csv").write_text("id\n7\n")
    (tmp_path / "rows.csv").write_text("id,amount\n7.0,5\n8.0,9\n")
    program = """predicate Vip(row)
number amount(row)
load Vip from "vip.csv"
load amount from "rows.csv"
rule amount(X) > 1 & Vip(X) -> Good(X)
query Good(X)
"""
    kb = lnnkit.loads(program, base=tmp_path)
    assert [each.bindings["X"] for each in kb.ask("Good(X)") if each.lower == 1] == ["7"]
    (tmp_path / "p.lnn").write_text(program)
    for name, table in (
        ("rows.csv", None),
        ("rows.parquet", pa.table({"id": [7.0, 8.0], "amount": [5, 9]})),
    ):
        if table is not None:
            pq.write_table(table, tmp_path / name)
            (tmp_path / "p.lnn").write_text(program.replace("rows.csv", name))
        out = tmp_path / f"{name}.out.csv"
        assert main(["score", str(tmp_path / "p.lnn"), "--rows", f"row={tmp_path / name}", "-o", str(out)]) == 0
        assert pd.read_csv(out).iloc[:, 1].tolist() == [1.0, 0.0]
