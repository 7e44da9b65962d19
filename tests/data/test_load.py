"""Which columns a load statement means, which values they may hold, and how mistakes are told."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from tests.data.reading import Reader

INF = math.inf


def test_columns_by_name_and_position(read: Reader) -> None:
    text = "id,name,age,friend\n1,anna,34,bob\n"
    assert read(text, ("name", "friend")).keys == [("anna", "bob")]
    assert read(text, (4, 2)).keys == [("bob", "anna")]
    assert read(text, ("name", 4)).keys == [("anna", "bob")]
    assert read(text, ("name", "name")).keys == [("anna", "anna")]
    assert read(text, ("name", "age"), arity=1, numeric=True).facts == [("anna", 34.0, 34.0)]


def test_header_names_forgive_blanks_and_spelling_of_accents(read: Reader) -> None:
    assert read("name, u\u0308ber\nanna,x\n", ("name", "\u00fcber")).keys == [("anna", "x")]


def test_truth_values(read: Reader) -> None:
    text = "a,p,q\nx,0.25,1\ny,0,1e-3\nz,-0.0,1\n"
    assert read(text, ("a", "p"), arity=1).facts == [("x", 0.25, 0.25), ("y", 0.0, 0.0), ("z", 0.0, 0.0)]
    got = read(text, ("a", "p", "q"), arity=1)
    assert got.facts == [("x", 0.25, 1.0), ("y", 0.0, 0.001), ("z", 0.0, 1.0)]
    assert got.table is not None
    assert not any(math.copysign(1, value) < 0 for value in got.table.lower)
    assert read(text, None, arity=1).facts == got.facts


def test_bad_truth_values(read: Reader) -> None:
    got = read(
        "a,l,u\n,.1,.2\nb,1.1,1\nc,nan,1\nd,sure,1\ne,.5,.4\nf,,1\ng,-0.1,1\nh,.1,.2\ni,1_0,1\nj,inf,1\n", arity=1
    )
    assert got.facts == [("f", 0.0, 1.0), ("h", 0.1, 0.2)]  # an empty end is unknown
    wrong = [4, 5, 10], [3, 8, 11], [6]  # by kind: no number, outside [0, 1], crossed
    assert sorted(got.found[1:]) == sorted(("bad-truth", row) for rows in wrong for row in rows)
    assert got.found[0] == ("bad-row", 2)
    assert [d.file for d in got.diagnostics] == [got.table.source if got.table else ""] * 8


def test_numbers(read: Reader) -> None:
    text = "a,v\nx,34\ny,-2.5e3\nz,\nv, 7 \nw,.5\n"
    assert read(text, arity=1, numeric=True).facts == [
        ("x", 34.0, 34.0),
        ("y", -2500.0, -2500.0),
        ("z", -INF, INF),
        ("v", 7.0, 7.0),
        ("w", 0.5, 0.5),
    ]
    two = read("a,l,u\nx,1,2\ny,,2\nz,1,\nu,-inf,3\nv,3,inf\n", arity=1, numeric=True)
    assert two.facts == [("x", 1.0, 2.0), ("y", -INF, 2.0), ("z", 1.0, INF), ("u", -INF, 3.0), ("v", 3.0, INF)]


def test_no_number_is_infinite(read: Reader) -> None:
    assert read("a,v\nx,inf\ny,1\nz,-inf\n", arity=1, numeric=True).found == [("bad-number", 2), ("bad-number", 4)]
    got = read("a,l,u\nx,inf,inf\ny,-inf,-inf\nz,inf,\nu,-inf,inf\n", arity=1, numeric=True)
    assert sorted(got.found) == [("bad-number", row) for row in (2, 3, 4)]
    assert got.facts == [("u", -INF, INF)]


@pytest.mark.parametrize("value", ["nan", "NA", "1,000", "34 kg", "0x10", "1_000", "1e999", "--1", "true", "\u0663"])
def test_bad_numbers(read: Reader, value: str) -> None:
    got = read(f'a,v\nx,1\ny,"{value}"\n', arity=1, numeric=True)
    assert got.facts == [("x", 1.0, 1.0)]
    assert got.found == [("bad-number", 3)]
    assert value in got.only().message


def test_bad_numbers_among_many(read: Reader) -> None:
    """Past the size where Arrow parses: the same verdicts."""
    values = [str(i / 7) for i in range(30_000)]
    text = "a,v\n" + "".join(f"x,{value}\n" for value in values)
    assert [fact[1] for fact in read(text, arity=1, numeric=True).facts] == [i / 7 for i in range(30_000)]
    got = read(text + "x,1e999\nx,nan\nx,-inf\n", arity=1, numeric=True)
    assert got.found == [("bad-number", row) for row in (30_002, 30_003, 30_004)]
    got = read(text + "x,NA\n", arity=1, numeric=True)
    assert got.found == [("bad-number", 30_002)]


def test_whole_numbers_that_float_cannot_hold(read: Reader) -> None:
    got = read(f"a,v\nx,{2**53}\ny,{2**53 + 1}\nz,{10**20}\n", arity=1, numeric=True)
    assert got.found == [("inexact-number", 3)]
    assert len(got.facts) == 3


def test_propositions(read: Reader) -> None:
    assert read("p\n0.7\n", arity=0).facts == [(0.7, 0.7)]
    assert read("d,p\nmon,0.7\ntue,0.2\n", ("p",), arity=0, where={"d": "tue"}).facts == [(0.2, 0.2)]
    assert read("d,p\nmon,0.7\ntue,0.2\n", (), arity=0, where={"d": "tue"}).facts == [(1.0, 1.0)]


def test_where(read: Reader) -> None:
    text = "s,p,o,ok\na,knows,b,1\n,likes,c,1\nd,knows,e,\nf,knows,,1\ng,cafe\u0301,h,1\n"
    got = read(text, ("s", "o"), where={"p": "knows"})
    assert got.keys == [("a", "b"), ("d", "e")]
    assert got.found == [("bad-row", 5)]
    assert read(text, ("s", "o"), where={"p": "knows", 4: ""}).keys == [("d", "e")]
    assert read(text, ("s", "o"), where={"p": "caf\u00e9"}).keys == [("g", "h")]
    none = read(text, ("s", "o"), where={"p": "hates"})
    assert none.keys == []
    assert none.found == [("no-rows", None)]


def test_dictionaries_hold_what_rows_use(read: Reader) -> None:
    """Else a filtered row would put its entity into the domain."""
    got = read("s,p\na,x\nb,y\na,\nc,x\n", ("s",), arity=1, where={"p": "x"})
    assert got.table is not None
    assert list(got.table.names) == ["a", "c"]


@pytest.mark.parametrize("width", [1, 5])
def test_a_table_of_another_width_is_refused(read: Reader, width: int) -> None:
    row = ",".join("abcde"[:width])
    got = read(f"{row}\n{row}\n")
    assert got.table is None
    only = got.only()
    assert only.code == "wrong-columns"
    assert only.span is not None
    assert only.file is None
    assert ", ".join("abcde"[:width]) in only.message


def test_a_number_needs_its_value(read: Reader) -> None:
    assert read("a\nx\n", arity=1, numeric=True).errors == [("wrong-columns", None)]
    assert read("a,b\nx,1\n", ("a",), arity=1, numeric=True).errors == [("wrong-columns", None)]


def test_the_wrong_separator_is_named(read: Reader) -> None:
    assert "semicolons" in read("a;b\nc;d\n").only().hint
    assert "commas" in read("a,b\nc,d\n", name="f.txt", header=False).only().hint


@pytest.mark.parametrize(
    ("content", "name", "columns", "hint"),
    [
        ("id|v\nx|1\n", "f.csv", ("id", "v"), 'separated by bars: add `delimiter "|"`'),
        ("id;v\nx;1\n", "f.csv", (1, 2), 'separated by semicolons: add `delimiter ";"`'),
        ("id\tv\nx\t1\n", "f.csv", ("id",), 'separated by tabs: add `delimiter "\\t"`'),
        ("id,v\nx,1\n", "f.tsv", ("id",), 'separated by commas: add `delimiter ","`'),
    ],
)
def test_columns_behind_the_wrong_separator(
    read: Reader, content: str, name: str, columns: tuple[str | int, ...], hint: str
) -> None:
    only = read(content, columns, arity=len(columns), name=name).only()
    assert (only.code, only.hint) == ("unknown-column", f"its columns seem to be {hint}")


def test_a_tsv_with_quoted_names(read: Reader) -> None:
    text = '"name"\t"friend"\n"anna"\t"bob"\n'
    only = read(text, ("name", "friend"), name="f.tsv").only()
    assert only.code == "unknown-column"
    assert 'call the file .csv, with `delimiter "\\t"`' in only.hint
    odd = 'a,"""name"""\nx,y\n'
    assert "TSV" not in read(odd, ("a", "name")).only().hint


def test_unknown_columns(read: Reader) -> None:
    text = "name,friend\nanna,bob\n"
    only = read(text, ("name", "freind")).only()
    assert only.code == "unknown-column"
    assert 'did you mean "friend"' in only.hint
    assert "name, friend" in only.hint
    assert read(text, ("name", 3)).errors == [("unknown-column", None)]
    assert read(text, (0, 1)).errors == [("unknown-column", None)]
    assert read(text, ("name", "friend"), header=False).errors == [("unknown-column", None)]
    assert read(text, (1, 2), where={"frend": "x"}).errors == [("unknown-column", None)]
    assert read("x,x\na,b\n", ("x", 2)).errors == [("ambiguous-column", None)]


def test_missing_files(read: Reader, tmp_path: Path) -> None:
    (tmp_path / "Contacts.csv").write_text("a,b\n")
    only = read(None, name="contact.csv").only()
    assert only.code == "missing-file"
    assert only.path == "p.lnn"
    assert 'did you mean "Contacts.csv"' in only.hint
    assert "no folder" in read(None, name="nowhere/contact.csv").only().hint


def test_unreadable_files(read: Reader, tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    assert read(None, name="folder.csv").errors == [("unreadable-file", None)]
    assert read("x", name="f.xlsx").errors == [("unknown-format", None)]
    assert read(None, name="f" * 300 + ".csv").errors == [("unreadable-file", None)]
    assert read(None, name="f\0.csv").errors == [("missing-file", None)]
    assert read("x", name="plain").errors == [("unknown-format", None)]
    assert read(None, name="plain/f.csv").errors == [("missing-file", None)]
    if os.geteuid():
        (tmp_path / "f.csv").write_text("a,b\n")
        (tmp_path / "f.csv").chmod(0)
        assert read(None).errors == [("unreadable-file", None)]


def test_many_bad_rows_are_counted(read: Reader) -> None:
    good, bad, ragged = "a,b\n", ",b\n", "c\n"
    got = read("x,y\n" + (good + bad + ragged) * 1000)
    assert got.table is not None
    assert len(got.table) == 1000
    counted = ("too-many-bad-rows", None)
    assert got.found == [
        *(("bad-row", 3 + 3 * block) for block in range(5)),
        counted,
        *(("bad-row", 4 + 3 * block) for block in range(5)),
        counted,
    ]
    assert got.diagnostics[5].message == 'and 995 more rows where column "x" is empty'
    assert "and 995 more rows" in got.diagnostics[-1].message
    assert [bool(finding.hint) for finding in got.diagnostics] == ([True] + [False] * 5) * 2


def test_absolute_paths_and_the_source(read: Reader, tmp_path: Path) -> None:
    got = read("a,b\nc,d\n")
    assert got.table is not None
    assert got.table.source == str(tmp_path / "f.csv")
    assert read(None, name=str(tmp_path / "f.csv")).facts == got.facts
