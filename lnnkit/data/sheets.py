"""The data files of one check; each is opened and parsed once, however many ``load`` statements name it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from lnnkit.data.arrow import Column
from lnnkit.data.delimited import open_delimited
from lnnkit.data.grid import Grid, Sheet
from lnnkit.data.json_lines import open_json_lines
from lnnkit.data.parquet import open_parquet
from lnnkit.data.source import RawTable, in_utf8, read_source
from lnnkit.data.table_fault import Unreadable
from lnnkit.data.texts import Texts
from lnnkit.syntax import ast

Key = tuple[Path, ast.Table]


class Sheets:
    """Sheets by what is read, and how.

    ``expected`` has a key for each statement that will read: a file that several statements name is kept until the last
    of them is `done`; any other is dropped at once.
    """

    def __init__(self, expected: Iterable[Key] = ()) -> None:
        self._left = Counter(expected)
        self._open: dict[Key, Sheet] = {}

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
    return open_parquet(raw) if raw.format == "parquet" else open_json_lines(raw)


def key_of(table: ast.Table, base: Path) -> Key:
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
    from lnnkit.data.sql_tables import open_database, open_query

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
