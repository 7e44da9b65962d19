"""Conditions that split a table into two cases, each with a formula of its own.

The candidates compare a column with a threshold or two columns with each other. A polynomial is fitted on each side;
its squared errors on held-out rows are compared with those of one polynomial for all rows (a model tree of depth one;
Quinlan 1992).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lnnkit.discovery.constant_refinement import spread
from lnnkit.discovery.exact_constants import number, simplest_fraction
from lnnkit.discovery.expression import Product, constant, evaluate, variable
from lnnkit.discovery.variable_reductions import polynomial

_TERMS = 28
_GAIN = 0.5  # what a split leaves of the squares, at most
_LEAST = 8  # rows of a side


@dataclass(frozen=True)
class Condition:
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
    table: np.ndarray, target: np.ndarray, chosen: list[int], generator: np.random.Generator
) -> Condition | None:
    """The condition with the least error, if that is at most half the error of one polynomial for all rows. ``table``
    has no missing cells."""
    order = generator.permutation(len(target))
    cut = max(1, len(order) * 2 // 3)
    train, test = order[:cut], order[cut:]
    if len(test) < 2 or not chosen:
        return None
    basis = polynomial(table[:, chosen], min(_TERMS, max(2, len(train) // 8)))

    def left_by(condition: Condition | None) -> float:
        holds = np.ones(len(target), dtype=bool) if condition is None else condition.holds(table)
        rest = 0.0
        for side in (holds, ~holds):
            fitted, tested = train[side[train]], test[side[test]]
            if condition is not None and len(fitted) < max(_LEAST, 2 * basis.shape[1] // 2):
                return np.inf
            if not len(fitted):
                continue
            found = np.linalg.lstsq(basis[fitted], target[fitted], rcond=1e-9)[0]
            errors = np.abs(basis[tested] @ found - target[tested])
            rest += float(np.sum(errors))
        return rest

    whole = left_by(None)
    scored = [(left_by(each), each) for each in _conditions(table, chosen)]
    if not scored:
        return None
    least, best = min(scored, key=lambda pair: pair[0])
    if best.right is None:
        own = np.unique(table[:, best.left])
        near = own[np.argsort(np.abs(own - best.threshold))[:60]]
        finer = [Condition(best.left, None, float(each)) for each in near]
        least, best = min([(least, best), *((left_by(each), each) for each in finer)], key=lambda pair: pair[0])
    return best if least <= _GAIN * whole else None


def _conditions(table: np.ndarray, chosen: list[int]) -> Iterator[Condition]:
    for place in chosen:
        for threshold in np.unique(np.quantile(table[:, place], np.linspace(0.1, 0.9, 17))):
            yield Condition(place, None, float(threshold))
    for one, other in itertools.combinations(chosen, 2):
        yield Condition(one, other)


def settled_threshold(
    condition: Condition, above: Product, below: Product, table: np.ndarray, target: np.ndarray
) -> Condition:
    """The condition with its threshold moved to where the two formulas change places, and rounded to the simplest
    number there."""
    if condition.right is not None:
        return condition
    high, low = (np.abs(evaluate(each, table) - target) for each in (above, below))
    near = 4 * min(spread(np.minimum(high, low)), 1e300) + 1e-9 * float(np.abs(target).max(initial=0.0))
    own = table[:, condition.left]
    is_above = (high <= near) & (low > 3 * near)
    is_below = (low <= near) & (high > 3 * near)
    if not is_above.any() or not is_below.any():
        return condition
    order = np.argsort(own, kind="stable")
    # The cut with the fewest rows on the wrong side
    wrong = np.concatenate([[0], np.cumsum(is_above[order])]) + np.concatenate(
        [np.cumsum(is_below[order][::-1])[::-1], [0]]
    )
    best = np.flatnonzero(wrong == wrong.min())
    start, stop = own[order[max(best[0] - 1, 0)]], own[order[min(best[-1], len(own) - 1)]]
    if not start < stop:
        return condition
    return Condition(condition.left, None, simple_between(float(start), float(stop)))


def simple_between(low: float, high: float) -> float:
    """A number with few digits in ``[low, high)``."""
    for digits in range(1, 16):
        middle = float(f"{(low + high) / 2:.{digits}g}")
        if low <= middle < high:
            break
    else:
        middle = low
    if low > 0:
        inside = low + 0.02 * (high - low), high - 0.02 * (high - low)
        top, bottom = simplest_fraction(*inside)
        if bottom and len(str(top / bottom)) <= len(str(middle)):
            return top / bottom
    return middle
