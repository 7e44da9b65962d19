"""Relations: everything that has bounds for tuples of entities, with all that belongs to it.

Every predicate, shared neuron and observed neuron has one. Rows are numbered within their relation, from 0 on, like
their tuples; the rows before 0 are reserved: `DEFAULT` stands for every atom not materialised, `UNNAMED` for atoms
about unnamed individuals, and `UNKNOWN` reads as unknown. Equalities of entities are rows of `Relations.truths`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lnnkit.arrays import DOUBLE
from lnnkit.logic.bounds import Bounds
from lnnkit.numeric import rises
from lnnkit.store.row_arrays import Array, Chunks, Growing
from lnnkit.store.tuple_set import TupleSet

DEFAULT, UNNAMED, UNKNOWN = -1, -2, -3
RESERVED = 3
FALSE, TRUE = 0, 1  # the rows of `Relations.truths`
Pair = tuple[float, float]
LISTS = ("lower", "upper", "either", "listed", "given")


class Schema(NamedTuple):
    """What a relation is: its sorts, its default bounds, the bounds of atoms about unnamed individuals where those are
    not the default's, and whether it holds numbers, which rules may derive as ``min`` or ``max`` of candidates."""

    name: str
    sorts: tuple[str, ...]
    default: Pair
    unnamed: Pair | None = None
    numeric: bool = False
    derived: str = ""


class Relation:
    """The materialised atoms of one predicate or neuron, with their bounds as they are read: an arrested atom reads as
    unknown, and the bounds that crossed stand in ``crossed``. ``frozen`` rows receive nothing. The lists `LISTS` have
    the rows whose lower, upper or either end differs from ``default``, in order of insertion; those listed by facts or
    questions, and those given by facts."""

    def __init__(self, schema: Schema, number: int, radix: int, dtype: np.dtype) -> None:
        self.name, self.sorts, default, unnamed, self.numeric, self.derived = schema
        self.drifts = False  # whether candidates for derived numbers improve without end
        self.number = number
        self.default = default
        self.unnamed = default  # the bounds of an atom about an unnamed individual,
        self.unnamed_row = DEFAULT  # and the row that stands for it
        self.tuples = TupleSet(len(self.sorts), radix)
        self.unknown: Pair = (-math.inf, math.inf) if self.numeric else (0.0, 1.0)
        ends = zip(self.unknown, default, default, strict=True)
        self._ends = tuple(Growing(dtype, end) for end in ends)  # reserved: unknown, unnamed, default
        self.frozen = Growing(np.bool_, (True,) * RESERVED)
        self.crossed = Crossed(dtype)
        self.loaded = 0  # the first so many rows are facts, in the lexicographic order of their tuples,
        self.loaded_bounds: tuple[Array, Array] = (np.empty(0), np.empty(0))  # which gave them these bounds;
        self.restated: dict[int, Pair] = {}  # what facts give the rows of which they were changed,
        self.changes = 0  # so many times
        self.in_order = True  # no lower end is above its upper one, not even by less than the tolerance
        self._lists = {name: Chunks() for name in LISTS}
        self._flags = {name: Growing(np.bool_, (False,) * RESERVED) for name in LISTS}
        self._shrunk: set[str] = set()  # lists out of which rows were taken
        self._unlisted: list[tuple[str, int, int]] = []  # parts of lists not yet entered in "either"
        if unnamed is not None:
            self.reserve(UNNAMED, unnamed)

    def __len__(self) -> int:
        return len(self.tuples)

    @property
    def unnamed_differs(self) -> bool:
        """Whether an atom about an unnamed individual may be another than one at its default."""
        return self.unnamed_row != DEFAULT

    def reserve(self, row: int, pair: Pair) -> None:
        """Set what a reserved row reads as."""
        if row == DEFAULT:
            self.default = pair
        else:
            self.unnamed, self.unnamed_row = pair, UNNAMED
        for growing, end in zip(self._ends, pair, strict=True):
            growing.put(np.array([row]), end)

    # --- bounds -------------------------------------------------------------------------------------------------------

    def end(self, side: int) -> Array:
        """The lower (0) or the upper (1) ends of all rows; read-only, valid until rows are added."""
        return self._filled(side, len(self.tuples)).values

    def take(self, side: int, rows: Array | range) -> Array:
        """(n,) the lower (0) or the upper (1) ends of rows; read-only, of a range valid until it changes."""
        return self._filled(side, len(self.tuples)).take(rows)

    def writable(self, side: int) -> Array:
        """As ``end``, to be written to."""
        return self._filled(side, len(self.tuples)).values

    def fill(self, side: int, rows: range, end: float) -> None:
        """Give the last rows one lower (0) or upper (1) end."""
        self._filled(side, rows.start).set(rows.start, rows.stop, end)

    def _filled(self, side: int, count: int) -> Growing:
        """One end of ``count`` rows at least: those that have none yet are at their default."""
        growing = self._ends[side]
        if len(growing) < count:
            growing.fill(len(growing), count, self.default[side])
        return growing

    def read(self, rows: Array | range) -> Bounds:
        """(n,) the bounds of rows; read-only, of a range valid until they change."""
        return Bounds(self.take(0, rows), self.take(1, rows))

    @property
    def completed_side(self) -> int:
        """The end that holds since nothing else is derived: the upper one, but of a least candidate the lower one."""
        return int(self.derived != "min")

    @property
    def worst(self) -> float:
        """What is worse than every candidate for a derived number."""
        return math.inf if self.derived == "min" else -math.inf

    def improved(self, side: int, rows: Array, values: Array | float) -> Array:
        """(n,) which candidates are better than the present ends of derived numbers."""
        sign = -1.0 if self.derived == "min" else 1.0
        now, new = sign * self.take(side, rows), np.broadcast_to(sign * values, rows.shape)
        better = rises(now, new) | ((new == math.inf) & (now < math.inf))
        if self.drifts and side != self.completed_side:  # that end is no more approached where the other is lost
            better &= self.take(1 - side, rows) != self.unknown[1 - side]
        return better

    @property
    def bounds(self) -> Bounds:
        """The bounds of all rows; a view, valid until rows are added."""
        return Bounds(self.end(0), self.end(1))

    def held(self, rows: Array) -> Array:
        """(n,) which rows receive nothing."""
        self.frozen.reach(len(self.tuples))
        return self.frozen.take(rows)

    def load(self, columns: Sequence[Array], bounds: Bounds) -> range:
        """Add distinct tuples, in lexicographic order, with these bounds to an empty relation; returns their
        rows."""
        self.tuples.load(columns, bounds.lower.size)
        for growing, values in zip(self._ends, bounds, strict=True):
            growing.append(values)
        self.loaded, self.loaded_bounds = len(self.tuples), tuple(bounds)
        return range(len(self.tuples))

    def stated(self, rows: Array) -> Bounds:
        """(n,) the bounds that facts give to rows; of others the default."""
        loaded = np.flatnonzero(rows < self.loaded)
        ends = (np.full(len(rows), end, self._ends[0].values.dtype) for end in self.default)
        lower, upper = ends
        for end, given in zip((lower, upper), self.loaded_bounds, strict=True):
            end[loaded] = given[rows.take(loaded)]  # numpy's take would spell one value out
        for place, row in enumerate(rows.tolist() if self.restated else ()):
            lower[place], upper[place] = self.restated.get(row, (lower[place], upper[place]))
        return Bounds(lower, upper)

    # --- lists --------------------------------------------------------------------------------------------------------

    def flags(self, name: str) -> Growing:
        """Flags of rows: whether each is in the list ``name``."""
        if name == "either" and self._unlisted:
            self.listing(name)
        flags = self._flags[name]
        flags.reach(len(self.tuples))
        return flags

    def listing(self, name: str) -> Chunks:
        """The rows in the list ``name``."""
        if name == "either" and self._unlisted:
            parts, self._unlisted = self._unlisted, []
            for end, start, stop in parts:
                self.enlist(name, self._lists[end].values[start:stop])
        if name in self._shrunk:
            self._shrunk.discard(name)
            self._lists[name] = Chunks()
            self._append(name, np.flatnonzero(self.flags(name).values[: len(self.tuples)]).astype(np.int32))
        return self._lists[name]

    def enlist(self, name: str, rows: Array) -> None:
        """Add distinct rows to the list ``name``, those that are not in it."""
        if not rows.size:
            return
        flags = self._flags[name]
        flags.reach(len(self.tuples))
        if len(self._lists[name]) or len(rows) < len(self.tuples):
            old = flags.take(rows)
            if old.any():
                rows = rows[~old]
                if not rows.size:
                    return
            flags.put(rows, True)
        else:  # every row
            flags.set(0, len(rows), True)
        self._append(name, rows)

    def delist(self, name: str, rows: Array) -> None:
        """Take rows out of the list ``name``: it is made anew when it is read next."""
        flags = self.flags(name)
        if flags.take(rows).any():
            flags.put(rows, False)
            self._shrunk.add(name)

    def enlist_new(self, name: str, rows: range) -> None:
        """Add rows that are in no list to the list ``name``."""
        self._flags[name].set(rows.start, rows.stop, True)
        self._append(name, rows)

    def deviate(self, rows: Array, lower: Array, upper: Array) -> None:
        """Add rows to the lists of the ends on which their bounds differ from the default."""
        for name, moved in (("lower", lower != self.default[0]), ("upper", upper != self.default[1])):
            count = np.count_nonzero(moved)
            if count:
                self.enlist(name, rows if count == len(rows) else rows[moved])

    def enlist_arrested(self, rows: Array) -> None:
        """Add arrested rows to the lists of rows that deviate on either end, and on each end whose reading, unknown,
        differs from the default."""
        self.enlist("either", rows)
        for name, default, bound in zip(("lower", "upper"), self.default, self.unknown, strict=True):
            if default != bound:
                self.enlist(name, rows)

    def _append(self, name: str, rows: Array | range) -> None:
        listing, parts = self._lists[name], self._unlisted
        start = len(listing)
        listing.append(rows)
        if name in ("lower", "upper"):
            if parts and parts[-1][2] == start and parts[-1][0] == name:
                start = parts.pop()[1]
            parts.append((name, start, len(listing)))


class Crossed:
    """The arrested rows of a relation, with the bounds that crossed."""

    def __init__(self, dtype: np.dtype) -> None:
        self.rows = Growing(np.int32)
        self.lower = Growing(dtype)
        self.upper = Growing(dtype)

    def __len__(self) -> int:
        return len(self.rows)

    def append(self, rows: Array, lower: Array, upper: Array) -> None:
        for growing, values in ((self.rows, rows), (self.lower, lower), (self.upper, upper)):
            growing.append(values)

    def places(self, count: int) -> Array:
        """(count,) the index of each row here; -1 for rows that are not arrested."""
        places = np.full(count, -1, dtype=np.int32)
        places[self.rows.values] = np.arange(len(self.rows), dtype=np.int32)
        return places


class Relations:
    """All relations of a program."""

    def __init__(self, radix: int, dtype: np.dtype = DOUBLE) -> None:
        self.radix = radix
        self.dtype = dtype
        self.tables: dict[str, Relation] = {}
        self.numbered: list[Relation] = []
        self.length = 0  # the number of rows of all relations, without reserved ones
        self.truths = Relation(Schema("", ("",), (0.0, 1.0)), 0, 2, dtype)
        self.numbered.append(self.truths)
        self.truths.load([np.arange(2, dtype=np.int32)], Bounds(np.array([0.0, 1.0]), np.array([0.0, 1.0])))

    def __len__(self) -> int:
        return self.length

    def add(self, schema: Schema) -> Relation:
        """A new relation."""
        table = self.tables[schema.name] = Relation(schema, len(self.numbered), self.radix, self.dtype)
        self.numbered.append(table)
        return table

    def materialise(self, table: Relation, columns: Sequence[Array], length: int) -> Array:
        """(length,) the rows of the tuples; missing tuples are added at the default."""
        rows, fresh = table.tuples.add(columns, length)
        self.length += fresh.size
        return rows

    def make(self, table: Relation, columns: Sequence[Array], length: int) -> Array | None:
        """Add the missing tuples, at the default; returns the positions of their first occurrences (None: all
        positions)."""
        fresh = table.tuples.new(columns, length)
        self.length += length if fresh is None else fresh.size
        return fresh

    def add_new(self, table: Relation, columns: Sequence[Array], length: int) -> range:
        """Add distinct tuples that are known to be new, at the default; returns their rows."""
        start = len(table)
        table.tuples.append(columns, length)
        self.length += length
        return range(start, start + length)

    def load(self, table: Relation, columns: Sequence[Array], bounds: Bounds) -> range:
        """Load an empty relation (see `Relation.load`) with tuples that facts state, and list its rows as such."""
        rows = table.load(columns, bounds)
        self.length += len(rows)
        for name in ("listed", "given"):
            table.enlist_new(name, rows)
        for name, values, default in zip(("lower", "upper"), bounds, table.default, strict=True):
            # One value may stand for all: five million facts are listed in 21 CPU ms, in 40 where each is compared
            moved = (values[:1] if values.strides == (0,) else values) != default
            if len(rows) and moved.all():
                table.enlist_new(name, rows)
            elif moved.any():
                table.enlist(name, np.flatnonzero(moved).astype(np.int32))
        return rows


class RowNumbers:
    """The rows of all relations in one numbering, for what looks at all of them: those of a relation are consecutive,
    its reserved ones first. It holds until rows are added."""

    def __init__(self, atoms: Relations) -> None:
        self.atoms = atoms
        self.tables = tuple(atoms.numbered)
        self.lengths = [len(table) + RESERVED for table in self.tables]
        self.starts = np.cumsum([0, *self.lengths])
        self.count = int(self.starts[-1])
        self._first = self.starts + RESERVED

    def of(self, table: Relation, rows: Array) -> Array:
        """(n,) the numbers of rows of a relation."""
        return rows + self._first[table.number]

    def behind(self, number: int) -> tuple[Relation, int]:
        """The relation of a row and its row there."""
        owner = int(self.starts.searchsorted(number, side="right")) - 1
        return self.tables[owner], number - int(self._first[owner])

    def first(self, tables: Array) -> Array:
        """(n,) the numbers of the first rows of relations, by their numbers."""
        return self._first.take(tables)

    def by_relation(self, numbers: Array) -> Iterator[tuple[Relation, Array, Array]]:
        """The relations of rows, each with the positions of its rows and their rows there."""
        owners = self.starts.searchsorted(numbers, side="right") - 1
        for owner in np.unique(owners).tolist():
            at = np.flatnonzero(owners == owner)
            yield self.tables[owner], at, numbers.take(at) - self._first[owner]

    def bounds(self) -> Bounds:
        """The bounds of all rows."""
        ends = ([table.take(side, _all(table)) for table in self.tables] for side in (0, 1))
        return Bounds(*map(np.concatenate, ends))

    def ends(self, pairs: Sequence[Pair]) -> Bounds:
        """A pair of bounds for each relation, by row."""
        ends = (np.array(end, self.atoms.dtype) for end in zip(*pairs, strict=True))
        return Bounds(*(end.repeat(self.lengths) for end in ends))

    def flags(self, name: str) -> Array:
        """Flags by row: whether it is in the list ``name`` of its relation."""
        return np.concatenate([table.flags(name).take(_all(table)) for table in self.tables])

    @cached_property
    def crossed(self) -> Array:
        """The arrested rows, in order."""
        numbers = (np.sort(self.of(table, table.crossed.rows.values)) for table in self.tables if len(table.crossed))
        return np.concatenate([np.empty(0, np.int64), *numbers])

    def marked(self, numbers: Array) -> Array:
        """Flags of some rows."""
        flags = np.zeros(self.count, bool)
        flags[numbers] = True
        return flags


def _all(table: Relation) -> Array:
    return np.arange(-RESERVED, len(table))
