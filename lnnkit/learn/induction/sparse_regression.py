"""Logistic regression on truths between 0 and 1, and the few columns that it needs.

Each column has a penalty of its own. Newton's method takes the curvature of some rows only (Roosta-Khorasani and
Mahoney, "Sub-sampled Newton methods", 2019). Forward selection takes next the column with the greatest score statistic:
the one whose best weight would lower the loss most if the others were fixed (Rao 1948); the loss is taken as a
quadratic about the target, so that products of columns, not rows, decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.learn.induction.table_literals import LabelledTable

# Measured as in weighted_rules.py.
PENALTIES = (100.0, 30.0, 10.0, 3.0)  # in rows
_WIDE = 400  # number of terms
_CURVED = 4096  # rows whose curvature is used: ten to a term
_STEPS = 30
_NEAR = 1e-3  # log loss that another step would save
_CHUNK = 2048  # rows converted at a time


# OpenBLAS multiplies single precision beyond the rows of a matrix, and reports what it meets there.
@np.errstate(invalid="ignore")
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
    coefs, curvature = start.astype(np.float64), np.zeros(0)
    loss, slope = _loss(rows, target, weight, every, coefs)
    for number in range(steps):
        if number < 3 or len(some) == len(rows):
            true = sigmoid(sample @ coefs.astype(np.float32))
            curve = np.maximum(share * true * (1 - true), 1e-6 * share).astype(np.float32)
            curvature = (sample.T @ (sample * curve[:, None])).astype(np.float64) + np.diag(every)
            curvature[np.diag_indices_from(curvature)] *= 1 + 1e-6  # single precision
        step = np.linalg.solve(curvature, slope)
        if slope @ step < 2 * _NEAR:
            break
        for _ in range(8):
            after, steeper = _loss(rows, target, weight, every, coefs - step)
            if after < loss:
                break
            step /= 2
        else:
            break
        coefs, loss, slope = coefs - step, after, steeper
    return coefs


def _loss(
    rows: np.ndarray, target: np.ndarray, weight: np.ndarray, costs: np.ndarray, coefs: np.ndarray
) -> tuple[float, np.ndarray]:
    loss, slope = float(costs @ coefs**2) / 2, costs * coefs
    for part, block in blocks(rows):
        score = coefs[0] + block @ coefs[1:].astype(block.dtype)
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


class ReferenceModel:
    """Regressions on the most informative of the ``columns`` of terms (n, m), one for each penalty, fitted to the rows
    ``inside`` of a table. ``costs`` (m,) are the terms' shares of the penalty."""

    def __init__(
        self, rows: np.ndarray, columns: np.ndarray, costs: np.ndarray, table: LabelledTable, inside: np.ndarray
    ) -> None:
        self._rows = rows
        target, counts = table.positive[inside].astype(np.float64), table.weight[inside]
        design = rows[np.ix_(inside, columns)]
        mean, spread = moments(design, counts)
        away = counts * (target - counts @ target / counts.sum())
        slope = np.zeros(len(columns))
        for part, block in blocks(design):
            slope += away[part] @ (block - mean.astype(block.dtype))
        some = np.sort(np.argsort(-np.abs(slope) / spread, kind="stable")[:_WIDE])
        self._chosen = columns[some]
        design = design[:, some] if len(some) < len(columns) else design
        coefs = np.zeros(len(some) + 1)
        self._weights: list[np.ndarray] = []
        for penalty in PENALTIES:
            coefs = regression(design, target, counts, penalty * costs[self._chosen] * spread[some] ** 2, coefs)
            self._weights.append(coefs)

    def score(self, penalty: int, rows: np.ndarray) -> np.ndarray:
        """(n,) the log-odds that the regression with that penalty gives rows."""
        coefs, score = self._weights[penalty], np.empty(len(rows))
        for part, block in blocks(self._rows[np.ix_(rows, self._chosen)]):
            score[part] = coefs[0] + block @ coefs[1:].astype(block.dtype)
        return score


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
class WeightedSum:
    """``start + sum weights * columns``, columns by number."""

    columns: tuple[int, ...]
    weights: np.ndarray
    start: float

    def score(self, rows: np.ndarray) -> np.ndarray:
        """(n,) the score of each row of the columns (n, m)."""
        return self.start + rows[:, list(self.columns)] @ self.weights


def forward(
    rows: np.ndarray, columns: np.ndarray, target: np.ndarray, weight: np.ndarray, most: int
) -> Iterator[WeightedSum]:
    """Sums of 0 to ``most`` columns of ``rows`` (n, m), numbered ``columns`` (m,), fitted to truths ``target`` (n,),
    while that helps."""
    mean, spread = moments(rows, weight)

    def design(part: slice, places: Sequence[int]) -> np.ndarray:
        """Ones and standardised columns, in single precision: made as needed, for they are four times the rows."""
        made = np.ones((len(rows[part]), 1 + len(places)), np.float32)
        for at, place in enumerate(places, 1):
            made[:, at] = (rows[part, place] - mean[place]) / spread[place]
        return made

    curve = weight * np.maximum(target * (1 - target), 1e-4)
    odds = np.log(np.clip(target, 1e-9, 1) / np.clip(1 - target, 1e-9, 1))
    products, wanted = np.zeros((len(columns) + 1,) * 2), np.zeros(len(columns) + 1)
    for start in range(0, len(rows), _CHUNK):
        part = slice(start, start + _CHUNK)
        block = design(part, range(len(columns)))
        products += block.T @ (block * curve[part, None].astype(np.float32))
        wanted += (curve[part] * odds[part]) @ block
    chosen: list[int] = []
    coefs = np.zeros(1)
    while True:
        costs = np.full(len(chosen), _COST)
        coefs = regression(design(slice(None), chosen)[:, 1:], target, weight, costs, coefs, steps=2)
        places = columns[chosen]
        plain = coefs[1:] / spread[chosen]
        yield WeightedSum(tuple(places.tolist()), plain, float(coefs[0] - plain @ mean[chosen]))
        if len(chosen) == most:
            return
        gain = _gains(products, wanted, [0, *(1 + place for place in chosen)])
        best = int(gain.argmax()) if len(gain) else -1
        if best < 0 or gain[best] < 2 * _WORTH:
            return
        chosen.append(best)
        coefs = np.append(coefs, 0.0)


def _gains(products: np.ndarray, wanted: np.ndarray, inside: list[int]) -> np.ndarray:
    """(m,) the score statistic of each column, given those ``inside``, by the ``products`` of columns."""
    within = products[np.ix_(inside, inside)] + np.diag([0.0] + [_COST] * (len(inside) - 1))
    across = products[inside]
    solved = np.linalg.solve(within + 1e-3 * np.eye(len(inside)), np.column_stack([wanted[inside], across]))
    slope = wanted - solved[:, 0] @ across
    whole = products.diagonal()
    left = whole - (across * solved[:, 1:]).sum(axis=0)
    gain = np.where(left > _NOVEL * whole, slope**2 / (np.maximum(left, 0.0) + _COST), -1.0)
    gain[inside] = -1.0
    return gain[1:]


def without_idle(chosen: WeightedSum, rows: np.ndarray, target: np.ndarray, weight: np.ndarray) -> WeightedSum:
    """The sum without redundant columns: those whose removal does not worsen the fit by more than chance."""
    mean, spread = moments(rows[:, list(chosen.columns)], weight)
    design = (rows[:, list(chosen.columns)] - mean) / spread
    kept = list(range(len(chosen.columns)))
    coefs = np.concatenate([[chosen.start + chosen.weights @ mean], chosen.weights * spread])
    while True:
        coefs = regression(design[:, kept], target, weight, np.full(len(kept), _COST), coefs)
        if not kept:
            break
        inside = np.concatenate([np.ones((len(design), 1)), design[:, kept]], axis=1)
        true = sigmoid(inside @ coefs)
        curvature = inside.T @ (inside * (weight * true * (1 - true))[:, None])
        curvature += np.diag([1e-9] + [_COST] * len(kept))
        lost = coefs[1:] ** 2 / np.linalg.inv(curvature).diagonal()[1:] / 2  # Wald 1943
        least = int(lost.argmin())
        if lost[least] > _WORTH:
            break
        del kept[least]
        coefs = np.delete(coefs, 1 + least)
    plain = coefs[1:] / spread[kept]
    return WeightedSum(tuple(chosen.columns[place] for place in kept), plain, float(coefs[0] - plain @ mean[kept]))
