"""Logistic regression under a squared penalty, by Newton's method, towards truths between 0 and 1."""

from __future__ import annotations

import numpy as np

_ITERATIONS = 15
_REACH = 5.0  # of a step
_CLOSE = 1e-3
_FREE = 1e-6  # what the intercept costs


def regression(
    rows: np.ndarray, target: np.ndarray, weight: np.ndarray, costs: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """(m + 1,) an intercept and the weights of the columns of ``rows`` (n, m), from ``start`` (m + 1,) on: the least of
    ``sum weight * log loss + sum costs * w^2 / 2``. ``costs`` (m,) are positive."""
    design = np.concatenate([np.ones((len(rows), 1), rows.dtype), rows], axis=1)
    every = np.concatenate([[_FREE], costs])
    own = start.astype(np.float64)
    for _ in range(_ITERATIONS):
        true = sigmoid(design @ own)
        curve = weight * np.maximum(true * (1 - true), 1e-4)
        hessian = ((design * curve[:, None].astype(rows.dtype)).T @ design).astype(np.float64)
        hessian[np.diag_indices_from(hessian)] += every
        step = np.linalg.solve(hessian, design.T @ (weight * (target - true)) - every * own)
        longest = float(np.abs(step).max())
        own = own + step * min(1.0, _REACH / max(longest, 1e-300))
        if longest < _CLOSE:
            break
    return own


def sigmoid(score: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(score, -30, 30)))


def log_losses(score: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """(n,) of each row."""
    return np.logaddexp(0.0, np.where(positive, -score, score))
