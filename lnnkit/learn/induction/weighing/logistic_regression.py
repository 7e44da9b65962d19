"""Logistic regression with a separate penalty for each column, on truths between 0 and 1, by Newton's method with the
curvature of some rows only (Roosta-Khorasani and Mahoney, "Sub-sampled Newton methods", 2019)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

# Measured as in weighted_rules.py.
PENALTIES = (100.0, 30.0, 10.0, 3.0)  # in rows
_WIDE = 400  # number of terms
_CURVED = 4096  # rows whose curvature is used: ten to a term
_STEPS = 30
_NEAR = 1e-3  # log loss that another step would save
_CHUNK = 2048  # rows converted at a time


def regression(
    rows: np.ndarray, target: np.ndarray, weight: np.ndarray, costs: np.ndarray, start: np.ndarray, steps: int = _STEPS
) -> np.ndarray:
    """(m + 1,) the intercept and the weights of the columns of ``rows`` (n, m) that minimise ``sum weight * log loss +
    sum costs * w^2 / 2``, starting at ``start`` (m + 1,). ``costs`` (m,) are positive, ``target`` (n,) is within [0,
    1]. Without columns, or if all targets are 0 or all are 1, only the intercept is fitted."""
    if not rows.shape[1] or not (target > 0).any() or not (target < 1).any():
        rate = np.clip(weight @ target / weight.sum(), 1e-6, 1 - 1e-6)
        return np.concatenate([[np.log(rate / (1 - rate))], np.zeros(rows.shape[1])])
    some = np.arange(0, len(rows), -(-len(rows) // _CURVED))
    sample = np.concatenate([np.ones((len(some), 1)), rows[some]], axis=1, dtype=np.float32)
    share = weight[some] * (weight.sum() / weight[some].sum())
    every = np.concatenate([[0.0], costs])
    own, curvature = start.astype(np.float64), np.zeros(0)
    loss, slope = _loss(rows, target, weight, every, own)
    for number in range(steps):
        if number < 3 or len(some) == len(rows):
            true = sigmoid(sample @ own.astype(np.float32))
            curve = np.maximum(share * true * (1 - true), 1e-6 * share).astype(np.float32)
            curvature = (sample.T @ (sample * curve[:, None])).astype(np.float64) + np.diag(every)
            curvature[np.diag_indices_from(curvature)] *= 1 + 1e-6  # single precision
        step = np.linalg.solve(curvature, slope)
        if slope @ step < 2 * _NEAR:
            break
        for _ in range(8):
            after, steeper = _loss(rows, target, weight, every, own - step)
            if after < loss:
                break
            step /= 2
        else:
            break
        own, loss, slope = own - step, after, steeper
    return own


def _loss(
    rows: np.ndarray, target: np.ndarray, weight: np.ndarray, costs: np.ndarray, own: np.ndarray
) -> tuple[float, np.ndarray]:
    loss, slope = float(costs @ own**2) / 2, costs * own
    for part, block in blocks(rows):
        score = own[0] + block @ own[1:].astype(block.dtype)
        loss += float(weight[part] @ (np.logaddexp(0.0, score) - target[part] * score))
        wrong = weight[part] * (sigmoid(score) - target[part])
        slope[0] += wrong.sum()
        slope[1:] += wrong.astype(block.dtype) @ block
    return loss, slope


def blocks(rows: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Parts of ``rows`` in floating point; whole numbers in single precision."""
    for start in range(0, len(rows), _CHUNK):
        part = slice(start, start + _CHUNK)
        yield part, rows[part] if rows.dtype.kind == "f" else rows[part].astype(np.float32)


def sigmoid(score: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(score, -30, 30)))


def log_losses(score: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """(n,) the log loss of each row."""
    return np.logaddexp(0.0, np.where(positive, -score, score))


def moments(rows: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m,) the means of columns and their spreads, which are positive."""
    share = weight / weight.sum()
    mean, square = np.zeros((2, rows.shape[1]))
    for part, block in blocks(rows):
        mean += share[part] @ block
    for part, block in blocks(rows):
        square += share[part] @ (block - mean.astype(block.dtype)) ** 2
    return mean, np.sqrt(np.maximum(square, 1e-4))


class Reference:
    """Regressions on the most informative of the ``columns`` of terms (n, m), one for each penalty, fitted to the rows
    ``inside``. ``costs`` are the columns' shares of the penalty."""

    def __init__(
        self,
        rows: np.ndarray,
        columns: np.ndarray,
        costs: np.ndarray,
        positive: np.ndarray,
        weight: np.ndarray,
        inside: np.ndarray,
    ) -> None:
        self._rows = rows
        target, counts = positive[inside].astype(np.float64), weight[inside]
        own_rows = rows[np.ix_(inside, columns)]
        mean, spread = moments(own_rows, counts)
        away = counts * (target - counts @ target / counts.sum())
        slope = np.zeros(len(columns))
        for part, block in blocks(own_rows):
            slope += away[part] @ (block - mean.astype(block.dtype))
        some = np.sort(np.argsort(-np.abs(slope) / spread, kind="stable")[:_WIDE])
        self._chosen = columns[some]
        if len(some) < len(columns):
            own_rows = own_rows[:, some]
        own = np.zeros(len(some) + 1)
        self._weights: list[np.ndarray] = []
        for penalty in PENALTIES:
            own = regression(own_rows, target, counts, penalty * costs[some] * spread[some] ** 2, own)
            self._weights.append(own)

    def score(self, penalty: int, rows: np.ndarray) -> np.ndarray:
        """(n,) the log-odds that the regression with that penalty gives rows."""
        own, found = self._weights[penalty], np.empty(len(rows))
        for part, block in blocks(self._rows[np.ix_(rows, self._chosen)]):
            found[part] = own[0] + block @ own[1:].astype(block.dtype)
        return found
