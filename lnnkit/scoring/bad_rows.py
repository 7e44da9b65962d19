"""Rows that were left out: bad ones, and those that repeat the key of another row."""

from __future__ import annotations

from typing import NamedTuple

from lnnkit.syntax.diagnostic import Diagnostic


class BadRow(NamedTuple):
    """A row that was left out."""

    file: str
    row: int
    code: str
    message: str

    @staticmethod
    def of(finding: Diagnostic) -> BadRow:
        return BadRow(finding.file or "", finding.row or 0, finding.code, finding.message)
