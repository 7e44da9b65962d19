"""The bounds of a strip of rows: a pair of columns for each predicate, number and shared neuron."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from lnnkit.flags import any_set
from lnnkit.logic.bounds import Bounds, tolerance
from lnnkit.numeric import same
from lnnkit.rows.dense_program import DenseTable


class Column:
    """One table's bounds, (n,) each. ``arrested`` rows read as unknown and hear nothing; what crossed there stands in
    ``crossed``. ``given`` says which rows a fact lists; None where none does."""

    __slots__ = ("arrested", "crossed", "given", "lower", "table", "upper")

    def __init__(self, table: DenseTable, lower: Tensor, upper: Tensor, given: Tensor | None = None) -> None:
        self.table = table
        self.lower = lower
        self.upper = upper
        self.given = given
        self.arrested: Tensor | None = None
        self.crossed: Bounds | None = None

    def part(self, start: int, stop: int) -> Column:
        """Some rows that follow one another, before any is arrested."""
        given = None if self.given is None else self.given[start:stop]
        lower = self.lower[start:stop]
        return Column(self.table, lower, lower if self.upper is self.lower else self.upper[start:stop], given)

    @property
    def bounds(self) -> Bounds:
        """As they are read."""
        return Bounds(self.lower, self.upper)

    @property
    def shown(self) -> Bounds:
        """The same, but arrested rows show the bounds that crossed."""
        if self.arrested is None or self.crossed is None:
            return self.bounds
        return Bounds(
            torch.where(self.arrested, self.crossed.lower, self.lower),
            torch.where(self.arrested, self.crossed.upper, self.upper),
        )

    def end(self, side: int) -> Tensor:
        return self.upper if side else self.lower

    def put(self, side: int, values: Tensor) -> None:
        """Another column for one end."""
        if side:
            self.upper = values
        else:
            self.lower = values

    def awake(self, heard: Tensor) -> Tensor:
        """Those of the rows that hear something and are not arrested."""
        return heard if self.arrested is None else heard & ~self.arrested

    def arrest(self) -> Tensor | None:
        """Arrest the rows whose bounds have crossed by more than the tolerance; which they are, or None."""
        if self.lower is self.upper:
            return None
        over = self.lower > self.upper
        if not any_set(over):
            return None
        if self.table.numeric:
            fresh = over & ~same(self.lower, self.upper)
        else:
            fresh = self.lower > self.upper + tolerance(self.lower.dtype)
        fresh = self.awake(fresh)
        if not any_set(fresh):
            return None
        low, high = (float("-inf"), float("inf")) if self.table.numeric else (0.0, 1.0)
        before = self.crossed or self.bounds
        self.crossed = Bounds(
            torch.where(fresh, self.lower, before.lower), torch.where(fresh, self.upper, before.upper)
        )
        self.lower = torch.where(fresh, low, self.lower)
        self.upper = torch.where(fresh, high, self.upper)
        self.arrested = fresh if self.arrested is None else self.arrested | fresh
        return fresh


class Strip:
    """Some rows with the column of each table."""

    def __init__(self, length: int, columns: Mapping[str, Column]) -> None:
        self.length = length
        self.columns = columns

    def column(self, name: str) -> Column:
        return self.columns[name]


def at_default(table: DenseTable, length: int) -> Column:
    """A column of which no fact says anything."""
    lower, upper = table.default
    kind = torch.float64
    return Column(table, torch.full((length,), lower, dtype=kind), torch.full((length,), upper, dtype=kind))
