"""The bounds: what a round consumes and returns. Rows are those of the grounding's atoms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.ground.atoms import FALSE, TRUE, Atoms
from lnnkit.ground.tuples import Growing
from lnnkit.logic.bounds import Bounds, noise, tolerance


@dataclass(frozen=True, slots=True)
class Messages:
    """Bounds sent to atoms: ``value`` (n,) for ``row`` (n,), from ``instance`` (n,) of ``batch``, through ``leaf``."""

    row: Tensor
    value: Tensor
    instance: Tensor
    batch: int
    leaf: int


Sent = tuple[Tensor, Tensor]


def distinct(rows: Sequence[Tensor], count: int) -> Tensor:
    """Each of the ``rows``, all below ``count``, once."""
    total = sum(map(len, rows))
    if total == 0:
        return torch.empty(0, dtype=torch.int64)
    if total < count // 32:
        return torch.unique(torch.cat(list(rows)))
    flags = torch.zeros(count, dtype=torch.bool)
    for some in rows:
        flags[some] = True
    return flags.nonzero().squeeze(1)


class State:
    """``lower`` and ``upper`` as they are read: an arrested atom reads as unknown, and its crossed bounds stand in
    ``crossed``. ``frozen`` rows (constants, default rows, arrested atoms) receive nothing."""

    def __init__(self, dtype: torch.dtype = torch.float64) -> None:
        self.dtype = dtype
        self.noise = noise(dtype)  # a smaller gain is rounding, not news
        self.lower = Growing(dtype)
        self.upper = Growing(dtype)
        self.frozen = Growing(torch.bool)
        self.crossed: dict[int, tuple[float, float]] = {}

    def extend(self, atoms: Atoms) -> None:
        """Give every row that the grounding has added its default bounds."""
        start = len(self.lower)
        if start == len(atoms):
            return
        owner = atoms.owner.values[start:].long()
        defaults = torch.tensor([table.default for table in atoms.numbered] or [(0.0, 1.0)], dtype=self.dtype)
        lower, upper = (
            defaults[:, 0].index_select(0, owner.clamp(min=0)),
            defaults[:, 1].index_select(0, owner.clamp(min=0)),
        )
        frozen = atoms.local.values[start:] < 0
        if start == 0:
            lower[FALSE], upper[FALSE], lower[TRUE], upper[TRUE] = 0.0, 0.0, 1.0, 1.0
            lower[2], upper[2] = 0.0, 1.0
            frozen[:3] = True
        self.lower.append(lower)
        self.upper.append(upper)
        self.frozen.append(frozen)

    def read(self, rows: Tensor) -> Bounds:
        return Bounds(self.lower.values.index_select(0, rows), self.upper.values.index_select(0, rows))

    def bounds(self, rows: Tensor) -> Bounds:
        """As ``read``, but an arrested atom shows the bounds that crossed."""
        lower, upper = self.read(rows)
        if self.crossed:
            for position, row in enumerate(rows.tolist()):
                if row in self.crossed:
                    lower[position], upper[position] = self.crossed[row]
        return Bounds(lower, upper)

    def meet(self, lower: Sequence[Sent], upper: Sequence[Sent]) -> tuple[Tensor, Tensor, Tensor]:
        """Raise and lower the bounds of rows, all at once: (rows, values) each. Returns the rows raised, the rows
        lowered and the rows newly arrested, each once."""
        for row, value in lower:
            self.lower.values.scatter_reduce_(0, row, value, "amax")
        for row, value in upper:
            self.upper.values.scatter_reduce_(0, row, value, "amin")
        raised, lowered = (distinct([row for row, _ in sent], len(self.lower)) for sent in (lower, upper))
        crossed = torch.cat([self.arrest(raised), self.arrest(lowered)])
        return raised, lowered, crossed

    def arrest(self, rows: Tensor) -> Tensor:
        """Arrest those rows whose bounds have crossed; returns them."""
        low, high = self.read(rows)
        crossed = rows[(low > high + tolerance(self.dtype)) & ~self.frozen.values.index_select(0, rows)]
        for row in crossed.tolist():
            self.crossed[row] = (float(self.lower.values[row]), float(self.upper.values[row]))
        self.lower.values[crossed] = 0.0
        self.upper.values[crossed] = 1.0
        self.frozen.values[crossed] = True
        return crossed
