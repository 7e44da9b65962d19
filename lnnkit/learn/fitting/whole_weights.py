"""Rounds the weights of units after training if the loss in accuracy is within noise.

The loss must not rise. If labels of truths are all true or false, the accuracy of each predicate, over training and
validation labels together, may fall by one standard error of the error rate of the unrounded weights. This is the
one-standard-error rule (Breiman et al. 1984, section 3.4.3): the simplest of the models that do not differ
significantly. The mean square error of a number may rise by what noise explains
(`lnnkit.learn.arithmetic.residuals.by_chance`). If the unrounded weights make no error, none is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.learn.arithmetic.learned_comparisons import LearnedComparison
from lnnkit.learn.arithmetic.residuals import by_chance
from lnnkit.learn.fitting.fitting_problem import Fitting, Inferred
from lnnkit.learn.parameters.rule_parameters import Parameter
from lnnkit.learn.starting.weight_grid import grid
from lnnkit.scores import Scores

_NOTHING = 1e-9  # rounding of a loss or an accuracy


def whole_weights(
    values: Tensor, start: Tensor, parameters: Sequence[Parameter], comparison: LearnedComparison
) -> list[Tensor]:
    """The candidate values with the weights of one comparison's units rounded, and with all its parameters at the
    start, if that was integral; none if the weights are integral already."""
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
    """Whether rounded values may replace others, by the results of inference with each."""
    losses = (hard.losses.total, soft.losses.total), (hard.losses.validation or 0.0, soft.losses.validation or 0.0)
    if all(mine <= other + _NOTHING for mine, other in losses):
        return True
    if not fitting.labels.plain:
        return False
    mine, others = ([each for each in fitting.scores(one) if each is not None] for one in (hard, soft))
    if mine[0].contradictions > others[0].contradictions:
        return False
    truths = {name for each in others for name in each.predicates}
    values = {name for each in others for name in each.numbers}
    return all(_as_right(name, mine, others) for name in truths) and all(
        _as_near(name, mine, others, len(fitting.parameters)) for name in values
    )


def _as_right(name: str, hard: Sequence[Scores], soft: Sequence[Scores]) -> bool:
    """Whether the accuracy of a predicate falls by at most one standard error."""

    def accuracy(scores: Sequence[Scores]) -> tuple[float, int]:
        own = [each.predicates[name] for each in scores if name in each.predicates]
        count = sum(each.n for each in own)
        return sum(each.accuracy * each.n for each in own) / count, count

    (mine, _), (other, count) = accuracy(hard), accuracy(soft)
    return mine >= other - math.sqrt(max(0.0, other * (1 - other)) / count) - _NOTHING


def _as_near(name: str, hard: Sequence[Scores], soft: Sequence[Scores], unknowns: int) -> bool:
    """Whether the mean square error of a number rises by no more than noise, with no fewer values."""

    def squares(scores: Sequence[Scores]) -> tuple[float, float]:
        own = [each.numbers[name] for each in scores if name in each.numbers]
        return sum(each.rmse**2 * each.n * each.coverage for each in own if each.rmse is not None), sum(
            each.n * each.coverage for each in own
        )

    (mine, known), (other, count) = squares(hard), squares(soft)
    if known < count - _NOTHING:
        return False
    most = other * by_chance(round(count), unknowns)
    return mine <= most + _NOTHING * (1 + most)
