"""Parses an input into a request: a command, statements, or a formula to ask."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from lnnkit.shell.typed import Typed
from lnnkit.syntax.identifiers import shadow
from lnnkit.syntax.split import comment_start, split

_Looking = Literal["ask", "why", "whynot", "rules", "facts", "help", "nothing"]
Kind = Literal[_Looking, "state", "assume", "undo", "reload", "save", "limit", "quit"]  # `state`: statements
COMMANDS = (
    *("why", "whynot", "assume", "undo", "rules", "facts", "reload", "save", "limit", "help", "quit", "exit"),
    "explain",
)
_OTHER_NAMES = {"exit": "quit", "explain": "why"}
INFERRING = frozenset(("ask", "state", "why", "whynot", "assume"))

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
