"""What is wrong with a table, or with one of its rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one row; it becomes a diagnostic when the file's faults are listed."""

    code: str
    message: str
    hint: str = ""


class Unreadable(Exception):
    """Raised by a reader and caught at the layer's boundary: the table as a whole cannot be read."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.fault = Fault(code, message, hint)
