"""Detects the layout of a text file: its delimiter, and whether it has a header."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from lnnkit.data.numbers import NUMERAL
from lnnkit.data.source import RawTable

_SAMPLE = 1 << 16
_ROWS = 100
_MARKS = (",", ";", "\t", "|")
_YEAR = re.compile(r"(?:19|20)\d\d")


def delimiter_of(raw: RawTable) -> str | None:
    """The delimiter; None if it is the one that the file name implies."""
    own = "\t" if raw.format == "tsv" else ","

    def fit(mark: str) -> tuple[bool, int, bool]:
        widths = [len(row) for row in sample(raw, mark)]
        even = bool(widths) and widths.count(widths[0]) >= 0.9 * len(widths)
        return even and widths[0] > 1, widths[0] if widths else 0, mark == own

    best = max((own, *(mark for mark in _MARKS if mark != own)), key=fit)
    return None if best == own or not fit(best)[0] else best


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns. It does not if its cells read like those below."""
    if len(rows) < 2:
        return True
    names, below = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    votes = 0
    for position, name in enumerate(names):
        cells = [row[position].strip() for row in below if row[position].strip()]
        if not cells or not name.strip():
            continue
        numeric = sum(NUMERAL.fullmatch(cell) is not None for cell in cells) > len(cells) / 2
        if numeric and not _YEAR.fullmatch(name.strip()):
            votes += 1 if NUMERAL.fullmatch(name) is None else -1
        elif name.strip() in cells:
            votes -= 1
    return votes >= 0


def sample(raw: RawTable, delimiter: str) -> list[list[str]]:
    """The first rows of a text, split at its delimiters."""
    text = raw.data[:_SAMPLE].removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    if len(raw.data) > _SAMPLE:
        text = text[: text.rfind("\n") + 1] or text
    quoting = csv.QUOTE_NONE if raw.format == "tsv" and delimiter == "\t" else csv.QUOTE_MINIMAL
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting):
            if row:
                rows.append(row)
            if len(rows) == _ROWS:
                break
    except csv.Error:
        pass
    return rows
