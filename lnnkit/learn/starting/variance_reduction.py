"""Candidate values of parameters, scored by the sum of squares between the cells into which a comparison divides the
rows, the split criterion of regression trees (Breiman et al. 1984)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from lnnkit.numeric import same


@dataclass(frozen=True, slots=True)
class Candidate:
    """Values of parameters, their score (the sum of squares that they explain), and the spread of the values with which
    each constant is compared."""

    values: Mapping[str, float]
    gain: float
    spreads: Mapping[str, float] = field(default_factory=dict)


def told_by_cut(values: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    """The best split of each row of ``values`` ``[candidates, rows]``, halfway between two neighbours, and its score on
    ``truth`` ``[rows]``. NaN values belong to neither side."""
    known = values.isfinite()
    ordered, order = torch.where(known, values, torch.inf).sort(1)
    own = torch.where(known, truth, 0.0).gather(1, order)
    count = known.sum(1, keepdim=True).double()
    left, total = own.cumsum(1), own.sum(1, keepdim=True)
    first = torch.arange(1, values.shape[1] + 1, dtype=torch.float64).expand_as(left)
    rest = (count - first).clamp(min=1.0)
    found = left.square() / first + (total - left).square() / rest - total.square() / count.clamp(min=1.0)
    here, following = ordered[:, :-1], ordered[:, 1:]
    apart = following.isfinite() & ~same(here, following)
    found = torch.where(apart, found[:, :-1], -torch.inf)
    if not found.shape[1]:
        return torch.zeros(len(values), dtype=torch.float64), ordered[:, 0]
    gain, place = found.max(1)
    cut = ((here + following) / 2).gather(1, place[:, None]).squeeze(1)
    none = gain == -torch.inf
    return torch.where(none, 0.0, gain), torch.where(none, here[:, 0], cut)


def told_by_value(values: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    """As `told_by_cut`, for splits into one value and all others."""
    gains: list[Tensor] = []
    found: list[Tensor] = []
    for own in values:
        known = own.isfinite()
        each, place = torch.unique(own[known], return_inverse=True)
        if not len(each):
            gains.append(torch.zeros((), dtype=torch.float64))
            found.append(torch.zeros((), dtype=torch.float64))
            continue
        sums = torch.zeros(len(each), dtype=torch.float64).index_add_(0, place, truth[known])
        counts = torch.bincount(place).double()
        total, count = sums.sum(), counts.sum()
        told = sums.square() / counts + (total - sums).square() / (count - counts).clamp(min=1.0) - total**2 / count
        best = told.argmax()
        gains.append(told[best])
        found.append(each[best])
    return torch.stack(gains), torch.stack(found)


def told_by_cells(cells: Tensor, truth: Tensor) -> Tensor:
    """The score ``[candidates]`` of partitions: cells ``[candidates, rows]``, numbered from 0 (-1: in none)."""
    known = cells >= 0
    own = torch.where(known, truth, 0.0)
    total, count = own.sum(1), known.sum(1).double().clamp(min=1.0)
    found = -total.square() / count
    for cell in range(int(cells.max()) + 1 if cells.numel() else 0):
        mine = cells == cell
        size = mine.sum(1).double()
        found = found + torch.where(mine, truth, 0.0).sum(1).square() / size.clamp(min=1.0)
    return found


def signs(difference: Tensor) -> Tensor:
    """0 where a difference is below, 1 where it is at and 2 where it is above 0; -1 where it is NaN."""
    return torch.where(difference.isfinite(), difference.sign().nan_to_num().long() + 1, -1)
