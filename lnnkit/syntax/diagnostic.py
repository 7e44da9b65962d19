"""A finding: what is wrong, where (a source and two offsets in code points), and what to do next. One class for the
terminal, JSON and exceptions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

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


Severity = Literal["error", "warning"]

WIDEST = 160  # width of a source line as shown; a longer one is cut around the caret
GAP = "..."


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding about a program or its data: what is wrong, where, and what to do next.

    ``code`` is a stable kebab-case word. A finding in a program has a ``span``; one in a data file has ``file``
    and, where a row is at fault, ``row`` (counted as in an editor: line 1 is the first line of the file).
    """

    code: str
    message: str
    hint: str = ""
    span: Span | None = None
    severity: Severity = "error"
    file: str | None = None
    row: int | None = None

    @property
    def path(self) -> str | None:
        return self.file if self.file is not None else self.span.source.path if self.span else None

    @property
    def line(self) -> int | None:
        return self.row if self.file is not None else self.span.line if self.span else None

    @property
    def column(self) -> int | None:
        return None if self.file is not None or self.span is None else self.span.column

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit check --format json`` prints."""
        return {
            "code": self.code,
            "severity": self.severity,
            "file": self.path,
            "line": self.line,
            "column": self.column,
            "message": self.message,
            "hint": self.hint,
        }

    def render(self) -> str:
        """The finding with its source line and a caret under the text at fault."""
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)
        head = f"{self.severity}[{self.code}] {self.message}"
        lines = [f"{place}: {head}" if place else head]
        if self.span is not None and self.file is None:
            line, start, width = _cut(self.span.line_text, self.span.column - 1, self.span.end - self.span.start)
            lines += [f"    {line}", "    " + re.sub(r"[^\t]", " ", line[:start]) + "^" * width]  # tabs stay
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


def _cut(line: str, start: int, width: int) -> tuple[str, int, int]:
    """The part of a line to show for ``width`` code points from ``start``; their offset in that part, and how many of
    them are visible (at least one)."""
    if len(line) <= WIDEST:
        return line, start, max(1, min(width, len(line) - start))
    begin = 0
    if start + width > WIDEST - len(GAP):
        begin = max(0, min(start - WIDEST // 3, len(line) - WIDEST))
    end = begin + WIDEST
    head, tail = GAP if begin else "", GAP if end < len(line) else ""
    shown = max(1, min(width, end - len(tail) - start))
    return head + line[begin + len(head) : end - len(tail)] + tail, start - begin, shown
