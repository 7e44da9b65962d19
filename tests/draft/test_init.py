"""``lnnkit init`` drafts a program that passes ``check`` and ``run``, whatever the tables."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lnnkit
from lnnkit.cli import main
from lnnkit.cli.program_text import diagnostics
from lnnkit.draft.drafting import is_id, subject

AWKWARD = (
    "id;Größe (cm);in;fact;has part;OR;note;empty;born;count;X;größe (cm)\n"
    'x;180;a;1;?;yes;"foo; bar";;2001-02-03;3;u;a\n'
    'y;170.5;b;2;p;no;"say ""hi""";;2001-02-04;4;U;b\n'
    "z;?;a;3;q;yes;baz;;2003-02-03;?;v;c\n"
    "w;150;b;3;q;no;bazz;;2004-02-03;1;v;c\n"
    "r;150;b;3;q;no;bazzz;;2004-02-03;1;v;c\n"
)


def drafted(folder: Path, *files: str, options: tuple[str, ...] = ()) -> lnnkit.KnowledgeBase:
    """Draft a program, check it, and load it."""
    out = folder / "out.lnn"
    assert main(["init", *(str(folder / file) for file in files), "-o", str(out), "--force", *options]) == 0
    assert [finding for finding in diagnostics(str(out)) if finding.severity == "error"] == []
    kb = lnnkit.load(out)
    assert kb.infer().status == "converged"
    assert all(len(answers) for answers in kb.answers())
    assert 1 <= len(kb.answers()) <= 2
    return kb


def text(folder: Path) -> str:
    return (folder / "out.lnn").read_text("utf-8")


def test_an_awkward_file(tmp_path: Path) -> None:
    (tmp_path / "things.csv").write_text(AWKWARD, "utf-8")
    kb = drafted(tmp_path, "things.csv")
    assert not kb.contradictions
    assert {a.bindings["Q"]: a.lower for a in kb.ask("größe-cm(Q)")} == {"r": 150, "w": 150, "x": 180, "y": 170.5}
    assert {a.bindings["Q"] for a in kb.ask("Column-or(Q)") if a.lower == 1} == {"x", "z"}
    assert {a.bindings["Q"] for a in kb.ask('Has-part(Q, "q")')} == {"z", "w", "r"}
    assert len(kb.ask("Has-part(Q, R)")) == 4
    program = text(tmp_path)
    assert 'missing "?" delimiter ";"' in program
    assert '# column "empty": empty' in program
    assert '# load Note from "things.csv" (id, note) delimiter ";"' in program


def test_files_that_share_a_key(tmp_path: Path) -> None:
    (tmp_path / "customers.csv").write_text("id,city,vip\nc1,graz,true\nc2,linz,false\nc3,graz,true\nc4,linz,true\n")
    visits = {
        "visit": ["v1", "v2", "v3"],
        "customer_id": ["c1", "c1", "c3"],
        "cost": [1.5, None, 2.0],
        "paid": [True, False, None],
    }
    pq.write_table(pa.table(visits), tmp_path / "visits.parquet")
    (tmp_path / "knows.tsv").write_text("source\ttarget\nc1\tc2\nc2\tc3\nc1\tc3\n")
    kb = drafted(tmp_path, "customers.csv", "visits.parquet", "knows.tsv")
    lines = text(tmp_path).splitlines()
    for line in (
        "predicate City(customer, city)",
        "predicate Vip(customer)",
        "predicate Customer_id(visit, customer)",
        "number cost(visit)",
        'load Paid from "visits.parquet" (visit, paid) where paid is not null',
        "predicate Knows(customer, customer)",
    ):
        assert line in lines
    vips = kb.ask("exists Q: Customer_id(Q, R) & Vip(R)")
    assert {answer.bindings["R"] for answer in vips if answer.lower == 1} == {"c1", "c3"}


def test_repeated_ids_are_no_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "f.csv").write_text("name,a,b\nx,1,5\nx,1,6\ny,2,7\nz,3,8\nw,3,9\nv,3,9\n")
    assert main(["init", str(tmp_path / "f.csv")]) == 1
    assert "no-key" in capsys.readouterr().err
    kb = drafted(tmp_path, "f.csv", options=("--ids",))
    assert len(kb.ask("a(Q)")) == len(kb.ask("b(Q)")) == 6


def test_pairs_of_columns_are_keys(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("shop,week,sales\ns1,1,5\ns1,2,6\ns2,1,7\n")
    assert len(drafted(tmp_path, "f.csv").ask("sales(Q, R)")) == 3
    (tmp_path / "h.csv").write_text("id,a,b,kind\nx,1,5,u\nx,1,6,v\ny,2,7,u\nz,3,8,u\n")
    assert len(drafted(tmp_path, "h.csv").ask("b(Q, R)")) == 4
    (tmp_path / "g.csv").write_text("shop_id,product_id,price\ns1,p1,5\ns1,p2,6\ns2,p1,7\n")
    assert len(drafted(tmp_path, "g.csv").ask("price(Q, R)")) == 3


def test_many_columns_and_gaps(tmp_path: Path) -> None:
    head = ",".join(["name", *(f"col {n}" for n in range(38)), "col 1"])  # one title stands twice
    rows = [
        ",".join([f"r{row}", *(str((row * n) % 7) if (row + n) % 5 else "" for n in range(39))]) for row in range(300)
    ]
    (tmp_path / "wide.csv").write_text("\n".join([head, *rows]) + "\n")
    kb = drafted(tmp_path, "wide.csv")
    assert len([1 for line in text(tmp_path).splitlines() if line.startswith("load ")]) >= 38
    assert [(a.lower, a.upper) for a in kb.ask('col-3("r2")')] == [(-float("inf"), float("inf"))]
    assert [a.lower for a in kb.ask('col-3("r3")')] == [2.0]  # 3 * 3 modulo 7


def test_rows_without_names_get_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "5.1,0.2,setosa\n5.1,0.2,setosa\n4.9,0.2,setosa\n7.0,1.4,versi\n"
    (tmp_path / "iris.csv").write_text(rows)
    assert main(["init", str(tmp_path / "iris.csv")]) == 1
    told = capsys.readouterr().err
    assert "no-key" in told and "--ids -o iris.lnn" in told
    assert main(["init", str(tmp_path / "iris.csv"), "--ids"]) == 2
    kb = drafted(tmp_path, "iris.csv", options=("--ids",))
    assert "no header" in text(tmp_path)
    assert (tmp_path / "iris.csv").read_text() == rows
    assert [a.lower for a in kb.ask("column-2(Q)")] == [5.1, 5.1, 4.9, 7.0]
    pq.write_table(pa.table({"x": [1.5, 1.5], "ok": [True, False]}), tmp_path / "p.parquet")
    assert len(drafted(tmp_path, "p.parquet", options=("--ids",)).ask("x(Q)")) == 2


def test_a_copy_with_ids_keeps_each_line(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_bytes(b'\xef\xbb\xbf\nnote,a\r\n"x,\ny",1.0\r\n\n"x,\ny","1"\nshort\nx,2')
    assert main(["init", str(tmp_path / "f.csv"), "--ids", "-o", str(tmp_path / "f.lnn")]) == 0
    copied = b'\nid,note,a\r\nrow1,"x,\ny",1.0\r\n\nrow2,"x,\ny","1"\nrow3,short\nrow4,x,2'
    assert (tmp_path / "f.ids.csv").read_bytes() == copied


def test_it_replaces_nothing_unasked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, out = tmp_path / "f.csv", tmp_path / "f.lnn"
    table.write_text("id,a\nx,1\ny,2\n")
    out.write_text("fact Mine(x)\n")
    assert main(["init", str(table), "-o", str(out)]) == 1
    assert "--force" in capsys.readouterr().err
    assert out.read_text() == "fact Mine(x)\n"
    assert main(["init", str(table), "-o", str(out), "--force"]) == 0
    assert "number a(f)" in out.read_text()
    assert main(["init", str(table), "-o", str(table), "--force"]) == 1
    assert table.read_text() == "id,a\nx,1\ny,2\n"
    capsys.readouterr()
    assert main(["init", str(table)]) == 0
    assert "number a(f)" in capsys.readouterr().out
    assert main(["init", str(tmp_path / "none.csv")]) == 1
    for header in ("id,a\n", ",a\n"):  # the second as pandas names its index
        (tmp_path / "empty.csv").write_text(header)
        assert main(["init", str(tmp_path / "empty.csv")]) == 1
        assert "no-rows" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("title", "about", "identifies"),
    [
        ("customer_id", "customer", True),
        ("customerId", "customer", True),
        ("order no", "order", True),
        ("id", "", True),
        ("paid", "paid", False),
        ("Größe", "Größe", False),
        ("person", "person", True),
    ],
)
def test_titles_of_ids(title: str, about: str, identifies: bool) -> None:
    assert subject(title) == about
    assert is_id(title) == identifies


def test_the_hint_for_an_absent_file_speaks_of_the_working_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path / "absent.csv")]) == 1
    said = capsys.readouterr().err
    assert "paths are relative to the working folder" in said and ".lnn" not in said
