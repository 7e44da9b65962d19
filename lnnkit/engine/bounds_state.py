"""The bounds of all atoms, indexed by the grounding's rows: the state that rounds read and write."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lnnkit.arrays import DOUBLE
from lnnkit.logic.bounds import Bounds, noise, tolerance
from lnnkit.numeric import same
from lnnkit.store.atoms import FALSE, TRUE, Atoms
from lnnkit.store.columns.row_arrays import Array, Growing
from lnnkit.store.columns.sorting import distinct_values
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
    """``lower`` and ``upper`` as they are read: an arrested atom reads as unknown, and its crossed bounds stand in
    ``crossed``. Constants, default rows and arrested atoms are ``frozen``: they receive nothing. Some rows are those of
    ``numbers``, of which unknown is the whole line. ``trail`` records the changes.
    Kernels compute on ``device``."""

    def __init__(self, dtype: np.dtype = DOUBLE, trail: Trail | None = None, device: str = "cpu") -> None:
        self.dtype = dtype
        self.device = device
        self.trail = Trail(dtype, values=False) if trail is None else trail
        self.noise = noise(dtype)  # a smaller gain is rounding
        self.tolerance = tolerance(dtype)
        self.lower = Growing(dtype)
        self.upper = Growing(dtype)
        self._frozen = Growing(np.bool_)
        self._numbers: Growing | None = None  # None while there are no numbers
        self.crossed = Crossed(dtype)
        self._length = 0

    def extend(self, atoms: Atoms) -> None:
        """Give every row that the grounding has added its default bounds, on the sides where it has none yet."""
        if self._length == atoms.length:
            return
        for start, stop, owner, stands in atoms.added(self._length):
            lower, upper = (0.0, 1.0)
            if owner >= 0:
                table = atoms.numbered[owner]
                lower, upper = table.unnamed if start == table.unnamed_row else table.default
            self.lower.fill(start, stop, lower)
            self.upper.fill(start, stop, upper)
            if start == TRUE:
                self.lower.values[TRUE] = 1.0
                self.upper.values[FALSE] = 0.0
            if lower == -math.inf:
                self._numbers = self._numbers or Growing(np.bool_)
                self._numbers.set(start, stop, True)
            if stands:
                self._frozen.set(start, stop, True)
        self._length = atoms.length

    def load(self, atoms: Atoms, bounds: Bounds) -> None:
        """Set the bounds of the rows that the grounding added last; all others have theirs."""
        self.lower.append(bounds.lower)
        self.upper.append(bounds.upper)
        self.extend(atoms)

    @property
    def frozen(self) -> Array:
        """Which rows receive nothing; there may be more flags than rows."""
        return self._frozen.reach(len(self.lower))

    @property
    def numbers(self) -> Array | None:
        """Which rows are numbers; there may be more flags than rows. None where there are none."""
        return None if self._numbers is None else self._numbers.reach(len(self.lower))

    def unknown(self, side: int, rows: Array) -> Array:
        """The unknown bound on one side of each row."""
        truth = np.full(rows.shape, float(side), self.dtype)
        if self.numbers is not None:
            truth[self.numbers.take(rows)] = math.inf if side else -math.inf
        return truth

    def ends(self, side: int) -> Growing:
        """The lower (0) or the upper (1) ends."""
        return self.upper if side else self.lower

    def read(self, rows: Array) -> Bounds:
        """(n,) the bounds of rows; read-only."""
        return Bounds(self.lower.values.take(rows), self.upper.values.take(rows))

    def read_run(self, start: int, stop: int) -> Bounds:
        """As ``read``, for consecutive rows: the state's own values, until it changes."""
        return Bounds(self.lower.values[start:stop], self.upper.values[start:stop])

    def bounds(self, rows: Array) -> Bounds:
        """As ``read``, but an arrested atom shows the bounds that crossed."""
        lower, upper = self.read(rows)
        if len(self.crossed):
            place = self.crossed.places(len(self.lower)).take(np.asarray(rows))
            at = np.flatnonzero(place >= 0)
            shown = place.take(at)
            lower[at] = self.crossed.lower.values.take(shown)
            upper[at] = self.crossed.upper.values.take(shown)
        return Bounds(lower, upper)

    def step(self) -> None:
        """Begin a new tick: later events read what has been written so far."""
        self.trail.step()

    def put(
        self,
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
        self.ends(side).values[at] = values
        if kind is not None:
            self.trail.record(kind, side, rows, values, batch, leaf, instances)

    def restore(self, rows: Array, old: Bounds) -> None:
        """Meet rows with bounds that they had before."""
        for side, values in enumerate(old):
            now = self.ends(side).values.take(rows)
            some = np.flatnonzero(values < now if side else values > now)
            tighter, values = rows.take(some), values.take(some)
            self.put(side, tighter, values, Kind.RESTORED)

    def arrest(self, rows: Array, bounds: Bounds | None = None) -> Array:
        """Arrest those rows whose ``bounds`` have crossed; returns them."""
        low, high = self.read(rows) if bounds is None else bounds
        some = np.flatnonzero(low > high)
        if not len(some):
            return no_rows()
        rows, low, high = (each.take(some) for each in (rows, low, high))
        at = low > high + tolerance(self.dtype)
        if self.numbers is not None:
            alike = same(low, high)
            at = np.where(self.numbers.take(rows), ~alike, at)
        crossed = rows[at & ~self.frozen.take(rows)].astype(np.int32, copy=False)
        if not len(crossed):
            return no_rows()
        self.crossed.append(crossed, *self.read(crossed))
        for side in (0, 1):
            self.put(side, crossed, self.unknown(side, crossed), Kind.OPENED)
        self.frozen[crossed] = True
        return crossed


class Crossed:
    """The arrested atoms, with the bounds that crossed."""

    def __init__(self, dtype: np.dtype) -> None:
        self.rows = Growing(np.int32)
        self.lower = Growing(dtype)
        self.upper = Growing(dtype)

    def __len__(self) -> int:
        return len(self.rows)

    def append(self, rows: Array, lower: Array, upper: Array) -> None:
        for own, values in ((self.rows, rows), (self.lower, lower), (self.upper, upper)):
            own.append(values)

    def places(self, count: int) -> Array:
        """(count,) the index of each atom row here; -1 for rows that are not arrested."""
        places = np.full(count, -1, dtype=np.int32)
        places[self.rows.values] = np.arange(len(self.rows), dtype=np.int32)
        return places

    def flags(self, count: int) -> Array:
        """(count,) flags of arrested atom rows."""
        flags = np.zeros(count, dtype=bool)
        flags[self.rows.values] = True
        return flags
