"""How inference writes bounds: what a change is recorded as, what is rounding, and which rows are arrested."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence

import numpy as np

from lnnkit.arrays import DOUBLE
from lnnkit.logic.bounds import Bounds, noise, tolerance
from lnnkit.numeric import same
from lnnkit.store.relations import Relation
from lnnkit.store.row_arrays import Array, distinct_values, spelled_out
from lnnkit.trail.events import NOBODY, Kind, Trail


def no_rows() -> Array:
    return np.empty(0, np.int32)


def distinct(rows: Sequence[Array]) -> Array:
    """The distinct ``rows``, ascending."""
    parts = [part for part in rows if len(part)]
    if not parts:
        return no_rows()
    first, last = min(int(part.min()) for part in parts), max(int(part.max()) for part in parts)
    if sum(map(len, parts)) < (last - first) // 32:
        return distinct_values(np.concatenate(parts))
    flags = np.zeros(last - first + 1, dtype=bool)
    for part in parts:
        flags[part - first] = True
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
        shape: int = NOBODY,
        leaf: int = 0,
        instances: Array | range = range(1),
    ) -> None:
        """Set one side of rows to these bounds, whatever they had, and record it under ``kind`` (None: not recorded).
        The proposals of rounds are met with the present bounds by `lnnkit.engine.merge`; all other changes are written
        here."""
        at = slice(rows.start, rows.stop) if isinstance(rows, range) else rows
        table.writable(side)[at] = values
        if kind is not None:
            self.trail.record(kind, table.number, side, rows, values, shape, leaf, instances)

    def begin(self, table: Relation, rows: Array) -> None:
        """Let derived numbers without a value be completed: they start from the worst."""
        none = rows[table.take(0, rows) > table.take(1, rows)] if table.derived else no_rows()
        for side in (0, 1):
            self.put(table, side, none, table.worst, None)

    def restore(self, table: Relation, rows: Array, old: Bounds) -> None:
        """Meet rows with bounds that they had before."""
        for side, values in enumerate(old):
            now = table.take(side, rows)
            tighter = np.flatnonzero(values < now if side else values > now)
            self.put(table, side, rows.take(tighter), values.take(tighter), Kind.RESTORED)

    def arrest(self, table: Relation, rows: Array, bounds: Bounds | None = None) -> Array:
        """Arrest those rows whose ``bounds`` have crossed; returns them."""
        low, high = table.read(rows) if bounds is None else bounds
        valued = (low < np.inf) | (high > -np.inf)  # a number without a value has not crossed
        crossing = np.flatnonzero((low > high) & valued)
        if not len(crossing):
            return no_rows()
        rows, low, high = (column.take(crossing) for column in (rows, low, high))
        beyond = ~same(low, high) if table.numeric else low > high + tolerance(self.dtype)
        table.in_order &= bool(beyond.all())
        crossed = rows[beyond & ~table.held(rows)].astype(np.int32, copy=False)
        if not len(crossed):
            return no_rows()
        if not len(table.crossed):
            insort(self.crossed, table, key=lambda relation: relation.number)
        table.crossed.append(crossed, *table.read(crossed))
        for side in (0, 1):
            self.put(table, side, crossed, table.unknown[side], Kind.OPENED)
        table.frozen.put(crossed, True)
        table.enlist_arrested(crossed)
        return crossed


def shown(table: Relation, rows: Array | range) -> Bounds:
    """(n,) the bounds of rows, read-only; an arrested atom shows those that crossed."""
    if len(table.crossed):
        rows = spelled_out(rows)
        lower, upper = table.read(rows)
        at = np.flatnonzero(rows >= 0)
        place = table.crossed.places(len(table)).take(rows.take(at))
        at, place = at[place >= 0], place[place >= 0]
        lower[at] = table.crossed.lower.values.take(place)
        upper[at] = table.crossed.upper.values.take(place)
        return Bounds(lower, upper)
    return table.read(rows)
