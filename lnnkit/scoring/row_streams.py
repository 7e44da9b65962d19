"""A stream of rows -> units: row groups of Parquet files, blocks of lines of CSV files, batches of an Arrow stream."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnnkit.data.grid import Grid, Sheet
from lnnkit.data.readers.delimited import Text, breaks, layout_of, numbered
from lnnkit.data.readers.frames import UNNAMED_INDEX, arrow_sheet
from lnnkit.data.readers.sheets import opened, parquet_file
from lnnkit.data.source import DataFault, RawTable, Unreadable, format_of, is_table, read_source
from lnnkit.scoring.line_blocks import BLOCK, blocks, missing

if TYPE_CHECKING:
    from io import BufferedReader

    import pyarrow as pa

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
        return _received, (_in_bytes(self.batches), self.first, self.name)


def _received(data: pa.Buffer, first: int, name: str) -> Batches:
    import pyarrow as pa

    with pa.ipc.open_stream(data) as reader:
        return Batches(tuple(reader), first, name)


Unit = RowGroups | Lines | Batches


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
        return hashlib.sha256(
            json.dumps([states, self.header, self.delimiter, self.encoding, self.batch, self.block]).encode()
        ).hexdigest()

    @property
    def rows(self) -> int | None:
        """The number of rows, if it is known without reading them."""
        import pyarrow.parquet as pq

        if self.standard_input is not None or any(format_of(path)[0] != "parquet" for path in self.files):
            return None
        return sum(pq.read_metadata(path).num_rows for path in self.files)

    def units(self) -> Iterator[Unit]:
        """All units, in order. Raises `Unreadable`."""
        if self.standard_input is not None:
            yield from _batches(self.standard_input, self.batch)
            return
        for path in self.files:
            kind, compression = format_of(path)
            if kind == "parquet":
                yield from _row_groups(path, self.batch)
            elif kind == "jsonl":
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
    import pyarrow as pa

    sheet = opened(read_source(path), True, None, encoding)
    columns = sheet.read(range(len(sheet.names))).columns
    table = pa.table([column for column in columns.values() if not isinstance(column, list)], list(sheet.names))
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


def _in_bytes(batches: Sequence[pa.RecordBatch]) -> pa.Buffer:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()


# --- units -> sheets --------------------------------------------------------------------------------------------------


def sheets(unit: Unit, wanted: Sequence[str] | None = None) -> Iterator[tuple[Sheet, str]]:
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
            yield _numbered(sheet, unit.first - (1 + breaks(Text(top, 0)))), str(unit.path)
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
    return replace(sheet, read=lambda positions: _moved(sheet.read(positions), before))


def _moved(grid: Grid, by: int) -> Grid:
    """The grid with ``by`` added to its row numbers."""
    lost: list[tuple[int, DataFault]] = [(number + by, fault) for number, fault in grid.lost]
    return replace(grid, rows=grid.rows + by, lost=tuple(lost)) if by else grid
