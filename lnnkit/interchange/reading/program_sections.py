"""A logic program of a benchmark -> its sections: a heading, then a line for each statement with its gloss."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from lark import Lark, Token, Tree

from lnnkit.interchange.liberties import Unreadable
from lnnkit.interchange.reading.token_feeding import Unfit, fed
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.grammar import grammar_file
from lnnkit.syntax.span import Source, Span

_HEADING = re.compile(r"\s*([A-Z][A-Za-z]*)\s*:\s*")
_GLOSS = re.compile(r"\s*:::*\s*")


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a section, from ``start`` to ``end`` of the source, and what it says in words."""

    section: str
    start: int
    end: int
    gloss: str

    def span(self, source: Source) -> Span:
        return Span(source, self.start, self.end)


def entries(source: Source, sections: Sequence[str]) -> Iterator[Entry]:
    """The lines of a program under headings such as `Facts:`. Raises `Unreadable` for another heading."""
    section, begin = "", 0
    for line in source.text.splitlines(keepends=True):
        start, begin = begin, begin + len(line)
        if (heading := _HEADING.fullmatch(line)) is not None:
            section = heading[1]
            if section not in sections:
                hint = f"sections are {', '.join(sections)}"
                span = Span(source, start, start + len(line.rstrip()))
                raise Unreadable(
                    Diagnostic("unknown-section", f"`{section}` is not a section of such a program", hint, span)
                )
        elif line.strip():
            start += len(line) - len(line.lstrip())
            end = begin - (len(line) - len(line.rstrip()))
            if not section:
                hint = f"begin with a heading, as `{sections[0]}:`"
                raise Unreadable(
                    Diagnostic("no-section", "this stands before the first section", hint, Span(source, start, end))
                )
            gloss = _GLOSS.search(source.text, start, end)
            told = source.text[gloss.end() : end].strip() if gloss else ""
            yield Entry(section, start, gloss.start() if gloss else end, told)


@cache
def _parser() -> Lark:
    text = grammar_file("logic_programs.lark").read_text(encoding="utf-8")
    starts = ["rule", "fact", "domain", "constraint", "used_up"]
    return Lark(text, parser="lalr", lexer="basic", start=starts, maybe_placeholders=False)


def parsed(source: Source, start: int, end: int, rule: str) -> Tree[Token]:
    """The tree of a stretch of the source by one rule of the grammar. Raises `Unreadable`."""
    tokens = list(_parser().lex(source.text[start:end]))
    try:
        return fed(_parser(), tokens, rule)
    except Unfit as problem:
        if problem.index is None:
            message, place = "the line stops before its end", Span(source, max(start, end - 1), end)
        else:
            token = tokens[problem.index]
            message = f"`{token}` cannot stand here"
            place = Span(source, start + (token.start_pos or 0), start + (token.end_pos or 0))
        raise Unreadable(Diagnostic("syntax", message, "", place)) from None
