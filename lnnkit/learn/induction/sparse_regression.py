"""Logistic regression on truths between 0 and 1, and the few columns that it needs.

Each column has a penalty of its own. Forward selection takes next the column with the greatest score statistic: the one
whose best weight would lower the loss most if the others were fixed (Rao 1948); backward elimination drops the one that
is missed least (Wald 1943). For both the loss is taken as a quadratic about the target, so that products of columns,
not rows, decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

from lnnkit.learn.induction.table_literals import LabelledTable

# Measured as in weighted_rules.py.
PENALTIES = (100.0, 30.0, 10.0, 3.0)  # in rows
_WIDE = 400  # number of terms
_NEAR = 1e-4  # the slope at which a regression stops


def regressions(
    rows: np.ndarray, target: np.ndarray, weight: np.ndarray, penalties: Sequence[float]
) -> list[np.ndarray]:
    """(m + 1,) for each penalty the intercept and the weights w of the columns of ``rows`` (n, m) that minimise ``sum
    weight * log loss + penalty * sum w^2 / 2``. ``target`` (n,) is within [0, 1]: the share in which a row is true.
    Without columns, or if all targets are 0 or all are 1, only the intercept is fitted."""
    shares = np.concatenate([weight * target, weight * (1 - target)])
    places = np.flatnonzero(shares)
    true = places < len(target)
    if not rows.shape[1] or true.all() or not true.any():
        rate = np.clip(weight @ target / weight.sum(), 1e-6, 1 - 1e-6)
        return [np.concatenate([[np.log(rate / (1 - rate))], np.zeros(rows.shape[1])])] * len(penalties)
    model, fitted = (
        LogisticRegression(solver="newton-cholesky", tol=_NEAR, max_iter=1000, warm_start=True),
        list[np.ndarray](),
    )
    rows, shares = rows[places % len(target)], shares[places]
    for penalty in penalties:
        model.set_params(C=1 / penalty).fit(rows, true, shares)
        fitted.append(np.concatenate([model.intercept_, model.coef_[0]]).astype(np.float64))
    return fitted


def sigmoid(score: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(score, -30, 30)))


def log_losses(score: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """(n,) the log loss of each row."""
    return np.logaddexp(0.0, np.where(positive, -score, score))


def moments(rows: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m,) the means of columns and their spreads, which are positive."""
    share = (weight / weight.sum()).astype(np.float32)
    mean = share @ rows
    return mean, np.sqrt(np.maximum(share @ (rows - mean) ** 2, 1e-4))


class ReferenceModel:
    """Regressions on the most informative of the ``columns`` of terms (n, m), one for each penalty, fitted to the rows
    ``inside`` of a table. ``costs`` (m,) are the terms' shares of the penalty."""

    def __init__(
        self, rows: np.ndarray, columns: np.ndarray, costs: np.ndarray, table: LabelledTable, inside: np.ndarray
    ) -> None:
        self._rows = rows
        target, counts = table.positive[inside].astype(np.float64), table.weight[inside]
        design = rows[np.ix_(inside, columns)].astype(np.float32)
        mean, spread = moments(design, counts)
        slope = (counts * (target - counts @ target / counts.sum())).astype(np.float32) @ (design - mean)
        some = np.sort(np.argsort(-np.abs(slope) / spread, kind="stable")[:_WIDE])
        self._chosen, self._mean = columns[some], mean[some]
        self._scale = spread[some] * np.sqrt(costs[self._chosen]).astype(np.float32)
        design = (design[:, some] - self._mean) / self._scale
        self._weights = regressions(design, target, counts, PENALTIES)

    def score(self, penalty: int, rows: np.ndarray) -> np.ndarray:
        """(n,) the log-odds that the regression with that penalty gives rows."""
        intercept, *weights = self._weights[penalty]
        return intercept + (self._rows[np.ix_(rows, self._chosen)] - self._mean) @ (weights / self._scale)


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


class _QuadraticLoss:
    """The loss of weights of ``columns`` (m,), of ``rows`` (n, m), as a quadratic about truths ``target`` (n,): the
    ``products`` of ones and the standardised columns, penalty included, and their products with the log-odds."""

    def __init__(self, rows: np.ndarray, columns: np.ndarray, target: np.ndarray, weight: np.ndarray) -> None:
        self._columns = columns
        self._mean, self._spread = moments(rows, weight)
        self.design = np.ones((len(rows), 1 + len(columns)), np.float32)
        self.design[:, 1:] = (rows - self._mean) / self._spread
        curved = self.design * (weight * np.maximum(target * (1 - target), 1e-4)).astype(np.float32)[:, None]
        odds = np.log(np.clip(target, 1e-9, 1) / np.clip(1 - target, 1e-9, 1)).astype(np.float32)
        self.products = (self.design.T @ curved).astype(np.float64)
        self.products[np.diag_indices_from(self.products)] += np.array([1e-3] + [_COST] * len(columns))
        self.wanted = (odds @ curved).astype(np.float64)

    def fitted(self, inside: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """The best weights of the columns ``inside``, the ones included, and their covariance."""
        covariance = np.linalg.inv(self.products[np.ix_(inside, inside)])
        return covariance @ self.wanted[inside], covariance

    def plain(self, inside: list[int], coefs: np.ndarray) -> WeightedSum:
        """The sum with these weights of the columns ``inside``, the ones included."""
        places = np.array(inside[1:], np.int64) - 1
        weights = coefs[1:] / self._spread[places]
        return WeightedSum(
            tuple(self._columns[places].tolist()), weights, float(coefs[0] - weights @ self._mean[places])
        )


def forward(
    rows: np.ndarray, columns: np.ndarray, target: np.ndarray, weight: np.ndarray, most: int
) -> Iterator[WeightedSum]:
    """Sums of 0 to ``most`` columns of ``rows`` (n, m), numbered ``columns`` (m,), fitted to truths ``target`` (n,),
    while that helps."""
    loss, inside = _QuadraticLoss(rows, columns, target, weight), [0]
    left, along = loss.products.copy(), loss.wanted.copy()  # of what the columns inside leave unexplained
    while True:
        yield loss.plain(inside, loss.fitted(inside)[0])
        share = left[inside[-1]] / left[inside[-1], inside[-1]]
        along -= share * along[inside[-1]]
        left -= np.outer(left[:, inside[-1]], share)
        apart = left.diagonal()
        novel = apart - _COST > _NOVEL * (loss.products.diagonal() - _COST)
        novel[inside] = False
        gain = np.where(novel, along**2 / np.maximum(apart, _COST), -1.0)
        if len(inside) > most or gain.max() < 2 * _WORTH:
            return
        inside.append(int(gain.argmax()))


def without_idle(chosen: WeightedSum, rows: np.ndarray, target: np.ndarray, weight: np.ndarray) -> WeightedSum:
    """The sum without redundant columns, those whose removal does not worsen the fit by more than chance; fitted."""
    loss = _QuadraticLoss(rows[:, list(chosen.columns)], np.array(chosen.columns, np.int64), target, weight)
    inside = list(range(1 + len(chosen.columns)))
    while len(inside) > 1:
        coefs, covariance = loss.fitted(inside)
        lost = coefs[1:] ** 2 / covariance.diagonal()[1:] / 2
        if lost.min() > _WORTH:
            break
        del inside[1 + int(lost.argmin())]
    return loss.plain(inside, *regressions(loss.design[:, inside[1:]], target, weight, [_COST]))
