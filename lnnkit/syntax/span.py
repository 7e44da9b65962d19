"""Where a piece of program text stands: a source and two offsets in code points."""

from __future__ import annotations

from dataclasses import dataclass, field

QUERY = "<query>"  # the path under which the text of a query is shown


@dataclass(frozen=True, slots=True)
class Source:
    """A program text and the path it is shown under."""

    path: str
    text: str = field(repr=False)


def as_source(path: str, text: str) -> Source:
    """The source of a user's text, without a byte order mark. Raises ``TypeError`` for anything but text."""
    if not isinstance(text, str):
        raise TypeError(f"programs and formulas are text, not {type(text).__name__}")
    return Source(path, text.removeprefix("\ufeff"))


@dataclass(frozen=True, slots=True)
class Span:
    """The half-open range ``start:end`` of code points in ``source``; line and column count from 1."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        return self.source.text.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        return self.start - (self.source.text.rfind("\n", 0, self.start) + 1) + 1

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def on_one_line(self) -> str:
        """The text with each run of white space as one blank."""
        return " ".join(self.text.split())

    @property
    def line_text(self) -> str:
        """The whole source line on which the span starts."""
        begin = self.source.text.rfind("\n", 0, self.start) + 1
        end = self.source.text.find("\n", self.start)
        return self.source.text[begin : end if end >= 0 else len(self.source.text)]


NOWHERE = Span(Source("", ""), 0, 0)  # where what no text has stands
