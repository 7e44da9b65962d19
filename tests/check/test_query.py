"""Queries that are asked of a checked program."""

from __future__ import annotations

import pytest

from lnnkit.check import check_query
from lnnkit.check.program import SameEntity
from lnnkit.syntax import ast
from tests.check.checking import checked

PROGRAM = checked(
    """
logic godel
predicate Contact(person, person)
predicate City(city)
number age(person)
fact Infected(anna)
fact Contact(bob, anna)
rule Infected(X) & Contact(X, Y) -> Infected(Y)
rule Infected(X)@?w & age(X) > 3 -> Old(X)
axiom Infected(rosalind) -> Old(rosalind)
fact ~Old(bob)
"""
)


@pytest.mark.parametrize(
    "text",
    ["Infected(X)", "exists X: Infected(X) & ~Old(X)", "Infected(anna)", "Infected(X) & X != anna", "Old(rosalind)"],
)
def test_good(text: str) -> None:
    query, found = check_query(text, PROGRAM)
    assert found == []
    assert query is not None and query.text == text and query.logic == "godel" and not query.numeric


def test_the_keyword_may_stand_before() -> None:
    query, _ = check_query("query  Infected(X)", PROGRAM)
    assert query is not None and query.text == "Infected(X)"


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("Infectd(X)", "unknown-predicate", 1),
        ("Infected(X, Y)", "wrong-arity", 1),
        ("Infected(X) & City(X)", "sort-clash", 20),
        ("Infected(x)", "lower-case-variable", 10),
        ("Infected(Anna)", "variable-like-entity", 10),
        ("Infected(X) ^ Old(X)", "truth-as-number", 1),
        ("Infected(X)@?v & Old(X)", "misplaced-learnable", 13),
        ("heigth(X) > 3", "unknown-number", 1),
        ("X != Y", "unsafe-variable", 1),
        ("forall X: Old(anna)", "unused-variable", 8),
        ("(Infected(X) & Old(X)){scale: 1}", "misplaced-attributes", 24),
    ],
)
def test_bad(text: str, code: str, column: int) -> None:
    query, found = check_query(text, PROGRAM)
    assert query is None
    assert (found[0].code, found[0].line, found[0].column, found[0].path) == (code, 1, column, "<query>")


def test_syntax_errors_are_findings() -> None:
    query, found = check_query("Infected(X) &", PROGRAM)
    assert query is None and len(found) == 1


def test_an_unknown_entity_is_an_error() -> None:
    query, found = check_query("Infected(ana)", PROGRAM)
    assert query is None
    assert [(finding.code, finding.severity) for finding in found] == [("unknown-entity", "error")]
    assert "did you mean `anna`?" in found[0].hint
    assert check_query("Infected(ana)", PROGRAM, strangers=None)[1] == []
    program = checked("fact Infected(anna)\nquery Infected(ana)\n")  # told with the program
    assert [finding.severity for finding in check_query("Infected(ana)", program)[1]] == ["warning"]


def test_numbers() -> None:
    query, found = check_query("age(X) + 1", PROGRAM)
    assert query is not None and query.numeric
    assert found == []


def test_learned_names_are_known() -> None:
    query, _ = check_query("Infected(X)@?w & Old(X)", PROGRAM)
    assert query is not None


def test_entity_comparisons_are_resolved() -> None:
    query, _ = check_query("Infected(X) & X = anna", PROGRAM)
    assert query is not None and isinstance(query.formula, ast.And)
    same = query.formula.operands[1]
    assert isinstance(same, SameEntity)
    assert isinstance(same.left, ast.Variable) and isinstance(same.right, ast.Constant)


def test_the_logic_is_that_of_the_main_file() -> None:
    program = checked("logic product\nfact P(anna)\n")
    query, _ = check_query("P(X)", program)
    assert program.logic == "product" and query is not None and query.logic == "product"
