"""Weights of units made whole after training, where that costs nothing that is not noise.

The loss must not rise. Where truths are labelled plainly true or false, the accuracy of each predicate may fall by one
standard error of what the unrounded weights leave wrong (the rule of Breiman et al. 1984, section 3.4.3: of models that
chance cannot tell apart, the simplest); the errors of each number may rise by what noise explains
(`lnnkit.learn.rounding.by_chance`). Where the unrounded weights leave no error, nothing may be lost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.learn.comparisons import LearnedComparison
from lnnkit.learn.fitting import Fitting, Inferred
from lnnkit.learn.parameters import Parameter
from lnnkit.learn.rounding import by_chance
from lnnkit.learn.unit_grid import grid
from lnnkit.scores import Scores

_NOTHING = 1e-9


def whole_weights(
    values: Tensor, start: Tensor, parameters: Sequence[Parameter], comparison: LearnedComparison
) -> list[Tensor]:
    """The values with the weights of one comparison's units rounded, and with all that it learns as it started, if that
    was whole; none where they are whole."""
    place = {each.name: number for number, each in enumerate(parameters)}
    weights = grid(comparison.units, [name for name in comparison.names if name in place])
    rounded, begun = values.clone(), values.clone()
    for name in comparison.names:
        begun[place[name]] = start[place[name]]
    started = True
    for name, points in zip(weights.names, weights.values, strict=True):
        now = float(values[place[name]])
        rounded[place[name]] = min(points, key=lambda point: abs(point - now))
        started &= float(start[place[name]]) in points
    if torch.equal(rounded, values):
        return []
    return [rounded, begun] if started else [rounded]


def no_worse(fitting: Fitting, hard: Inferred, soft: Inferred) -> bool:
    """Whether rounded values may take the place of others, by what was inferred with each."""
    losses = (hard.losses.total, soft.losses.total), (hard.losses.validation or 0.0, soft.losses.validation or 0.0)
    if all(mine <= other + _NOTHING for mine, other in losses):
        return True
    if not fitting.labels.plain:
        return False
    pairs = zip(fitting.scores(hard), fitting.scores(soft), strict=True)
    return all(
        mine is None or other is None or _by_chance(mine, other, len(fitting.parameters)) for mine, other in pairs
    )


def _by_chance(hard: Scores, soft: Scores, unknowns: int) -> bool:
    """Whether chance explains by how much these scores are worse than others of the same labels."""
    if hard.contradictions > soft.contradictions:
        return False
    for name, other in soft.predicates.items():
        error = math.sqrt(other.accuracy * (1 - other.accuracy) / other.n)
        if hard.predicates[name].accuracy < other.accuracy - error - _NOTHING:
            return False
    for name, other in soft.numbers.items():
        mine = hard.numbers[name]
        if mine.coverage < other.coverage or (mine.rmse is None) != (other.rmse is None):
            return False
        if mine.rmse is not None and other.rmse is not None:
            most = other.rmse**2 * by_chance(round(other.n * other.coverage), unknowns)
            if mine.rmse**2 > most + _NOTHING * (1 + most):
                return False
    return True
