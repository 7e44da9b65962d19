"""The Pygments lexer of `.lnn`, for ``pygmentize``, MkDocs, Sphinx and notebooks (the alias is ``lnn``).

Its states are the contexts of the TextMate grammar, which editors colour by too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text, Whitespace, _TokenType

from lnnkit.syntax.grammar import grammar_file
from lnnkit.syntax.identifiers import shadow, starts_upper

TOKENS = {
    "comment.line.number-sign": Comment.Single,
    "string.quoted.double": String.Double,
    "constant.numeric": Number,
    "keyword.other": Keyword,
    "keyword.operator.word": Operator.Word,
    "keyword.operator": Operator,
    "constant.language": Keyword.Constant,
    "support.function": Name.Builtin,
    "variable.other.readwrite": Name.Variable.Global,
    "entity.name.function": Name.Function,
    "constant.other.entity": Name.Constant,
    "variable.parameter": Name.Variable,
    "entity.name.type": Name.Class,
    "entity.name.label": Name.Label,
    "entity.other.attribute-name": Name.Attribute,
    "variable.other": Name,
    "punctuation": Punctuation,
}
"""The token of each scope."""

_MARGIN = r"^\s*"  # begins a statement in TextMate, which reads line by line
_VARIABLE, _ENTITY = TOKENS["variable.parameter"], TOKENS["constant.other.entity"]


class LnnLexer(RegexLexer):
    """Lexer of lnnkit's rule language. What cannot stand where it stands is an ``Error`` token."""

    name = "lnnkit"
    aliases: ClassVar[Sequence[str]] = ["lnn"]
    filenames: ClassVar[Sequence[str]] = ["*.lnn"]
    mimetypes: ClassVar[Sequence[str]] = ["text/x-lnn"]
    url = "https://arxiv.org/abs/2006.13155"
    flags = re.MULTILINE

    @classmethod
    def get_tokendefs(cls) -> dict[str, list[Any]]:
        return _states(json.loads(grammar_file("lnn.tmLanguage.json").read_text(encoding="utf-8")))

    def get_tokens_unprocessed(
        self, text: str, stack: Iterable[str] = ("root",)
    ) -> Iterator[tuple[int, _TokenType, str]]:
        # the shadow has a word character for each combining mark, which Python's `\w` lacks
        for start, kind, value in super().get_tokens_unprocessed(shadow(text), stack):
            written = text[start : start + len(value)]
            yield start, _VARIABLE if kind is _ENTITY and starts_upper(written) else kind, written


def _states(grammar: dict[str, Any]) -> dict[str, list[Any]]:
    first, contexts = grammar["patterns"], {name: entry["patterns"] for name, entry in grammar["repository"].items()}
    space, stop = (r"\s+", Whitespace), first[0]["end"]
    nested = {_entered(rule): rule["end"] for rules in contexts.values() for rule in rules if "endCaptures" in rule}
    beginnings = [rule for rule in first if rule.get("begin", "").startswith(_MARGIN)]
    outside = [rule for rule in first if rule not in beginnings]
    states = {"root": [*map(_rule, beginnings), space, *_rules(outside)]}
    ending = stop.replace(rf"(?={_MARGIN}", r"^(?=[^\S\n]*", 1)
    for name, rules in contexts.items():
        depth = "#pop:2" if name in nested else "#pop"  # out of the statement too
        states[name] = [(ending, Text, depth), space, *_rules(rules)]
        if name in nested:
            states[name].append((nested[name].removesuffix(f"|{stop}"), Punctuation, "#pop"))
    return states


def _rules(patterns: Iterable[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
    """The rules of some patterns, without those by Unicode categories, which Python's expressions lack."""
    return (_rule(pattern) for pattern in patterns if "\\p{" not in pattern.get("match", ""))


def _rule(pattern: dict[str, Any]) -> tuple[Any, ...]:
    if "name" in pattern:
        return pattern["match"], _token(pattern)
    regex, captures = pattern.get("match") or pattern["begin"], pattern.get("captures") or pattern["beginCaptures"]
    kinds = [_token(captures.get(str(group))) for group in range(1, re.compile(regex).groups + 1)]
    if regex.startswith(_MARGIN):
        regex, kinds = r"^([^\S\n]*)" + regex.removeprefix(_MARGIN), [Whitespace, *kinds]
    return (regex, bygroups(*kinds), *([_entered(pattern)] if "begin" in pattern else []))


def _token(capture: dict[str, str] | None) -> _TokenType:
    return Whitespace if capture is None else TOKENS[capture["name"].removesuffix(".lnn")]


def _entered(pattern: dict[str, Any]) -> str:
    """The context that begins behind a pattern."""
    return pattern["patterns"][0]["include"].removeprefix("#")
