"""Conditions that split a table into two cases, each with a formula of its own: a column against a threshold, or two
columns. A polynomial is fitted on each side; its errors on held-out rows are compared with those of one polynomial for
all rows (a model tree of depth one; Quinlan 1992)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lnnkit.discovery.exact_constants import MINUS_ONE, Constant, number, simplest_fraction
from lnnkit.discovery.expression import Product, absolute, constant, evaluate, scaled, total, variable
from lnnkit.discovery.formula_errors import spread
from lnnkit.discovery.relevant_inputs import polynomial

_TERMS = 28
_GAIN = 0.5  # greatest share of the residuals that a split may leave
_LEAST = 8  # least number of rows on a side
_SHARP = 1 / 3  # greatest ratio of the residuals of a sharp condition to those of other conditions
_ELSEWHERE = 0.15  # those others put at least this share of rows on the other side
_ROWS, _NEAR = 1500, 120  # rows on which conditions are compared, and thresholds tried near the best one


@dataclass(frozen=True)
class SplitCondition:
    """``left > right``, both columns by index; where ``right`` is None, the left column against ``threshold``."""

    left: int
    right: int | None
    threshold: float = 0.0

    def holds(self, table: np.ndarray) -> np.ndarray:
        """Whether it holds in each row: ``[rows]``."""
        other = self.threshold if self.right is None else table[:, self.right]
        return table[:, self.left] > other

    @property
    def sides(self) -> tuple[Product, Product]:
        right = constant(number(self.threshold)) if self.right is None else variable(self.right)
        return variable(self.left), right


def best_condition(
    table: np.ndarray, target: np.ndarray, chosen: list[int], generator: np.random.Generator, *, sharp: bool = False
) -> SplitCondition | None:
    """The condition with the smallest residuals, if these are at most half of those of one polynomial; ``table`` has no
    missing cells. ``sharp``: if they are also at most a third of those left by conditions that split the rows
    elsewhere, since a curve that bends everywhere gains from any condition."""
    order = generator.permutation(len(target))[:_ROWS]
    cut = max(1, len(order) * 2 // 3)
    train, test = order[:cut], order[cut:]
    if len(test) < 2 or not chosen:
        return None
    kinds = itertools.product((False, True), {min(_TERMS, max(2, len(train) // share)) for share in (4, 10)})
    bases = [polynomial(table[:, chosen], terms, logarithms=logarithms) for logarithms, terms in kinds]
    models = [_Polynomials(basis, target, train, test) for basis in bases]
    whole = min(model.left_by(np.ones(len(target), dtype=bool)) for model in models)
    tried = [_best_of(model, table, chosen, order, whole, sharp=sharp) for model in models]
    return min(filter(None, tried), key=lambda pair: pair[0], default=(0.0, None))[1]


@dataclass(frozen=True)
class _Polynomials:
    """A polynomial for each side of a split: ``basis`` [rows, terms], fitted to rows ``train``, judged on ``test``."""

    basis: np.ndarray
    target: np.ndarray
    train: np.ndarray
    test: np.ndarray

    def left_by(self, holds: np.ndarray) -> float:
        """The sum of the sizes of the residuals; infinite where a side has too few rows."""
        rest = 0.0
        for side in filter(np.any, (holds, ~holds)):
            fitted, tested = self.train[side[self.train]], self.test[side[self.test]]
            if len(fitted) < max(_LEAST, self.basis.shape[1]):
                return np.inf
            coefficients = np.linalg.lstsq(self.basis[fitted], self.target[fitted], rcond=1e-9)[0]
            rest += float(np.sum(np.abs(self.basis[tested] @ coefficients - self.target[tested])))
        return rest


def _best_of(
    sides: _Polynomials, table: np.ndarray, chosen: list[int], order: np.ndarray, whole: float, *, sharp: bool
) -> tuple[float, SplitCondition] | None:
    """The residuals that the best condition leaves, and that condition; see `best_condition`."""
    shares = np.linspace(0.1, 0.9, 17)
    cuts = [(place, cut) for place in chosen for cut in np.unique(np.quantile(table[:, place], shares)).tolist()]
    conditions = [SplitCondition(place, None, cut) for place, cut in cuts]
    conditions += [SplitCondition(one, other) for one, other in itertools.combinations(chosen, 2)]
    scored = [(sides.left_by(condition.holds(table)), condition) for condition in conditions]
    least, best = min(scored, key=lambda pair: pair[0])
    if best.right is None:
        values = np.unique(table[order, best.left])
        near = values[np.argsort(np.abs(values - best.threshold))[:_NEAR]].tolist()
        finer = [replace(best, threshold=threshold) for threshold in near]
        tried = [(sides.left_by(condition.holds(table)), condition) for condition in finer]
        least, best = min([(least, best), *tried], key=lambda pair: pair[0])
    if not np.isfinite(least) or not least <= _GAIN * whole:
        return None
    holds = best.holds(table)
    elsewhere = [loss for loss, other in scored if _ELSEWHERE <= np.mean(other.holds(table) == holds) <= 1 - _ELSEWHERE]
    return None if sharp and elsewhere and not least <= _SHARP * min(elsewhere) else (least, best)


def settled_threshold(
    condition: SplitCondition, above: Product, below: Product, table: np.ndarray, target: np.ndarray
) -> SplitCondition:
    """The condition with its threshold moved to where the other formula is better, at the simplest number there."""
    if condition.right is not None:
        return condition
    high, low = (np.abs(evaluate(formula, table) - target) for formula in (above, below))
    near = 4 * min(spread(np.minimum(high, low)), 1e300) + 1e-9 * float(np.abs(target).max(initial=0.0))
    column = table[:, condition.left]
    is_above = (high <= near) & (low > 3 * near)
    is_below = (low <= near) & (high > 3 * near)
    if not is_above.any() or not is_below.any():
        return condition
    order = np.argsort(column, kind="stable")
    # The cut with the fewest rows on the wrong side
    passed, ahead = np.cumsum(is_above[order]), np.cumsum(is_below[order][::-1])[::-1]
    wrong = np.concatenate([[0], passed]) + np.concatenate([ahead, [0]])
    best = np.flatnonzero(wrong == wrong.min())
    start, stop = column[order[max(best[0] - 1, 0)]], column[order[min(best[-1], len(column) - 1)]]
    return replace(condition, threshold=simple_between(float(start), float(stop))) if start < stop else condition


def simple_between(low: float, high: float) -> float:
    """A number with few digits in ``[low, high)``."""

    def length(value: float) -> int:
        """The number of digits, without the zeros around them."""
        return len(repr(value).partition("e")[0].replace(".", "").strip("-0"))

    decimals = (float(f"{(low + high) / 2:.{digits}g}") for digits in range(1, 16))
    middle = next((decimal for decimal in decimals if low <= decimal < high), low)
    if low > 0:
        top, bottom = simplest_fraction(low + 0.02 * (high - low), high - 0.02 * (high - low))
        if bottom and length(top / bottom) <= length(middle):
            return top / bottom
    return middle


def extremes(above: Product, below: Product) -> Iterator[Product]:
    """Formulas that may be the maximum or the minimum of two: their mean plus or minus half their distance, or plus or
    minus the absolute value of one (of ``x`` and ``-x``)."""
    half = Constant(0.5, 1, 2)
    mean = scaled(total(above, below), half)
    half_distance = scaled(absolute(total(above, scaled(below, MINUS_ONE))), half)
    yield total(mean, half_distance)
    yield total(mean, scaled(half_distance, MINUS_ONE))
    yield absolute(above)
    yield scaled(absolute(above), MINUS_ONE)
