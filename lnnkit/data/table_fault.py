"""Faults of a table, or of one of its rows."""

from __future__ import annotations

from dataclasses import dataclass

from lnnkit.syntax.span import Span


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one row; it becomes a diagnostic when the faults of the file are listed."""

    code: str
    message: str
    hint: str = ""


class Unreadable(Exception):
    """The table as a whole cannot be read. Raised by readers and caught inside this package. ``span`` is the part of
    the statement that is at fault, if one is."""

    def __init__(self, code: str, message: str, hint: str = "", span: Span | None = None) -> None:
        super().__init__(message)
        self.fault = Fault(code, message, hint)
        self.span = span
