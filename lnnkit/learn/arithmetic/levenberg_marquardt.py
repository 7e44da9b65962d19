"""Levenberg-Marquardt for many small problems at once (Marquardt 1963; Nocedal and Wright 2006, chapter 10); the scale
of residuals, and how much worse than the best fit the true model may fit by chance."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol, Self

import torch
from torch import Tensor

from lnnkit.arrays import all_set

EASED, TIGHTENED = 0.2, 4.0  # factors of the damping after a successful and after a failed step


class Problem(Protocol):
    """``[problems]`` of ``[rows]`` residuals each, in ``[parameters]`` unknowns."""

    def residuals(self, parameters: Tensor) -> Tensor:
        """``[problems, parameters] -> [problems, rows]``."""
        ...

    def jacobian(self, parameters: Tensor) -> Tensor:
        """``[problems, parameters] -> [problems, rows, parameters]``: the derivatives of the residuals."""
        ...

    def select(self, problems: Tensor) -> Self:
        """The problems with these numbers only."""
        ...


class Minimum(NamedTuple):
    """Of each problem: the parameters found (problems, parameters), the mean square of its residuals there, and the
    number of steps tried."""

    parameters: Tensor
    loss: Tensor
    steps: Tensor


def minimise(
    problem: Problem, parameters: Tensor, *, steps: int = 100, patience: int = 15, enough: float = 1e-28
) -> Minimum:
    """Iterate from ``parameters`` until each problem has had ``steps`` steps, has gained less than a hundredth in each
    of ``patience``, or its loss is at most ``enough``. Finished problems cost nothing. A step tries
    ``p - (A + d diag A)^-1 J^T r`` with ``A = J^T J``, and is kept in each problem whose loss falls."""
    parameters, loss = parameters.clone(), _loss(problem, parameters)
    damping, (tried, stalled) = torch.full_like(loss, 1e-2), torch.zeros(2, len(loss), dtype=torch.int64)
    active, left = problem, torch.arange(len(parameters), device=parameters.device)
    for _ in range(steps):
        running = (loss[left] > enough) & (stalled[left] < patience)
        if not all_set(running):
            left = left[running]
            active = problem.select(left)
        if not len(left):
            break
        tried[left] += 1
        now, least, damped = parameters[left], loss[left], damping[left]
        trial, failed = _trial(active, now, damped)
        after = _loss(active, trial)
        better = ~failed & (after < least)
        parameters[left] = torch.where(better[..., None], trial, now)
        loss[left] = torch.where(better, after, least)
        damping[left] = (damped * torch.where(better, EASED, TIGHTENED)).clamp(1e-14, 1e14)
        stalled[left] = torch.where(better & (after < 0.99 * least), 0, stalled[left] + 1)
    return Minimum(parameters, loss, tried)


def _trial(problem: Problem, parameters: Tensor, damping: Tensor) -> tuple[Tensor, Tensor]:
    """The parameters after a damped step, and a mask of the problems that have none."""
    residuals, jacobian = problem.residuals(parameters), problem.jacobian(parameters)
    gram = jacobian.mT @ jacobian
    slope = (jacobian.mT @ residuals[..., None])[..., 0]
    diagonal = gram.diagonal(dim1=-2, dim2=-1)
    # A parameter without influence would make the matrix singular; damping it by the scale of the others leaves it in
    # place.
    weighed = torch.maximum(diagonal, 1e-12 * diagonal.amax(-1, keepdim=True)).clamp(min=1e-300)
    factor, failed = torch.linalg.cholesky_ex(gram + torch.diag_embed(damping[..., None] * weighed))
    return parameters - torch.cholesky_solve(slope[..., None], factor)[..., 0], failed != 0


def _loss(problem: Problem, parameters: Tensor) -> Tensor:
    """The mean squared residual; NaN becomes infinity, so that no step is accepted there."""
    return problem.residuals(parameters).square().mean(-1).nan_to_num(nan=torch.inf)


EXACT = 1e-24
"""The mean square of relative residuals up to which a model counts as exact."""


def spread_of(target: Tensor) -> Tensor:
    """The scale of residuals: the size of each target, at least the median one, lest quotients near 0 dominate."""
    size = target.abs()
    return torch.maximum(size, size.median(-1, keepdim=True).values).clamp(min=1e-300)


def by_chance(samples: int, unknowns: int) -> float:
    """How far the mean square of the true model may exceed that of the best fit, which absorbs a degree of freedom of
    the noise for each unknown; the rest scatters, here by four standard deviations. 0 if none is left."""
    free = samples - unknowns
    if free <= 0:
        return 1.0
    return samples / free * (1 + 4 * math.sqrt(2 / free))
