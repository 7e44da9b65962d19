"""The grammar itself: no conflicts, found where it should be, named like the nodes."""

from __future__ import annotations

import logging
import re

import lark
import pytest

from lnnkit.syntax import ast
from lnnkit.syntax.grammar import grammar_text, parser


def conflicts(grammar: str, start: list[str]) -> list[str]:
    """What Lark's LALR analysis logs about conflicts, which it otherwise resolves without a word."""
    records: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())  # type: ignore[method-assign]
    level = lark.logger.level
    lark.logger.addHandler(handler)
    lark.logger.setLevel(logging.DEBUG)
    try:
        lark.Lark(grammar, parser="lalr", lexer="contextual", start=start, keep_all_tokens=True, debug=True)
    finally:
        lark.logger.setLevel(level)
        lark.logger.removeHandler(handler)
    return [record for record in records if "conflict" in record.lower()]


def test_a_conflict_would_be_seen() -> None:
    assert conflicts('start: start "+" start | "a"', ["start"])


def test_the_grammar_has_no_conflict() -> None:
    assert conflicts(grammar_text(), ["statement", "lone_query"]) == []


def test_the_parser_is_built_once() -> None:
    assert parser() is parser()


def test_rules_bear_the_names_of_the_nodes() -> None:
    rules = set(re.findall(r"^\??([a-z_]+)", grammar_text(), re.MULTILINE)) | set(
        re.findall(r"-> ([a-z_]+)", grammar_text())
    )
    statements = [name for name, kind in vars(ast).items() if isinstance(kind, type) and name.endswith("Statement")]
    assert len(statements) == 12
    for name in [*statements, "And", "Or", "Implies", "Iff", "Xor", "Not", "Weighted", "Comparison", "Arithmetic"]:
        assert re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower() in rules


@pytest.mark.parametrize("word", ["notable", "in-law", "order", "iffy", "infant", "trueish", "andrew", "nauru(x)"])
def test_words_of_the_language_may_start_a_name(word: str) -> None:
    tree = parser().parse(f"query {word}", start="statement")
    atom = tree.children[1]
    assert isinstance(atom, lark.Tree) and atom.data == "atom"
