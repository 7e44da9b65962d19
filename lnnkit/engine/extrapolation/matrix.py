"""A square matrix of few nonnegative entries. Sums go by row and column, so that equal matrices give equal bits."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_FILL = 8_000_000  # entries that a square may have, before those at one place are added up
_DUST = 1e-25  # entries below it are left out: they are nonnegative, so what is computed without them is less


@dataclass(frozen=True, slots=True)
class Matrix:
    """``value`` (n,) at rows ``target`` and columns ``source``, sorted, each place once."""

    rows: int
    target: Tensor
    source: Tensor
    value: Tensor

    def times(self, vector: Tensor) -> Tensor:
        """``A v``."""
        return torch.zeros_like(vector).index_add_(0, self.target, self.value * vector.index_select(0, self.source))

    def squared(self) -> Matrix | None:
        """``A A``; None where that would have too many entries."""
        count = torch.bincount(self.target, minlength=self.rows)
        stop = count.cumsum(0)
        following = count.index_select(0, self.source)
        total = int(following.sum())
        if total > _FILL:
            return None
        left = torch.arange(len(self.value)).repeat_interleave(following)
        offset = torch.arange(total) - (following.cumsum(0) - following).index_select(0, left)
        middle = self.source.index_select(0, left)
        right = (stop - count).index_select(0, middle) + offset
        value = self.value.index_select(0, left) * self.value.index_select(0, right)
        return matrix(self.rows, self.target.index_select(0, left), self.source.index_select(0, right), value)

    def least(self, other: Matrix) -> Matrix:
        """The lesser entry at each place."""
        mine, theirs = (each.target * self.rows + each.source for each in (self, other))
        place = torch.searchsorted(theirs, mine).clamp(max=max(len(theirs) - 1, 0))
        both = theirs.index_select(0, place) == mine if len(theirs) else torch.zeros_like(mine, dtype=torch.bool)
        value = torch.minimum(self.value[both], other.value.index_select(0, place[both]))
        return Matrix(self.rows, self.target[both], self.source[both], value)


def matrix(rows: int, target: Tensor, source: Tensor, value: Tensor) -> Matrix:
    """The matrix with these entries, those at one place added up in their order."""
    key, order = (target * rows + source).sort(stable=True)
    place, inverse = key.unique_consecutive(return_inverse=True)
    total = torch.zeros(len(place), dtype=value.dtype).index_add_(0, inverse, value.index_select(0, order))
    keep = total > _DUST
    place, total = place[keep], total[keep]
    return Matrix(rows, place // rows, place % rows, total)
