"""Logistic regression with a separate penalty for each column, on truths between 0 and 1.

scikit-learn's `LogisticRegression` has a single penalty and class labels. Dividing each column by the root of its
penalty, and repeating each row for both classes with weights from its truth, is equivalent.
"""

from __future__ import annotations

import numpy as np
from sklearn import config_context
from sklearn.linear_model import LogisticRegression

# Measured as in weighted_rules.py, from 0.775.
# Penalties, in rows; 30 alone: 0.777, 10 alone: 0.780, 100, 10 and 1: 0.774
PENALTIES = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0)
_WIDE = 400  # number of terms; 100: 0.780


def regression(
    rows: np.ndarray, target: np.ndarray, weight: np.ndarray, costs: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """(m + 1,) the intercept and the weights of the columns of ``rows`` (n, m) that minimise ``sum weight * log loss +
    sum costs * w^2 / 2``, starting at ``start`` (m + 1,). ``costs`` (m,) are positive, ``target`` (n,) is within [0,
    1]. Without columns, or if all targets are 0 or all are 1, only the intercept is fitted."""
    true, false = np.flatnonzero(target > 0), np.flatnonzero(target < 1)
    if not len(true) or not len(false) or not rows.shape[1]:
        rate = np.clip(weight @ target / weight.sum(), 1e-6, 1 - 1e-6)
        return np.concatenate([[np.log(rate / (1 - rate))], np.zeros(rows.shape[1])])
    both = np.concatenate([true, false])
    classes = np.repeat([1, 0], [len(true), len(false)])
    shares = np.concatenate([target[true], 1 - target[false]]) * weight[both]
    roots = np.sqrt(costs).astype(rows.dtype)
    model = LogisticRegression(solver="newton-cholesky", warm_start=True)
    model.coef_, model.intercept_ = (start[None, 1:] * roots).astype(rows.dtype), start[:1]
    with config_context(assume_finite=True, skip_parameter_validation=True):  # hundreds of small fits
        model.fit((rows / roots)[both], classes, shares)
    return np.concatenate([model.intercept_, model.coef_[0] / roots]).astype(np.float64)


def sigmoid(score: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(score, -30, 30)))


def log_losses(score: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """(n,) the log loss of each row."""
    return np.logaddexp(0.0, np.where(positive, -score, score))


def moments(rows: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m,) the means of columns and their spreads, which are positive."""
    share = weight / weight.sum()
    mean = share @ rows
    return mean, np.sqrt(np.maximum(share @ (rows - mean) ** 2, 1e-4))


class Reference:
    """Regressions on the most informative terms, one for each penalty, fitted to the rows ``inside``."""

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
        """(n,) the predicted truths of the regression with that penalty."""
        return sigmoid(self._score(penalty, rows))

    def losses(self, rows: np.ndarray, positive: np.ndarray) -> np.ndarray:
        """(penalties, n) the log losses."""
        return np.stack([log_losses(self._score(place, rows), positive) for place in range(len(PENALTIES))])

    def _score(self, penalty: int, rows: np.ndarray) -> np.ndarray:
        own = self._weights[penalty]
        return own[0] + ((self._rows[rows][:, self._chosen] - self._mean) / self._spread) @ own[1:]
