"""Splits the labels: those to train on, and those held out for early stopping."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.flags import where_set
from lnnkit.learn.labels import Labels

_LEAST = 20  # labels of a predicate and a class that a share is held back of


@dataclass(frozen=True, slots=True)
class Split:
    """Numbers of labels, sorted."""

    train: Tensor
    validation: Tensor


def split(own: Labels, share: float, seed: int) -> Split:
    """A ``share`` of the labels held back, drawn by ``seed``, the same of true and of false labels of each predicate
    that has enough of them. The same label given twice stays on one side."""
    generator = torch.Generator().manual_seed(seed)
    stratum = own.predicate * 2 + own.true
    held = torch.zeros(len(own), dtype=torch.bool)
    for each in torch.unique(stratum).tolist() if share > 0 else []:
        mine = where_set(stratum == each)
        if len(mine) >= _LEAST:
            picked = torch.randperm(len(mine), generator=generator)[: min(round(share * len(mine)), len(mine) - 1)]
            held[mine[picked]] = True
    return Split(where_set(~held), where_set(held))
