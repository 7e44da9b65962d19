"""Tidying keeps the program and every comment, and settles at once."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lnnkit.syntax import ast
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_program
from lnnkit.syntax.tidy import WIDTH, tidy
from tests.blocks import at_length
from tests.syntax.strategies import programs

CASES = [
    ("", ""),
    ("\n \n", ""),
    ("#only\n", "#only\n"),
    ("fact  P( a,b )", "fact P(a, b)\n"),
    ("fact P(a)#x", "fact P(a)  #x\n"),
    ("\n\nfact P(a)\n\n\n\nfact Q(b)\n\n", "fact P(a)\n\nfact Q(b)\n"),
    ("# a\n\n\n# b\nfact P(a)\n  # c\n", "# a\n\n# b\nfact P(a)\n# c\n"),
    ("fact P(a) # one\nfact Cough(bob) # two\n", "fact P(a)        # one\nfact Cough(bob)  # two\n"),
    ("fact P(a) # one\n\nfact Cough(bob) # two\n", "fact P(a)  # one\n\nfact Cough(bob)  # two\n"),
    ("\ufefflnnkit   1\r\nfact P(a)\r\n", "lnnkit 1\nfact P(a)\n"),
    ("rule r: A(X)\n  and not B(X)\n  -> C(X)", "rule r: A(X) & ~B(X) -> C(X)\n"),
    ("  rule A & # why\n    B -> C # so\n", "rule A & # why\n  B -> C  # so\n"),
    ('rule P(X, "anna") & Q(X, a) -> R', 'rule P(X, "anna") & Q(X, a) -> R\n'),
    ('fact P("a # b") # c', 'fact P("a # b")  # c\n'),
    ("axiom ∀x (P(x) → Q(x))", "axiom forall x: P(x) -> Q(x)\n"),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_tidied_text(text: str, expected: str) -> None:
    assert tidy(text) == (expected, [])
    assert tidy(expected) == (expected, [])


def test_a_program_with_errors_stays_as_it_was() -> None:
    text = "fact  P(a)\nfact Q(\n"
    same, diagnostics = tidy(text, "x.lnn")
    assert same == text
    assert [(diagnostic.code, diagnostic.path) for diagnostic in diagnostics] == [("unclosed-group", "x.lnn")]


def test_a_long_formula_is_broken_before_connectives() -> None:
    body = " & ".join(f"Predicate{number}(X, Y)" for number in range(15))
    text = f"rule long: {body} -> Head(X)\n"
    tidied, _ = tidy(text)
    assert all(len(line) <= WIDTH for line in tidied.splitlines())
    assert all(line.startswith(("rule", "    & ", "    -> ")) for line in tidied.splitlines())
    assert parse(tidied)[0] == parse(text)[0]
    assert tidy(tidied)[0] == tidied


@pytest.mark.parametrize("length", range(80, 100))
def test_no_line_is_broken_within_a_text_that_reaches_beyond_the_width(length: int) -> None:
    for text in (f'fact {"P" * length}("a | b & c")\n', f'load {"P" * (length - 20)} from "a.csv" delimiter "|"\n'):
        tidied, found = tidy(text)
        assert (tidied, found) == (text, [])
        assert parse(tidied) == parse(text)


comments = st.sampled_from(("", "", "# one", '#"two', "# rule A -> B", "#"))


@pytest.mark.parametrize("count", at_length([20, 80], plain=1))
def test_comments_and_program_survive(count: int) -> None:
    @settings(max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(programs, st.data())
    def check(program: ast.Program, data: st.DataObject) -> None:
        lines: list[str] = []
        for line in format_program(program).split("\n")[:-1]:
            lines += data.draw(st.lists(comments, max_size=2))
            lines.append(f"{line} {data.draw(comments)}")
        text = "\n".join(lines)
        tidied, diagnostics = tidy(text)
        assert diagnostics == []
        assert parse(tidied) == (program, [])
        assert tidy(tidied) == (tidied, [])
        assert [line[line.index("#") :] for line in lines if line.startswith("#")] == [
            line for line in tidied.split("\n") if line.startswith("#")
        ]
        for comment in ("# one", '#"two', "# rule A -> B"):
            assert tidied.count(comment) == text.count(comment)

    check()
