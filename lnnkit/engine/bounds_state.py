"""How inference writes bounds: what a change is recorded as, what is rounding, and which rows are arrested; and which
bounds depend on those."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lnnkit.arrays import DOUBLE
from lnnkit.logic.bounds import Bounds, noise, tolerance
from lnnkit.numeric import same
from lnnkit.store.columns.row_arrays import Array
from lnnkit.store.columns.sorting import distinct_values
from lnnkit.store.relations import Relation, RowNumbers
from lnnkit.trail.events import NOBODY, Kind, Trail


def no_rows() -> Array:
    return np.empty(0, np.int32)


def one_value(values: Array) -> float | None:
    """The common value of ``values``, which are not empty; None if they differ."""
    first = values[0]
    if values.strides == (0,) or (values[-1] == first and (values == first).all()):  # a broadcast value, or equal ones
        return float(first)
    return None


def distinct(rows: Sequence[Array]) -> Array:
    """The distinct ``rows``, ascending."""
    some = [each for each in rows if len(each)]
    if not some:
        return no_rows()
    first, last = min(int(each.min()) for each in some), max(int(each.max()) for each in some)
    if sum(map(len, some)) < (last - first) // 32:
        return distinct_values(np.concatenate(some))
    flags = np.zeros(last - first + 1, dtype=bool)
    for each in some:
        flags[each - first] = True
    return np.flatnonzero(flags).astype(np.int32) + np.int32(first)


class State:
    """``trail`` records the changes. Kernels compute on ``device``. ``crossed`` are the relations with arrested rows,
    by number."""

    def __init__(self, dtype: np.dtype = DOUBLE, trail: Trail | None = None, device: str = "cpu") -> None:
        self.dtype = dtype
        self.device = device
        self.trail = Trail(dtype, values=False) if trail is None else trail
        self.noise = noise(dtype)  # a smaller gain is rounding
        self.tolerance = tolerance(dtype)
        self.crossed: list[Relation] = []

    @property
    def crossings(self) -> int:
        """The number of arrested atoms."""
        return sum(len(table.crossed) for table in self.crossed)

    def put(
        self,
        table: Relation,
        side: int,
        rows: Array | range,
        values: Array | float,
        kind: Kind | None,
        batch: int = NOBODY,
        leaf: int = 0,
        instances: Array | range = range(1),
    ) -> None:
        """Set one side of rows to these bounds, whatever they had, and record it under ``kind`` (None: not recorded).
        The proposals of rounds are met with the present bounds by `lnnkit.engine.merge`; all other changes are written
        here."""
        at = slice(rows.start, rows.stop) if isinstance(rows, range) else rows
        table.writable(side)[at] = values
        if kind is not None:
            self.trail.record(kind, table.number, side, rows, values, batch, leaf, instances)

    def restore(self, table: Relation, rows: Array, old: Bounds) -> None:
        """Meet rows with bounds that they had before."""
        for side, values in enumerate(old):
            now = table.take(side, rows)
            some = np.flatnonzero(values < now if side else values > now)
            tighter, values = rows.take(some), values.take(some)
            self.put(table, side, tighter, values, Kind.RESTORED)

    def arrest(self, table: Relation, rows: Array, bounds: Bounds | None = None) -> Array:
        """Arrest those rows whose ``bounds`` have crossed; returns them."""
        low, high = table.read(rows) if bounds is None else bounds
        some = np.flatnonzero(low > high)
        if not len(some):
            return no_rows()
        rows, low, high = (each.take(some) for each in (rows, low, high))
        at = ~same(low, high) if table.numeric else low > high + tolerance(self.dtype)
        table.in_order &= bool(at.all())
        crossed = rows[at & ~table.held(rows)].astype(np.int32, copy=False)
        if not len(crossed):
            return no_rows()
        if not len(table.crossed):
            insort(self.crossed, table, key=lambda each: each.number)
        table.crossed.append(crossed, *table.read(crossed))
        for side in (0, 1):
            self.put(table, side, crossed, table.unknown[side], Kind.OPENED)
        table.frozen.put(crossed, True)
        table.enlist_arrested(crossed)
        return crossed


def shown(table: Relation, rows: Array) -> Bounds:
    """(n,) the bounds of rows; an arrested atom shows those that crossed."""
    lower, upper = table.read(rows)
    if len(table.crossed):
        place = table.crossed.places(len(table))
        at = np.flatnonzero(rows >= 0)
        mine = place.take(rows.take(at))
        at, mine = at[mine >= 0], mine[mine >= 0]
        lower[at] = table.crossed.lower.values.take(mine)
        upper[at] = table.crossed.upper.values.take(mine)
    return Bounds(lower, upper)


Flags = tuple[Array, Array]  # one entry for each of all rows, for its lower and its upper end


@dataclass(frozen=True)
class Contested:
    """``flags`` of all rows mark the bounds that depend on an arrested atom or on an arrested instance."""

    numbers: RowNumbers
    flags: Flags

    def among(self, table: Relation, rows: Array) -> Flags:
        """The flags of rows of a relation."""
        numbers = self.numbers.of(table, rows)
        return self.flags[0].take(numbers), self.flags[1].take(numbers)

    def marked(self, rows: Iterable[tuple[Relation, Array]]) -> Contested:
        """With some rows of relations flagged too."""
        lower, upper = (flags.copy() for flags in self.flags)
        for table, some in rows:
            numbers = self.numbers.of(table, some)
            lower[numbers] = upper[numbers] = True
        return replace(self, flags=(lower, upper))


@dataclass(frozen=True)
class Doubted:
    """The bounds of relations in which contested ones are unknown or, ``by_default``, as near to their default as the
    other bounds allow. A completed atom is false by default, so a value that differs between the two depends on the
    contradiction."""

    contested: Contested
    by_default: bool = False

    def read(self, table: Relation, rows: Array) -> Bounds:
        """(n,) the bounds of rows of a relation."""
        (lower, upper), flags = table.read(rows), self.contested.among(table, rows)
        low, high = (
            np.where(some, end, own) for some, end, own in zip(flags, table.unknown, (lower, upper), strict=True)
        )
        if not self.by_default:
            return Bounds(low, high)
        near = high.clip(None, table.default[0]), low.clip(table.default[1])
        return Bounds(*(np.where(some, end, own) for some, end, own in zip(flags, near, (lower, upper), strict=True)))
