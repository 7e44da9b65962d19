"""Colours: made from the grammar, the same in Pygments and in TextMate, and none missing."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pygments.token import Error, Keyword, Name, Number, Operator, Punctuation, _TokenType

from lnnkit.cli import main
from lnnkit.editor.suggestions import words
from lnnkit.highlighting.pygments_lexer import TOKENS, LnnLexer
from lnnkit.syntax import ast
from lnnkit.syntax.grammar import grammar_file, grammar_text
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_program
from tests.highlighting.contexts import STYLES
from tests.highlighting.terminals import terminals
from tests.highlighting.textmate_reader import tokens
from tests.highlighting.textmate_writer import textmate, textmate_text
from tests.syntax.strategies import programs

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "kb_examples").glob("*/*.lnn"))

EVERYTHING = """\
lnnkit 1
# every word and operator of the language stands here
logic product
sort person open
predicate Contact(person, "big town") closed
predicate Rain
number age(person)
date born(person)
import "x.lnn"
load Contact from "c.csv" (a, 2) where p = "k" and q = "r" no header
fact ~Infected(anna) in [0.2, 0.6]
fact "has part"(2024-01-15, c++, -7, "New \\" York # no comment")
load P from query "select 1"
load P from database "crm.duckdb" table "t"
load ~Old from "d.csv" (1, _) where 1 is not null and 2 in ("a", 3) header missing "?", -9 delimiter ";"
  decimal "," encoding "latin-1" trim trust 0.5
label not AtRisk from "o.csv" (a, b)
label AtRisk(anna) = 0.7
rule spread: (Infected(X)@0.7 & Contact(X, Y)){bias: 1.2, logic: product} -> Infected(Y) in [0.8, inf]
rule (count X, Y: A(X) & B(Y)) > 2 & (sum X: b(X) where A(X)) > (mean X: b(X) where A(X)) -> Rain
query min X: b(X) where A(X)
query (max X: b(X) where A(X)) + 1
axiom forall X, y: ¬A(X) ∨ not B(y) xor abs(age(X) - 3) >= ?cut=5 <-> Rain or Rain and Rain
rule npu(age(X), b(X)){power: [1, -1]} > 2 / 3 * -1 ^ 2 + 1 | (sqrt (age(X)) <?> 3){weight: [1, 1, 1]}
  implies exists Z: Contact(X, Z) iff true
rule nac(b(X)) < 2 & nalu(b(X)) <= 2 & inalu(b(X)) = 2 & nau(b(X)) != 2 & nmu(b(X)) ≤ 2 & realnpu(b(X)) ≥ 2 -> false
query ∀x(Infected(x)) ⊕ ∃X: Rain ∧ ⊤ → ⊥ ↔ X ≠ anna  # ends
rule age(X) = ?f(b(X), 2 * b(X)) - ?(b(X))
query years(born(X), date "2024-01-15") > 3 | months(born(X), born(Y)) > 1 | born(X) + 30 days > born(Y) + 1 day
fact born(anna) = "2004-03-01T12:00"
query min(exp(b(X)), log(b(X)), sin(b(X))) + max(cos(b(X)), floor(b(X)), ceil(b(X)), round(b(X)))
query A => B <=> C ⇒ D
"""


def test_an_unknown_function_is_a_learnable_before_its_terms() -> None:
    shown = [(kind, value) for kind, value in coloured("rule age(X) = ?rate(b(X))\n") if value.strip()]
    assert shown[6:10] == [
        (Name.Variable.Global, "?rate"),
        (Punctuation, "("),
        (Name.Function, "b"),
        (Punctuation, "("),
    ]
    assert ("?rate", f"{STYLES['learnable']}.lnn") in scoped("rule age(X) = ?rate(b(X))\n")


KINDS: dict[str, tuple[tuple[_TokenType, ...], str]] = {
    "FUNCTION": ((Name.Builtin,), "support.function"),
    "UNIT": ((Name.Builtin,), "support.function"),
    "NUMBER": ((Number,), "constant.numeric"),
    "TRUTH": ((Keyword.Constant,), "constant.language"),
}
"""What words are that are no keyword; all others are."""


GRAMMAR = textmate()


@cache
def coloured(text: str) -> list[tuple[_TokenType, str]]:
    return list(LnnLexer(stripnl=False, ensurenl=False).get_tokens(text))


@cache
def scoped(text: str) -> list[tuple[str, str]]:
    return tokens(GRAMMAR, text)


def styled(text: str) -> list[tuple[str, str]]:
    """The pieces of the text with the TextMate scopes of their Pygments tokens; white space left out."""
    scopes = {token: scope for scope, token in TOKENS.items()}
    return [(value, f"{scopes[kind]}.lnn") for kind, value in coloured(text) if value.strip()]


def spelled() -> dict[str, set[str]]:
    """The words of each terminal, read off the text of the grammar."""
    found: dict[str, set[str]] = {}
    for name, definition in re.findall(r"^([A-Z_]+)(?:\.\d)?: (.*)$", grammar_text(), re.MULTILINE):
        if name not in ("NAME", "ENTITY", "STRING", "LEARNABLE", "ISO"):
            plain = (
                definition.replace(r"\s+", " ")
                .replace(r"\w", "")
                .replace(r"\d", "")
                .replace(r"\n", "")
                .replace("eE", "")
            )
            found[name] = set(re.findall(r"[a-z]+(?: [a-z]+)?", re.sub(r"\(\?<?[=!:]", "(", plain.replace(r"\s", ""))))
    return {name: each for name, each in found.items() if each and name != "COMPARE"}


def test_the_words_are_those_of_the_grammar() -> None:
    assert {name: set(words(each)) for name, each in terminals().items() if words(each)} == spelled()
    assert spelled()["NO_HEADER"] == {"no header"} and spelled()["QUANTIFIER"] == {"forall", "exists"}


@pytest.mark.parametrize("terminal", sorted(spelled()))
def test_every_word_is_coloured_as_one(terminal: str) -> None:
    pygments, scopes = coloured(EVERYTHING), scoped(EVERYTHING)
    kinds, prefix = KINDS.get(terminal, ((Keyword, Operator.Word), "keyword."))
    for word in spelled()[terminal]:
        # all but `logic`, which is the key of an attribute too, mean one thing in this program
        assert {kind for kind, value in pygments if value == word} & set(kinds), f"add `{word}` to the program"
        assert any(scope.startswith(prefix) for value, scope in scopes if value == word)


def test_every_terminal_has_a_place() -> None:
    """What the parser makes of the program is what is coloured: no token of it is an error, in either."""
    met = {kind for kind, _ in coloured(EVERYTHING)}
    assert Error not in met
    assert met >= set(TOKENS.values())
    assert [found.code for found in parse(EVERYTHING)[1]] == []


@pytest.mark.parametrize("text", [EVERYTHING, *EXAMPLES], ids=["everything", *(each.stem for each in EXAMPLES)])
def test_both_colour_alike(text: str | Path) -> None:
    written = text if isinstance(text, str) else text.read_text(encoding="utf-8")
    assert scoped(written) == styled(written)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_have_no_error_and_keep_their_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = coloured(text)
    assert [value for kind, value in found if kind is Error] == []
    assert "".join(value for _, value in found) == text


@settings(max_examples=15)
@given(programs)
def test_no_program_has_an_error_token(program: ast.Program) -> None:
    text = format_program(program)
    found = list(LnnLexer().get_tokens_unprocessed(text))
    assert [value for _, kind, value in found if kind is Error] == []
    assert "".join(value for _, _, value in found) == text


PIECES = (
    *'()[]{}#:@∀😀"~\n\r\x0c',
    "rule ",
    "fact ",
    "load ",
    "load",
    " from ",
    "P",
    "X",
    '"a"',
    "?a=5",
    "{bias: ",
    "no header",
)


@settings(max_examples=30)
@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_no_text_is_lost_whatever_it_is(text: str) -> None:
    assert "".join(value for _, _, value in LnnLexer().get_tokens_unprocessed(text)) == text


@pytest.mark.parametrize(
    ("text", "piece", "kind"),
    [
        ("fact Kühl(ÿ)", "Kühl", Name.Function),
        ("fact आयु(X)", "आयु", Name.Function),  # with a combining mark
        ("rule P(Élan) -> Q", "Élan", Name.Variable),
        ("rule in-law(X) -> notable(X)", "notable", Name.Function),
        ("rule open(X) -> closed(X)", "open", Name.Function),  # words of declarations are names in formulas
        ("load(X)", "load", Name.Function),
        ("fact P(2024-01-15)", "2024-01-15", Name.Constant),
        ("fact P(😀) in [0, 1]", "in", Keyword),
    ],
)
def test_names(text: str, piece: str, kind: _TokenType) -> None:
    assert (kind, piece) in coloured(text)


@pytest.mark.parametrize("text", ["rule P(X, \nfact Q(a)\n", 'fact P("a\nfact Q(a)\n', "rule (A){bias: \nfact Q(a)\n"])
def test_half_a_statement_does_not_colour_the_next(text: str) -> None:
    assert coloured(text)[-7:] == coloured("fact Q(a)\n")[-7:]
    assert scoped(text)[-5:] == scoped("fact Q(a)")
    assert "".join(value for _, value in coloured(text)) == text


def test_the_stored_textmate_grammar_is_up_to_date() -> None:
    """If this fails: python -m tests.highlighting.textmate_writer"""
    assert grammar_file("lnn.tmLanguage.json").read_text(encoding="utf-8") == textmate_text()


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grammar"]) == 0
    assert capsys.readouterr().out == textmate_text()
    assert main(["grammar", "--format", "lark"]) == 0
    assert capsys.readouterr().out == grammar_text()


def test_pygments_finds_the_lexer() -> None:
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pygments.lexers"]
    module, name = entries["lnn"].split(":")
    assert getattr(import_module(module), name) is LnnLexer
    assert LnnLexer.aliases == ["lnn"] and LnnLexer.filenames == ["*.lnn"]
