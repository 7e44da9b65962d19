"""Rows held back from training, with the same share of true ones as those trained on."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

_FOLDS = 5
_HELD = 0.25  # with each in turn held back, or a quarter, the accuracies of the README's ten tables were measured

Part = tuple[np.ndarray, np.ndarray]  # rows to train on, rows held back


def folds(positive: np.ndarray, rng: np.random.Generator) -> list[Part]:
    """Rows inside and outside of each fold; of a class of few rows fewer folds, of one of a single row none."""
    return _parts(
        StratifiedKFold(min(_FOLDS, max(2, _rarer(positive))), shuffle=True, random_state=_seed(rng)), positive
    )


def split(positive: np.ndarray, rng: np.random.Generator) -> Part:
    """Rows to train on and rows held back."""
    (part,) = _parts(
        StratifiedShuffleSplit(1, test_size=max(_HELD, 2 / len(positive)), random_state=_seed(rng)), positive
    )
    return part


def _parts(splitter: BaseCrossValidator | BaseShuffleSplit, positive: np.ndarray) -> list[Part]:
    """All rows on both sides where a class has no row to spare."""
    every = np.arange(len(positive))
    if _rarer(positive) < 2 or len(positive) < 4:
        return [(every, every)]
    return [(np.sort(inside), np.sort(out)) for inside, out in splitter.split(every, positive)]


def _rarer(positive: np.ndarray) -> int:
    """How many rows the rarer class has."""
    true = int(positive.sum())
    return min(true, len(positive) - true)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))
