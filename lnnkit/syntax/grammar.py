"""The Lark parser for `grammar/lnn.lark`, made once on first use from its stored tables; `python -m` this module writes
them."""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from lark import Lark, __version__
from lark.grammar import Rule
from lark.lexer import TerminalDef


def grammar_file(name: str) -> Traversable:
    """A file of the grammar: in a wheel from `lnnkit/grammar`, in a checkout from the top folder."""
    packaged = files("lnnkit") / "grammar" / name
    return packaged if packaged.is_file() else Path(__file__).resolve().parents[2] / "grammar" / name


def grammar_text() -> str:
    """The text of the grammar."""
    return grammar_file("lnn.lark").read_text(encoding="utf-8")


def build(grammar: str) -> Lark:
    """The parser, with the start rules `statement` and `lone_query`. All tokens are kept, so that spans are exact."""
    kept = {"keep_all_tokens": True, "maybe_placeholders": False}
    return Lark(grammar, parser="lalr", lexer="contextual", start=["statement", "lone_query"], **kept)


@cache
def parser() -> Lark:
    """The parser, made from its stored tables if these belong to the grammar."""
    grammar, tables = grammar_text(), grammar_file("lnn.tables.json")
    stored = decode(tables.read_text(encoding="utf-8"), grammar) if tables.is_file() else None
    return stored or build(grammar)


def encode(parser: Lark, grammar: str) -> str:
    """The tables of a parser that was built from the text of a grammar."""
    data, memo = parser.memo_serialize([TerminalDef, Rule])
    return json.dumps({"for": _origin(grammar), "data": data, "memo": memo}, separators=(",", ":"))


def decode(tables: str, grammar: str) -> Lark | None:
    """The parser of these tables; None if they belong to another grammar or another version of Lark."""
    stored = json.loads(tables, object_hook=_numbered)
    if stored["for"] != _origin(grammar):
        return None
    return Lark._load_from_dict(stored["data"], stored["memo"])  # as lark.tools.standalone does


def _origin(grammar: str) -> list[str]:
    return [__version__, sha256(grammar.encode()).hexdigest()]


def _numbered(stored: dict[str, Any]) -> dict[Any, Any]:
    """A dictionary whose keys are numbers again, which JSON lacks."""
    return {int(key) if key.isdecimal() else key: value for key, value in stored.items()}


if __name__ == "__main__":
    Path(str(grammar_file("lnn.tables.json"))).write_text(encode(build(grammar_text()), grammar_text()) + "\n", "utf-8")
