"""Weights of units made whole after training, where that costs nothing that is not noise.

The loss must not rise. Where all labels are of numbers, it may by what noise explains
(`lnnkit.learn.rounding.by_chance`); where all labels are plainly true or false, and some are not met by the unrounded
weights either, the accuracy may fall by one standard error (the rule of Breiman et al. 1984, section 3.4.3: of models
that chance cannot tell apart, the simplest).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from torch import Tensor

from lnnkit.learn.comparisons import LearnedComparison
from lnnkit.learn.fitting import Fitting, Inferred
from lnnkit.learn.parameters import Parameter
from lnnkit.learn.rounding import by_chance
from lnnkit.learn.unit_grid import grid

_NOTHING = 1e-9


def rounded_units(values: Tensor, parameters: Sequence[Parameter], comparisons: Iterable[LearnedComparison]) -> Tensor:
    """The values with all weights of units at the nearest of those that they are rounded to."""
    found = values.clone()
    place = {each.name: number for number, each in enumerate(parameters)}
    for comparison in comparisons:
        whole = grid(comparison.units, [name for name in place if name in comparison.names])
        for name, points in zip(whole.names, whole.values, strict=True):
            now = float(values[place[name]])
            found[place[name]] = min(points, key=lambda point: abs(point - now))
    return found


def no_worse(fitting: Fitting, hard: Inferred, soft: Inferred) -> bool:
    """Whether rounded values may take the place of others, by what was inferred with each."""
    losses = (hard.losses.total, soft.losses.total), (hard.losses.validation or 0.0, soft.losses.validation or 0.0)
    if all(mine <= other + _NOTHING for mine, other in losses):
        return True
    if bool(fitting.labels.numeric.all()):
        by = by_chance(len(fitting.split.train), len(fitting.parameters))
        return all(mine <= other * by + _NOTHING for mine, other in losses)
    if not fitting.labels.plain:
        return False
    for mine, other in zip(fitting.scores(hard), fitting.scores(soft), strict=True):
        if mine is not None and other is not None:
            count = sum(score.n for score in other.predicates.values())
            error = math.sqrt(other.accuracy * (1 - other.accuracy) / max(1, count))
            if mine.accuracy < other.accuracy - error - _NOTHING:
                return False
    return True
