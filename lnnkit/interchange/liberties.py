"""Findings of a reader of another notation: errors, and liberties taken with the text, each with its position."""

from __future__ import annotations

from dataclasses import dataclass, field

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.span import Source, Span


class Unreadable(Exception):
    """A statement that cannot be read."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(diagnostic.message)


@dataclass
class Liberties:
    """The findings about one source, in the order in which they were made. A liberty is a finding of severity
    warning: the meaning may not be what the author had in mind."""

    source: Source
    found: list[Diagnostic] = field(default_factory=list)

    def note(self, code: str, message: str, hint: str, start: int, end: int) -> None:
        """A liberty taken with a stretch of the source."""
        self.add(Diagnostic(code, message, hint, Span(self.source, start, end), "warning"))

    def note_at(self, code: str, message: str, hint: str, span: Span | None) -> None:
        """The same, at the first occurrence of a symbol."""
        self.add(Diagnostic(code, message, hint, span, "warning", None if span else self.source.path))

    def add(self, diagnostic: Diagnostic) -> None:
        """A finding, once."""
        if diagnostic not in self.found:
            self.found.append(diagnostic)
