"""How far formulas are from a target: the sizes of errors by row, outliers, and the Pareto front of size and error.

Outliers are rows with large residuals, scattered over the table; where they fill a region, they are a case of their
own. Before any formula is known, a polynomial of the columns is fitted by Huber's loss: by repeated least squares on
residuals that are clipped at a multiple of their spread (Huber 1981, "Robust Statistics", section 7.8: the method of
modified residuals), then without the rows with large residuals.

The front is measured on rows that took no part in the fit, without outliers. The choice from it is the smallest formula
whose error does not differ significantly from the least: the mean difference of their squared errors, row by row, is at
most three standard errors, with an allowance for the number of formulas."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.discovery.expression import Product, evaluate, size
from lnnkit.discovery.relevant_inputs import polynomial

_SMALLEST = 1e-3  # of the median size: errors of smaller values are no smaller


@dataclass(frozen=True)
class WeightedRows:
    """``table`` [rows, columns], ``target`` [rows], and ``errors`` [rows]: the sizes of errors, above 0, up to a common
    factor, by which residuals are divided. They are one size or grow with the value: a formula's residuals show which;
    before, they are taken to grow beyond the median size."""

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
            scale = 1.5 * max(float(np.median(relative)), 1e-300)
            far = np.minimum(relative / scale, 1e100)
            return float(np.sum(np.log(errors[known]) + math.log(scale) + 2 * np.log1p(np.square(far) / 3)))

        kinds = [np.ones(len(values)), _sizes(values, 1.0), _sizes(values, _SMALLEST)]
        return WeightedRows(self.table, self.target, min(kinds, key=surprise))


def spread(residuals: np.ndarray) -> float:
    """A robust standard deviation: that of the normal distribution with the same median absolute value."""
    finite = residuals[np.isfinite(residuals)]
    return 1.4826 * float(np.median(finite)) if len(finite) else math.inf


def weighted(table: np.ndarray, target: np.ndarray) -> WeightedRows:
    """The rows before a formula is known."""
    return WeightedRows(table, target, _sizes(np.abs(target), 1.0))


def _sizes(values: np.ndarray, least: float) -> np.ndarray:
    """The values over their median, or ``least`` where that is larger."""
    middle = float(np.median(values))
    return np.maximum(values / middle, least) if middle > 0 else np.ones(len(values))


# Measured by `python -m benchmarks.outlier_constants` of random tables: wrong rows left out, right rows lost, tables of
# a curve or with a region of another formula in which some rows are left out.
_HUBER = 1.0  # spreads at which residuals are clipped: 84 % of wrong rows are left out, at 1.5 77 %
_FAR = 8.0  # spreads of the polynomial's residuals, beyond which a row is left out: of curves 13 %, at 6 24 %
_FARTHER = 10.0  # the same of formulas': 98 % of wrong rows and 1.5 % of right ones, at 25 95 % and 0.4 %
_ROUNDING = 1e-6  # of the target's size: an exact formula is as near as this; no value changes the figures
_SHARE = 0.1  # of a row's value: of right rows 0.2 % are named, at 0.02 1 %
MOST = 0.3  # the share of rows that may be outliers: a quarter of the rows are tried, at 0.25 some are kept
_ROUNDS = 60  # at 20 78 % of wrong rows are left out
_FEWEST = 12  # rows of which some may be left out; at 24 of regions 6 %, but nothing of 20 rows
_POLYNOMIAL = 90  # terms of the polynomial at most
_TERMS = 28  # at 6 of curves 18 %
_REGION = 0.15  # the share of the variance of "is far off" that the columns explain where it is a region: of regions
# 31 %, at 0.25 42 %
_CORNER = 0.1  # the same to a polynomial, which is far off at the ends of a curve too: of regions 20 %, at 0.4 46 %


def usual_rows(table: np.ndarray, target: np.ndarray) -> np.ndarray:
    """A mask ``[rows]`` of the rows that are no outliers from a polynomial of ``table``, ``[rows, columns]``, which has
    no missing cells. All rows if there would be too many outliers, or if these fill a region."""
    everything = np.ones(len(target), dtype=bool)
    if len(target) < _FEWEST:
        return everything
    basis = polynomial(table, min(_POLYNOMIAL, max(2, len(target) // 6)))
    parts = np.linalg.svd(basis, full_matrices=False)
    axes = parts.U[:, 1e-9 * parts.S.max(initial=0.0) < parts.S]
    fitted = np.full(len(target), float(np.median(target)))
    for _ in range(_ROUNDS):
        reach = _HUBER * spread(np.abs(target - fitted))
        moved = axes @ (axes.T @ np.clip(target - fitted, -reach, reach))
        fitted = fitted + moved
        if np.abs(moved).max(initial=0.0) <= 1e-3 * reach:
            break
    for times in (1.0, 3.0, 10.0):  # where the ends of a curve are far off, outliers are farther
        kept = _near(basis, target, fitted, times * _FAR)
        if scattered(~kept, table, region=_CORNER, most=MOST):
            return kept
    return everything


def _near(basis: np.ndarray, target: np.ndarray, fitted: np.ndarray, far: float) -> np.ndarray:
    """``[rows]``: those within so many spreads of what is fitted to them alone; all where too few are."""
    kept = np.ones(len(target), dtype=bool)
    for _ in range(6):
        rest = np.abs(target - fitted)
        near = rest <= far * spread(rest[kept])
        if near.mean() < 1 - MOST:
            return np.ones(len(target), dtype=bool)
        if (near == kept).all():
            return kept
        kept = near
        fitted = basis @ np.linalg.lstsq(basis[kept], target[kept], rcond=1e-10)[0]
    return kept


def unexplained_rows(residuals: Sequence[np.ndarray], table: np.ndarray, floor: float) -> np.ndarray:
    """A mask ``[rows]`` of the rows that no good formula comes near. A formula is good if its median residual is at
    most twice the least one, or at most ``floor``. No row if there would be too many, or if these fill a region.
    ``residuals`` has the absolute residuals, ``[rows]``, of each formula."""
    medians = np.median(residuals, axis=1)
    least = np.min(np.asarray(residuals)[medians <= max(2 * medians.min(), floor)], axis=0)
    far = least > max(_FARTHER * spread(least), floor)
    return far if scattered(far, table, most=MOST) else np.zeros(len(least), dtype=bool)


def far_rows(residuals: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The indices of the rows with a residual that is large compared with the others' (for an exact formula: beyond
    rounding). They are outliers, or a case of their own. ``residuals`` are absolute, ``[rows]``."""
    scale = spread(residuals)
    floor = _ROUNDING * float(np.median(np.abs(target)))
    # Errors of measurement grow with the value, so a small relative residual is an outlier only for an exact formula.
    share = 0.0 if _FARTHER * scale < floor else _SHARE * np.abs(target)
    return np.flatnonzero(residuals > np.maximum(max(_FARTHER * scale, floor), share))


OUTLIERS = 0.25  # the share of rows from which an exact formula, or one that leaves noise, may be far


def scattered(far: np.ndarray, table: np.ndarray, region: float | None = None, most: float = OUTLIERS) -> bool:
    """Whether few rows are ``far``, ``[rows]``, and the columns predict which hardly better than chance."""
    region = _REGION if region is None else region
    if far.mean() > most:
        return False
    if far.sum() < 2 or len(far) < 24:
        return True
    basis = polynomial(table, min(_TERMS, len(far) // 8))
    wanted = far - far.mean()
    rest = wanted - basis @ np.linalg.lstsq(basis, wanted, rcond=1e-10)[0]
    return float(rest @ rest) >= (1 - region - basis.shape[1] / len(far)) * float(wanted @ wanted)


def is_noise(rest: np.ndarray, table: np.ndarray) -> bool:
    """Whether a polynomial of the columns explains no more of the residuals than chance does, by an F-test."""
    reach = 4 * spread(np.abs(rest))
    if (np.abs(rest) > 1.5 * reach).mean() > OUTLIERS:
        return False
    rest, basis = np.clip(rest, -reach, reach), polynomial(table, min(120, len(rest) // 5))
    left = float(np.square(rest - basis @ np.linalg.lstsq(basis, rest, rcond=None)[0]).sum())
    terms, freedom = basis.shape[1], len(rest) - basis.shape[1]
    return freedom > 0 and (float(rest @ rest) - left) / terms <= (1 + 2 * np.sqrt(2 / terms)) * left / freedom


_CLIP = 5.0  # residuals are clipped at this many spreads of the best formula's residuals
_CAP = 0.95  # residuals are capped at this quantile of the best constant's
_WORTH = 0.005  # least reduction of the error from one formula of the front to the next
_EXACT = 1e-10  # relative to the target: smaller errors are rounding


@dataclass(frozen=True)
class ScoredFormula:
    """A formula, its size, and its error on held-out rows: the mean absolute residual over that of the best constant,
    both capped at the 95th percentile of the latter: 0 for an exact formula, 1 for one that predicts nothing."""

    formula: Product
    size: int
    error: float


def front(formulas: Sequence[Product], rows: WeightedRows) -> tuple[list[ScoredFormula], int]:
    """The Pareto front of size and error, from the smallest formula on, and the index of the chosen one. A formula that
    is undefined in some rows is left out; if all are, the list is empty and the index -1."""
    pairs = [(formula, rest) for formula in formulas if np.isfinite(rest := np.abs(rows.rest(formula))).all()]
    if not pairs:
        return [], -1
    formulas = [formula for formula, _ in pairs]
    rows = rows.measured(min(pairs, key=lambda pair: float(np.median(pair[1])))[0])
    residuals = [np.abs(rows.rest(formula)) for formula in formulas]
    least = _EXACT * float(np.median(np.abs(rows.target / rows.errors)))
    known = ~unexplained_rows(residuals, rows.table, least)
    rows, residuals = rows.at(known), [rest[known] for rest in residuals]
    of_constant = np.abs(rows.target - np.median(rows.target)) / rows.errors
    cap = float(np.quantile(of_constant, _CAP)) or 1.0
    baseline = float(np.minimum(of_constant, cap).mean()) or 1.0
    errors = [float(np.minimum(rest, cap).mean()) / baseline for rest in residuals]
    scored = [ScoredFormula(formula, size(formula), error) for formula, error in zip(formulas, errors, strict=True)]
    floor = _EXACT * float(np.sqrt(np.mean(np.square(rows.target / rows.errors))))
    clipped = _clipped(residuals, floor, range(len(residuals)))
    order = sorted(range(len(scored)), key=lambda at: (scored[at].size, clipped[at].mean(), scored[at].error))
    kept = order[:1]
    for at in order[1:]:
        least = scored[kept[-1]].error
        if least > _EXACT and scored[at].error < (1 - _WORTH) * least:
            kept.append(at)
    clipped = _clipped(residuals, floor, kept)
    best = min(kept, key=lambda at: (clipped[at].mean(), scored[at].error, scored[at].size))
    chosen = next(number for number, at in enumerate(kept) if at == best or _alike(clipped[at], clipped[best]))
    return [scored[place] for place in kept], chosen


def _clipped(residuals: Sequence[np.ndarray], floor: float, among: Iterable[int]) -> list[np.ndarray]:
    """The squared residuals beyond ``floor``, clipped, lest a few rows hide the difference between formulas."""
    reach = max(_CLIP * min(spread(residuals[at]) for at in among), floor)
    return [np.minimum(np.maximum(rest - floor, 0), reach) ** 2 for rest in residuals]


def _alike(simple: np.ndarray, best: np.ndarray) -> bool:
    """Whether one loss exceeds the other by no more than chance: by three standard errors of the mean difference, and
    by the ratio that the scatter of so few squares allows, at least a half."""
    difference, rows = simple - best, max(1, len(best))
    chance, ratio = 3 * float(difference.std()) / np.sqrt(rows), 1 + max(0.5, 4 * np.sqrt(2 / rows))
    return float(difference.mean()) <= chance and float(simple.mean()) <= ratio * float(best.mean())
