"""The materialised atoms: tables of entity tuples that share one numbering of rows.

Every predicate, shared neuron and observed neuron has a table. Row numbers run over all tables, so that bounds live
in single arrays; each table has a *default row* that stands for every atom not materialised, and another one for atoms
about unnamed individuals where these differ. Rows 0, 1 and 2 are the constants false, true and unknown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lnnkit.store.columns.row_arrays import Array, Chunks, Growing, wide
from lnnkit.store.columns.runs import Runs
from lnnkit.store.tuple_set import TupleSet

FALSE, TRUE, UNKNOWN = 0, 1, 2
Pair = tuple[float, float]
LISTS = ("lower", "upper", "either", "listed", "given")


class AtomTable:
    """The materialised atoms of one predicate or neuron. ``deviating`` lists the local rows whose lower, upper or
    either end differs from ``default``, in order of insertion; ``listed`` those given by facts or asked for, ``given``
    those given by facts."""

    def __init__(
        self, name: str, number: int, sorts: tuple[str, ...], default: tuple[float, float], radix: int
    ) -> None:
        self.name = name
        self.number = number
        self.sorts = sorts
        self.default = default
        self.default_row = -1
        self.unnamed = default  # the bounds of an atom about an unnamed individual,
        self.unnamed_row = -1  # and the row that stands for it
        self.tuples = TupleSet(len(sorts), radix)
        self.runs = Runs()  # maps tuples to their rows
        self.deviating = {end: Chunks() for end in LISTS}

    @property
    def numeric(self) -> bool:
        """Whether its atoms hold numbers."""
        return self.default[0] == -math.inf

    @property
    def rows(self) -> Array:
        """The row of each tuple, ascending."""
        return self.runs.images()

    @property
    def run(self) -> range | None:
        """The rows of all tuples as a range, if they are consecutive."""
        return self.runs.run

    def row(self, local: Array) -> Array:
        """(n,) the rows of tuples, given by their numbers in the table."""
        return self.runs.image(local)


class Atoms:
    """All tables of a grounding."""

    def __init__(self, radix: int) -> None:
        self.radix = radix
        self.tables: dict[str, AtomTable] = {}
        self.numbered: list[AtomTable] = []
        self._runs = Runs()  # maps rows to tuples; the labels are the numbers of their tables
        self._flags = {name: Growing(np.bool_) for name in LISTS}
        # by table: parts of lists not yet entered in "either"
        self._unlisted: dict[int, list[tuple[str, int, int]]] = {}
        self.length = 3  # the number of rows of all tables
        for _ in (FALSE, TRUE, UNKNOWN):
            self._runs.add(1, -1, -1)

    def __len__(self) -> int:
        return self.length

    def local(self, rows: Array) -> Array:
        """(n,) the tuples of rows, by their numbers in their tables; -1 for default rows and constants."""
        return self._runs.image(rows)

    def behind(self, row: int) -> tuple[AtomTable | None, int]:
        """The table of a row (None for a constant) and the number of its tuple there (-1 for a default row)."""
        local, owner = self._runs.at(row)
        return (self.numbered[owner], local) if owner >= 0 else (None, -1)

    def added(self, start: int) -> list[tuple[int, int, int, bool]]:
        """The rows from ``start`` on, in parts: the first of each, the one after the last, the table's number (-1 for
        constants), and whether they stay at the default."""
        return [(begin, stop, owner, local < 0) for begin, stop, local, owner in self._runs.pieces(start)]

    def run_of(self, rows: range) -> tuple[AtomTable, int] | None:
        """The table of consecutive rows and the number of the first tuple there, if the tuples are consecutive too;
        else None."""
        found = self._runs.alike(rows.start, rows.stop)
        return None if found is None or found[1] < 0 else (self.numbered[found[1]], found[0])

    def grow(self, table: AtomTable, count: int) -> None:
        """Allocate rows for the last ``count`` tuples of a table."""
        if not count:
            return
        start = len(table.runs)
        table.runs.add(count, self.length)
        self._runs.add(count, start, table.number)
        self.length += count

    def add_table(self, name: str, sorts: tuple[str, ...], default: Pair, unnamed: Pair | None = None) -> AtomTable:
        """A new table; atoms about ``unnamed`` individuals have the default bounds unless others are given."""
        table = AtomTable(name, len(self.numbered), sorts, default, self.radix)
        self.tables[name] = table
        self.numbered.append(table)
        table.default_row = table.unnamed_row = self._row_of(table)
        if unnamed is not None:
            table.unnamed = unnamed
            table.unnamed_row = UNKNOWN if unnamed == (0.0, 1.0) else self._row_of(table)
        return table

    @property
    def unnamed(self) -> dict[str, tuple[Pair, tuple[str, ...]]]:
        """By table, the bounds of atoms about unnamed individuals, where they do not have the default's, and the
        table's sorts."""
        tables = (table for table in self.numbered if table.unnamed_row != table.default_row)
        return {table.name: (table.unnamed, table.sorts) for table in tables}

    def _row_of(self, table: AtomTable) -> int:
        """A row of a table that no tuple has."""
        self._runs.add(1, -1, table.number)
        self.length += 1
        return self.length - 1

    def materialise(self, table: AtomTable, columns: Sequence[Array], length: int) -> Array:
        """(length,) row numbers of the tuples; missing tuples are added at the default."""
        numbers, fresh = table.tuples.add(columns, length)
        count = fresh.size
        if count:
            start = len(self)
            self.grow(table, count)
            if count == length:
                return np.arange(start, start + count, dtype=np.int32)
        return table.row(numbers)

    def make(self, table: AtomTable, columns: Sequence[Array], length: int) -> Array | None:
        """Add the missing tuples, at the default; returns the positions of their first occurrences (None: all
        positions)."""
        fresh = table.tuples.new(columns, length)
        self.grow(table, length if fresh is None else fresh.size)
        return fresh

    def add_new(self, table: AtomTable, columns: Sequence[Array], length: int) -> range:
        """Add distinct tuples that are known to be new, at the default; returns their rows."""
        start = len(self)
        table.tuples.append(columns, length)
        self.grow(table, length)
        return range(start, start + length)

    def load(self, table: AtomTable, columns: Sequence[Array], lower: Array, upper: Array) -> range:
        """Materialise distinct tuples, in lexicographic order, in an empty table, as facts with these bounds. Returns
        their rows."""
        count = lower.size
        rows = self.add_new(table, columns, count)
        for name, moved in (
            ("listed", True),
            ("given", True),
            ("lower", _differ(lower, table.default[0])),
            ("upper", _differ(upper, table.default[1])),
        ):
            if moved is not False:
                self._flags[name].set(rows.start, rows.stop, moved)
                self._list(table, name, range(count) if moved is True else np.flatnonzero(moved).astype(np.int32))
        return rows

    def find(self, table: AtomTable, columns: Sequence[Array], length: int) -> Array:
        """(length,) row numbers of the tuples; the default row for an atom that is not materialised."""
        if not len(table.tuples):
            return np.full(length, table.default_row, np.int32)
        local = table.tuples.find(columns, length)
        absent = local < 0
        if not absent.any():
            return table.row(local)
        rows = table.row(np.maximum(local, 0))
        rows[absent] = table.default_row
        return rows

    def flags(self, name: str) -> Array:
        """Flags by row: whether it is in the list ``name`` of its table. There may be more flags than rows."""
        if name == "either":
            for number in tuple(self._unlisted):
                self.listing(self.numbered[number], name)
        return self._flags[name].reach(len(self))

    def listing(self, table: AtomTable, name: str) -> Chunks:
        """A table's list of that name."""
        if name == "either":
            for end, start, stop in self._unlisted.pop(table.number, ()):
                local = table.deviating[end].values[start:stop]
                run = table.run
                if run is not None and not len(table.deviating[name]) and len(local) == len(run):
                    self._flags[name].set(run.start, run.stop, True)
                    table.deviating[name].append(local)  # every row
                else:
                    self._enlist(table, name, table.row(local))
        return table.deviating[name]

    def ask(self, table: AtomTable, rows: Array) -> None:
        """Mark distinct rows of a table as asked for."""
        self._enlist(table, "listed", rows)

    def list_given(self, table: AtomTable, rows: Array) -> None:
        """Mark distinct rows of a table as given by facts."""
        for name in ("listed", "given"):
            self._enlist(table, name, rows)

    def deviate(self, rows: Array, lower: Array, upper: Array) -> None:
        """Add rows to the lists of the ends on which their bounds differ from the default."""
        for table, mine in self.by_table(rows):
            if mine is None:
                self.deviate_of(table, rows, lower, upper)
            else:
                self.deviate_of(table, *(each.take(mine) for each in (rows, lower, upper)))

    def deviate_of(self, table: AtomTable, rows: Array, lower: Array, upper: Array) -> None:
        """As ``deviate``, for rows of one table."""
        for end, moved in (("lower", lower != table.default[0]), ("upper", upper != table.default[1])):
            count = np.count_nonzero(moved)
            if count:
                self._enlist(table, end, rows if count == len(rows) else rows[moved])

    def deviate_new(self, table: AtomTable, name: str, start: int, local: range) -> None:
        """As ``deviate_of``, for new tuples in consecutive rows from ``start`` on that deviate on one end."""
        self._flags[name].set(start, start + len(local), True)
        self._list(table, name, local)

    def by_table(self, rows: Array) -> list[tuple[AtomTable, Array | None]]:
        """The tables of rows, without constants, each with the positions of its rows (None for all positions)."""
        if not rows.size:
            return []
        owners = self._runs.labels(rows)
        if isinstance(owners, int):
            return [(self.numbered[owners], None)] if owners >= 0 else []
        least, most = int(owners.min()), int(owners.max())
        if least == most:
            return [(self.numbered[least], None)] if least >= 0 else []
        present = (np.flatnonzero(np.bincount(owners - least)) + least).tolist()
        found = [(number, np.flatnonzero(owners == number)) for number in present if number >= 0]
        return [(self.numbered[number], mine) for number, mine in found]

    def enlist(self, rows: Array) -> None:
        """Add arrested rows to the lists of rows that deviate on either end, and on each end whose reading, unknown,
        differs from the default."""
        for table, mine in self.by_table(rows):
            own = rows if mine is None else rows.take(mine)
            self._enlist(table, "either", own)
            unknown = (-math.inf, math.inf) if table.numeric else (0.0, 1.0)
            for end, default, bound in zip(("lower", "upper"), table.default, unknown, strict=True):
                if default != bound:
                    self._enlist(table, end, own)

    def _enlist(self, table: AtomTable, name: str, rows: Array) -> None:
        if not rows.size:
            return
        flags = self._flags[name].reach(len(self))
        old = flags.take(rows)
        if old.any():
            rows = rows[~old]
            if not rows.size:
                return
        flags[wide(rows)] = True
        self._list(table, name, self.local(rows))

    def _list(self, table: AtomTable, name: str, local: Array | range) -> None:
        listing = table.deviating[name]
        start = len(listing)
        listing.append(local)
        if name == "either":
            return
        if name in ("lower", "upper"):
            parts = self._unlisted.setdefault(table.number, [])
            if parts and parts[-1][2] == start and parts[-1][0] == name:
                start = parts.pop()[1]
            parts.append((name, start, len(listing)))


def _differ(values: Array, default: float) -> Array | bool:
    """Which values differ from the default; a single flag if all or none do."""
    if not values.size:
        return False
    if values.strides == (0,):  # one value, expanded
        values = values[:1]
    differ = values != default
    count = np.count_nonzero(differ)
    return True if count == len(differ) else differ if count else False
