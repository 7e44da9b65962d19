"""The few columns of many whose weighted sum says what matters: forward selection.

The column that joins is the one whose score statistic is greatest, that is, whose best weight would lower the loss
most, the others staying (Rao 1948); all weights are then fitted again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lnnkit.learn.induction.logistic_regression import moments, regression, sigmoid

_COST = 1.0  # of a weight, by its column's spread
_NOVEL = 0.1  # the part of a column that those chosen must leave unsaid
_WORTH = 0.3  # log loss in all that a column must save to join, and to stay


@dataclass(frozen=True, slots=True)
class Sum:
    """``start + sum weights * columns``, columns by number."""

    columns: tuple[int, ...]
    weights: np.ndarray
    start: float

    def score(self, rows: np.ndarray) -> np.ndarray:
        """(n,) for the columns (n, m)."""
        return self.start + rows[:, list(self.columns)] @ self.weights


def forward(rows: np.ndarray, target: np.ndarray, weight: np.ndarray, most: int) -> Iterator[Sum]:
    """Sums of no column, of one, and so on up to ``most``, fitted to truths ``target`` (n,); fewer where no other
    column of ``rows`` (n, m) says anything more."""
    mean, spread = moments(rows, weight)
    design = ((rows - mean) / spread).astype(np.float32)
    squares = design**2
    rate = float(np.clip(weight @ target / weight.sum(), 1e-6, 1 - 1e-6))
    own = np.array([np.log(rate / (1 - rate))])
    chosen: list[int] = []
    while True:
        plain = own[1:] / spread[chosen]
        yield Sum(tuple(chosen), plain, float(own[0] - plain @ mean[chosen]))
        if len(chosen) == most:
            return
        gain = _gains(design, squares, chosen, own, target, weight)
        best = int(gain.argmax()) if len(gain) else -1
        if best < 0 or gain[best] < 2 * _WORTH:
            return
        chosen.append(best)
        costs = np.full(len(chosen), _COST)
        own = regression(design[:, chosen].astype(np.float64), target, weight, costs, np.append(own, 0.0))


def without_idle(chosen: Sum, rows: np.ndarray, target: np.ndarray, weight: np.ndarray) -> Sum:
    """The sum without the columns that others have made idle: those that it does as well without, but for chance."""
    mean, spread = moments(rows[:, list(chosen.columns)], weight)
    design = (rows[:, list(chosen.columns)] - mean) / spread
    kept = list(range(len(chosen.columns)))
    own = np.concatenate([[chosen.start + chosen.weights @ mean], chosen.weights * spread])
    loss = _objective(design, own, target, weight)
    while kept:
        tried: list[tuple[float, int, np.ndarray]] = []
        for place in kept:
            fewer = [each for each in kept if each != place]
            costs = np.full(len(fewer), _COST)
            start = np.delete(own, 1 + kept.index(place))
            found = regression(design[:, fewer], target, weight, costs, start)
            tried.append((_objective(design[:, fewer], found, target, weight), place, found))
        least, place, found = min(tried, key=lambda each: each[:2])
        if least > loss + _WORTH:
            break
        kept.remove(place)
        own, loss = found, least
    plain = own[1:] / spread[kept]
    return Sum(tuple(chosen.columns[place] for place in kept), plain, float(own[0] - plain @ mean[kept]))


def _objective(design: np.ndarray, own: np.ndarray, target: np.ndarray, weight: np.ndarray) -> float:
    score = own[0] + design @ own[1:]
    return float(weight @ (np.logaddexp(0.0, score) - target * score)) + _COST * float(own[1:] @ own[1:]) / 2


def _gains(
    design: np.ndarray, squares: np.ndarray, chosen: list[int], own: np.ndarray, target: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """(m,) the score statistic of each column, with the information that those chosen leave."""
    inside = np.concatenate([np.ones((len(design), 1), np.float32), design[:, chosen]], axis=1)
    true = sigmoid(inside @ own)
    curve = (weight * true * (1 - true)).astype(np.float32)
    slope = (weight * (target - true)).astype(np.float32) @ design
    whole = curve @ squares
    curved = inside * curve[:, None]
    across = curved.T @ design
    within = (curved.T @ inside).astype(np.float64) + 1e-3 * np.eye(inside.shape[1])
    left = whole - (across * np.linalg.solve(within, across.astype(np.float64))).sum(axis=0)
    gain = np.where(left > _NOVEL * whole, slope**2 / (np.maximum(left, 0.0) + _COST), -1.0)
    gain[chosen] = -1.0
    return gain
