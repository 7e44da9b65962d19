"""Parses an input into a request: a command, statements, or a formula to ask; and places findings in the input."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from lnnkit.explain.conflict.program_variants import ASSUMED
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.identifiers import shadow
from lnnkit.syntax.span import QUERY, Source, Span
from lnnkit.syntax.split import comment_start, split

_Looking = Literal["ask", "why", "whynot", "rules", "facts", "help", "nothing"]
Kind = Literal[_Looking, "state", "assume", "undo", "reload", "save", "limit", "quit"]  # `state`: statements
COMMANDS = (
    *("why", "whynot", "assume", "undo", "rules", "facts", "reload", "save", "limit", "help", "quit", "exit"),
    "explain",
)
_OTHER_NAMES = {"exit": "quit", "explain": "why"}
INFERRING = frozenset(("ask", "state", "why", "whynot", "assume"))
_INK = re.compile(r"[^\n]")

# A word that an operator follows is a proposition: `save & Rain`.
_COMMAND = re.compile(rf"\s*({'|'.join(COMMANDS)})(?:\s*$|\s+(?![&|@<>=∧∨⊕→↔⇒⇔]|->|(?:and|or|xor|implies|iff)\b))")
# As a statement, `?- P(X)` has a message of its own.
_QUERY_ELSEWHERE = re.compile(r"\s*(?:\?-|select\s.*\sfrom\s)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Request:
    """``rest`` is the offset in the input at which the command's argument starts; it equals `end` if there is none."""

    kind: Kind
    typed: Typed
    rest: int = 0

    @property
    def end(self) -> int:
        """Where the argument ends: before white space and a comment."""
        text = self.typed.text
        last = text.rpartition("\n")[2]
        return max(self.rest, len(text[: len(text) - len(last) + comment_start(last)].rstrip()))

    @property
    def argument(self) -> str:
        return self.typed.text[self.rest : self.end]


def starts_anew(line: str) -> bool:
    """Whether a line is a command or starts a statement, regardless of the lines before it."""
    return read(Typed(line)).kind not in ("ask", "nothing")


def read(typed: Typed) -> Request:
    """Parse an input."""
    text = typed.text
    found = _COMMAND.match(text)
    if found:
        kind = _OTHER_NAMES.get(found[1], found[1])
        return Request(kind, typed, found.end())  # pyright: ignore[reportArgumentType]  # a word of COMMANDS
    pieces = split(shadow(text))
    if not pieces:
        return Request("nothing", typed)
    if text.strip() == "?":
        return Request("help", typed, len(text))
    stated = pieces[0].keyword is not None or _QUERY_ELSEWHERE.match(text)
    return Request("state" if stated else "ask", typed)


@dataclass(frozen=True, slots=True)
class Typed:
    """An input of one or more lines; its first line is line ``line`` of ``path``."""

    text: str
    path: str = "<shell>"
    line: int = 1

    @property
    def source(self) -> Source:
        """The input as a source, preceded by as many empty lines as came before it."""
        return Source(self.path, "\n" * (self.line - 1) + self.text)

    def only(self, start: int, end: int | None = None) -> str:
        """The text of ``source`` with everything outside a range of the input blanked, so that findings keep their
        places."""
        text = self.source.text
        before = self.line - 1 + start
        return _INK.sub(" ", text[:before]) + text[before : None if end is None else self.line - 1 + end]

    def placed(self, findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Findings about a query or an assumption of the input, moved to their places in it."""
        return tuple(map(self._placed, findings))

    def _placed(self, finding: Diagnostic) -> Diagnostic:
        span = finding.span
        if span is None or span.source.path not in (QUERY, ASSUMED):
            return finding
        blank = len(span.text) - len(span.text.lstrip())  # the span of a whole query includes what was blanked
        end = max(span.start + len(span.text.rstrip()), span.start + blank)
        return replace(finding, span=Span(self.source, span.start + blank, end))
