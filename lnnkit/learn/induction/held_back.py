"""Rows held back from training, with the same share of true ones as those trained on."""

from __future__ import annotations

import numpy as np

_FOLDS = 5
_HELD = 0.25

Part = tuple[np.ndarray, np.ndarray]  # rows to train on, rows held back


def folds(positive: np.ndarray, rng: np.random.Generator) -> list[Part]:
    """Rows inside and outside of each fold, with the same share of true ones."""
    fold = np.zeros(len(positive), int)
    for kind in (True, False):
        mine = rng.permutation(np.flatnonzero(positive == kind))
        fold[mine] = np.arange(len(mine)) % _FOLDS
    parts = [(np.flatnonzero(fold != each), np.flatnonzero(fold == each)) for each in range(_FOLDS)]
    good = [(inside, out) for inside, out in parts if len(out) and len(np.unique(positive[inside])) > 1]
    return good or [(np.arange(len(positive)), np.arange(len(positive)))]


def split(positive: np.ndarray, rng: np.random.Generator) -> Part:
    """Rows to train on and rows held back, with the same share of true ones."""
    held = np.zeros(len(positive), bool)
    for kind in (True, False):
        mine = np.flatnonzero(positive == kind)
        held[rng.permutation(mine)[: round(_HELD * len(mine))]] = True
    if held.all() or not held.any():
        return np.arange(len(positive)), np.arange(len(positive))
    return np.flatnonzero(~held), np.flatnonzero(held)
