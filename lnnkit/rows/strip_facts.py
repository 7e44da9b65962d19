"""A strip of a stream -> the facts of its rows: as columns for a dense program, or as tables for the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lnnkit.arrays import Array
from lnnkit.check.program import Fact
from lnnkit.data.arrow import int64s, nulls, one, strings, text_buffers, view
from lnnkit.data.choose import Choice
from lnnkit.data.facts import SHOWN, TEXT_FORMATS, facts
from lnnkit.data.grid import Grid, Sheet
from lnnkit.data.load import denied
from lnnkit.data.marks import meant_cells, trimmed
from lnnkit.data.table import FactTable
from lnnkit.data.texts import Texts, texts_of, without_fractions
from lnnkit.rows.dense.dense_program import DenseTable
from lnnkit.rows.dense.dense_state import Column, Numbers, at_default
from lnnkit.rows.dense.reference_tables import Link, ReferenceTables
from lnnkit.rows.dense.row_lookups import Atoms, Named
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
    choices: Sequence[Choice]
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
    picked = int64s(rows)
    columns = {
        position: [column[row] for row in rows.tolist()] if isinstance(column, list) else column.take(picked)
        for position, column in strip.grid.columns.items()
    }
    grid = replace(strip.grid, columns=columns, rows=strip.grid.rows[rows], spoiled={}, lost=(), texts={})
    return StripGrid(strip.source, grid)


def bad_rows(strip: StripGrid, shown: int) -> list[Diagnostic]:
    """The errors in the rows of a strip: the first ``shown`` of each kind, then a count."""
    found: dict[Diagnostic, Diagnostic] = {}
    source = strip.source
    if not source.loads:
        return []
    nameless = replace(source.choices[0], keys=(source.key,), values=(), where=())
    looked = [(source.loads[0], nameless), *zip(source.loads, source.choices, strict=True)]
    for load, choice in looked:
        for finding in _facts(strip, load, choice, shown)[1]:
            if finding.severity == "error":
                found.setdefault(replace(finding, span=None), finding)
    return list(found.values())


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


def fact_tables(strip: StripGrid) -> tuple[list[FactTable], list[Diagnostic]]:
    """The facts of each load from the strip, and the errors in its rows."""
    tables: list[FactTable] = []
    found: list[Diagnostic] = []
    for load, choice in zip(strip.source.loads, strip.source.choices, strict=True):
        table, findings = _facts(strip, load, choice)
        tables.append(table)
        found += findings
    return tables, found


def _facts(strip: StripGrid, load: RowLoad, choice: Choice, shown: int = SHOWN) -> tuple[FactTable, list[Diagnostic]]:
    grid = meant_cells(_some(strip.grid, choice.wanted), load.table, choice)
    sheet, name = strip.source.sheet, strip.source.name
    table, findings = facts(load.predicate, load.numeric, sheet, choice, grid, name, load.span, shown, gaps=load.gaps)
    return (denied(table) if load.negated and not load.numeric else table), findings


def _some(grid: Grid, positions: Sequence[int]) -> Grid:
    return replace(grid, columns={position: grid.columns[position] for position in positions})


@dataclass(frozen=True)
class SideFacts:
    """The bounds of a predicate or number from other tables: ``keys``, distinct names of rows, and bounds."""

    predicate: str
    keys: pa.StringArray
    lower: np.ndarray
    upper: np.ndarray


def side_facts(
    stated: Sequence[Fact], sides: Sequence[FactTable], tables: Mapping[str, DenseTable]
) -> Iterator[SideFacts]:
    """The facts about rows in the program's text and other tables, met per atom."""
    met: dict[str, dict[str, tuple[float, float]]] = {}
    told = [(fact.predicate, fact.arguments[0], fact.lower, fact.upper) for fact in stated if len(fact.arguments) == 1]
    for table in sides:
        if len(table.columns) == 1:
            names = [table.predicate] * len(table)
            told += zip(names, table.columns[0], table.lower.tolist(), table.upper.tolist(), strict=True)
    for predicate, key, lower, upper in told:
        if predicate in tables:
            own = met.setdefault(predicate, {})
            low, high = own.get(key, (lower, upper))
            own[key] = max(low, lower), min(high, upper)
    for predicate, own in met.items():
        ends = np.array(list(own.values()), np.float64)
        yield SideFacts(predicate, strings(tuple(own)), ends[:, 0], ends[:, 1])


def fact_columns(
    strip: StripGrid,
    tables: Mapping[str, DenseTable],
    sides: Sequence[SideFacts] = (),
    lookups: Mapping[str, Atoms] | None = None,
    references: ReferenceTables | None = None,
) -> tuple[dict[str, Column], list[Diagnostic]]:
    """The columns of each table from the facts of a strip and of other tables about its rows, at the default where
    there is no fact, and the columns that rows look up in ``references``; with the errors in rows."""
    columns: dict[str, Column] = {}
    found: list[Diagnostic] = []
    links: dict[str, Link] = {}
    named = _named(lookups or {})
    for load, choice in zip(strip.source.loads, strip.source.choices, strict=True):
        table = tables.get(load.predicate)
        if load.predicate in named:
            told, findings = _facts(strip, load, replace(choice, keys=(choice.keys[1 - load.place],)))
            links[load.predicate] = _link(strip, told)
            found += findings
            if table is not None:
                _meet(columns, table, *_scattered(strip, told, table))
            continue
        if table is None:
            continue
        plain = None if load.negated else _plain(strip, load, choice)
        if plain is not None and (plain.missing is None or table.name not in columns):
            _enter(columns, table, plain)
            continue
        if plain is not None:
            lower, upper = plain.ends()
            _met(columns[table.name], lower, upper, np.ones(strip.length, dtype=bool))
            continue
        keyless = replace(choice, keys=())
        facts_, findings = _facts(strip, load, keyless)
        found += findings
        _meet(columns, table, *_scattered(strip, facts_, table))
    for side in sides:
        told = _looked_up(strip, side, tables[side.predicate])
        if told is not None:
            _meet(columns, tables[side.predicate], *told)
    length = strip.length
    for name, table in tables.items():
        if name not in columns:
            columns[name] = at_default(table, length)
    for name, atoms in (lookups or {}).items():
        assert references is not None
        columns[name] = references.column(name, atoms, links, columns, length)
    return columns, found


def _named(lookups: Mapping[str, Atoms]) -> set[str]:
    """The predicates whose facts name the entities that rows look up."""
    found = {atoms.table for atoms in lookups.values() if atoms.own}
    return found | {place.predicate for atoms in lookups.values() for place in atoms.places if isinstance(place, Named)}


def _link(strip: StripGrid, told: FactTable) -> Link:
    """The entity that each row's fact names."""
    codes, names = told.columns[0].codes, told.columns[0].names
    if len(told) == strip.length:
        return Link(codes, names)
    every = np.full(strip.length, -1, np.int32)
    every[np.searchsorted(strip.grid.rows, told.rows)] = codes
    return Link(every, names)


@dataclass(frozen=True, slots=True)
class _Plain:
    """Numbers, or truths, used as a column holds them, (n,) float64; ``missing`` marks empty cells."""

    values: Array
    missing: Array | None

    def ends(self) -> tuple[Array, Array]:
        return (self.values, self.values) if self.missing is None else Numbers(self.values, self.missing).ends()


def _plain(strip: StripGrid, load: RowLoad, choice: Choice) -> _Plain | None:
    """A column of numbers that needs no conversion; None for any other."""
    if load.table.missing or choice.where or len(choice.values) != 1 or strip.grid.spoiled:
        return None
    column = strip.grid.columns[choice.values[0]]
    array = None if isinstance(column, list) else _in_floats(one(column))
    if array is None or (array.null_count and not load.numeric):
        return None
    values = view(array, np.float64) + 0.0  # copied, without negative zeros
    missing = nulls(array) if array.null_count else None
    if missing is not None:
        values = np.where(~missing, values, 1.0)  # an arbitrary number, marked as missing
    if not len(values):
        return _Plain(values, None)
    low, high = float(values.min()), float(values.max())  # nan if any value is
    good = np.isfinite(low) and np.isfinite(high) if load.numeric else low >= 0 and high <= 1
    return _Plain(values, missing) if good else None


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


def _enter(columns: dict[str, Column], table: DenseTable, plain: _Plain) -> None:
    """Enter the values of a plain column for every row."""
    given = np.ones(len(plain.values), dtype=bool)
    if plain.missing is None and table.name not in columns:
        columns[table.name] = Column(table, plain.values, plain.values, given)
    elif plain.missing is None:
        _met(columns[table.name], plain.values, plain.values, given)
    else:
        columns[table.name] = Column.of(table, Numbers(plain.values, plain.missing), given)


def _looked_up(
    strip: StripGrid, side: SideFacts, table: DenseTable
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The values of another table for each row; None if it has no facts about any."""
    texts = strip.texts
    place = index_in(texts.names.arrow, side.keys)
    mine = np.append(place, -1).take(texts.codes)
    there = mine >= 0
    if not there.any():
        return None
    lower, upper = (
        np.where(there, ends.take(mine), end) for ends, end in zip((side.lower, side.upper), table.default, strict=True)
    )
    return lower, upper, there


def index_in(texts: pa.StringArray, keys: pa.StringArray) -> np.ndarray:
    """The index of each text among the keys, -1 if it is absent."""
    from pyarrow.compute import SetLookupOptions, call_function

    found = call_function("index_in", [texts], SetLookupOptions(keys))
    return np.where(nulls(found), -1, view(found, np.int32))


def _scattered(
    strip: StripGrid, told: FactTable, table: DenseTable
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The bounds of facts, scattered to all rows, and a mask of rows that have one; None if all have."""
    if len(told) == strip.length:
        return np.asarray(told.lower), np.asarray(told.upper), None
    places = np.searchsorted(strip.grid.rows, told.rows)
    lower, upper = (np.full(strip.length, end) for end in table.default)
    lower[places], upper[places] = told.lower, told.upper
    there = np.zeros(strip.length, bool)
    there[places] = True
    return lower, upper, there


def _meet(
    columns: dict[str, Column],
    table: DenseTable,
    lower: np.ndarray,
    upper: np.ndarray,
    there: np.ndarray | None,
) -> None:
    """Meet a load's bounds with the column; facts about one atom meet, whatever the default of other rows."""
    given = np.ones(len(lower), dtype=bool) if there is None else there
    low = _tensor(lower)
    high = low if upper is lower else _tensor(upper)
    if table.name not in columns:
        columns[table.name] = Column(table, low, high, given)
    else:
        _met(columns[table.name], low, high, given)


def _met(known: Column, low: Array, high: Array, given: Array) -> None:
    assert known.given is not None
    both = known.given & given
    only = given & ~known.given
    lower = np.where(both, np.maximum(known.lower, low), np.where(only, low, known.lower))
    upper = np.where(both, np.minimum(known.upper, high), np.where(only, high, known.upper))
    known.put(0, lower)
    known.put(1, upper)
    known.given = known.given | given


def _tensor(values: np.ndarray) -> Array:
    if not values.flags.writeable or values.strides == (0,):
        return values.copy()
    return values
