"""Finds the line of a CSV or TSV text on which each record starts, and the records with wrong quoting.

Arrow's reader does not report line numbers, skips blank lines, joins the rest of a file after a quote that never
closes, and drops a quote that closes inside a value. All of that is detected here, first by counting: if there are as
many records as lines, each record is one line; only texts in which the counts differ are examined in detail.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import numpy as np

from lnnkit.data.source import DataFault

_BLOCK = 1 << 20  # bytes; 300,000 rows take 83 to 101 CPU ms from 2^18 to 2^22, which is noise
_FILLED = re.compile(rb"[^\r\n]")

UNCLOSED = DataFault("bad-row", "a quote opens here that never closes; nothing after it is read", 'write a quote as ""')
STRAY = DataFault("bad-row", "text follows a closing quote", 'write a quote within a quoted value twice: "5"" pipe"')


@dataclass(frozen=True, slots=True)
class TextLayout:
    """The delimiter of a text, one ASCII character, and whether values may be quoted."""

    delimiter: str
    quoting: bool


@cache
def record(delimiter: str) -> re.Pattern[bytes]:
    """A pattern for one record of RFC 4180; quotes count only at the start of a cell. ``open`` and ``tail`` match the
    two mistakes."""
    mark = re.escape(delimiter.encode())
    quoted = rb'"[^"]*+(?:""[^"]*+)*+(?:"(?P<tail%d>[^' + mark + rb"\r\n]++)?+|(?P<open%d>\Z))"
    first, other = (rb"(?:" + quoted % (n, n) + rb"|[^" + mark + rb"\r\n]*+)" for n in (1, 2))
    return re.compile(first + rb"(?:" + mark + other + rb")*+")


@dataclass(frozen=True, slots=True)
class Text:
    """A text from offset ``start`` on; nothing is copied."""

    held: bytes
    start: int

    def __len__(self) -> int:
        return len(self.held) - self.start

    def holds(self, part: bytes) -> bool:
        return self.held.find(part, self.start) >= 0

    def count(self, part: bytes) -> int:
        return self.held.count(part, self.start)

    def filled(self) -> int:
        """The offset (in ``held``) of the first byte that is not a line break; the length if there is none."""
        match = _FILLED.search(self.held, self.start)
        return match.start() if match else len(self.held)

    def codes(self) -> np.ndarray:
        return np.frombuffer(self.held, np.uint8, offset=self.start)


def record_lines(
    text: Text, records: int, first: int, layout: TextLayout
) -> tuple[np.ndarray, dict[int, DataFault]] | None:
    """The line of each of ``records`` records, where ``text`` starts at line ``first``, and the faulty records by
    index; None if the records cannot be determined."""
    quoting = layout.quoting and text.holds(b'"')
    strange = quoting and doubtful(text, ord(layout.delimiter))
    if _line_count(text) == records and not strange:
        return np.arange(first, first + records, dtype=np.int64), {}
    starts, begins = _lines(text)  # lines that begin a record: at first all that are not blank
    faults: dict[int, DataFault] = {}
    if strange:
        faults = dict(_join_quoted(text, starts, begins, record(layout.delimiter)))
    elif quoting:
        quotes = np.flatnonzero(text.codes() == 34)
        begins &= np.searchsorted(quotes, starts) % 2 == 0  # a line after an odd number of quotes is within a value
    lines = np.flatnonzero(begins)
    if len(lines) != records:
        return None
    return lines.astype(np.int64) + first, {int(np.searchsorted(lines, line)): fault for line, fault in faults.items()}


def _line_count(text: Text) -> int:
    codes = text.codes()
    ends = sum(int(np.count_nonzero(codes[low : low + _BLOCK] == 10)) for low in range(0, len(codes), _BLOCK))
    if text.holds(b"\r"):
        ends += text.count(b"\r") - text.count(b"\r\n")
    return ends + (not text.held.endswith((b"\n", b"\r"), text.start))


def _lines(text: Text) -> tuple[np.ndarray, np.ndarray]:
    r"""The start of each line, and whether it is not blank; ``\n``, ``\r\n`` and a lone ``\r`` end a line."""
    codes = text.codes()
    feeds = codes == 10
    breaks = np.flatnonzero(feeds | ((codes == 13) & ~np.append(feeds[1:], False)))
    starts = np.concatenate([[0], breaks + 1])
    return starts, np.isin(np.append(codes, np.uint8(10))[starts], (10, 13), invert=True)


def doubtful(text: Text, delimiter: int) -> bool:
    """Whether a quote stands where RFC 4180 allows none. Decided by runs of quotes: after an even number of quotes a
    run must start a cell (and an even run must be the whole cell); after an odd number, an odd run must end the
    cell."""
    codes = text.codes()
    quotes = np.flatnonzero(codes == 34)
    firsts = np.flatnonzero(np.diff(quotes, prepend=-2) != 1)
    lengths = np.diff(firsts, append=len(quotes))
    edge = np.zeros(256, bool)
    edge[[10, 13, delimiter]] = True
    start, stop = quotes[firsts], quotes[firsts] + lengths
    begins = edge[codes[np.maximum(start - 1, 0)]] | (start == 0)
    ends = edge[codes[np.minimum(stop, len(codes) - 1)]] | (stop == len(codes))
    inside, odd = (firsts & 1).astype(bool), (lengths & 1).astype(bool)
    wrong = np.where(inside, odd & ~ends, ~begins | (~odd & ~ends))
    return bool(len(quotes) & 1) or bool(wrong.any())


def _join_quoted(
    text: Text, starts: np.ndarray, begins: np.ndarray, pattern: re.Pattern[bytes]
) -> list[tuple[int, DataFault]]:
    """Remove from ``begins`` the lines inside quoted values; returns the faulty records by line."""
    quotes = np.flatnonzero(text.codes() == 34)
    faults: list[tuple[int, DataFault]] = []
    done = 0
    for line in np.unique(np.searchsorted(starts, quotes, "right") - 1).tolist():
        start = int(starts[line])
        match = pattern.match(text.held, text.start + start) if start >= done else None
        if match is None:
            continue
        done = match.end() - text.start
        begins[line + 1 : int(np.searchsorted(starts, done, "right"))] = False
        if match["open1"] is not None or match["open2"] is not None:
            faults.append((line, UNCLOSED))
        elif match["tail1"] is not None or match["tail2"] is not None:
            faults.append((line, STRAY))
    return faults
