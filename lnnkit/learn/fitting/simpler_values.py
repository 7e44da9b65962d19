"""Simpler values that serve as well as those of descent: rules that no label depends on start again, weights of units
and all other values are rounded.

The weights of units are rounded if the loss does not rise. If labels of truths are all true or false, the accuracy of
each predicate may fall by one standard error of the error rate of the unrounded weights: the one-standard-error rule
(Breiman et al. 1984, section 3.4.3). The mean square error of a number may rise by what noise explains (`by_chance`).
If the unrounded weights make no error, none is allowed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.arrays import any_set, where_set
from lnnkit.learn.arithmetic.learned_comparisons import LearnedComparison
from lnnkit.learn.arithmetic.levenberg_marquardt import by_chance
from lnnkit.learn.fitting.fitting_problem import Fitting, Inferred
from lnnkit.learn.parameters.constraints import Constraints
from lnnkit.learn.parameters.rule_parameters import OF_LOGIC, LearnedParameter
from lnnkit.learn.starting.candidate_search import grid
from lnnkit.scores import Scores

_SAME = 1e-12  # tolerance of a loss
_IDLE = ("decay", "slack")  # terms of the loss that do not depend on labels
_NOTHING = 1e-9  # rounding of a loss or an accuracy
_DIGITS = (0, 1, 2, 3, 4, 6, 9)
_FEW = 8  # up to this many thresholds are rounded one by one
_DEARER, _MORE = 1e-3, 1e-5  # rounding may raise the loss by this share of it, plus this much


def simplified(
    fitting: Fitting, values: Tensor, start: Tensor, constraints: Constraints
) -> tuple[Tensor, Inferred, Tensor]:
    """The values, as simple as costs nothing, inference there, and a mask of those that no label depends on."""
    idle = _unreached(fitting, values, constraints)
    values = _restored(fitting, values, start, constraints, idle)
    inferred = fitting.infer(values, constraints)
    for _, comparison in sorted(inferred.trace.comparisons.items()):
        for whole in _whole_weights(values, start, fitting.parameters, comparison):
            tried = fitting.infer(whole, constraints) if constraints.holds(whole) else None
            if tried is not None and no_worse(fitting, tried, inferred):
                values, inferred = whole, tried
                break
    return *_rounded(fitting, values, inferred, constraints, idle), idle


def _rounded(
    fitting: Fitting, values: Tensor, inferred: Inferred, constraints: Constraints, idle: Tensor
) -> tuple[Tensor, Inferred]:
    """The values, except ``idle`` ones, with as few digits as cost nothing, and inference there. Thresholds are rounded
    first, one by one if they are few."""

    def measures(inferred: Inferred) -> list[float]:
        losses = [inferred.losses.total, inferred.losses.validation]
        wrong = [1 - accuracy for accuracy in fitting.accuracies(inferred) if accuracy is not None]
        return [*(loss for loss in losses if loss is not None), *wrong]

    exact, places = measures(inferred), where_set(~idle).tolist()
    thresholds = [place for place in places if fitting.parameters[place].kind == "value"]
    others = [place for place in places if place not in thresholds]
    groups = [[place] for place in thresholds] if len(thresholds) <= _FEW else [thresholds]
    for group in [*groups, others] if others else groups:
        for digits in _DIGITS:
            step = 10.0**-digits * 10.0 ** torch.floor(torch.log10(fitting.units[group]))
            fewer = values.clone()
            fewer[group] = torch.round(torch.round(values[group] / step) * step, decimals=12)
            if not constraints.holds(fewer):
                continue
            tried = fitting.infer(fewer, constraints)
            pairs = zip(measures(tried), exact, strict=True)
            if all(now <= before * (1 + _DEARER) + _MORE for now, before in pairs):
                values, inferred = fewer, tried
                break
    return values, inferred


def _unreached(fitting: Fitting, values: Tensor, constraints: Constraints) -> Tensor:
    """(k,) a mask of the numbers of rules that have ``OF_LOGIC`` ones only and on which no label depends."""
    reached = {
        rule for parameter in fitting.parameters if parameter.kind not in OF_LOGIC for rule in parameter.rules
    }  # these start from the data
    if all(not reached.isdisjoint(parameter.rules) for parameter in fitting.parameters):
        return torch.zeros(len(values), dtype=torch.bool)
    inferred = fitting.infer(values, constraints, softness=1.0)
    open_values, depends = values.clone().requires_grad_(), torch.zeros(len(values), dtype=torch.bool)
    for batch in fitting.batches(inferred, torch.Generator().manual_seed(fitting.settings.seed)):
        ends, crossed = batch.bounds(open_values)
        # Separately, lest the gradients of two ends cancel
        apart = torch.linspace(1.0, 2.0, len(ends), dtype=ends.dtype)
        total = torch.dot(ends.nan_to_num(), apart) + crossed
        if total.requires_grad:
            (slope,) = torch.autograd.grad(total, open_values, allow_unused=True)
            if slope is not None:
                depends |= slope != 0
    reached |= {rule for place in where_set(depends).tolist() for rule in fitting.parameters[place].rules}
    return torch.tensor([reached.isdisjoint(parameter.rules) for parameter in fitting.parameters], dtype=torch.bool)


def _restored(fitting: Fitting, values: Tensor, start: Tensor, constraints: Constraints, which: Tensor) -> Tensor:
    """The values with the marked ones at their ``start``, if that does not increase the loss of the labels."""
    before = torch.where(which, start, values)
    if not any_set(which) or not constraints.holds(before):
        return values
    now, then = (fitting.infer(point, constraints).losses for point in (values, before))
    totals = [sum(value for name, value in losses.terms.items() if name not in _IDLE) for losses in (now, then)]
    same = totals[1] <= totals[0] + _SAME and (then.validation or 0.0) <= (now.validation or 0.0) + _SAME
    return before if same else values


def _whole_weights(
    values: Tensor, start: Tensor, parameters: Sequence[LearnedParameter], comparison: LearnedComparison
) -> list[Tensor]:
    """The values with the weights of a comparison's units rounded, and, if that is integral, those at its start."""
    place = {parameter.name: number for number, parameter in enumerate(parameters)}
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
    mine, others = ([scores for scores in fitting.scores(one) if scores is not None] for one in (hard, soft))
    if mine[0].contradictions > others[0].contradictions:
        return False
    truths = {name for scores in others for name in scores.predicates}
    values = {name for scores in others for name in scores.numbers}
    return all(_as_right(name, mine, others) for name in truths) and all(
        _as_near(name, mine, others, len(fitting.parameters)) for name in values
    )


def _as_right(name: str, hard: Sequence[Scores], soft: Sequence[Scores]) -> bool:
    """Whether the accuracy of a predicate falls by at most one standard error."""

    named = [[part.predicates[name] for part in scores if name in part.predicates] for scores in (hard, soft)]
    count = sum(score.n for score in named[1])
    mine, other = (sum(score.accuracy * score.n for score in scores) / count for scores in named)
    return mine >= other - math.sqrt(max(0.0, other * (1 - other)) / count) - _NOTHING


def _as_near(name: str, hard: Sequence[Scores], soft: Sequence[Scores], unknowns: int) -> bool:
    """Whether the mean square error of a number rises by no more than noise, with no fewer values."""

    named = [[part.numbers[name] for part in scores if name in part.numbers] for scores in (hard, soft)]
    known, count = (sum(score.n * score.coverage for score in scores) for scores in named)
    mine, other = (sum((score.rmse or 0.0) ** 2 * score.n * score.coverage for score in scores) for scores in named)
    if known < count - _NOTHING:
        return False
    most = other * by_chance(round(count), unknowns)
    return mine <= most + _NOTHING * (1 + most)
