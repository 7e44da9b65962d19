"""The bounds: what a round consumes and returns. Rows are those of the grounding's atoms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.flags import chosen, where_set
from lnnkit.logic.bounds import Bounds, noise, tolerance
from lnnkit.numeric import same
from lnnkit.store.atoms import FALSE, TRUE, Atoms
from lnnkit.store.growing import Growing, Marks
from lnnkit.trail.events import Kind, Trail


def no_rows() -> Tensor:
    return torch.empty(0, dtype=torch.int32)


def one_value(values: Tensor) -> float | None:
    """What all ``values`` are, if they are alike; there is one at least."""
    if values.stride(0) == 0:  # one value, expanded
        return float(values[0])
    least, most = torch.aminmax(values)
    return float(least) if bool(least == most) else None


def distinct(rows: Sequence[Tensor], count: int) -> Tensor:
    """Each of the ``rows``, all below ``count``, once, in order."""
    some = [each for each in rows if len(each)]
    if not some:
        return no_rows()
    if sum(map(len, some)) < count // 32:
        return torch.unique(torch.cat(some))
    flags = torch.zeros(count, dtype=torch.bool)
    for each in some:
        flags.index_fill_(0, each.long(), True)
    return where_set(flags).int()


class State:
    """``lower`` and ``upper`` as they are read: an arrested atom reads as unknown, and its crossed bounds stand in
    ``crossed``. Constants, default rows and arrested atoms are ``frozen``: they receive nothing. Some rows are those of
    ``numbers``, of which unknown is the whole line. ``history`` records the changes, if any is wanted."""

    def __init__(self, dtype: torch.dtype = torch.float64, trail: Trail | None = None) -> None:
        self.dtype = dtype
        self.trail = trail
        self.noise = noise(dtype)  # a smaller gain is rounding, not news
        self.lower = Growing(dtype)
        self.upper = Growing(dtype)
        self._frozen = Marks(torch.bool)
        self._numbers: Marks | None = None  # where there are any
        self.crossed = Crossed(dtype)
        self._additions = 0

    def extend(self, atoms: Atoms, last: Bounds | None = None) -> None:
        """Give every row that the grounding has added its default bounds; those of the ``last`` addition these."""
        for number, (owner, count, stands) in enumerate(atoms.additions[self._additions :], 1 + self._additions):
            if owner < 0:
                self.lower.extend(count, 0.0)
                self.upper.extend(count, 1.0)
                self.lower.values[TRUE] = 1.0
                self.upper.values[FALSE] = 0.0
            else:
                if last is not None and number == len(atoms.additions):
                    self.lower.append(last.lower)
                    self.upper.append(last.upper)
                else:
                    lower, upper = atoms.numbered[owner].default
                    self.lower.extend(count, lower)
                    self.upper.extend(count, upper)
                if atoms.numbered[owner].numeric:
                    self._numbers = self._numbers or Marks(torch.bool)
                    self._numbers.set(len(self.lower) - count, len(self.lower), True)
            if stands:
                self._frozen.set(len(self.lower) - count, len(self.lower), True)
        self._additions = len(atoms.additions)

    def room(self, count: int) -> None:
        """Make room for so many rows in all: memory is taken when they come."""
        for each in (self.lower, self.upper, self._frozen):
            each.room(count)

    def load(self, atoms: Atoms, bounds: Bounds) -> None:
        """Give the rows that the grounding has added last these bounds."""
        self.extend(atoms, bounds)

    @property
    def frozen(self) -> Tensor:
        """Which rows receive nothing; there may be more flags than rows."""
        return self._frozen.reach(len(self.lower))

    @property
    def numbers(self) -> Tensor | None:
        """Which rows are numbers; there may be more flags than rows. None where there are none."""
        return None if self._numbers is None else self._numbers.reach(len(self.lower))

    def unknown(self, side: int, rows: Tensor) -> Tensor:
        """What rows of which nothing is known read as on one side."""
        truth = torch.full(rows.shape, float(side), dtype=self.dtype)
        if self.numbers is None:
            return truth
        return torch.where(self.numbers.index_select(0, rows), math.inf if side else -math.inf, truth)

    def ends(self, side: int) -> Growing:
        """The lower (0) or the upper (1) ends."""
        return self.upper if side else self.lower

    def read(self, rows: Tensor) -> Bounds:
        """(n,) bounds of rows. Nobody may write to them."""
        return Bounds(self.lower.values.index_select(0, rows), self.upper.values.index_select(0, rows))

    def read_run(self, start: int, stop: int) -> Bounds:
        """As ``read``, for rows that follow one another: the state's own values, until it changes."""
        return Bounds(self.lower.values[start:stop], self.upper.values[start:stop])

    def bounds(self, rows: Tensor) -> Bounds:
        """As ``read``, but an arrested atom shows the bounds that crossed."""
        lower, upper = self.read(rows)
        if len(self.crossed):
            place = self.crossed.places(len(self.lower)).index_select(0, rows)
            at = where_set(place >= 0)
            shown = place.index_select(0, at)
            lower.index_copy_(0, at, self.crossed.lower.values.index_select(0, shown))
            upper.index_copy_(0, at, self.crossed.upper.values.index_select(0, shown))
        return Bounds(lower, upper)

    def restore(self, rows: Tensor, old: Bounds) -> None:
        """Meet bounds that rows have had before."""
        for side, values in enumerate(old):
            now = self.ends(side).values.index_select(0, rows)
            some = where_set(values < now if side else values > now)
            tighter, values = rows.index_select(0, some), values.index_select(0, some)
            self.ends(side).values.index_copy_(0, tighter.long(), values)
            if self.trail is not None:
                self.trail.record(Kind.RESTORED, side, tighter, values)

    def arrest(self, rows: Tensor, bounds: Bounds | None = None) -> Tensor:
        """Arrest those rows whose ``bounds`` have crossed; returns them."""
        low, high = self.read(rows) if bounds is None else bounds
        some = where_set(low > high)
        if not some.numel():
            return no_rows()
        rows, low, high = (each.index_select(0, some) for each in (rows, low, high))
        at = low > high + tolerance(self.dtype)
        if self.numbers is not None:
            at = torch.where(self.numbers.index_select(0, rows), ~same(low, high), at)
        crossed = chosen(at & ~self.frozen.index_select(0, rows), rows).int()
        if not crossed.numel():
            return no_rows()
        self.crossed.append(crossed, *self.read(crossed))
        index = crossed.long()
        for side in (0, 1):
            self.ends(side).values.index_copy_(0, index, self.unknown(side, crossed))
        self.frozen.index_fill_(0, index, True)
        if self.trail is not None:
            for side in (0, 1):
                self.trail.record(Kind.OPENED, side, crossed, self.ends(side).values.index_select(0, crossed))
        return crossed


class Crossed:
    """The arrested atoms, with the bounds that crossed."""

    def __init__(self, dtype: torch.dtype) -> None:
        self.rows = Growing(torch.int32)
        self.lower = Growing(dtype)
        self.upper = Growing(dtype)

    def __len__(self) -> int:
        return len(self.rows)

    def append(self, rows: Tensor, lower: Tensor, upper: Tensor) -> None:
        for own, values in ((self.rows, rows), (self.lower, lower), (self.upper, upper)):
            own.append(values)

    def places(self, count: int) -> Tensor:
        """(count,) where each of so many atom rows stands here; -1 for those not arrested."""
        places = torch.full((count,), -1, dtype=torch.int32)
        places[self.rows.values] = torch.arange(len(self.rows), dtype=torch.int32)
        return places

    def flags(self, count: int) -> Tensor:
        """(count,) which atom rows are arrested."""
        flags = torch.zeros(count, dtype=torch.bool)
        flags[self.rows.values] = True
        return flags
