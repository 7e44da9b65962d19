"""A stream of rows -> units: row groups of Parquet files, blocks of lines of CSV files, batches of an Arrow stream.
Compressed text files are unpacked on the way; memory does not grow with the file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnnkit.data.files import RawTable, Unreadable, format_of, is_table, nearest_name, read_source
from lnnkit.data.grid import Grid, Sheet
from lnnkit.data.load import opened
from lnnkit.data.readers.delimited import TextLayout, breaks, doubtful, layout_of, numbered, record
from lnnkit.data.readers.frames import UNNAMED_INDEX, arrow_sheet, parquet_file

if TYPE_CHECKING:
    from io import BufferedReader

    import pyarrow as pa

BLOCK = 1 << 24  # bytes of a block, or more where a record is longer
_LONGEST = 1 << 30
_LINE = re.compile(rb"[^\r\n]*+")


def blocks(
    path: Path, compression: str | None, *, header: bool, layout: TextLayout, size: int = BLOCK
) -> Iterator[tuple[bytes, bytes, int]]:
    """Blocks of about ``size`` bytes: the first line of the file, some whole records, and the line number of the first
    of these. The first line is not among the records if it is the ``header``. A line break within a quoted value does
    not end a record. Raises `Unreadable`."""
    import pyarrow as pa

    top, rest, line = b"", b"", 1
    begun = False
    try:
        raw: Any = pa.OSFile(str(path), "rb")
        with pa.CompressedInputStream(raw, compression) if compression else raw as stream:
            while more := stream.read(max(size, len(rest))):  # twice as much where a record is longer
                rest += more
                if line == 1 and not top:
                    rest = rest.removeprefix(b"\xef\xbb\xbf")
                if not begun:
                    lead = len(rest) - len(rest.lstrip(b"\r\n"))
                    end = _walked(rest, layout, lead, first=True)
                    if end == 0:
                        _check_length(path, rest)
                        continue
                    top, begun = rest[:end], True
                    if header:
                        rest = rest[end:]
                        line += breaks(top)
                end = _end(rest, layout)
                if end == 0:
                    _check_length(path, rest)
                    continue
                text, rest = rest[:end], rest[end:]
                yield top, text, line
                line += breaks(text)
    except FileNotFoundError:
        raise missing(path) from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Unreadable("unreadable-file", f'"{path}" cannot be read: {error}') from None
    if not begun:
        if not rest.strip(b"\r\n"):
            raise Unreadable("empty-file", f'"{path}" is empty')
        yield rest + b"\n", b"" if header else rest, line + header
    elif rest:
        yield top, rest, line


def missing(path: Path) -> Unreadable:
    """The fault of a missing stream."""
    near = nearest_name(path) if path.parent.is_dir() else None
    hint = f'did you mean "{path.parent / near}"?' if near else "the path of a stream starts from the working folder"
    return Unreadable("missing-file", f'no file "{path}"', hint)


def _end(text: bytes, layout: TextLayout) -> int:
    """Where the last whole record ends; 0 where none does."""
    import numpy as np

    if not layout.quoting or b'"' not in text:
        stop = text.rfind(b"\n") + 1
        return stop or text.rfind(b"\r", 0, max(len(text) - 1, 0)) + 1  # a last one may be half of a line break
    codes = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(codes == ord("\n"))
    within = np.searchsorted(np.flatnonzero(codes == ord('"')), ends) % 2 == 1
    ends = ends[~within]
    end = int(ends[-1]) + 1 if len(ends) else 0
    if end and not doubtful(text[:end], ord(layout.delimiter)):
        return end
    return _walked(text, layout)  # a quote may be part of a value here, so counting quotes decides nothing


def _walked(text: bytes, layout: TextLayout, place: int = 0, *, first: bool = False) -> int:
    """Where the last (or the ``first``) whole record after ``place`` ends, found record by record."""
    pattern = record(layout.delimiter) if layout.quoting else _LINE
    end = 0
    while place < len(text):
        match = pattern.match(text, place)
        assert match is not None  # also matches the empty text
        stop = match.end()
        opened = layout.quoting and (match["open1"] is not None or match["open2"] is not None)
        # the last byte may be half of a line break, or of a quote that is written twice
        if opened or stop >= len(text) - (text[-1:] == b"\r"):
            break
        end = place = stop + (2 if text[stop : stop + 2] == b"\r\n" else 1)
        if first:
            break
    return end


def _check_length(path: Path, text: bytes) -> None:
    if len(text) > _LONGEST:
        message = f'"{path}" has a row of more than {_LONGEST:,} bytes'
        raise Unreadable("unreadable-file", message, "look for a quote that opens a value and never closes")


BATCH = 1 << 17  # rows that are decided at a time
STANDARD_INPUT = "-"
_ARROW_FILE = b"ARROW1\0\0"  # its first bytes
_READ = 1 << 20  # bytes of a column that are read at a time


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Consecutive row groups of a Parquet file; ``first`` is the number of their first row."""

    path: Path
    numbers: tuple[int, ...]
    first: int


@dataclass(frozen=True, slots=True)
class Lines:
    """Some whole lines of a CSV or TSV file; ``first`` is the number of the first one. The ``top`` line of the file
    gives the number of columns; ``header`` says whether it names them."""

    path: Path
    top: bytes
    header: bool
    text: bytes
    first: int
    delimiter: str | None
    encoding: str | None


@dataclass(frozen=True, slots=True)
class Batches:
    """Some record batches of a stream; ``first`` is the number of their first row. A worker is sent these rows alone,
    though they may be a slice of a batch of any size."""

    batches: tuple[pa.RecordBatch, ...]
    first: int
    name: str

    def __reduce__(self) -> tuple[object, ...]:
        return _received, (in_bytes(self.batches), self.first, self.name)


def _received(data: pa.Buffer, first: int, name: str) -> Batches:
    import pyarrow as pa

    with pa.ipc.open_stream(data) as reader:
        return Batches(tuple(reader), first, name)


WorkUnit = RowGroups | Lines | Batches


@dataclass(frozen=True, slots=True)
class RowStream:
    """A Parquet or CSV file, a folder of such files in the order of their names, or an Arrow stream on standard input
    (``-``). ``header``, ``delimiter`` and ``encoding`` are those of text files, from the program's statements. A
    unit has about ``batch`` rows, or ``block`` bytes of a CSV file."""

    path: Path
    header: bool = True
    delimiter: str | None = None
    encoding: str | None = None
    standard_input: BufferedReader | None = None
    batch: int = BATCH
    block: int = BLOCK

    @property
    def files(self) -> list[Path]:
        """The files, in order. Raises `Unreadable` where there is none."""
        if self.standard_input is not None:
            return []
        if self.path.is_dir():
            try:
                tables = sorted(path for path in self.path.iterdir() if path.is_file() and is_table(path))
            except OSError as error:
                raise _unreadable(self.path, error) from None
            if not tables:
                raise Unreadable("missing-file", f'the folder "{self.path}" holds no table')
            return tables
        if not self.path.exists():
            raise missing(self.path)
        return [self.path]

    @property
    def identity(self) -> str | None:
        """A digest by which a later run recognises the stream; None if it cannot be recognised. Raises `Unreadable`."""
        if self.standard_input is not None:
            return None
        states = [(str(path.resolve()), *_state(path)) for path in self.files]
        read = [states, self.header, self.delimiter, self.encoding, self.batch, self.block]
        return hashlib.sha256(json.dumps(read).encode()).hexdigest()

    @property
    def rows(self) -> int | None:
        """The number of rows, if it is known without reading them."""
        import pyarrow.parquet as pq

        if self.standard_input is not None or any(format_of(path)[0].name != "parquet" for path in self.files):
            return None
        return sum(pq.read_metadata(path).num_rows for path in self.files)

    def units(self) -> Iterator[WorkUnit]:
        """All units, in order. Raises `Unreadable`."""
        if self.standard_input is not None:
            yield from _batches(self.standard_input, self.batch)
            return
        for path in self.files:
            kind, compression = format_of(path)
            if kind.name == "parquet":
                yield from _row_groups(path, self.batch)
            elif not kind.delimiter:
                yield from _objects(path, self.encoding, self.batch)
            else:
                if self.encoding is not None and "\n".encode(self.encoding) != b"\n":
                    message = f'"{path}" is {self.encoding}, and a stream is read in blocks of bytes'
                    raise Unreadable("unreadable-file", message, "save it as UTF-8")
                layout = layout_of(kind, self.delimiter)
                for top, text, first in blocks(path, compression, header=self.header, layout=layout, size=self.block):
                    yield Lines(path, top, self.header, text, first, self.delimiter, self.encoding)


def _state(path: Path) -> tuple[int, int, int]:
    """The size of a file, when it was changed, and its number on the disk."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise missing(path) from None
    except OSError as error:
        raise _unreadable(path, error) from None
    return status.st_size, status.st_mtime_ns, status.st_ino


def _unreadable(path: Path, error: OSError) -> Unreadable:
    return Unreadable("unreadable-file", f'"{path}" cannot be read: {error.strerror or error}')


def _row_groups(path: Path, size: int) -> Iterator[RowGroups]:
    """Small row groups form one unit, since each unit opens the file and reads its whole footer."""
    metadata = _opened(path)[0].metadata
    first, held, rows = 1, [], 0
    for number in range(metadata.num_row_groups):
        held.append(number)
        rows += metadata.row_group(number).num_rows
        if rows >= size:
            yield RowGroups(path, tuple(held), first)
            first, held, rows = first + rows, [], 0
    if rows:
        yield RowGroups(path, tuple(held), first)


def _objects(path: Path, encoding: str | None, size: int) -> Iterator[Batches]:
    table = opened(read_source(path), encoding=encoding).to_arrow()
    for start in range(0, table.num_rows, size):
        yield Batches(tuple(table.slice(start, size).to_batches()), start + 1, str(path))


def _opened(path: Path) -> tuple[Any, list[str]]:
    try:
        # Not mapped: a file that is cut short meanwhile would end the process by a signal. Buffered: else the columns
        # of a row group are read whole, and it may be the table.
        return parquet_file(path, path, buffer_size=_READ, pre_buffer=False)
    except FileNotFoundError:
        raise missing(path) from None


def _batches(stream: BufferedReader, size: int) -> Iterator[Batches]:
    import pyarrow as pa

    name, first = "standard input", 1
    try:
        if stream.peek(len(_ARROW_FILE)).startswith(_ARROW_FILE):  # a file is a stream between two of its own parts
            stream.read(len(_ARROW_FILE))
        with pa.ipc.open_stream(stream) as reader:
            held: list[pa.RecordBatch] = []
            for whole in reader:
                for start in range(0, whole.num_rows, size):  # one batch may be a table of any size
                    held.append(whole.slice(start, size))
                    if sum(batch.num_rows for batch in held) >= size:
                        yield Batches(tuple(held), first, name)
                        first += sum(batch.num_rows for batch in held)
                        held = []
            if held:
                yield Batches(tuple(held), first, name)
    except (pa.ArrowException, OSError) as error:
        hint = "a CSV or Parquet file is read by its path: `--rows SORT=rows.csv`"
        raise Unreadable("unreadable-file", f"standard input is not an Arrow stream: {error}", hint) from None


def in_bytes(batches: Sequence[pa.RecordBatch]) -> pa.Buffer:
    """Batches of one schema as an Arrow stream."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()


# --- units -> sheets --------------------------------------------------------------------------------------------------


def sheets(unit: WorkUnit, wanted: Sequence[str] | None = None) -> Iterator[tuple[Sheet, str]]:
    """The sheets of a unit, about `BATCH` rows each, with the name of its file. Of Parquet, only the columns that are
    ``wanted`` are read, if they are told. Raises `Unreadable`."""
    import pyarrow as pa

    match unit:
        case Lines():
            top = unit.top.rstrip(b"\r\n") + b"\n"  # its own break may be half of one with what follows
            raw = RawTable(unit.path, format_of(unit.path)[0], top + unit.text)
            sheet = opened(raw, True, unit.delimiter, unit.encoding)
            if not unit.header:
                sheet = replace(sheet, names=numbered(sheet.names), named=False)
            yield _numbered(sheet, unit.first - (1 + breaks(top))), str(unit.path)
        case Batches():
            table = pa.Table.from_batches(unit.batches)
            yield _numbered(arrow_sheet(table, unit.name), unit.first - 1), unit.name
        case RowGroups():
            yield from _of_row_groups(unit, wanted)


def _of_row_groups(unit: RowGroups, wanted: Sequence[str] | None) -> Iterator[tuple[Sheet, str]]:
    import pyarrow as pa

    (file, names), first = _opened(unit.path), unit.first
    names = [name for name in names if not UNNAMED_INDEX.fullmatch(name)]
    plain = len(set(names)) == len(names) and not any("." in name for name in names)
    try:
        columns = [*wanted] if wanted is not None and plain and {*wanted} <= {*names} else None
        for batch in file.iter_batches(BATCH, row_groups=[*unit.numbers], columns=columns, use_threads=False):
            held = pa.Table.from_batches([batch])
            yield _numbered(_widened(arrow_sheet(held, f'"{unit.path}"'), names), first - 1), str(unit.path)
            first += len(batch)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Unreadable("unreadable-file", f'"{unit.path}" cannot be read: {error}') from None


def _widened(sheet: Sheet, names: Sequence[str]) -> Sheet:
    """The sheet with its columns numbered as in the whole file."""
    if list(sheet.names) == list(names):
        return sheet
    places = {name: place for place, name in enumerate(sheet.names)}

    def read(positions: Sequence[int]) -> Grid:
        grid = sheet.read([places[names[position]] for position in positions])
        return replace(grid, columns={position: grid.columns[places[names[position]]] for position in positions})

    return replace(sheet, names=tuple(names), read=read)


def _numbered(sheet: Sheet, before: int) -> Sheet:
    """The sheet with ``before`` added to its row numbers."""

    def read(positions: Sequence[int]) -> Grid:
        grid = sheet.read(positions)
        lost = tuple((number + before, fault) for number, fault in grid.lost)
        return replace(grid, rows=grid.rows + before, lost=lost)

    return replace(sheet, read=read) if before else sheet
