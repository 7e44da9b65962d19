"""The parse tables as JSON, so that a process need not build them from the grammar (saves 80 of 90 CPU milliseconds).

``python -m lnnkit.syntax.grammar`` rewrites them after a change of the grammar. They are valid for one grammar and one
version of Lark; for any other the parser is built from the grammar.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, cast

from lark import Lark, __version__
from lark.grammar import Rule
from lark.lexer import TerminalDef

_NUMBERED = "#"  # the key of an object that stands for a dictionary whose keys are whole numbers


def encode(parser: Lark, grammar: str) -> str:
    """The tables of a parser that was built from the text of a grammar."""
    data, memo = parser.memo_serialize([TerminalDef, Rule])
    return json.dumps({"for": _origin(grammar), "data": _plain(data), "memo": _plain(memo)}, separators=(",", ":"))


def decode(tables: str, grammar: str) -> Lark | None:
    """The parser of these tables; None if they belong to another grammar or another version of Lark."""
    stored = json.loads(tables)
    if stored["for"] != _origin(grammar):
        return None
    return Lark._load_from_dict(_restored(stored["data"]), _restored(stored["memo"]))  # as lark.tools.standalone does


def _origin(grammar: str) -> list[str]:
    return [__version__, sha256(grammar.encode()).hexdigest()]


def _plain(value: Any) -> object:
    """The value without tuples and whole-number keys, which JSON lacks."""
    if isinstance(value, dict):
        if value and all(isinstance(key, int) for key in value):
            return {_NUMBERED: [[key, _plain(each)] for key, each in value.items()]}
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def _restored(value: object) -> Any:
    if isinstance(value, dict):
        if list(value) == [_NUMBERED]:
            return {key: _restored(each) for key, each in value[_NUMBERED]}
        return {key: _restored(each) for key, each in cast("dict[str, object]", value).items()}
    return [_restored(each) for each in value] if isinstance(value, list) else value
