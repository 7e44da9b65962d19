"""How rules are tried: on held-out rows, stratified by class, and within a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

_FOLDS = 5
_HELD = 0.25  # cross-validation with this many folds, or a quarter held out, gave the accuracies of README's ten tables

RowSplit = tuple[np.ndarray, np.ndarray]  # training rows, held-out rows


def folds(positive: np.ndarray, rng: np.random.Generator) -> list[RowSplit]:
    """The rows inside and outside of each fold; fewer folds for a class of few rows, none for a class of one row."""
    return _parts(
        StratifiedKFold(min(_FOLDS, max(2, _rarer(positive))), shuffle=True, random_state=_seed(rng)), positive
    )


def split(positive: np.ndarray, rng: np.random.Generator) -> RowSplit:
    """Training rows and held-out rows."""
    (part,) = _parts(
        StratifiedShuffleSplit(1, test_size=max(_HELD, 2 / len(positive)), random_state=_seed(rng)), positive
    )
    return part


def _parts(splitter: BaseCrossValidator | BaseShuffleSplit, positive: np.ndarray) -> list[RowSplit]:
    """The splits; all rows on both sides if a class has no row to spare."""
    every = np.arange(len(positive))
    if _rarer(positive) < 2 or len(positive) < 4:
        return [(every, every)]
    return [(np.sort(inside), np.sort(out)) for inside, out in splitter.split(every, positive)]


def _rarer(positive: np.ndarray) -> int:
    """The number of rows of the rarer class."""
    true = int(positive.sum())
    return min(true, len(positive) - true)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


@dataclass
class Clock:
    """Wall-clock time for steps of growing cost: the next begins if as much time is left as the last one took."""

    seconds: float | None = None
    tell: Callable[[str], None] = lambda step: None
    _started: float = field(default_factory=time.monotonic)
    _last: float = field(default_factory=time.monotonic)

    def begins(self, step: str) -> bool:
        """Tell of the next step; whether there is time for it. There always is for the first."""
        now = time.monotonic()
        took, self._last = now - self._last, now
        if self.seconds is not None and now + took > self._started + self.seconds:
            return False
        self.tell(step)
        return True
