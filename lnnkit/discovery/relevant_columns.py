"""The columns that a target depends on, by the polynomial that fits it best."""

from __future__ import annotations

import itertools

import numpy as np

_CLIP = 4.0
_MOST = 12  # greatest number of columns
_MONOMIAL = 3  # greatest number of columns of a monomial
_FAR = 4.0  # values beyond this many interquartile ranges are clipped
_SCORE = 0.7  # of the bound on what chance explains: a column too many costs time, one too few the formula
_ROUNDING = 1e-9  # greatest error of an exact fit of logarithms


def relevant_columns(table: np.ndarray, target: np.ndarray, *, least: int = 3) -> list[int]:
    """The indices of the columns whose terms explain significantly more of the target, of its ranks or of its
    logarithms than chance, the most relevant first; where there are none, the ``least`` best. ``table`` has no missing
    cells. The terms are all quadratic ones if there are rows enough, else those that forward selection adds."""
    rows, width = table.shape
    columns = np.stack([_even(table[:, place]) for place in range(width)], 1)
    varied = np.flatnonzero(np.ptp(columns, axis=0) > 0)
    if len(varied) <= 1:
        return varied.tolist()
    score = np.zeros(width)
    tests = [(columns, _clipped(target)), (columns, _ranks(target))]
    known = target != 0
    if known.sum() > rows // 2:  # a power as a factor is a line in the logarithms, whatever the signs
        logarithms = np.stack([_logarithms(table[known, place]) for place in range(width)], 1)
        tests.append((logarithms, _clipped(np.log(np.abs(target[known])), 0.0)))
    for inputs, response in tests:
        if np.ptp(response) == 0:
            continue
        terms = 1 + 2 * len(varied) + len(varied) * (len(varied) - 1) // 2
        tested = _dropped(inputs, varied, response) if len(inputs) >= 3 * terms else _forward(inputs, varied, response)
        score = np.maximum(score, tested)
    places = np.flatnonzero(score > _SCORE)
    if not len(places):
        places = np.argsort(-score)[: min(least, len(varied))]
    return sorted(places.tolist(), key=lambda place: -score[place])[:_MOST]


def monomial_columns(table: np.ndarray, target: np.ndarray) -> list[int]:
    """The fewest columns of which a constant times a product of powers equals the target's size exactly, if any."""
    if (target == 0).any() or len(target) < _MONOMIAL + 4:
        return []
    wanted = np.log(np.abs(target))
    usable = np.flatnonzero((table != 0).all(0)).tolist()
    with np.errstate(divide="ignore"):
        logs = np.log(np.abs(table))
    for count in range(1, _MONOMIAL + 1):
        for places in itertools.combinations(usable, count):
            basis = np.concatenate([np.ones((len(logs), 1)), logs[:, places]], 1)
            rest = wanted - basis @ np.linalg.lstsq(basis, wanted, rcond=1e-12)[0]
            if np.abs(rest).max() <= _ROUNDING:
                return list(places)
    return []


def _dropped(columns: np.ndarray, varied: np.ndarray, response: np.ndarray) -> np.ndarray:
    """For each column, the ratio of what its terms explain to a generous bound on what chance could explain."""
    basis, members = quadratic(columns[:, varied])
    gram, along = basis.T @ basis, basis.T @ response
    whole = _left(gram, along, response, np.arange(len(gram)))
    freedom = len(response) - len(gram)
    score = np.zeros(columns.shape[1])
    for number, place in enumerate(varied):
        kept = np.flatnonzero(~members[:, number])
        dropped = len(gram) - len(kept)
        gain = _left(gram, along, response, kept) - whole
        ratio = (gain / dropped) / max(whole / freedom, 1e-300)
        score[place] = ratio / (1 + 6 * np.sqrt(2 / dropped))
    return score


def _forward(columns: np.ndarray, varied: np.ndarray, response: np.ndarray) -> np.ndarray:
    rows = len(response)
    score = np.zeros(columns.shape[1])
    chosen: list[int] = []
    basis = np.ones((rows, 1))
    left = float(np.square(response - response.mean()).sum())
    while len(chosen) < len(varied) and basis.shape[1] + len(chosen) + 2 < rows // 3:
        best = (0.0, -1, basis, left)
        for place in varied:
            if place in chosen:
                continue
            column = columns[:, place]
            added = np.stack([column, column**2, *(column * columns[:, other] for other in chosen)], 1)
            tried = np.concatenate([basis, added], 1)
            rest = response - tried @ np.linalg.lstsq(tried, response, rcond=None)[0]
            square = float(rest @ rest)
            ratio = ((left - square) / added.shape[1]) / max(square / (rows - tried.shape[1]), 1e-300)
            ratio /= 1 + 6 * np.sqrt(2 / added.shape[1])
            if ratio > best[0]:
                best = (ratio, int(place), tried, square)
        if best[1] < 0:
            break
        score[best[1]] = max(score[best[1]], best[0])
        if best[0] <= 1:
            break
        chosen.append(best[1])
        basis, left = best[2], best[3]
    return score


def quadratic(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All quadratic terms, ``[rows, terms]``, and a mask of the columns in each term, ``[terms, columns]``."""
    width = range(columns.shape[1])
    terms = [(), *itertools.combinations(width, 1), *itertools.combinations_with_replacement(width, 2)]
    members = np.array([[place in places for place in width] for places in terms])
    return np.stack([columns[:, list(places)].prod(1) for places in terms], 1), members


def _left(gram: np.ndarray, along: np.ndarray, response: np.ndarray, kept: np.ndarray) -> float:
    block = gram[np.ix_(kept, kept)]
    ridge = 1e-10 * np.diag(block).max() * np.eye(len(kept))
    coefficients = np.linalg.solve(block + ridge, along[kept])
    return max(float(response @ response - 2 * coefficients @ along[kept] + coefficients @ block @ coefficients), 0.0)


def _even(column: np.ndarray, *, apart: float = 20.0) -> np.ndarray:
    """The column, standardised, outliers clipped; its logarithms if its ends are so many times ``apart``."""
    if (column > 0).all() and column.max() > apart * column.min():
        column = np.log(column)
    column = column / (np.abs(column).max(initial=0.0) or 1.0)  # squares of what is very great or small leave the range
    deviation = column.std()
    if not np.isfinite(deviation) or deviation <= 1e-12 * np.abs(column).max(initial=0.0):
        return np.zeros(len(column))
    return np.clip((column - column.mean()) / deviation, -_CLIP, _CLIP)


def _logarithms(column: np.ndarray) -> np.ndarray:
    """Those of the sizes, standardised; the column itself where it has a zero."""
    return _even(column if (column == 0).any() else np.log(np.abs(column)), apart=np.inf)


def _clipped(target: np.ndarray, ends: float = 0.02) -> np.ndarray:
    low, high = np.quantile(target, [ends, 1 - ends])
    first, middle, third = np.quantile(target, [0.25, 0.5, 0.75])
    if third > first:  # outliers are more than the ends
        low, high = max(low, middle - _FAR * (third - first)), min(high, middle + _FAR * (third - first))
    clipped = np.clip(target, low, high)
    deviation = clipped.std()
    return (clipped - clipped.mean()) / deviation if deviation > 0 else np.zeros(len(clipped))


def _ranks(target: np.ndarray) -> np.ndarray:
    ranks = np.argsort(np.argsort(target, kind="stable"), kind="stable").astype(float)
    return (ranks - ranks.mean()) / (ranks.std() or 1.0)


def distinct_columns(table: np.ndarray) -> list[int]:
    """The columns that are no multiples of earlier ones, beside which neither would seem relevant."""
    greatest = np.abs(table).max(0, initial=0.0)
    kept: list[int] = []
    for place in np.flatnonzero(greatest):
        column = table[:, place] / greatest[place]
        others = table[:, kept] / greatest[kept]
        same = (np.abs(np.abs(others) - np.abs(column)[:, None]) <= 1e-12 * np.abs(column)[:, None]).all(0)
        turned = np.sign(others) * np.sign(column)[:, None]
        if not (same & ((turned >= 0).all(0) | (turned <= 0).all(0))).any():
            kept.append(int(place))
    return kept
