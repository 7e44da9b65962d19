"""Splits the labels into training labels and validation labels for early stopping."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.arrays import where_set
from lnnkit.learn.labels import Labels

_LEAST = 20  # fewest labels of a predicate and a class of which a share is held out


@dataclass(frozen=True, slots=True)
class Split:
    """Indices of labels, sorted."""

    train: Tensor
    validation: Tensor


def split(own: Labels, share: float, seed: int) -> Split:
    """Hold out a ``share`` of the labels, drawn by ``seed``, stratified by class for each predicate that has enough of
    them. Repeated labels stay on one side."""
    generator = torch.Generator().manual_seed(seed)
    stratum = own.predicate * 2 + own.true
    held = torch.zeros(len(own), dtype=torch.bool)
    for each in torch.unique(stratum).tolist() if share > 0 else []:
        mine = where_set(stratum == each)
        if len(mine) >= _LEAST:
            picked = torch.randperm(len(mine), generator=generator)[: min(round(share * len(mine)), len(mine) - 1)]
            held[mine[picked]] = True
    return Split(where_set(~held), where_set(held))
