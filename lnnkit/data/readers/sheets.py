"""The data files of one check; each is opened and parsed once, however many ``load`` statements name it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import Column, without_views
from lnnkit.data.cells.texts import Texts
from lnnkit.data.grid import Grid, Sheet
from lnnkit.data.readers.delimited import open_delimited
from lnnkit.data.readers.frames import UNNAMED_INDEX, open_database, open_query
from lnnkit.data.source import RawTable, Unreadable, in_utf8, read_source
from lnnkit.syntax import ast

SheetKey = tuple[Path, ast.Table]


class Sheets:
    """Sheets by what is read, and how.

    ``expected`` has a key for each statement that will read: a file that several statements name is kept until the last
    of them is `done`; any other is dropped at once.
    """

    def __init__(self, expected: Iterable[SheetKey] = ()) -> None:
        self._left = Counter(expected)
        self._open: dict[SheetKey, Sheet] = {}

    def sheet(self, table: ast.Table, base: Path) -> Sheet:
        """The sheet of a table whose path is relative to ``base``; raises ``Unreadable``, which is not cached."""
        key = key_of(table, base)
        if key in self._open:
            return self._open[key]
        sheet = _opened(table, base)
        if self._left[key] > 0:
            sheet = self._open[key] = replace(sheet, read=_once(sheet.read))
        return sheet

    def done(self, table: ast.Table, base: Path) -> None:
        """Called when one of the expected statements has read what it needs."""
        key = key_of(table, base)
        self._left[key] -= 1
        if self._left[key] <= 0:
            self._open.pop(key, None)


def opened(raw: RawTable, header: bool, delimiter: str | None, encoding: str | None = None) -> Sheet:
    """The sheet of a file of any format. Raises ``Unreadable``."""
    if encoding is not None:
        raw = in_utf8(raw, encoding)
    if raw.format in ("csv", "tsv"):
        return open_delimited(raw, header, delimiter)
    if delimiter is not None:
        kind = "a Parquet file" if raw.format == "parquet" else "of JSON lines"
        raise Unreadable("bad-delimiter", f'"{raw.path}" is {kind}: it has no delimiter', "take `delimiter` out")
    return _open_parquet(raw) if raw.format == "parquet" else _open_json_lines(raw)


def key_of(table: ast.Table, base: Path) -> SheetKey:
    """What statements share that read the same cells."""
    return base / table.path, replace(
        table, path="", columns=None, where=(), missing=(), decimal=".", trim=False, trust=None
    )


def _opened(table: ast.Table, base: Path) -> Sheet:
    path = base / table.path
    if table.query is None and table.relation is None:
        return opened(read_source(path), table.header, table.delimiter, table.encoding)
    for clause, said in (("delimiter", table.delimiter), ("encoding", table.encoding)):
        if said is not None:
            raise Unreadable(f"bad-{clause}", f"{table.origin} has no {clause}", f"take `{clause}` out")
    if table.query is not None:
        return open_query(table.query, base, "the query")
    return open_database(path, table.relation or "", f'table "{table.relation}" of "{path}"')


def _once(read: Callable[[Sequence[int]], Grid]) -> Callable[[Sequence[int]], Grid]:
    """A reader that caches each column that was read, and its texts."""
    columns: dict[int, Column] = {}
    texts: dict[int, Texts] = {}
    last: list[Grid] = []  # rows and faults of the file, common to all its grids

    def again(wanted: Sequence[int]) -> Grid:
        missing = [position for position in wanted if position not in columns]
        if missing or not last:
            last[:] = [read(missing)]
            columns.update(last[0].columns)
        return replace(last[0], columns={position: columns[position] for position in wanted}, texts=texts)

    return again


# --- files of typed columns -------------------------------------------------------------------------------------------


def parquet_file(path: Path, source: Any, **options: Any) -> tuple[Any, list[str]]:
    """The Parquet file of a path, opened from a source, and the names of its columns. Raises ``Unreadable``, and
    ``FileNotFoundError``."""
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(source, **options)
        return file, list(file.schema_arrow.names)
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Unreadable("unreadable-file", f'"{path}" is not a Parquet file: {error}') from None


def _open_parquet(raw: RawTable) -> Sheet:
    """The sheet of a Parquet file; rows count from 1. An unnamed pandas index at its end is ignored."""
    file, names = parquet_file(raw.path, pa.BufferReader(raw.data))
    while names and UNNAMED_INDEX.fullmatch(names[-1]):
        names.pop()

    def read(wanted: Sequence[int]) -> Grid:
        chosen = [names[position] for position in wanted]
        plain = len(set(file.schema_arrow.names)) == len(file.schema_arrow.names) and not any("." in n for n in chosen)
        try:
            table = file.read(columns=chosen if plain else None)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise Unreadable("unreadable-file", f'"{raw.path}" cannot be read: {error}') from None
        columns = {place: without_views(table.column(names[place] if plain else place)) for place in wanted}
        return Grid(dict(columns), np.arange(1, file.metadata.num_rows + 1, dtype=np.int64))

    return Sheet(f'"{raw.path}"', tuple(names), True, read, raw.format)


def _open_json_lines(raw: RawTable) -> Sheet:
    """The sheet of a file of JSON lines; rows count as the lines do. The columns are the keys of all objects, a key
    that an object lacks is a missing cell, and dates stay text."""
    from pyarrow import json

    def parsed(schema: pa.Schema | None) -> pa.Table:
        reading = json.ReadOptions(use_threads=False, block_size=min(len(raw.data) + 1, 2**31 - 1))
        parsing = json.ParseOptions(explicit_schema=schema)
        return json.read_json(pa.BufferReader(raw.data.removeprefix(b"\xef\xbb\xbf")), reading, parsing)

    try:
        table = parsed(None)
        dated = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
        if dated:
            table = parsed(pa.schema([(name, pa.string()) for name in dated]))
    except (pa.ArrowException, OSError, ValueError) as error:
        hint = "each line is one object, whose values under one key are of one type"
        raise Unreadable("unreadable-file", f'"{raw.path}" cannot be read as JSON lines: {error}', hint) from None
    lines = [number for number, line in enumerate(raw.data.split(b"\n"), start=1) if line.strip()]
    rows = np.array(lines if len(lines) == table.num_rows else range(1, table.num_rows + 1), np.int64)

    def read(wanted: Sequence[int]) -> Grid:
        return Grid({position: table.column(position) for position in wanted}, rows)

    return Sheet(f'"{raw.path}"', tuple(table.column_names), True, read, raw.format)
