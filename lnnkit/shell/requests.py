"""An input as a request: a command, statements, or a formula to ask. Findings are placed in the input."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from lnnkit.explain.conflict.program_variants import ASSUMED
from lnnkit.syntax.diagnostic import QUERY, Diagnostic, Source, Span
from lnnkit.syntax.identifiers import shadow
from lnnkit.syntax.split import comment_start, split

_Looking = Literal["ask", "why", "whynot", "rules", "facts", "help", "nothing"]
RequestKind = Literal[
    _Looking, "state", "assume", "retract", "replace", "changes", "undo", "reload", "save", "limit", "quit"
]  # `state`: statements
COMMANDS = (
    "why", "whynot", "assume", "retract", "replace", "changes", "undo", "rules", "facts", "reload", "save", "limit",
    "help", "quit", "exit", "explain",
)  # fmt: skip
_OTHER_NAMES = {"exit": "quit", "explain": "why"}
INFERRING = frozenset(("ask", "state", "why", "whynot", "assume", "retract", "replace", "changes"))
_INK = re.compile(r"[^\n]")

# A word that an operator follows is a proposition: `save & Rain`.
_COMMAND = re.compile(rf"\s*({'|'.join(COMMANDS)})(?:\s*$|\s+(?![&|@<>=∧∨⊕→↔⇒⇔]|->|(?:and|or|xor|implies|iff)\b))")
# As a statement, `?- P(X)` has a message of its own.
_QUERY_ELSEWHERE = re.compile(r"\s*(?:\?-|select\s.*\sfrom\s)", re.IGNORECASE)


@dataclass(frozen=True)
class Typed:
    """An input of one or more lines; its first line is line ``line`` of ``path``. ``kind`` is what it asks for."""

    text: str
    path: str = "<shell>"
    line: int = 1

    @cached_property
    def _command(self) -> re.Match[str] | None:
        return _COMMAND.match(self.text)

    @cached_property
    def kind(self) -> RequestKind:
        if self._command:
            word = self._command[1]
            return _OTHER_NAMES.get(word, word)  # pyright: ignore[reportReturnType]  # a word of COMMANDS
        pieces = split(shadow(self.text))
        if not pieces:
            return "nothing"
        if self.text.strip() == "?":
            return "help"
        return "state" if pieces[0].keyword is not None or _QUERY_ELSEWHERE.match(self.text) else "ask"

    @property
    def starts_anew(self) -> bool:
        """Whether it is a command or starts a statement, regardless of the lines before it."""
        return self.kind not in ("ask", "nothing")

    @property
    def rest(self) -> int:
        """The offset at which a command's argument starts; it equals `end` if there is none."""
        return self._command.end() if self._command else 0

    @property
    def end(self) -> int:
        """Where the argument ends: before white space and a comment."""
        last = self.text.rpartition("\n")[2]
        return max(self.rest, len(self.text[: len(self.text) - len(last) + comment_start(last)].rstrip()))

    @property
    def argument(self) -> str:
        return self.text[self.rest : self.end]

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
