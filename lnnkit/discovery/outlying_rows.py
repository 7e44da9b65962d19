"""Outliers: rows far off that lie nowhere in particular.

Before any formula is known, a polynomial of the columns is fitted by Huber's loss, that is by least squares to
residuals that are clipped at some spreads, again and again (Huber 1981, "Robust Statistics", section 7.8: the method of
modified residuals), then without the rows far off. Whether an outlier is 10 or 10,000 off makes no difference to it.

Rows far off that fill a region of the table are no outliers, but a case of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lnnkit.discovery.constant_refinement import spread
from lnnkit.discovery.variable_reductions import polynomial

_HUBER = 1.5  # spreads at which residuals are clipped
_FAR = 8.0  # spreads of the polynomial's residuals, beyond which a row is left out
_FARTHER = 10.0  # the same of formulas'
_ROUNDING = 1e-6  # of the target's size: an exact formula is as near as this
_SHARE = 0.1  # of a row's value
_MOST = 0.3  # the share of rows that may be outliers
_ROUNDS = 60
_FEWEST = 12  # rows of which some may be left out
_TERMS = 28
_REGION = 0.25  # the share of the variance of "is far off" that the columns explain where it is a region
_CORNER = 0.4  # the same to a polynomial, which is far off at the ends of a curve too


def usual_rows(table: np.ndarray, target: np.ndarray, *, terms: int = 90) -> np.ndarray:
    """``[rows]``: which are no outliers to a polynomial of ``table``, ``[rows, columns]``, of at most so many terms.
    All where too many would be, or where they fill a region. ``table`` has no missing cells."""
    everything = np.ones(len(target), dtype=bool)
    if len(target) < _FEWEST:
        return everything
    basis = polynomial(table, min(terms, max(2, len(target) // 6)))
    parts = np.linalg.svd(basis, full_matrices=False)
    own = parts.U[:, 1e-9 * parts.S.max(initial=0.0) < parts.S]
    fitted = np.full(len(target), float(np.median(target)))
    for _ in range(_ROUNDS):
        reach = _HUBER * spread(np.abs(target - fitted))
        moved = own @ (own.T @ np.clip(target - fitted, -reach, reach))
        fitted = fitted + moved
        if np.abs(moved).max(initial=0.0) <= 1e-3 * reach:
            break
    kept = everything
    for _ in range(6):
        rest = np.abs(target - fitted)
        found = rest <= _FAR * spread(rest[kept])
        if found.mean() < 1 - _MOST:
            return everything
        if (found == kept).all():
            break
        kept = found
        fitted = basis @ np.linalg.lstsq(basis[kept], target[kept], rcond=1e-10)[0]
    return kept if scattered(~kept, table, _CORNER) else everything


def unexplained_rows(residuals: Sequence[np.ndarray], table: np.ndarray, floor: float) -> np.ndarray:
    """``[rows]``: those that no formula comes near whose median residual is twice the least or at most ``floor``. None
    where too many would be, or where they fill a region. ``residuals`` are sizes, ``[rows]``, of each formula."""
    medians = [float(np.median(each)) for each in residuals]
    good = [each for each, middle in zip(residuals, medians, strict=True) if middle <= max(2 * min(medians), floor)]
    least = np.min(good, axis=0)
    found = least > max(_FARTHER * spread(least), floor)
    return found if found.mean() <= _MOST and scattered(found, table) else np.zeros(len(least), dtype=bool)


def far_rows(residuals: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The indices of the rows from which a formula is far, compared with the others, for an exact one beyond rounding:
    outliers, or a case of their own. ``residuals`` are sizes, ``[rows]``."""
    own = spread(residuals)
    floor = _ROUNDING * float(np.median(np.abs(target)))
    # Errors grow with what is measured: only an exact formula is far off at a small share of the value.
    share = 0.0 if _FARTHER * own < floor else _SHARE * np.abs(target)
    return np.flatnonzero(residuals > np.maximum(max(_FARTHER * own, floor), share))


def scattered(far: np.ndarray, table: np.ndarray, region: float = _REGION) -> bool:
    """Whether the columns tell hardly more than chance would of which rows are ``far``, ``[rows]``."""
    if far.sum() < 2 or len(far) < 24:
        return True
    basis = polynomial(table, min(_TERMS, len(far) // 8))
    wanted = far - far.mean()
    rest = wanted - basis @ np.linalg.lstsq(basis, wanted, rcond=1e-10)[0]
    return float(rest @ rest) >= (1 - region - basis.shape[1] / len(far)) * float(wanted @ wanted)
