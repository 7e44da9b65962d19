"""The Pareto front of formulas by size and error, and the choice from it.

Errors are measured on rows that took no part in the fit, without outliers. The choice is the smallest formula whose
error does not differ significantly from the least: the mean difference of their squared errors, row by row, is at most
three standard errors, with an allowance for the number of formulas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.discovery.constant_refinement import spread
from lnnkit.discovery.expression import Product, size
from lnnkit.discovery.outlying_rows import unexplained_rows
from lnnkit.discovery.weighted_rows import WeightedRows

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
    """The formulas that have a smaller error than all smaller ones, from the smallest on, and the index of the choice.
    A formula that is undefined in some rows is left out; if all are, the list is empty and the index -1."""
    pairs = [(formula, rest) for formula in formulas if np.isfinite(rest := np.abs(rows.rest(formula))).all()]
    if not pairs:
        return [], -1
    rows = rows.measured(min(pairs, key=lambda pair: float(np.median(pair[1])))[0])
    residuals = [np.abs(rows.rest(formula)) for formula, _ in pairs]
    least = _EXACT * float(np.median(np.abs(rows.target / rows.errors)))
    known = ~unexplained_rows(residuals, rows.table, least)
    rows, residuals = rows.at(known), [rest[known] for rest in residuals]
    middle = np.abs(rows.target - np.median(rows.target)) / rows.errors
    cap = float(np.quantile(middle, _CAP)) or 1.0
    usual = float(np.minimum(middle, cap).mean()) or 1.0
    scored = [
        ScoredFormula(formula, size(formula), float(np.minimum(rest, cap).mean()) / usual)
        for (formula, _), rest in zip(pairs, residuals, strict=True)
    ]
    floor = _EXACT * float(np.sqrt(np.mean(np.square(rows.target / rows.errors))))
    clipped = _clipped(residuals, floor, range(len(residuals)))
    order = sorted(range(len(scored)), key=lambda at: (scored[at].size, clipped[at].mean(), scored[at].error))
    kept: list[int] = []
    for at in order:
        better = not kept or scored[at].error < (1 - _WORTH) * scored[kept[-1]].error
        if better and (not kept or scored[kept[-1]].error > _EXACT):
            kept.append(at)
    clipped = _clipped(residuals, floor, kept)
    best = min(kept, key=lambda at: (clipped[at].mean(), scored[at].error, scored[at].size))
    for number, at in enumerate(kept):
        if at == best or _alike(clipped[at], clipped[best]):
            return [scored[place] for place in kept], number
    raise AssertionError("the best formula is as good as itself")


def _clipped(residuals: Sequence[np.ndarray], floor: float, among: Iterable[int]) -> list[np.ndarray]:
    """The squared residuals beyond ``floor``, clipped, lest a few rows hide the difference between formulas."""
    reach = max(_CLIP * min(spread(residuals[at]) for at in among), floor)
    return [np.minimum(np.maximum(rest - floor, 0), reach) ** 2 for rest in residuals]


def _alike(simple: np.ndarray, best: np.ndarray) -> bool:
    """Whether one loss exceeds the other by no more than chance: by three standard errors of the mean difference, and
    by the ratio that the scatter of so few squares allows, at least a half."""
    difference = simple - best
    rows = max(1, len(difference))
    chance = 3 * float(difference.std()) / np.sqrt(rows)
    ratio = 1 + max(0.5, 4 * np.sqrt(2 / rows))
    return float(difference.mean()) <= chance and float(simple.mean()) <= ratio * float(best.mean())
