"""The Pygments lexer of `.lnn`, for ``pygmentize``, MkDocs, Sphinx and notebooks (the alias is ``lnn``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Punctuation, Text, Whitespace, _TokenType, string_to_tokentype

from lnnkit.highlighting.contexts import STYLES, Pattern, highlighting
from lnnkit.syntax.identifiers import shadow, starts_upper

TOKENS = {style: string_to_tokentype(token) for style, (token, _) in STYLES.items()}


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
        return _states()

    def get_tokens_unprocessed(
        self, text: str, stack: Iterable[str] = ("root",)
    ) -> Iterator[tuple[int, _TokenType, str]]:
        # the shadow has a word character for each combining mark, which Python's `\w` lacks
        for start, kind, value in super().get_tokens_unprocessed(shadow(text), stack):
            written = text[start : start + len(value)]
            variable = kind is TOKENS["argument"] and starts_upper(written)
            yield start, TOKENS["variable"] if variable else kind, written


def _states() -> dict[str, list[Any]]:
    found = highlighting()
    space = (r"\s+", Whitespace)
    states: dict[str, list[Any]] = {
        "root": [
            *(_rule(each, before=r"^([^\S\n]*)") for each in found.beginnings),
            space,
            *(_rule(each) for each in found.outside),
        ]
    }
    for context in found.contexts:
        depth = "#pop" if context.closing is None else "#pop:2"  # out of the statement too
        rules: list[Any] = [(rf"^(?=[^\S\n]*{found.start})", Text, depth), space]
        rules += [_rule(each) for each in context.patterns]
        if context.closing is not None:
            rules.append((context.closing, Punctuation, "#pop"))
        states[context.name] = rules
    return states


def _rule(pattern: Pattern, before: str = "") -> tuple[Any, ...]:
    styles = ([None] if before else []) + list(pattern.styles)
    kinds = bygroups(*(Whitespace if style is None else TOKENS[style] for style in styles))
    return (before + pattern.regex, kinds, *([pattern.enters] if pattern.enters else []))
