"""Outliers: rows with large residuals, scattered over the table; where they fill a region, they are a case of their
own.

Before any formula is known, a polynomial of the columns is fitted by Huber's loss: by repeated least squares on
residuals that are clipped at a multiple of their spread (Huber 1981, "Robust Statistics", section 7.8: the method of
modified residuals), then without the rows with large residuals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lnnkit.discovery.constant_refinement import spread
from lnnkit.discovery.variable_reductions import polynomial

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
        if scattered(~kept, table, _CORNER):
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
            break
        kept = near
        fitted = basis @ np.linalg.lstsq(basis[kept], target[kept], rcond=1e-10)[0]
    return kept


def unexplained_rows(residuals: Sequence[np.ndarray], table: np.ndarray, floor: float) -> np.ndarray:
    """A mask ``[rows]`` of the rows that no good formula comes near. A formula is good if its median residual is at
    most twice the least one, or at most ``floor``. No row if there would be too many, or if these fill a region.
    ``residuals`` has the absolute residuals, ``[rows]``, of each formula."""
    medians = [float(np.median(rest)) for rest in residuals]
    good = [rest for rest, middle in zip(residuals, medians, strict=True) if middle <= max(2 * min(medians), floor)]
    least = np.min(good, axis=0)
    far = least > max(_FARTHER * spread(least), floor)
    return far if far.mean() <= MOST and scattered(far, table) else np.zeros(len(least), dtype=bool)


def far_rows(residuals: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The indices of the rows with a residual that is large compared with the others' (for an exact formula: beyond
    rounding). They are outliers, or a case of their own. ``residuals`` are absolute, ``[rows]``."""
    scale = spread(residuals)
    floor = _ROUNDING * float(np.median(np.abs(target)))
    # Errors of measurement grow with the value, so a small relative residual is an outlier only for an exact formula.
    share = 0.0 if _FARTHER * scale < floor else _SHARE * np.abs(target)
    return np.flatnonzero(residuals > np.maximum(max(_FARTHER * scale, floor), share))


def scattered(far: np.ndarray, table: np.ndarray, region: float | None = None) -> bool:
    """Whether the columns predict which rows are ``far``, ``[rows]``, hardly better than chance."""
    if far.sum() < 2 or len(far) < 24:
        return True
    basis = polynomial(table, min(_TERMS, len(far) // 8))
    wanted = far - far.mean()
    rest = wanted - basis @ np.linalg.lstsq(basis, wanted, rcond=1e-10)[0]
    most = _REGION if region is None else region
    return float(rest @ rest) >= (1 - most - basis.shape[1] / len(far)) * float(wanted @ wanted)
