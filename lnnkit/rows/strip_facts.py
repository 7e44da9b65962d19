"""A strip of a stream -> the facts of its rows: as columns for a dense program, or as tables for the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lnnkit.arrays import set_at
from lnnkit.check.program import Fact
from lnnkit.data.arrow import nulls, numbers, one, strings, text_buffers, view
from lnnkit.data.cells.marks import meant_cells, trimmed
from lnnkit.data.cells.texts import Texts, texts_of, without_fractions
from lnnkit.data.choose import ColumnChoice
from lnnkit.data.facts import SHOWN, facts
from lnnkit.data.grid import TEXT_FORMATS, Grid, Sheet
from lnnkit.data.load import denied
from lnnkit.data.table import FactTable
from lnnkit.rows.dense.dense_program import DenseTable
from lnnkit.rows.dense.dense_state import Column, Numbers, at_default
from lnnkit.rows.dense.reference_tables import ReferenceTables, Referents, facts_met
from lnnkit.rows.dense.row_lookups import AtomColumn, Named
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


def fact_tables(strip: StripGrid) -> tuple[list[FactTable], list[Diagnostic]]:
    """The facts of each load from the strip, and the errors in its rows."""
    tables: list[FactTable] = []
    errors: list[Diagnostic] = []
    for load, choice in zip(strip.source.loads, strip.source.choices, strict=True):
        table, findings = _facts(strip, load, choice)
        tables.append(table)
        errors += findings
    return tables, errors


def _facts(
    strip: StripGrid, load: RowLoad, choice: ColumnChoice, shown: int = SHOWN
) -> tuple[FactTable, list[Diagnostic]]:
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
    for name in tables:
        met = facts_met(name, stated, sides)
        if met:
            ends = np.array(list(met.values()), np.float64)
            yield SideFacts(name, strings(tuple(key for (key,) in met)), ends[:, 0], ends[:, 1])


def fact_columns(
    strip: StripGrid,
    tables: Mapping[str, DenseTable],
    sides: Sequence[SideFacts],
    lookups: Mapping[str, AtomColumn],
    references: ReferenceTables,
) -> tuple[dict[str, Column], list[Diagnostic]]:
    """The columns of each table from the facts of a strip and of other tables about its rows, at the default where
    there is no fact, and the columns that rows look up in ``references``; with the errors in rows."""
    columns: dict[str, Column] = {}
    errors: list[Diagnostic] = []
    links: dict[str, Referents] = {}

    def enter(column: Column | None) -> None:
        if column is not None:
            known = columns.get(column.table.name)
            columns[column.table.name] = column if known is None else _met(known, column)

    named = _named(lookups)
    for load, choice in zip(strip.source.loads, strip.source.choices, strict=True):
        table = tables.get(load.predicate)
        linking = load.predicate in named
        if table is None and not linking:
            continue
        plain = None if linking or table is None else _plain(strip, load, choice, table)
        if plain is not None:
            enter(plain)
            continue
        keys = (choice.keys[1 - load.place],) if linking else ()
        loaded, findings = _facts(strip, load, replace(choice, keys=keys))
        errors += findings
        if linking:
            links[load.predicate] = _link(strip, loaded)
        if table is not None:
            enter(_scattered(strip, loaded, table))
    for side in sides:
        enter(_looked_up(strip, side, tables[side.predicate]))
    for name, table in tables.items():
        if name not in columns:
            columns[name] = at_default(table, strip.length)
    for name, atoms in lookups.items():
        columns[name] = references.column(name, atoms, links, columns, strip.length)
    return columns, errors


def _named(lookups: Mapping[str, AtomColumn]) -> set[str]:
    """The predicates whose facts name the entities that rows look up."""
    names = {atoms.table for atoms in lookups.values() if atoms.of_row}
    return names | {place.predicate for atoms in lookups.values() for place in atoms.places if isinstance(place, Named)}


def _link(strip: StripGrid, loaded: FactTable) -> Referents:
    """The entity that each row's fact names."""
    codes, names = loaded.columns[0].codes, loaded.columns[0].names
    if len(loaded) == strip.length:
        return Referents(codes, names)
    every = np.full(strip.length, -1, np.int32)
    every[np.searchsorted(strip.grid.rows, loaded.rows)] = codes
    return Referents(every, names)


def _plain(strip: StripGrid, load: RowLoad, choice: ColumnChoice, table: DenseTable) -> Column | None:
    """A column of numbers, or truths, that needs no conversion; None for any other."""
    if load.negated or load.table.missing or choice.where or len(choice.values) != 1 or strip.grid.spoiled:
        return None
    column = strip.grid.columns[choice.values[0]]
    array = None if isinstance(column, list) else _in_floats(one(column))
    if array is None or (array.null_count and not load.numeric):
        return None
    values = view(array, np.float64) + 0.0  # copied, without negative zeros
    missing = nulls(array) if array.null_count else None
    if missing is not None:
        values = np.where(~missing, values, 1.0)  # an arbitrary number, marked as missing
    if len(values):
        low, high = float(values.min()), float(values.max())  # nan if any value is
        if not (np.isfinite(low) and np.isfinite(high) if load.numeric else low >= 0 and high <= 1):
            return None
    given = np.ones(len(values), dtype=bool)
    return (
        Column(table, values, values, given) if missing is None else Column.of(table, Numbers(values, missing), given)
    )


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


def _looked_up(strip: StripGrid, side: SideFacts, table: DenseTable) -> Column | None:
    """The values of another table for each row; None if it has no facts about any."""
    texts = strip.texts
    at = np.append(_index_in(texts.names.arrow, side.keys), -1).take(texts.codes)
    there = at >= 0
    if not there.any():
        return None
    low, high = table.default
    lower, upper = np.where(there, side.lower.take(at), low), np.where(there, side.upper.take(at), high)
    return Column(table, lower, upper, there)


def _index_in(texts: pa.StringArray, keys: pa.StringArray) -> np.ndarray:
    """The index of each text among the keys, -1 if it is absent."""
    from pyarrow.compute import SetLookupOptions, call_function

    places = call_function("index_in", [texts], SetLookupOptions(keys))
    return np.where(nulls(places), -1, view(places, np.int32))


def _scattered(strip: StripGrid, loaded: FactTable, table: DenseTable) -> Column:
    """The bounds of facts for their rows, and the default for all others."""
    if len(loaded) == strip.length:
        lower = np.ascontiguousarray(loaded.lower)
        upper = lower if loaded.upper is loaded.lower else np.ascontiguousarray(loaded.upper)
        return Column(table, lower, upper, np.ones(strip.length, dtype=bool))
    places = np.searchsorted(strip.grid.rows, loaded.rows)
    lower, upper = (np.full(strip.length, end) for end in table.default)
    lower[places], upper[places] = loaded.lower, loaded.upper
    return Column(table, lower, upper, set_at(strip.length, places))


def _met(known: Column, other: Column) -> Column:
    """Two columns of facts about one table, met where both have one, whatever the default of other rows."""
    assert known.given is not None and other.given is not None
    both, only = known.given & other.given, other.given & ~known.given
    lower = np.where(both, np.maximum(known.lower, other.lower), np.where(only, other.lower, known.lower))
    upper = np.where(both, np.minimum(known.upper, other.upper), np.where(only, other.upper, known.upper))
    return Column(known.table, lower, upper, known.given | other.given)
