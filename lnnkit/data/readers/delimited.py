"""Reads CSV and TSV: bytes to a sheet of text columns, each row with its line number.

Arrow's reader does not report line numbers, skips blank lines, joins the rest of a file after a quote that never
closes, and drops a quote that closes inside a value. All of that is detected here, first by counting: if there are as
many records as lines, each record is one line; only texts in which the counts differ are examined in detail.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import Column
from lnnkit.data.files import UTF16_MARKS, Format, RawTable, Unreadable
from lnnkit.data.grid import Grid, Sheet
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_string

# Bytes parsed, or counted, at a time. By `python -m benchmarks.load_constants` 300,000 rows take 85 to 98 CPU ms from
# 2^18 to 2^22, which is noise.
BLOCK = 1 << 20
LARGE = 8 << 20
"""From here on Arrow's kernels encode a column faster than its CSV reader does, import included:
91 CPU ms against 137 for 8.8 MB (`python -m benchmarks.load_constants`)."""
_MARKS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar", " ": "blank"}
_ENCODED, _LATIN = "save it as UTF-8, or add its encoding, as", '`encoding "latin-1"`'
_LINE, _BREAK = re.compile(rb"[^\r\n]*"), re.compile(rb"\r?\n?")
_SPREADSHEET = re.compile(rb"sep=([\x01-\x7f])\r?\n", re.IGNORECASE)
_FILLED = re.compile(rb"[^\r\n]")

_OPEN = "a quote opens here that never closes; nothing after it is read"
UNCLOSED = Diagnostic("bad-row", _OPEN, 'write a quote as ""')
STRAY = Diagnostic("bad-row", "text follows a closing quote", 'write a quote within a quoted value twice: "5"" pipe"')


def open_delimited(raw: RawTable, header: bool, delimiter: str | None = None) -> Sheet:
    """The sheet of a CSV (RFC 4180, quoted values may contain line breaks) or, with tabs, a TSV (no quoting) in UTF-8,
    with or without a byte order mark. Blank lines are ignored. Text is kept as written, including blanks."""
    layout, text, source = layout_of(raw.format, delimiter), raw.data, f'"{raw.path}"'
    if text[:2] in UTF16_MARKS:
        raise Unreadable("unreadable-file", f"{source} is UTF-16, not UTF-8", f'{_ENCODED} `encoding "utf-16"`')
    text = text.removeprefix(b"\xef\xbb\xbf")
    if spreadsheet := _SPREADSHEET.match(text):
        mark = spreadsheet[1].decode()
        message = f"the first line of {source} is `sep={mark}`, which only spreadsheets read"
        hint = "take that line out" + (f", and add `delimiter {format_string(mark)}`" if mark != delimiter else "")
        raise Unreadable("unreadable-file", message, hint)
    skipped = _filled(text)
    if skipped == len(text):
        raise Unreadable("empty-file", f"{source} is empty")
    cells, end = _first_record(text, skipped, layout, source)
    line_break = _BREAK.match(text, end)
    body = line_break.end() if header and line_break else skipped
    first, rest = 1 + breaks(text[:body]), replace(raw, data=text[body:])

    def read(wanted: Sequence[int]) -> Grid:
        return _read(rest, len(cells), wanted, layout, first)

    return Sheet(source, cells if header else numbered(cells), header, read, raw.format, layout.delimiter)


def layout_of(kind: Format, delimiter: str | None) -> TextLayout:
    """How a text of a format is divided, with a delimiter that may be told."""
    mark = delimiter or kind.delimiter
    return TextLayout(mark, quoting="\t" not in (mark, kind.delimiter) or mark != kind.delimiter)


def numbered(cells: Sequence[str]) -> tuple[str, ...]:
    """Column names for a table without a header: positions, but the first row's cell if it is one, which shows a wrong
    delimiter."""
    return tuple(cells) if len(cells) == 1 else tuple(str(position + 1) for position in range(len(cells)))


def _first_record(text: bytes, start: int, layout: TextLayout, source: str) -> tuple[tuple[str, ...], int]:
    match = (record(layout.delimiter) if layout.quoting else _LINE).match(text, start)
    assert match is not None  # both also match the empty text
    end = match.end()
    if layout.quoting and (match["open1"] is not None or match["open2"] is not None):
        raise Unreadable("unreadable-file", f"a quote in the first row of {source} never closes")
    try:
        line = text[start:end].decode()
    except UnicodeDecodeError:
        raise Unreadable("unreadable-file", f"the first row of {source} is not UTF-8", f"{_ENCODED} {_LATIN}") from None
    if not layout.quoting:
        return tuple(line.split(layout.delimiter)), end
    try:
        return tuple(next(csv.reader(io.StringIO(line, newline=""), delimiter=layout.delimiter))), end
    except csv.Error as error:
        raise Unreadable("unreadable-file", f"the first row of {source} cannot be read: {error}") from None


def _read(raw: RawTable, width: int, wanted: Sequence[int], layout: TextLayout, first: int) -> Grid:
    """The columns ``wanted`` of the rows below the header, whose text begins at line ``first``."""
    if _filled(raw.data) == len(raw.data):
        return Grid({position: pa.nulls(0, pa.binary()) for position in wanted}, np.empty(0, np.int64))
    bad: list[tuple[int, Diagnostic]] = []
    table = _parsed(raw, width, wanted, layout, first, bad)
    columns: dict[int, Column] = {position: table.column(str(position)) for position in wanted}
    records = record_lines(raw.data, table.num_rows + len(bad), first, layout)
    if records is None:
        message = f'it is unclear where the rows of "{raw.path}" end'
        raise Unreadable("unreadable-file", message, "look for a quote that opens a value and never closes")
    lines, faults = records
    if not bad:
        return Grid(columns, lines, faults)
    lost = {index: faults.get(index, fault) for index, fault in bad}
    kept = np.ones(len(lines), bool)
    kept[list(lost)] = False
    place = np.cumsum(kept) - 1
    spoiled = {int(place[index]): fault for index, fault in faults.items() if kept[index]}
    return Grid(columns, lines[kept], spoiled, tuple((int(lines[index]), fault) for index, fault in lost.items()))


@cache
def _ragged(count: int, expected: int, layout: TextLayout) -> Diagnostic:
    mark = _MARKS.get(layout.delimiter, f"`{layout.delimiter}`")
    if count < expected:
        hint = f"write every {mark}, also before a cell that is empty"
    elif layout.quoting:
        hint = f"a value that holds a {mark} is quoted"
    else:
        hint = "a value cannot hold a tab; a CSV can quote it"
    message = f"this row has {count} column{'' if count == 1 else 's'}, the first one {expected}"
    return Diagnostic("bad-row", message, hint)


def _parsed(
    raw: RawTable, width: int, wanted: Sequence[int], layout: TextLayout, first: int, bad: list[tuple[int, Diagnostic]]
) -> pa.Table:
    """The wanted columns as bytes; rows of another width are added to ``bad``, by record number from 0."""
    from pyarrow import csv as arrow_csv

    def ragged(row: arrow_csv.InvalidRow) -> str:
        bad.append((row.number - 1, _ragged(row.actual_columns, row.expected_columns, layout)))
        return "skip"

    text, quoting = raw.data, layout.quoting and b'"' in raw.data
    parse = arrow_csv.ParseOptions(
        delimiter=layout.delimiter, quote_char='"' if quoting else False, newlines_in_values=quoting
    )
    names = list(map(str, range(width)))
    shown = list(map(str, wanted or [0]))
    kind = pa.binary() if len(text) >= LARGE else pa.dictionary(pa.int32(), pa.binary())
    convert = arrow_csv.ConvertOptions(check_utf8=False, include_columns=shown, column_types=dict.fromkeys(shown, kind))
    problem: Exception | None = None
    whole = min(len(text) + 1, 2**31 - 1)  # a row longer than a block needs a longer block
    for block, handler in ((BLOCK, None), (BLOCK, ragged), (whole, ragged)):
        bad.clear()
        if handler is not None and parse.invalid_row_handler is None:
            try:
                text.decode()  # as Arrow does with the rows that it hands over
            except UnicodeDecodeError as error:
                line = first + breaks(text[: error.start])
                message = f'line {line} of "{raw.path}" is not UTF-8: byte 0x{text[error.start]:02x}'
                raise Unreadable("unreadable-file", message, f"{_ENCODED} {_LATIN}") from None
            parse.invalid_row_handler = handler
        read = arrow_csv.ReadOptions(use_threads=False, block_size=block, column_names=names)
        try:
            return arrow_csv.read_csv(pa.BufferReader(text), read, parse, convert)
        except (pa.ArrowException, OSError, ValueError) as error:
            problem = error
    raise Unreadable("unreadable-file", f'"{raw.path}" cannot be read as {raw.format.name.upper()}: {problem}')


# --- the lines of records ---------------------------------------------------------------------------------------------


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


def _filled(text: bytes) -> int:
    """The offset of the first byte that is not a line break; the length if there is none."""
    match = _FILLED.search(text)
    return match.start() if match else len(text)


def _codes(text: bytes) -> np.ndarray:
    return np.frombuffer(text, np.uint8)


def record_lines(
    text: bytes, records: int, first: int, layout: TextLayout
) -> tuple[np.ndarray, dict[int, Diagnostic]] | None:
    """The line of each of ``records`` records, where ``text`` starts at line ``first``, and the faulty records by
    index; None if the records cannot be determined."""
    quoting = layout.quoting and b'"' in text
    strange = quoting and doubtful(text, ord(layout.delimiter))
    unended = not text.endswith((b"\n", b"\r"))
    if breaks(text) + unended == records and not strange:
        return np.arange(first, first + records, dtype=np.int64), {}
    starts, begins = _lines(text)  # lines that begin a record: at first all that are not blank
    faults: dict[int, Diagnostic] = {}
    if strange:
        faults = dict(_join_quoted(text, starts, begins, record(layout.delimiter)))
    elif quoting:
        quotes = np.flatnonzero(_codes(text) == 34)
        begins &= np.searchsorted(quotes, starts) % 2 == 0  # a line after an odd number of quotes is within a value
    lines = np.flatnonzero(begins)
    if len(lines) != records:
        return None
    return lines.astype(np.int64) + first, {int(np.searchsorted(lines, line)): fault for line, fault in faults.items()}


def breaks(text: bytes) -> int:
    r"""How many lines end in a text: by ``\n``, ``\r\n`` or a lone ``\r``."""
    codes = _codes(text)
    ends = sum(int(np.count_nonzero(codes[low : low + BLOCK] == 10)) for low in range(0, len(codes), BLOCK))
    return ends + (text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else 0)


def _lines(text: bytes) -> tuple[np.ndarray, np.ndarray]:
    r"""The start of each line, and whether it is not blank; ``\n``, ``\r\n`` and a lone ``\r`` end a line."""
    codes = _codes(text)
    feeds = codes == 10
    breaks = np.flatnonzero(feeds | ((codes == 13) & ~np.append(feeds[1:], False)))
    starts = np.concatenate([[0], breaks + 1])
    return starts, np.isin(np.append(codes, np.uint8(10))[starts], (10, 13), invert=True)


def doubtful(text: bytes, delimiter: int) -> bool:
    """Whether a quote stands where RFC 4180 allows none. Decided by runs of quotes: after an even number of quotes a
    run must start a cell (and an even run must be the whole cell); after an odd number, an odd run must end the
    cell."""
    codes = _codes(text)
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
    text: bytes, starts: np.ndarray, begins: np.ndarray, pattern: re.Pattern[bytes]
) -> list[tuple[int, Diagnostic]]:
    """Remove from ``begins`` the lines inside quoted values; returns the faulty records by line."""
    quotes = np.flatnonzero(_codes(text) == 34)
    faults: list[tuple[int, Diagnostic]] = []
    done = 0
    for line in np.unique(np.searchsorted(starts, quotes, "right") - 1).tolist():
        start = int(starts[line])
        match = pattern.match(text, start) if start >= done else None
        if match is None:
            continue
        done = match.end()
        begins[line + 1 : int(np.searchsorted(starts, done, "right"))] = False
        if match["open1"] is not None or match["open2"] is not None:
            faults.append((line, UNCLOSED))
        elif match["tail1"] is not None or match["tail2"] is not None:
            faults.append((line, STRAY))
    return faults
