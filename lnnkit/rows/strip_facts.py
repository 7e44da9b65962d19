"""A strip of a stream -> the facts of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lnnkit.data.arrow import nulls, numbers, one, text_buffers, view
from lnnkit.data.cells.marks import meant_cells, trimmed
from lnnkit.data.cells.texts import Texts, texts_of, without_fractions
from lnnkit.data.choose import ColumnChoice
from lnnkit.data.column import EntityColumn
from lnnkit.data.facts import SHOWN, facts
from lnnkit.data.grid import TEXT_FORMATS, Grid, Sheet
from lnnkit.data.load import denied
from lnnkit.data.table import FactTable
from lnnkit.rows.row_loads import RowLoad, wanted
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class StripSource:
    """Some rows of a stream: their ``sheet``, the ``choices`` of the ``loads`` that read it, the position of their
    ``key``, and the ``name`` of the file for findings."""

    sheet: Sheet
    loads: Sequence[RowLoad]
    choices: Sequence[ColumnChoice]
    key: int
    name: str


@dataclass(frozen=True)
class StripGrid:
    """The cells of a strip that are read."""

    source: StripSource
    grid: Grid

    @property
    def length(self) -> int:
        return len(self.grid.rows)

    @property
    def key(self) -> pa.Array | pa.ChunkedArray:
        """The column that names the rows."""
        column = self.grid.columns[self.source.key]
        assert not isinstance(column, list)
        return column

    @cached_property
    def texts(self) -> Texts:
        """The names of the rows."""
        key = trimmed(self.key) if any(load.table.trim for load in self.source.loads) else self.key
        texts = texts_of(key, self.source.sheet.title(self.source.key))
        return without_fractions(texts) if self.source.sheet.format in TEXT_FORMATS else texts


def read_strip(source: StripSource) -> StripGrid:
    """Read the needed columns of a strip, once. Raises `Unreadable`."""
    grid = source.sheet.read(tuple(dict.fromkeys((source.key, *wanted(source.choices)))))
    return StripGrid(source, grid)


def some_rows(strip: StripGrid, rows: np.ndarray) -> StripGrid:
    """Some of the rows of a strip, by index."""
    picked = numbers(rows, np.int64)
    columns = {
        position: [column[row] for row in rows.tolist()] if isinstance(column, list) else column.take(picked)
        for position, column in strip.grid.columns.items()
    }
    grid = replace(strip.grid, columns=columns, rows=strip.grid.rows[rows], spoiled={}, lost=(), texts={})
    return StripGrid(strip.source, grid)


def bad_rows(strip: StripGrid, shown: int) -> list[Diagnostic]:
    """The errors in the rows of a strip: the first ``shown`` of each kind, then a count."""
    findings: dict[Diagnostic, Diagnostic] = {}
    source = strip.source
    if not source.loads:
        return []
    nameless = replace(source.choices[0], keys=(source.key,), values=(), where=())
    looked = [(source.loads[0], nameless), *zip(source.loads, source.choices, strict=True)]
    for load, choice in looked:
        for finding in _facts(strip, load, choice, shown)[1]:
            if finding.severity == "error":
                findings.setdefault(replace(finding, span=None), finding)
    return list(findings.values())


def has_names(column: pa.Array | pa.ChunkedArray) -> bool:
    """Whether each cell of a column is known to name an entity, by a cheap test."""
    import pyarrow as pa

    if column.null_count:
        return False
    if pa.types.is_integer(column.type):
        return True
    array = one(column)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary
    if pa.types.is_binary(array.type):
        try:
            array = array.cast(pa.string())
        except pa.ArrowInvalid:
            return False
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return False
    offsets, _ = text_buffers(array)
    return bool((np.diff(offsets) > 0).all())


def _facts(
    strip: StripGrid, load: RowLoad, choice: ColumnChoice, shown: int = SHOWN
) -> tuple[FactTable, list[Diagnostic]]:
    grid = meant_cells(_some(strip.grid, choice.wanted), load.table, choice)
    sheet, name = strip.source.sheet, strip.source.name
    table, findings = facts(load.predicate, load.numeric, sheet, choice, grid, name, load.span, shown, gaps=load.gaps)
    return (denied(table) if load.negated and not load.numeric else table), findings


def _some(grid: Grid, positions: Sequence[int]) -> Grid:
    return replace(grid, columns={position: grid.columns[position] for position in positions})


class StripPart(NamedTuple):
    """The facts of a load: their ``rows`` (n,), ascending places in the strip, the entities beside the row, and
    bounds."""

    load: RowLoad
    rows: np.ndarray
    others: tuple[EntityColumn, ...]
    lower: np.ndarray
    upper: np.ndarray


def strip_parts(strip: StripGrid) -> tuple[list[StripPart], list[Diagnostic]]:
    """The facts of each load from the strip, and what is wrong with its rows."""
    parts: list[StripPart] = []
    findings: list[Diagnostic] = []
    for load, choice in zip(strip.source.loads, strip.source.choices, strict=True):
        part = _plain(strip, load, choice)
        if part is None:
            others = tuple(key for place, key in enumerate(choice.keys) if place != load.place)
            table, more = _facts(strip, load, replace(choice, keys=others))
            findings += more
            rows = np.searchsorted(strip.grid.rows, table.rows).astype(np.int32)
            part = StripPart(load, rows, table.columns, table.lower, table.upper)
        parts.append(part)
    return parts, findings


def _plain(strip: StripGrid, load: RowLoad, choice: ColumnChoice) -> StripPart | None:
    """A column of numbers, or truths, that needs no conversion; None for any other."""
    if load.negated or load.table.missing or choice.where or len(choice.keys) > 1 or len(choice.values) != 1:
        return None
    column = strip.grid.columns[choice.values[0]]
    array = None if strip.grid.spoiled or isinstance(column, list) else _in_floats(one(column))
    if array is None or (array.null_count and not load.numeric):
        return None
    values = view(array, np.float64) + 0.0  # copied, without negative zeros
    lower = upper = values
    if array.null_count:
        missing = nulls(array)
        lower, upper = np.where(missing, -np.inf, values), np.where(missing, np.inf, values)
        values = values[~missing]
    if len(values):
        low, high = float(values.min()), float(values.max())  # nan if any value is
        if not (np.isfinite(low) and np.isfinite(high) if load.numeric else low >= 0 and high <= 1):
            return None
    return StripPart(load, np.arange(len(lower), dtype=np.int32), (), lower, upper)


def _in_floats(array: pa.Array) -> pa.Array | None:
    """A column of floats or of integers as equal floats; None for any other."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_float64(kind):
        return array
    if not pa.types.is_integer(kind):
        return None
    try:
        return array.cast(pa.float64())  # fails if a value is not representable
    except pa.ArrowInvalid:
        return None
