"""One template fitted to many problems, from several starts, and rounded."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.arithmetic.portfolio.rounding import whole_rows
from benchmarks.arithmetic.portfolio.templates import Template, TemplateProblem, cleared_start
from lnnkit.learn.comparisons.least_squares import EXACT, by_chance, minimise
from lnnkit.numeric.units.clipped_units import NAU


@dataclass(frozen=True)
class Effort:
    """The effort of a search: rounds through all templates, starts of a template in a round, Levenberg-Marquardt steps
    of a start, and steps without gain after which it stops."""

    rounds: int = 3
    starts: int = 2
    steps: int = 60
    patience: int = 15


@dataclass(frozen=True)
class TemplateFits:
    """One template's fit of each problem: flat rows and mean square of relative residuals of the best fit, the same
    of the best integer rows near one (infinite if there are none), steps and starts.

    ``[problems, ...]`` each.
    """

    template: Template
    plain: Tensor
    loss: Tensor
    whole: Tensor
    whole_loss: Tensor
    steps: Tensor
    starts: Tensor


def fit_template(
    problem: TemplateProblem, generator: torch.Generator, effort: Effort, *, informed: bool
) -> TemplateFits:
    """Fit from several starts; problems without integer rows are started again. If ``informed``, the first start may be
    `cleared_start`; the others are random."""
    template, (count, samples) = problem.template, problem.target.shape
    features, width = problem.operands.shape[-1], len(template.powers)
    one_sign = bool((problem.operands >= 0).all() | (problem.operands <= 0).all())
    plain = problem.target.new_zeros(count, width * features)
    loss = problem.target.new_full((count,), torch.inf)
    whole, whole_loss = plain.clone(), loss.clone()
    left, rest = torch.arange(count, device=loss.device), problem
    steps, starts = torch.zeros_like(left), torch.zeros_like(left)
    for attempt in range(effort.starts):
        start = cleared_start(rest) if informed and attempt == 0 else None
        if start is None:
            start = _drawn(len(left), width, features, one_sign, generator).to(plain)
        done = minimise(rest, start, steps=effort.steps, patience=effort.patience, enough=EXACT / 100)
        rows = whole_rows(template, done.parameters)
        score = rest.residuals(rows).square().mean(-1).nan_to_num(nan=torch.inf)
        near = score <= (done.loss * by_chance(samples, width * features)).clamp(min=EXACT)
        better = done.loss < loss[left]
        plain[left] = torch.where(better[:, None], done.parameters, plain[left])
        loss[left] = torch.where(better, done.loss, loss[left])
        whole[left] = torch.where(near[:, None], rows, whole[left])
        whole_loss[left] = torch.where(near, score, whole_loss[left])
        steps[left] += done.steps
        starts[left] += 1
        left = left[~near]
        rest = problem.select(left)
        if not len(left) or template.linear:  # a template with a single minimum
            break
    return TemplateFits(template, plain, loss, whole, whole_loss, steps, starts)


def _drawn(count: int, rows: int, features: int, one_sign: bool, generator: torch.Generator) -> Tensor:
    """Rows initialised as in a `NAU`; for operands of one sign they are positive, so that no quotient or root starts
    near 0."""
    weight = NAU(features, 2, seeds=count, generator=generator).weight.detach()[:, :rows]
    return (weight.abs() if one_sign else weight).flatten(1)
