"""The bounds of a strip of rows: a pair of columns for each predicate, number and shared neuron.

A column with few distinct bounds is kept as codes, and numbers with missing values as values and a mask, until its
ends are read: most columns are read by their codes alone (`lnnkit.rows.dense.distinct_rows`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lnnkit.arrays import any_set
from lnnkit.logic.bounds import Bounds, enter_lower, enter_upper, tolerance
from lnnkit.numeric import same
from lnnkit.rows.dense.dense_program import DenseTable
from lnnkit.store.columns.row_arrays import Array


@dataclass(frozen=True, slots=True)
class Coded:
    """Distinct bounds (k,), and the index of each row's bounds: ``codes``, uint8 (n,)."""

    codes: Array
    lower: Array
    upper: Array

    def part(self, start: int, stop: int) -> Coded:
        return Coded(self.codes[start:stop], self.lower, self.upper)

    def ends(self) -> tuple[Array, Array]:
        """The bounds of each row, (n,) each."""
        if len(self.lower) == 1:
            length, kind = (len(self.codes),), np.float64
            return np.full(length, self.lower.item(), dtype=kind), np.full(length, self.upper.item(), dtype=kind)
        places = self.codes
        lower = self.lower.take(places)
        return lower, lower if self.upper is self.lower else self.upper.take(places)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Single values (n,) and a mask of ``missing`` ones, whose values are arbitrary."""

    values: Array
    missing: Array

    def part(self, start: int, stop: int) -> Numbers:
        return Numbers(self.values[start:stop], self.missing[start:stop])

    def ends(self) -> tuple[Array, Array]:
        known = ~self.missing
        return np.where(known, self.values, -np.inf), np.where(known, self.values, np.inf)


class Column:
    """One table's bounds, (n,) each. ``arrested`` rows read as unknown and receive nothing; their crossed bounds are in
    ``crossed``. ``given`` marks the rows that a fact lists (None: none). ``sound`` ends are in order, and those of
    truths within ``[0, 1]``, as facts have them."""

    __slots__ = ("_lower", "_made_of", "_upper", "arrested", "crossed", "given", "sound", "table")

    def __init__(
        self, table: DenseTable, lower: Array, upper: Array, given: Array | None = None, *, sound: bool = False
    ) -> None:
        self.table = table
        self.sound = sound
        self.given = given
        self.arrested: Array | None = None
        self.crossed: Bounds | None = None
        self._lower: Array | None = lower
        self._upper: Array | None = upper
        self._made_of: Coded | Numbers | None = None

    @staticmethod
    def of(table: DenseTable, made_of: Coded | Numbers, given: Array | None = None) -> Column:
        """A column whose ends are computed on first use; none of them cross."""
        column = Column.__new__(Column)
        column.table, column.given, column.arrested, column.crossed, column.sound = table, given, None, None, True
        column._lower = column._upper = None
        column._made_of = made_of
        return column

    @property
    def lower(self) -> Array:
        return self.end(0)

    @property
    def upper(self) -> Array:
        return self.end(1)

    def end(self, side: int) -> Array:
        """The lower (0) or the upper (1) ends."""
        if self._lower is None or self._upper is None:
            assert self._made_of is not None
            self._lower, self._upper = self._made_of.ends()
        return self._upper if side else self._lower

    def entered(self, side: int) -> Array | None:
        """One end of a truth as neurons read it; None if rounding made some ends cross."""
        if not self.sound and self.lower is not self.upper and any_set(self.lower > self.upper):
            return None
        return (enter_upper if side else enter_lower)(self.end(side))

    @property
    def blank(self) -> bool:
        """Whether it is known at once that no row's truth is bounded."""
        made_of = self._made_of
        if not isinstance(made_of, Coded) or len(made_of.lower) != 1:
            return False
        return made_of.lower.item() == 0 and made_of.upper.item() == 1

    @property
    def coded(self) -> Coded | None:
        """The bounds by codes, if they are known so and unchanged."""
        return self._made_of if isinstance(self._made_of, Coded) else None

    @property
    def single(self) -> tuple[Array, Array | None]:
        """Single values, and a mask of the rows without one, where they are arbitrary; None if there is no such row."""
        if isinstance(self._made_of, Numbers):
            return self._made_of.values, self._made_of.missing
        missing = None if self.lower is self.upper else self.lower != self.upper
        if missing is None or not any_set(missing):
            return self.lower, None
        return np.where(missing, 1.0, self.lower), missing

    @property
    def known(self) -> Array:
        """The rows in which something is known of a number."""
        if isinstance(self._made_of, Numbers):
            return ~self._made_of.missing
        return (self.lower > -np.inf) | (self.upper < np.inf)

    def part(self, start: int, stop: int) -> Column:
        """A range of rows, before any is arrested."""
        given = None if self.given is None else self.given[start:stop]
        if self._made_of is not None:
            return Column.of(self.table, self._made_of.part(start, stop), given)
        lower = np.ascontiguousarray(self.lower[start:stop])
        upper = lower if self.upper is self.lower else np.ascontiguousarray(self.upper[start:stop])
        return Column(self.table, lower, upper, given, sound=self.sound)

    @property
    def bounds(self) -> Bounds:
        """The bounds as they are read."""
        return Bounds(self.lower, self.upper)

    @property
    def shown(self) -> Bounds:
        """The bounds as they are shown: arrested rows show the bounds that crossed."""
        if self.arrested is None or self.crossed is None:
            return self.bounds
        return Bounds(
            np.where(self.arrested, self.crossed.lower, self.lower),
            np.where(self.arrested, self.crossed.upper, self.upper),
        )

    def put(self, side: int, values: Array) -> None:
        """The column with one end replaced."""
        ends = [self.lower, self.upper]
        ends[side] = values
        self._lower, self._upper = ends
        self._made_of, self.sound = None, False

    def unarrested(self, flags: Array) -> Array:
        """The flagged rows that are not arrested."""
        return flags if self.arrested is None else flags & ~self.arrested

    def arrest(self) -> Array | None:
        """Arrest the rows whose bounds have crossed by more than the tolerance; returns them, or None."""
        if self.sound or self.lower is self.upper:
            return None
        crossing = self.lower > self.upper
        if not any_set(crossing):
            return None
        if self.table.numeric:
            fresh = crossing & ~same(self.lower, self.upper)
        else:
            fresh = self.lower > self.upper + tolerance(self.lower.dtype)
        fresh = self.unarrested(fresh)
        if not any_set(fresh):
            return None
        low, high = (float("-inf"), float("inf")) if self.table.numeric else (0.0, 1.0)
        before = self.crossed or self.bounds
        self.crossed = Bounds(np.where(fresh, self.lower, before.lower), np.where(fresh, self.upper, before.upper))
        self._lower = np.where(~fresh, self.lower, low)
        self._upper = np.where(~fresh, self.upper, high)
        self.arrested = fresh if self.arrested is None else self.arrested | fresh
        return fresh


class Strip:
    """Some rows with the column of each table."""

    def __init__(self, length: int, columns: Mapping[str, Column]) -> None:
        self.length = length
        self.columns = {**columns}

    def column(self, name: str) -> Column:
        return self.columns[name]


def at_default(table: DenseTable, length: int) -> Column:
    """A column without facts."""
    lower, upper = (np.full((1,), end, dtype=np.float64) for end in table.default)
    return Column.of(table, Coded(np.zeros(length, dtype=np.uint8), lower, upper))
