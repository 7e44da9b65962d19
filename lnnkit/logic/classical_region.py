"""When a neuron is classical at a threshold: linear conditions on its weights and bias.

A neuron is *classical at alpha* (Riegel et al. 2020, arXiv 2006.13155, section 4) if it gives what classical logic
gives for operands that are true (at least ``alpha``) or false (at most ``1 - alpha``): a conjunction is true if all its
operands are, and false if one is, whatever the others; a disjunction, and ``x -> y`` as a disjunction of ``not x`` and
``y``, the mirror image. Zero weights leave an operand out, and then the neuron does not depend on it: that is not
classical, unless slack is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

LEAST = 1e-3  # the least value of a weight that must be positive


class LinearConstraint(NamedTuple):
    """``sum coefficient * value <= limit`` over the values ``(w_1, ..., w_n, b)`` of one neuron. ``slackable``: an
    omitted operand may violate it."""

    coefficients: Sequence[float]
    limit: float
    slackable: bool = False

    def excess(self, values: Sequence[float]) -> float:
        """By how much the values violate it, as a truth or as the logarithm of one; negative where they do not."""
        return sum(c * v for c, v in zip(self.coefficients, values, strict=True)) - self.limit


class Region(NamedTuple):
    """The values that meet all conditions, and values ``inside``."""

    conditions: Sequence[LinearConstraint]
    inside: Sequence[float]

    def violation(self, values: Sequence[float]) -> float:
        """The greatest violation of a condition."""
        return max(0.0, *(condition.excess(values) for condition in self.conditions))


def region(conditions: Sequence[LinearConstraint], inside: Sequence[float]) -> Region:
    """The region of values that are not negative and meet the conditions."""
    places = range(len(inside))
    return Region([*conditions, *(LinearConstraint(row(len(inside), {place: -1.0}), 0.0) for place in places)], inside)


def row(length: int, entries: dict[int, float]) -> list[float]:
    """Coefficients that are 0 but for the ``entries``; -1 is the bias."""
    coefficients = [0.0] * length
    for place, value in entries.items():
        coefficients[place] = value
    return coefficients
