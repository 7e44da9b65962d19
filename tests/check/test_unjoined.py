"""Two columns that share no name, though nearly all but for their spelling, are warned of."""

from __future__ import annotations

from pathlib import Path

import pytest

import lnnkit

SORTED = 'predicate A(x, n)\npredicate B(x)\nload A from "a.csv"\nload B from "b.csv"\nquery A(X, Y)\n'
RULE = 'load A from "a.csv"\nload B from "b.csv"\nrule A(X, _Y) & B(X) -> C(X)\nquery C(X)\n'.replace("_Y", "Y")


def warned(folder: Path, first: list[str], second: list[str], program: str = SORTED) -> list[str]:
    (folder / "a.csv").write_text("k,n\n" + "".join(f'"{name}",q\n' for name in first))
    (folder / "b.csv").write_text("k\n" + "".join(f'"{name}"\n' for name in second))
    kb = lnnkit.loads(program, base=folder)
    return [each.message for each in kb.warnings if each.code == "unjoined-columns"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["007", "008"], ["7", "8", "9"]),
        (["7", "8", "9"], ["00007", "00008"]),
        (["a  ", "b  "], ["a", "b"]),
        (["at", "de"], ["AT", "DE", "CH"]),
        (["00a", "00b"], ["A", "B "]),
        ([f"{row:05}" for row in range(30)] + ["x"], [str(row) for row in range(30)]),
    ],
)
@pytest.mark.parametrize("program", [SORTED, RULE])
def test_what_would_join(first: list[str], second: list[str], program: str, tmp_path: Path) -> None:
    (message,) = warned(tmp_path, first, second, program)
    assert "but for leading zeros, blanks or case:" in message and repr(first[0]) in message


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["007", "8"], ["7", "8"]),  # something joins
        (["a", "b"], ["c", "d"]),  # nothing would
        (["007", "a", "b"], ["7", "c", "d"]),  # little would
        ([], ["7"]),
    ],
)
def test_what_is_apart_on_purpose(first: list[str], second: list[str], tmp_path: Path) -> None:
    assert warned(tmp_path, first, second) == []


def test_columns_that_no_statement_joins(tmp_path: Path) -> None:
    program = 'load A from "a.csv"\nload B from "b.csv"\nquery A(X, Y)\nquery B(X)\n'
    assert warned(tmp_path, ["007"], ["7"], program) == []
