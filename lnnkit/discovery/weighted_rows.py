"""Rows of a table and a target, with the sizes of their errors, by which residuals are divided: errors have one size,
or grow with the value. A formula's residuals show which; before, they are taken to grow beyond the median size."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lnnkit.discovery.expression import Product, evaluate

_LEAST = 1e-3  # of the median size: errors of smaller values are no smaller


@dataclass(frozen=True)
class WeightedRows:
    """``table`` [rows, columns], ``target`` [rows], and ``errors`` [rows], above 0, up to a common factor."""

    table: np.ndarray
    target: np.ndarray
    errors: np.ndarray

    def at(self, which: np.ndarray | slice) -> WeightedRows:
        """The rows of a mask, of indices, or of a range."""
        return WeightedRows(self.table[which], self.target[which], self.errors[which])

    def rest(self, formula: Product) -> np.ndarray:
        """The residuals over the errors: ``[rows]``; NaN where the formula has no value."""
        return (evaluate(formula, self.table) - self.target) / self.errors

    def square(self, formula: Product) -> float:
        """The sum of their squares; infinite where one is missing."""
        rest = self.rest(formula)
        with np.errstate(over="ignore"):
            return float(rest @ rest) if np.isfinite(rest).all() else math.inf

    def measured(self, formula: Product) -> WeightedRows:
        """The rows with errors of one size, of one up to the median, or in proportion: what the residuals show best."""
        values = evaluate(formula, self.table)
        rest = np.abs(values - self.target)
        known = np.isfinite(rest)
        if known.sum() < 2 or not rest[known].any():
            return self
        values = np.abs(np.where(known, values, self.target))

        def surprise(errors: np.ndarray) -> float:
            """The negative logarithm of a Student likelihood of three degrees of freedom, which bears outliers."""
            relative = rest[known] / errors[known]
            spread = 1.5 * max(float(np.median(relative)), 1e-300)
            far = np.minimum(relative / spread, 1e100)
            return float(np.sum(np.log(errors[known]) + math.log(spread) + 2 * np.log1p(np.square(far) / 3)))

        kinds = [np.ones(len(values)), _sizes(values, 1.0), _sizes(values, _LEAST)]
        return WeightedRows(self.table, self.target, min(kinds, key=surprise))


def weighted(table: np.ndarray, target: np.ndarray) -> WeightedRows:
    """The rows before a formula is known."""
    return WeightedRows(table, target, _sizes(np.abs(target), 1.0))


def _sizes(values: np.ndarray, least: float) -> np.ndarray:
    """The values over their median, or ``least`` where that is larger."""
    middle = float(np.median(values))
    return np.maximum(values / middle, least) if middle > 0 else np.ones(len(values))
