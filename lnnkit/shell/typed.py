"""The text of an input, and the places of findings in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from lnnkit.explain.missing.hypothetical_facts import ASSUMED
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.span import QUERY, Source, Span

_INK = re.compile(r"[^\n]")


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
