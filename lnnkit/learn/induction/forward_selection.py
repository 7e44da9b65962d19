"""Forward selection: the few columns that a weighted sum needs.

The next column is the one with the greatest score statistic: the column whose best weight would lower the loss most if
the others were fixed (Rao 1948). Then all weights are fitted again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lnnkit.learn.induction.logistic_regression import moments, regression, sigmoid

# Measured as in weighted_rules.py, from 0.775 with 11.8 terms.
_COST = 1.0  # penalty of a weight, in units of its column's spread; 0.1: 0.776, 10: 0.773 with 15.0 terms
_NOVEL = 0.1  # share of a column's variance that the chosen ones must leave unexplained; 0.01: 0.775, 0.3: 0.774
# Log loss that a column must save to be added, and to stay; 0.03: 0.779 with 21.6 terms, 3: 0.766 with 4.4
_WORTH = 0.3


@dataclass(frozen=True, slots=True)
class Sum:
    """``start + sum weights * columns``, columns by number."""

    columns: tuple[int, ...]
    weights: np.ndarray
    start: float

    def score(self, rows: np.ndarray) -> np.ndarray:
        """(n,) the score of each row of the columns (n, m)."""
        return self.start + rows[:, list(self.columns)] @ self.weights


def forward(rows: np.ndarray, target: np.ndarray, weight: np.ndarray, most: int) -> Iterator[Sum]:
    """Sums of 0, 1, ... up to ``most`` columns, fitted to truths ``target`` (n,); fewer if no other column of ``rows``
    (n, m) improves the fit."""
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
    """The sum without redundant columns: those whose removal does not worsen the fit by more than chance."""
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
    """(m,) the score statistic of each column, given the chosen ones."""
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
