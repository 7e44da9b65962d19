"""Forward selection: the few columns that a weighted sum needs.

The next column is the one with the greatest score statistic: the column whose best weight would lower the loss most if
the others were fixed (Rao 1948). The loss is taken as a quadratic about the target, so that products of columns, counts
where they are crisp, decide, not rows. Then all weights are fitted again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lnnkit.learn.induction.weighing.logistic_regression import blocks, moments, regression, sigmoid

# Measured as in weighted_rules.py, from 0.775 with 11.8 terms.
_COST = 1.0  # penalty of a weight, in units of its column's spread; 0.1: 0.776, 10: 0.773 with 15.0 terms
_NOVEL = 0.1  # share of a column's variance that the chosen ones must leave unexplained; 0.01: 0.775, 0.3: 0.774
# Log loss that a column must save to be added, and to stay; 0.03: 0.779 with 21.6 terms, 3: 0.766 with 4.4
_WORTH = 0.3
_ROWS = 8192


def sampled(rows: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As many of the ``rows`` as suffice to choose columns, with weights that sum to those of all."""
    some = rows[:: max(1, -(-len(rows) // _ROWS))]
    return some, weight[some] * (weight[rows].sum() / weight[some].sum())


@dataclass(frozen=True, slots=True)
class Sum:
    """``start + sum weights * columns``, columns by number."""

    columns: tuple[int, ...]
    weights: np.ndarray
    start: float

    def score(self, rows: np.ndarray) -> np.ndarray:
        """(n,) the score of each row of the columns (n, m)."""
        return self.start + rows[:, list(self.columns)] @ self.weights


def forward(rows: np.ndarray, columns: np.ndarray, target: np.ndarray, weight: np.ndarray, most: int) -> Iterator[Sum]:
    """Sums of 0, 1, ... up to ``most`` of the ``columns`` of ``rows`` (n, m), fitted to truths ``target`` (n,); fewer
    if no other column improves the fit."""
    mean, spread = moments(rows[:, columns], weight)
    design = np.empty((len(rows), len(columns) + 1), np.float32)
    design[:, 0] = 1
    for place, column in enumerate(columns.tolist()):
        design[:, 1 + place] = (rows[:, column] - mean[place]) / spread[place]
    curve = weight * np.maximum(target * (1 - target), 1e-4)
    odds = np.log(np.clip(target, 1e-9, 1) / np.clip(1 - target, 1e-9, 1))
    products, wanted = np.zeros((design.shape[1],) * 2), np.zeros(design.shape[1])
    for part, block in blocks(design):
        products += block.T @ (block * curve[part, None].astype(np.float32))
        wanted += (curve[part] * odds[part]) @ block
    chosen: list[int] = []
    own = np.zeros(1)
    while True:
        costs = np.full(len(chosen), _COST)
        own = regression(design[:, [1 + each for each in chosen]], target, weight, costs, own, steps=2)
        places = columns[chosen]
        plain = own[1:] / spread[chosen]
        yield Sum(tuple(places.tolist()), plain, float(own[0] - plain @ mean[chosen]))
        if len(chosen) == most:
            return
        gain = _gains(products, wanted, [0, *(1 + each for each in chosen)])
        best = int(gain.argmax()) if len(gain) else -1
        if best < 0 or gain[best] < 2 * _WORTH:
            return
        chosen.append(best)
        own = np.append(own, 0.0)


def _gains(products: np.ndarray, wanted: np.ndarray, inside: list[int]) -> np.ndarray:
    """(m,) the score statistic of each column, given those ``inside``: by how much another column lowers the loss,
    which is taken as a quadratic with these ``products`` of columns."""
    within = products[np.ix_(inside, inside)] + np.diag([0.0] + [_COST] * (len(inside) - 1))
    across = products[inside]
    solved = np.linalg.solve(within + 1e-3 * np.eye(len(inside)), np.column_stack([wanted[inside], across]))
    slope = wanted - solved[:, 0] @ across
    whole = products.diagonal()
    left = whole - (across * solved[:, 1:]).sum(axis=0)
    gain = np.where(left > _NOVEL * whole, slope**2 / (np.maximum(left, 0.0) + _COST), -1.0)
    gain[inside] = -1.0
    return gain[1:]


def without_idle(chosen: Sum, rows: np.ndarray, target: np.ndarray, weight: np.ndarray) -> Sum:
    """The sum without redundant columns: those whose removal does not worsen the fit by more than chance."""
    mean, spread = moments(rows[:, list(chosen.columns)], weight)
    design = (rows[:, list(chosen.columns)] - mean) / spread
    kept = list(range(len(chosen.columns)))
    own = np.concatenate([[chosen.start + chosen.weights @ mean], chosen.weights * spread])
    while True:
        own = regression(design[:, kept], target, weight, np.full(len(kept), _COST), own)
        if not kept:
            break
        inside = np.concatenate([np.ones((len(design), 1)), design[:, kept]], axis=1)
        true = sigmoid(inside @ own)
        curvature = inside.T @ (inside * (weight * true * (1 - true))[:, None])
        curvature += np.diag([1e-9] + [_COST] * len(kept))
        lost = own[1:] ** 2 / np.linalg.inv(curvature).diagonal()[1:] / 2  # Wald 1943
        least = int(lost.argmin())
        if lost[least] > _WORTH:
            break
        del kept[least]
        own = np.delete(own, 1 + least)
    plain = own[1:] / spread[kept]
    return Sum(tuple(chosen.columns[place] for place in kept), plain, float(own[0] - plain @ mean[kept]))
