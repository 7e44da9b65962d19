"""The ``load`` statements whose table is replaced by a stream of rows, and what they read: a strip of the stream -> the
facts of its rows; and the keys of rows. In a stream repeated keys are detected without storing the keys: if each key is
greater than the one before it, none is repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lnnkit.check.named_files import merge
from lnnkit.check.program import Predicate
from lnnkit.data.arrow import nulls, numbers, one, text_buffers, view
from lnnkit.data.cells.texts import Texts, texts_of, without_fractions
from lnnkit.data.facts import SHOWN, facts
from lnnkit.data.files import Unreadable
from lnnkit.data.grid import ColumnChoice, Grid, Load, Sheet, trimmed
from lnnkit.data.table import FactTable
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Span
from lnnkit.syntax.printer import format_string

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class RowLoad(Load):
    """A statement that loads a predicate, or number, of rows. ``place`` is the position of the row among its
    arguments."""

    place: int = 0

    @property
    def path(self) -> Path:
        """Where its rows come from; a query has a path of its own, where no file is."""
        return self.base / self.table.origin


def row_loads(
    program: ast.Program, base: Path, predicates: Mapping[str, Predicate], sort: str
) -> tuple[list[RowLoad], dict[str, Span]]:
    """The loads, in a program and its imports, of predicates with one argument of the sort; and the predicates with
    several such arguments, each with the position of a load of it."""
    loads: list[RowLoad] = []
    pairs: dict[str, Span] = {}
    for entry in merge(program, base).entries:
        statement = entry.statement
        if not isinstance(statement, ast.LoadStatement) or statement.name not in predicates:
            continue
        predicate = predicates[statement.name]
        places = [place for place, other in enumerate(predicate.sorts) if other == sort]
        if len(places) > 1:
            pairs.setdefault(predicate.name, statement.span)
        if len(places) == 1:
            read = predicate.name, predicate.arity, predicate.numeric, statement.table, entry.base, statement.span
            gaps = "refused" if predicate.closed else "unknown"
            loads.append(RowLoad(*read, statement.negated, gaps, places[0]))
    return loads, pairs


def streamed(loads: Sequence[RowLoad], sort: str, stream: Path | None = None) -> tuple[list[RowLoad], list[RowLoad]]:
    """The loads of the table that a ``stream`` replaces, and the loads of other tables about the same entities, which
    are read whole. If there are several tables, the stream must have the name of one of them. Raises `Unreadable`."""
    paths = list(dict.fromkeys(load.path.resolve() for load in loads))
    if len(paths) < 2:
        return list(loads), []
    chosen = [path for path in paths if stream is not None and path == stream.resolve()]
    chosen = chosen or [path for path in paths if stream is not None and path.name == stream.name]
    if len(chosen) != 1:
        listed = " and ".join(dict.fromkeys(format_string(load.table.origin) for load in loads))
        message = f"the program loads facts about `{sort}` from {len(paths)} tables: {listed}"
        hint = "put these columns into one table, or give the stream the file name of the table that it replaces"
        raise Unreadable("several-row-tables", message, hint)
    replaced = [load for load in loads if load.path.resolve() == chosen[0]]
    return replaced, [load for load in loads if load not in replaced]


def key_of(
    loads: Sequence[RowLoad], choices: Sequence[ColumnChoice], sheet: Sheet
) -> tuple[int | None, list[Diagnostic]]:
    """The position of the column that names the row, which all loads share; otherwise the errors."""
    keys = {choice.keys[load.place]: load for load, choice in zip(loads, choices, strict=True)}
    if len(keys) < 2:
        return next(iter(keys), None), []
    (first, one), (second, other) = list(keys.items())[:2]
    message = f"rows are named by {sheet.title(first)} in `{one.predicate}`, and by {sheet.title(second)} here"
    hint = "a row is one entity: name it by one column in all statements that load it"
    return None, [Diagnostic("linked-rows", message, hint, other.span)]


# --- strips -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Strip:
    """Some rows of a stream: their ``sheet``, the ``choices`` of the ``loads`` that read it, the position of their
    ``key``, the ``name`` of the file for findings, and the ``grid`` of the cells that are read."""

    sheet: Sheet
    loads: Sequence[RowLoad]
    choices: Sequence[ColumnChoice]
    key: int
    name: str
    grid: Grid

    @property
    def length(self) -> int:
        return len(self.grid.rows)

    @property
    def keys(self) -> pa.Array | pa.ChunkedArray:
        """The column that names the rows."""
        column = self.grid.columns[self.key]
        assert not isinstance(column, list)
        return column

    @cached_property
    def texts(self) -> Texts:
        """The names of the rows."""
        keys = trimmed(self.keys) if any(load.table.trim for load in self.loads) else self.keys
        texts = texts_of(keys, self.sheet.title(self.key))
        return without_fractions(texts) if self.sheet.delimiter else texts

    @cached_property
    def parts(self) -> list[StripPart]:
        """The facts of each load; faulty rows have none."""
        parts, every = list[StripPart](), np.arange(self.length, dtype=np.int32)
        for load, choice in zip(self.loads, self.choices, strict=True):
            others = tuple(key for place, key in enumerate(choice.keys) if place != load.place)
            table, findings = self._facts(load, replace(choice, keys=others))
            some = len(table) < self.length
            rows = np.searchsorted(self.grid.rows, table.rows).astype(np.int32) if some else every
            parts.append(StripPart(table, rows, any(finding.severity == "error" for finding in findings)))
        return parts

    @property
    def is_clean(self) -> bool:
        """Whether the names of rows, and their values, are known to be valid."""
        unread = self.grid.lost or self.grid.spoiled or not has_names(self.keys)
        return not unread and not any(part.wrong for part in self.parts)

    def errors(self, shown: int) -> list[Diagnostic]:
        """The errors in the rows: the first ``shown`` of each kind, then a count."""
        findings: dict[Diagnostic, Diagnostic] = {}
        if not self.loads:
            return []
        key_alone = replace(self.choices[0], keys=(self.key,), values=(), where=())  # rows without a name come first
        for load, choice in [(self.loads[0], key_alone), *zip(self.loads, self.choices, strict=True)]:
            for finding in self._facts(load, choice, shown)[1]:
                if finding.severity == "error":
                    findings.setdefault(replace(finding, span=None), finding)
        return list(findings.values())

    def without(self, wrong: Sequence[Diagnostic]) -> Strip:
        """The strip without the rows that some findings are about."""
        if not wrong:
            return self
        named = {finding.row for finding in wrong}
        rows = np.flatnonzero([row not in named for row in self.grid.rows.tolist()])
        columns = {
            position: [column[row] for row in rows.tolist()] if isinstance(column, list) else column.take(numbers(rows))
            for position, column in self.grid.columns.items()
        }
        grid = replace(self.grid, columns=columns, rows=self.grid.rows[rows], spoiled={}, lost=(), texts={})
        return replace(self, grid=grid)

    def _facts(self, load: RowLoad, choice: ColumnChoice, shown: int = SHOWN) -> tuple[FactTable, list[Diagnostic]]:
        grid = replace(self.grid, columns={position: self.grid.columns[position] for position in choice.wanted})
        return facts(load, self.sheet, choice, grid, self.name, shown)


class StripPart(NamedTuple):
    """The facts of a load about a strip, without the column of rows: these are ``rows`` (n,), ascending places in the
    strip. ``wrong``: some row is faulty."""

    table: FactTable
    rows: np.ndarray
    wrong: bool


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


def repeated(keys: pa.Array | pa.ChunkedArray) -> list[tuple[int, int]]:
    """The rows that repeat the key of an earlier row, each with the first such row."""
    array = one(keys)
    if len(array) < 2 or array.null_count == len(array) or any(_orders(array)):
        return []
    there = np.flatnonzero(~nulls(array))  # the code of a null is arbitrary
    coded = array.dictionary_encode()
    if len(coded.dictionary) == len(there):
        return []
    codes = view(coded.indices, np.int32)[there]
    first = np.full(len(coded.dictionary), len(array), np.int64)
    np.minimum.at(first, codes, there)
    repeats = first.take(codes) < there
    return list(zip(there[repeats].tolist(), first.take(codes[repeats]).tolist(), strict=True))


Key = int | str | None


class KeyRange(NamedTuple):
    """The keys of consecutive rows: whether each is known to be greater than the one before, in two orders of texts, by
    their bytes, and by their lengths first, which is the order of whole numbers (these are compared by value); and the
    ``first`` and ``last`` key, None without rows."""

    by_bytes: bool = True
    by_length: bool = True
    first: Key = None
    last: Key = None

    @staticmethod
    def of(keys: pa.Array) -> KeyRange:
        if not len(keys):
            return KeyRange()
        return KeyRange(*_orders(keys), _plain(keys[0].as_py()), _plain(keys[len(keys) - 1].as_py()))

    @property
    def rising(self) -> bool:
        """Whether they rise in one of the orders: then none is repeated."""
        return self.by_bytes or self.by_length

    def then(self, other: KeyRange) -> KeyRange:
        """The range of two consecutive runs of keys."""
        if self.first is None or other.first is None:
            return other if self.first is None else self
        assert self.last is not None
        by_bytes, by_length = map(all, zip(self[:2], other[:2], _before(self.last, other.first), strict=True))
        return KeyRange(by_bytes, by_length, self.first, other.last)

    def meets(self, other: KeyRange) -> bool:
        """Whether the last key equals the first of the following rows."""
        return self.last is not None and self.last == other.first


def _orders(keys: pa.Array) -> tuple[bool, bool]:
    """Whether keys rise, by bytes and by length."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if keys.null_count or len(keys) < 2:
        return not keys.null_count, not keys.null_count
    whole = pa.types.is_integer(keys.type) or (pa.types.is_decimal(keys.type) and keys.type.scale == 0)
    if not (whole or pa.types.is_string(keys.type) or pa.types.is_large_string(keys.type)):
        return False, False
    less = pc.less(keys.slice(0, len(keys) - 1), keys.slice(1))  # pyright: ignore[reportAttributeAccessIssue]
    if not whole:
        length = view(pc.binary_length(keys).cast(pa.int64()), np.int64)  # pyright: ignore[reportAttributeAccessIssue]
        after = less.to_numpy(zero_copy_only=False)
        longer, as_long = length[1:] > length[:-1], length[1:] == length[:-1]
        return bool(after.all()), bool((longer | (as_long & after)).all())
    return not less.false_count, not less.false_count


def _plain(key: object) -> Key:
    if isinstance(key, Decimal) and key == key.to_integral_value():
        return int(key)
    return key if isinstance(key, int) else str(key)


def _before(one: Key, other: Key) -> tuple[bool, bool]:
    """Whether one key comes before another, in each order."""
    if isinstance(one, str) and isinstance(other, str):
        first, second = one.encode(), other.encode()
        return first < second, (len(first), first) < (len(second), second)
    less = isinstance(one, int) and isinstance(other, int) and one < other
    return less, less
