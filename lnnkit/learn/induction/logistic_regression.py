"""Logistic regression with a penalty of its own for each column, towards truths between 0 and 1.

scikit-learn's `LogisticRegression` knows one penalty and classes. A column divided by the root of its penalty, and a
row that stands there once for each class, weighted by its truth, come to the same."""

from __future__ import annotations

import numpy as np
from sklearn import config_context
from sklearn.linear_model import LogisticRegression


def regression(
    rows: np.ndarray, target: np.ndarray, weight: np.ndarray, costs: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """(m + 1,) an intercept and the weights of the columns of ``rows`` (n, m), from ``start`` (m + 1,) on: the least of
    ``sum weight * log loss + sum costs * w^2 / 2``. ``costs`` (m,) are positive, ``target`` (n,) within [0, 1]. Without
    columns, or where all targets are 0 or all 1, it is the intercept alone."""
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
    """(n,) of each row."""
    return np.logaddexp(0.0, np.where(positive, -score, score))
