"""Reads the file of ``load P from "f.csv"`` or ``label P from "f.csv"`` into a table of facts, and converts what
``kb.tell`` accepts (anything Arrow-capable, a mapping of columns, or rows) to one. The data files of one check are each
opened and parsed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lnnkit.data.facts import facts
from lnnkit.data.files import RawTable, Unreadable, in_utf8, read_source
from lnnkit.data.grid import Gaps, Grid, Load, Sheet, choose
from lnnkit.data.readers.delimited import open_delimited
from lnnkit.data.readers.frames import READERS, arrow_sheet, column_of, open_database, open_query
from lnnkit.data.table import TOLD, FactTable
from lnnkit.syntax import ast
from lnnkit.syntax.dates import Numeric
from lnnkit.syntax.diagnostic import Diagnostic

SheetKey = tuple[object, ...]
_OF_THE_FILE = frozenset(("unreadable-file", "empty-file", "bad-column", "bad-number"))
"""The errors that are reported in the file; all others are to be fixed in the statement, and are reported there."""

SOURCE = "the table"


def read_table(load: Load, sheets: Sheets | None = None) -> tuple[FactTable | None, list[Diagnostic]]:
    """The facts that a statement reads, and all its errors.

    Errors that leave other rows readable come with the facts of those rows; None means that nothing could be read.
    Faulty rows are reported by line, in order; errors of the statement itself are reported at its span. ``sheets``
    holds what other statements have read already.
    """
    table, span, sheets = load.table, load.span, sheets or Sheets()
    source = table.origin if table.query is not None else str(load.base / table.origin)
    try:
        sheet = sheets.sheet(table, load.base)
        choice = choose(load, sheet)
        return facts(load, sheet, choice, sheet.read(choice.wanted), source)
    except Unreadable as problem:
        fault = problem.fault
        in_file = span is None or fault.code in _OF_THE_FILE
        return None, [replace(fault, span=fault.span or span, file=source if in_file else None)]
    finally:
        sheets.done(table, load.base)


# --- the data files of one check --------------------------------------------------------------------------------------


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


def opened(raw: RawTable, header: bool = True, delimiter: str | None = None, encoding: str | None = None) -> Sheet:
    """The sheet of a file of any format. Raises ``Unreadable``."""
    if encoding is not None:
        raw = in_utf8(raw, encoding)
    if raw.format.delimiter:
        return open_delimited(raw, header, delimiter)
    if delimiter is not None:
        message = f'"{raw.path}" is {raw.format.what}: it has no delimiter'
        raise Unreadable("bad-delimiter", message, "take `delimiter` out")
    return READERS[raw.format.name](raw)


def key_of(table: ast.Table, base: Path) -> SheetKey:
    """What statements share that read the same cells."""
    return base / table.path, table.header, table.delimiter, table.encoding, table.query, table.relation


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
    known: Grid | None = None

    def again(wanted: Sequence[int]) -> Grid:
        nonlocal known
        missing = [position for position in wanted if known is None or position not in known.columns]
        if known is None or missing:
            more = read(missing)
            known = more if known is None else replace(known, columns=known.columns | more.columns)
        return replace(known, columns={position: known.columns[position] for position in wanted})

    return again


# --- told tables -----------------------------------------------------------------------------------------------------


def told_table(
    predicate: str,
    arity: int,
    numeric: Numeric,
    table: object,
    before: int = 0,
    trust: float = 1.0,
    like: FactTable | None = None,
    *,
    gaps: Gaps = "unknown",
    keys: bool = False,
) -> tuple[FactTable | None, list[Diagnostic]]:
    """The facts that a Python object states for a predicate (or ``numeric`` attribute), and what is wrong with it.

    ``table`` is anything with ``__arrow_c_stream__`` or ``__dataframe__``, such as a frame of pandas or polars; a
    mapping of column names to values; a two-dimensional array; or an iterable of rows, each a tuple, list or mapping,
    or for one argument a bare entity. Columns are used by position, as ``read_table`` does without a list. Diagnostics
    name the file ``<told NAME>`` and the row, from 1; if ``before`` tables were told of it already, the file is
    numbered: ``<told NAME 2>``. ``trust`` applies to all its facts. Names and row numbers that equal those of the table
    ``like`` share its memory. ``gaps`` says what an empty truth is. With ``keys`` it has the arguments alone.
    """
    source = f"{TOLD} {predicate} {before + 1}>" if before else f"{TOLD} {predicate}>"
    load = Load(predicate, arity, numeric, ast.Table("", trust=trust), gaps=gaps)
    try:
        sheet = _sheet(arity, numeric, table, like)
        choice = choose(load, sheet)
        if keys and choice.values:
            message = f"facts of {predicate} are taken back by their arguments; {sheet.source} has more columns"
            raise Unreadable("wrong-columns", message, "leave out the columns with bounds or values")
        grid = replace(sheet.read(choice.wanted), known=None if like is None else like.names)
        return facts(load, sheet, choice, grid, source)
    except Unreadable as problem:
        return None, [replace(problem.fault, file=source)]


def _sheet(arity: int, numeric: Numeric, table: Any, like: FactTable | None) -> Sheet:
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__") or hasattr(table, "__dataframe__"):
        return arrow_sheet(table, SOURCE)
    if isinstance(table, Mapping):
        return _from_columns(table, like=like)
    if isinstance(table, (str, bytes)) or not (isinstance(table, Iterable) or hasattr(table, "__array__")):
        message = f"`{type(table).__name__}` is not a table"
        lazy = "call its `collect()` and tell the result" if hasattr(table, "collect") else ""
        raise Unreadable("wrong-table", message, lazy or "tell a frame, a mapping of columns, or a list of rows")
    if hasattr(table, "__array__") and getattr(table, "ndim", 2) == 2:
        try:
            array = np.asanyarray(table) if isinstance(table, np.ma.MaskedArray) else np.asarray(table)
        except (TypeError, ValueError, RuntimeError) as error:
            raise Unreadable("wrong-table", f"a {type(table).__name__} cannot be read as an array: {error}") from None
        return _from_columns({str(place + 1): array[:, place] for place in range(array.shape[1])}, named=False)
    rows = column_of(table, SOURCE) if hasattr(table, "__array__") else list(table)
    return _from_rows(arity, numeric, rows if isinstance(rows, list) else rows.to_pylist())


def _from_columns(table: Mapping[Any, Any], named: bool = True, like: FactTable | None = None) -> Sheet:
    columns = {place: column_of(values, f'column "{name}"') for place, (name, values) in enumerate(table.items())}
    sizes = {len(column) for column in columns.values()}
    names = tuple(map(str, table))
    if len(sizes) > 1:
        listed = ", ".join(f"{name} {len(column)}" for name, column in zip(names, columns.values(), strict=True))
        raise Unreadable("wrong-table", f"the columns differ in length: {listed}")
    count = sizes.pop() if sizes else 0
    rows = np.arange(1, 1 + count, dtype=np.int64)
    if like is not None and count and len(like) == count and like.rows[0] == 1 and like.rows[-1] == count:
        rows = like.rows  # the same, shared
    return Sheet(SOURCE, names, named, lambda _: Grid(columns, rows))


def _from_rows(arity: int, numeric: Numeric, rows: list[Any]) -> Sheet:
    """A sheet of the rows that have the width of the first fitting one; rows of another width are reported as lost."""
    allowed = range(arity + bool(numeric), arity + 3)
    keys = tuple(rows[0]) if rows and isinstance(rows[0], Mapping) else None
    split = [_cells(row, keys, arity) for row in rows]
    widths = [len(cells) for cells in split if cells is not None]
    width = next((width for width in widths if width in allowed), widths[0] if widths else allowed[0])
    names = tuple(map(str, range(1, width + 1) if keys is None else keys))
    good = {number: cells for number, cells in enumerate(split, 1) if cells is not None and len(cells) == len(names)}
    lost = tuple(
        (number, _lost(row, names, others=bool(widths))) for number, row in enumerate(rows, 1) if number not in good
    )
    columns: dict[int, Any] = {place: [cells[place] for cells in good.values()] for place in range(len(names))}
    grid = Grid(columns, np.array(list(good), np.int64), {}, lost)
    return Sheet(SOURCE, names, keys is not None, lambda _: grid)


def _lost(row: Any, names: tuple[str, ...], *, others: bool) -> Diagnostic:
    if others:
        return Diagnostic(
            "bad-row", f"{row!r:.60} does not have the columns of the others: {', '.join(names) or 'none'}"
        )
    hint = f"write each row as a tuple of {len(names)}, and all of them as a list"
    return Diagnostic("bad-row", f"{row!r:.60} is not a row of {len(names)} columns", hint)


def _cells(row: Any, keys: tuple[Any, ...] | None, arity: int) -> tuple[Any, ...] | None:
    """The cells of a row, by its ``keys`` if the first row has some; None if it is not of that kind."""
    if isinstance(row, Mapping):
        return tuple(row[key] for key in keys) if keys is not None and row.keys() == set(keys) else None
    if keys is not None:
        return None
    if isinstance(row, (tuple, list)):
        return tuple(row)
    if getattr(row, "ndim", 0) == 1:
        return tuple(row.tolist())
    return (row,) if arity == 1 else None
