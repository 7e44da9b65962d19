"""A finding: what is wrong, where, and what to do next. One class for the terminal, JSON and exceptions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from lnnkit.syntax.span import Span

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
