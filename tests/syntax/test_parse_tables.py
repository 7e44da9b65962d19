"""The tables that are stored beside the grammar are the grammar's."""

from __future__ import annotations

from pathlib import Path

import lark
import pytest

from lnnkit.syntax.grammar import build, decode, encode, grammar_file, grammar_text, parser

EXAMPLES = sorted((Path(__file__).parents[2] / "kb_examples").glob("*/*.lnn"))
STATEMENTS = (
    "rule r: A(X)@0.5 & age(X) > ?t=5 -> forall Y: B(X, Y) | ~C in [0.2, 1]",
    "axiom (A(X) & B){bias: 1.05, logic: godel} <-> exists x: P(x)",
    'load weight from "people.parquet" (name, kg) where column = "value"',
    "fact age(emil) in [30, 40]",
    "number age(person)",
)
BROKEN = ("rule A(X) ->", "fact ~", "axiom forall X A(X) &", "load from x", "rule A(X) & -> B")


@pytest.fixture(scope="module")
def built() -> lark.Lark:
    return build(grammar_text())


def stored() -> lark.Lark | None:
    return decode(grammar_file("lnn.tables.json").read_text(encoding="utf-8"), grammar_text())


def test_the_stored_tables_are_those_of_the_grammar() -> None:
    """If this fails: python -m lnnkit.syntax.grammar"""
    pinned = (Path(__file__).parents[2] / "constraints.txt").read_text()
    if f"lark=={lark.__version__}\n" not in pinned:
        pytest.skip("another version of Lark than the pinned one builds its own tables")
    assert stored() is not None


@pytest.mark.parametrize("text", STATEMENTS)
def test_they_parse_as_the_grammar_does(built: lark.Lark, text: str) -> None:
    assert parser().parse(text, start="statement") == built.parse(text, start="statement")


@pytest.mark.parametrize("text", BROKEN)
def test_they_expect_what_the_grammar_expects(built: lark.Lark, text: str) -> None:
    found = []
    for each in (parser(), built):
        with pytest.raises(lark.UnexpectedInput) as raised:
            each.parse(text, start="statement")
        expected = getattr(raised.value, "expected", None) or getattr(raised.value, "allowed", None)
        found.append((type(raised.value), raised.value.pos_in_stream, set(expected or ())))
    assert found[0] == found[1]


def test_tables_of_another_grammar_are_not_used(built: lark.Lark) -> None:
    tables = encode(built, grammar_text())
    assert decode(tables, grammar_text()) is not None
    assert decode(tables, grammar_text() + "\n") is None


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_parse_alike(built: lark.Lark, path: Path) -> None:
    for line in path.read_text(encoding="utf-8").splitlines():
        statement = line.split("#")[0].strip()
        if not statement.startswith(("fact", "rule", "axiom", "query")):
            continue
        try:
            expected = built.parse(statement, start="statement")
        except lark.UnexpectedInput:
            continue  # a statement over several lines
        assert parser().parse(statement, start="statement") == expected
