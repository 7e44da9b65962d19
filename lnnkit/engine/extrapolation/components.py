"""The components of what moves: bounds that set each other, labelled alike."""

from __future__ import annotations

import torch
from torch import Tensor

from lnnkit.engine.extrapolation.matrix import Matrix


def components(edges: Matrix) -> Tensor:
    """(rows,) for each row the least row that entries connect it with, whatever their direction."""
    label = torch.arange(edges.rows)
    while True:
        best = torch.minimum(label.index_select(0, edges.target), label.index_select(0, edges.source))
        least = label.scatter_reduce(0, edges.target, best, "amin").scatter_reduce(0, edges.source, best, "amin")
        least = least.scatter_reduce(0, label, least, "amin")  # a root hears of what its rows have met
        least = least.index_select(0, least)
        if torch.equal(least, label):
            return label
        label = least


def anywhere(flags: Tensor, label: Tensor) -> Tensor:
    """(n,) flags of whole components: set where any member's is."""
    found = torch.zeros(len(flags), dtype=torch.bool)
    found[label[flags]] = True
    return found.index_select(0, label)


def greatest(values: Tensor, label: Tensor) -> Tensor:
    """(n,) the greatest value of each member's component."""
    return torch.zeros_like(values).scatter_reduce(0, label, values, "amax").index_select(0, label)
