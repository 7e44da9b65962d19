"""The Lark parser for `grammar/lnn.lark`, built once on first use."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from lark import Lark

from lnnkit.syntax.parse_tables import decode, encode


def grammar_file(name: str) -> Traversable:
    """A file of the grammar: in a wheel from `lnnkit/grammar`, in a checkout from the top folder."""
    packaged = files("lnnkit") / "grammar" / name
    return packaged if packaged.is_file() else Path(__file__).resolve().parents[2] / "grammar" / name


def grammar_text() -> str:
    """The text of the grammar."""
    return grammar_file("lnn.lark").read_text(encoding="utf-8")


def build(grammar: str) -> Lark:
    """The parser, with the start rules `statement` and `lone_query`. All tokens are kept, so that spans are exact."""
    return Lark(
        grammar,
        parser="lalr",
        lexer="contextual",
        start=["statement", "lone_query"],
        keep_all_tokens=True,
        maybe_placeholders=False,
    )


@cache
def parser() -> Lark:
    """The parser, made from its stored tables if these belong to the grammar."""
    grammar, tables = grammar_text(), grammar_file("lnn.tables.json")
    found = decode(tables.read_text(encoding="utf-8"), grammar) if tables.is_file() else None
    return found or build(grammar)


if __name__ == "__main__":
    Path(str(grammar_file("lnn.tables.json"))).write_text(encode(build(grammar_text()), grammar_text()) + "\n", "utf-8")
