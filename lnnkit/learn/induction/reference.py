"""A logistic regression on all terms under a squared penalty: what a rule of few of them is to say."""

from __future__ import annotations

import numpy as np

from lnnkit.learn.induction.logistic_regression import log_losses, regression, sigmoid
from lnnkit.learn.induction.selection import moments

PENALTIES = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0)  # in rows
_WIDE = 400  # terms that take part


class Reference:
    """Regressions on the terms that tell most, one for each penalty, of the rows ``inside``."""

    def __init__(
        self, rows: np.ndarray, costs: np.ndarray, positive: np.ndarray, weight: np.ndarray, inside: np.ndarray
    ) -> None:
        self._rows = rows
        own_rows, target, counts = rows[inside], positive[inside].astype(np.float64), weight[inside]
        mean, spread = moments(own_rows, counts)
        slope = np.abs((counts * (target - counts @ target / counts.sum())) @ (own_rows - mean)) / spread
        self._chosen = np.sort(np.argsort(-slope, kind="stable")[:_WIDE])
        self._mean, self._spread = mean[self._chosen], spread[self._chosen]
        design = ((own_rows[:, self._chosen] - self._mean) / self._spread).astype(np.float32)
        own = np.zeros(len(self._chosen) + 1)
        self._weights: list[np.ndarray] = []
        for penalty in PENALTIES:
            own = regression(design, target, counts, penalty * costs[self._chosen], own)
            self._weights.append(own)

    def truth(self, penalty: int, rows: np.ndarray) -> np.ndarray:
        """(n,) by the regression of that penalty."""
        return sigmoid(self._score(penalty, rows))

    def losses(self, rows: np.ndarray, positive: np.ndarray) -> np.ndarray:
        """(penalties, n)"""
        return np.stack([log_losses(self._score(place, rows), positive) for place in range(len(PENALTIES))])

    def _score(self, penalty: int, rows: np.ndarray) -> np.ndarray:
        own = self._weights[penalty]
        return own[0] + ((self._rows[rows][:, self._chosen] - self._mean) / self._spread) @ own[1:]
