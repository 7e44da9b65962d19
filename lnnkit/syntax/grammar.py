"""The Lark parser for `grammar/lnn.lark`, built once on first use."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from lark import Lark


def grammar_text() -> str:
    """The text of the grammar: packaged in `lnnkit/grammar` in a wheel, at the top of the tree in a checkout."""
    packaged = files("lnnkit") / "grammar" / "lnn.lark"
    checkout = Path(__file__).resolve().parents[2] / "grammar" / "lnn.lark"
    return (packaged if packaged.is_file() else checkout).read_text(encoding="utf-8")


@cache
def parser() -> Lark:
    """The parser, with the entries `statement` and `lone_query`. Every token is kept, so that spans are exact."""
    return Lark(
        grammar_text(),
        parser="lalr",
        lexer="contextual",
        start=["statement", "lone_query"],
        keep_all_tokens=True,
        maybe_placeholders=False,
    )
