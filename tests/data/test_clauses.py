"""``decimal``, ``encoding`` and ``trim``: what they read, what they refuse, and that streams read the same."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import lnnkit
from lnnkit.cli import main
from lnnkit.data.names import SMALL
from lnnkit.syntax.parse import parse


def values(folder: Path, program: str, query: str = "w(X)") -> dict[str, float]:
    return {each.bindings["X"]: each.lower for each in lnnkit.loads(program, base=folder).ask(query)}


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("1,5", 1.5),
        ("1.234,5", 1234.5),
        ("1.234", 1234),
        ("-2.000.000,25", -2000000.25),
        ("1 234,5", 1234.5),
        ("3", 3),
        ("0,001", 0.001),
    ],
)
@pytest.mark.parametrize("size", [1, SMALL + 1])
def test_decimal_commas(cell: str, number: float, size: int, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("id;w\n" + f"a;{cell}\n" * size)
    load = 'load {} from "f.csv" {} delimiter ";" decimal ","\n'
    assert values(tmp_path, "number w(p)\n" + load.format("w", "")) == {"a": number}
    if size == 1:
        kept = load.format("P", f"(id) where w = {number}") + load.format("Q", f"(id) where w > {number}")
        kb = lnnkit.loads(f"{kept}rule P(X) | Q(X) -> R(X)", base=tmp_path)
        assert len(kb.ask("P(X)")) == 1 and len(kb.ask("Q(X)")) == 0
        pandas = pd.read_csv(tmp_path / "f.csv", sep=";", decimal=",", thousands=" " if " " in cell else ".")
        assert pandas["w"].tolist()[0] == number


@pytest.mark.parametrize("size", [1, SMALL + 1])
def test_marked_gaps_among_decimal_commas(size: int, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("id;w\n" + "a;1,5\nb;-\nc;\n" * size)
    program = 'number w(p)\nload w from "f.csv" delimiter ";" missing "-" decimal ","\n'
    assert values(tmp_path, program) == {"a": 1.5}


def test_decimal_commas_of_truths_and_texts(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text('id,p,note\n"1,5","0,5","1,5"\n')
    kb = lnnkit.loads('load P from "f.csv" (id, note, p) decimal ","\npredicate P(a, b)', base=tmp_path)
    (answer,) = kb.ask("P(X, Y)")
    assert (answer.bindings, answer.lower) == ({"X": "1,5", "Y": "1,5"}, 0.5)


def test_points_among_decimal_commas(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("id;w\na;1.5\n")
    with pytest.raises(lnnkit.Error) as problem:
        lnnkit.loads('number w(p)\nload w from "f.csv" delimiter ";" decimal ","', base=tmp_path)
    (found,) = problem.value.diagnostics
    assert found.code == "bad-number" and "1.5" in found.message


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-8"])
@pytest.mark.parametrize("name", ["f.csv", "f.tsv", "f.csv.gz"])
def test_encodings(encoding: str, name: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"größe": ["José", "Ñu"], "w": [1, 2]})
    frame.to_csv(tmp_path / name, index=False, encoding=encoding, sep="\t" if "tsv" in name else ",")
    program = f'number w(p)\nload w from "{name}" (größe, w) encoding "{encoding}"'
    assert values(tmp_path, program) == {"José": 1, "Ñu": 2}


def test_wrong_encodings(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_bytes("id,w\nJosé,1\n".encode("latin-1"))
    for clause, code in (("", "bad-row"), ('encoding "utf-8"', "bad-encoding"), ('encoding "ascii"', "bad-encoding")):
        with pytest.raises(lnnkit.Error) as problem:
            lnnkit.loads(f'number w(p)\nload w from "f.csv" {clause}', base=tmp_path)
        assert [each.code for each in problem.value.diagnostics] == [code]
        if not clause:
            assert 'encoding "latin-1"' in problem.value.diagnostics[0].hint
    for clause, code in (
        ('encoding "latin1000"', "bad-encoding"),
        ('encoding "rot13"', "bad-encoding"),
        ('decimal ";"', "bad-decimal"),
    ):
        assert [each.code for each in parse(f'load P from "f.csv" {clause}\n')[1]] == [code]


def test_trim(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(" id ,w,c\n a , 1 ,x \nb\u00a0,2,\n  ,3,\nd,4, NA\n", encoding="utf-8")
    program = (
        'number w(p)\nload w from "f.csv" (id, w) where id is not null{0}\n'
        'load C from "f.csv" (id, c) where c is not null{0} missing "NA"'
    )
    kb = lnnkit.loads(program.format(" trim"), base=tmp_path)
    assert {each.bindings["X"]: each.lower for each in kb.ask("w(X)")} == {"a": 1, "b": 2, "d": 4}
    assert {each.bindings["Y"] for each in kb.ask("C(X, Y)") if each.bindings["X"] == "a"} == {"x"}
    assert len(kb.ask("C(d, Y)")) == 0
    assert not [each for each in kb.warnings if each.code == "outer-blanks"]
    kb = lnnkit.loads(program.format(""), base=tmp_path)
    assert any("`trim`" in each.hint for each in kb.warnings if each.code == "outer-blanks")


def test_trim_joins(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("k\na   \nb   \n")
    (tmp_path / "b.csv").write_text("k\na\nb\n")
    program = (
        'predicate A(x)\npredicate B(x)\nload A from "a.csv"{0}\nload B from "b.csv"{0}\nrule A(X) & B(X) -> C(X)\n'
    )
    kb = lnnkit.loads(program.format(""), base=tmp_path)
    assert any("`trim`" in each.hint for each in kb.warnings if each.code == "unjoined-columns")
    kb = lnnkit.loads(program.format(" trim"), base=tmp_path)
    assert {each.bindings["X"] for each in kb.ask("C(X)")} == {"a", "b"} and not kb.warnings


def test_streams_read_the_same(tmp_path: Path) -> None:
    (tmp_path / "vip.csv").write_text("id\nJosé\n", encoding="utf-8")
    (tmp_path / "rows.csv").write_bytes("id;w\n José ;1.500,5\nb;0,5\n".encode("latin-1"))
    clauses = 'delimiter ";" decimal "," encoding "latin-1" trim'
    (tmp_path / "p.lnn").write_text(
        f'predicate Vip(row)\nnumber w(row)\nload Vip from "vip.csv"\nload w from "rows.csv" {clauses}\n'
        "rule w(X) > 1000 & Vip(X) -> Good(X)\nquery Good(X)\n"
    )
    out = tmp_path / "out.csv"
    assert main(["score", str(tmp_path / "p.lnn"), "--rows", f"row={tmp_path / 'rows.csv'}", "-o", str(out)]) == 0
    assert pd.read_csv(out).iloc[:, 1].tolist() == [1, 0]
