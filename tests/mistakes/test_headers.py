"""Columns that are picked by number imply that a file has no header."""

from __future__ import annotations

from pathlib import Path

import pytest

from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_program
from tests.mistakes.trying import answers, findings

TRIPLES = "Ngo\tUSA\tChina\nTense\tUSA\tUSSR\nNgo\tUK\tIndia\n"


def test_no_row_is_lost(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text(TRIPLES)
    text = 'load Ngo from "train.txt" (2, 3) where 1 = "Ngo"\nquery Ngo(X, Y)\n'
    assert findings(text, tmp_path) == []
    assert answers(text, tmp_path) == [[(("UK", "India"), 1.0, 1.0), (("USA", "China"), 1.0, 1.0)]]
    by_row = 'load First from "train.txt" (1) where 3 = "China"\nquery First(X)\n'
    assert answers(by_row, tmp_path) == [[(("Ngo",), 1.0, 1.0)]]


def test_a_header_can_be_declared(tmp_path: Path) -> None:
    (tmp_path / "k.csv").write_text("one,two\nanna,bob\n")
    for clause in ("(2, 1) header", "(2, 1)\n  header", "(two, 1)", '(2, 1) where two = "bob"'):
        assert answers(f'load K from "k.csv" {clause}\nquery K(X, Y)\n', tmp_path) == [[(("bob", "anna"), 1.0, 1.0)]]


def test_a_declared_header_that_looks_like_a_row_warns(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text(TRIPLES)
    text = 'load Ngo from "train.txt" (2, 3) where 1 = "Ngo" header\n'
    (found,) = findings(text, tmp_path)
    assert (found.code, found.severity, found.row) == ("doubtful-header", "warning", 1)
    assert '"no header"' in found.hint
    mended = text.replace(" header", " no header") + "query Ngo(X, Y)\n"
    assert findings(mended, tmp_path) == []
    assert len(answers(mended, tmp_path)[0]) == 2


@pytest.mark.parametrize(
    ("table", "load", "code"),
    [
        ("id,age\n1,30\n2,40\n", "number age(person)\nload age", "bad-number"),
        ("id,age\n1,1\n2,0\n", "predicate Old(person)\nload Old", "bad-truth"),
        ("source,target\nanna,bob\nbob,cleo\n", "load Knows", "doubtful-header"),
        ("from_id,to_id\n1,2\n2,3\n", "load Knows", "doubtful-header"),
    ],
)
def test_a_first_row_that_looks_like_a_header_is_doubted(table: str, load: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(table)
    text = f'{load} from "t.csv" (1, 2)'
    (found,) = findings(text, tmp_path)
    assert (found.code, found.row) == (code, 1)
    assert 'end the statement with "header"' in found.hint
    assert findings(f"{text} header", tmp_path) == []


def test_a_first_row_like_the_others_is_none(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("entity,name\nentity,bob\n")
    assert findings('load P from "t.csv" (1, 2)\n', tmp_path) == []


@pytest.mark.parametrize("clause", ["(1, 2)", "(1, 2) header", "(1, 2) no header", "(1, b)", "", "no header"])
def test_what_is_printed_reads_the_same(clause: str) -> None:
    program, found = parse(f'load P from "t.csv" {clause}\n')
    assert found == []
    assert parse(format_program(program))[0] == program
