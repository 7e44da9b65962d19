"""Drafts for padded codes, written indexes, floats that name rows, JSON lines, and tables that cannot be drafted."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import lnnkit
from lnnkit.cli import main


def drafted(folder: Path, *files: str, options: tuple[str, ...] = ()) -> tuple[str, lnnkit.KnowledgeBase]:
    out = folder / "out.lnn"
    assert main(["init", *(str(folder / file) for file in files), "-o", str(out), "--force", *options]) == 0
    return out.read_text(), lnnkit.load(out)


def test_padded_codes_name_rows(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("sku,cat,w\n00001,phone,5\n00002,food,7\n00003,food,9\n00004,toy,7\n")
    _, kb = drafted(tmp_path, "f.csv")
    assert {each.bindings["X"]: each.lower for each in kb.ask("w(X)")} == {
        "00001": 5,
        "00002": 7,
        "00003": 9,
        "00004": 7,
    }
    (tmp_path / "g.csv").write_text("id,zip,share\na,01234,0.5\nb,20000,0.25\nc,00501,0.125\n")
    text, _ = drafted(tmp_path, "g.csv")
    assert "number share" in text and "number zip" not in text


def test_an_index_is_left_out(tmp_path: Path) -> None:
    pd.DataFrame({"name": ["anna", "bob"], "age": [34, 40]}).to_csv(tmp_path / "f.csv")
    text, kb = drafted(tmp_path, "f.csv")
    assert "it numbers the rows" in text
    assert {each.bindings["X"]: each.lower for each in kb.ask("age(X)")} == {"anna": 34, "bob": 40}
    pd.DataFrame({"age": [34, 40]}, index=["anna", "bob"]).to_csv(tmp_path / "f.csv")
    _, kb = drafted(tmp_path, "f.csv")
    assert {each.bindings["X"] for each in kb.ask("age(X)")} == {"anna", "bob"}


@pytest.mark.parametrize("name", ["orders.csv", "orders.parquet"])
def test_floats_that_name_rows_of_another_table(name: str, tmp_path: Path) -> None:
    (tmp_path / "customers.csv").write_text("id,city,age\n7,Graz,30\n8,Linz,40\n9,Linz,50\n")
    frame = pd.DataFrame({"order": ["o1", "o2", "o3", "o4"], "customer_id": [7, None, 8, 8], "sum": [1.5, 2, 3, 4]})
    frame.to_csv(tmp_path / name, index=False) if name.endswith("csv") else frame.to_parquet(tmp_path / name)
    text, kb = drafted(tmp_path, "customers.csv", name)
    assert "predicate Customer_id(order, customer)" in text
    found = kb.ask('Customer_id(X, Y) & City(Y, "Graz")')
    assert [each.bindings["X"] for each in found if each.lower == 1] == ["o1"]


def test_a_bad_table_stops_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "good.csv").write_text("id,a\nx,1\ny,2\n")
    (tmp_path / "keyless.csv").write_text("a,b\n1.5,2\n1.5,2\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("id,a\n")
    bad = ["keyless.csv", "empty.csv", "header.csv", "absent.csv"]
    text, kb = drafted(tmp_path, *bad[:2], "good.csv", *bad[2:])
    assert "number a(good)" in text and len(kb.ask("a(X)")) == 2
    told = capsys.readouterr().err
    assert all(name in told for name in bad)
    assert "warning[no-key]" in told
    for name in bad:
        assert main(["init", str(tmp_path / name)]) == 1


LINES = (
    '{"id": "a", "w": 1.5, "day": "2024-01-15"}\n\n{"id": "b", "w": null, "day": "2024-02-15"}\n{"id": "c", "w": 3}\n'
)


@pytest.mark.parametrize("name", ["f.jsonl", "f.ndjson"])
def test_json_lines(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(LINES)
    text, kb = drafted(tmp_path, name)
    assert "number w(f)" in text
    program = f'''number w(row)
load w from "{name}" (id, w)
load Day from "{name}" (id, day) where day is not null
load Late from "{name}" (id) where day >= "2024-02-01"
load Bad from "{name}" (id, day)
'''
    kb = lnnkit.loads(program.replace(f'load Bad from "{name}" (id, day)\n', ""), base=tmp_path)
    assert {each.bindings["X"]: each.lower for each in kb.ask("w(X)")} == {"a": 1.5, "c": 3}
    assert [each.bindings["Y"] for each in kb.ask("Day(X, Y)")] == ["2024-01-15", "2024-02-15"]
    assert [each.bindings["X"] for each in kb.ask("Late(X)")] == ["b"]
    with pytest.raises(lnnkit.Error) as problem:
        lnnkit.loads(program, base=tmp_path)
    assert [each.row for each in problem.value.diagnostics] == [4]  # by line: the second is blank


def test_json_lines_that_are_none(tmp_path: Path) -> None:
    for content in ('{"a": 1}\n{"a": "x"}\n', "[1, 2]\n", "{"):
        (tmp_path / "f.jsonl").write_text(content)
        with pytest.raises(lnnkit.Error) as problem:
            lnnkit.loads('load P from "f.jsonl"', base=tmp_path)
        assert [each.code for each in problem.value.diagnostics] == ["unreadable-file"]
    (tmp_path / "f.jsonl").write_text(LINES)
    with pytest.raises(lnnkit.Error) as problem:
        lnnkit.loads('load P from "f.jsonl" delimiter ";"', base=tmp_path)
    assert [each.code for each in problem.value.diagnostics] == ["bad-delimiter"]


def test_json_lines_get_ids_and_are_scored(tmp_path: Path) -> None:
    (tmp_path / "f.jsonl").write_text('{"w": 1, "v": 2}\n{"w": 1, "v": 2}\n')
    _, kb = drafted(tmp_path, "f.jsonl", options=("--ids",))
    assert len(kb.ask("w(X)")) == 2
    (tmp_path / "rows.jsonl").write_text(LINES)
    (tmp_path / "p.lnn").write_text(
        'number w(row)\nload w from "rows.jsonl" (id, w)\nrule w(X) > 2 -> Heavy(X)\nquery Heavy(X)\n'
    )
    out = tmp_path / "out.csv"
    assert main(["score", str(tmp_path / "p.lnn"), "--rows", f"row={tmp_path / 'rows.jsonl'}", "-o", str(out)]) == 0
    assert pd.read_csv(out).iloc[:, 1].tolist() == [0, 0, 1]
