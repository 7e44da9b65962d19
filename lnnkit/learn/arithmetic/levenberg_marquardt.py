"""Levenberg-Marquardt for many small problems at once (Marquardt 1963; Nocedal and Wright 2006, chapter 10); the scale
of residuals, and how much worse than the best fit the true model may fit by chance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, Self

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


@dataclass(frozen=True)
class ProblemState:
    """The state of each problem: its parameters, the mean square of its residuals, the damping of its next step, the
    number of steps tried, and the number since the last gain of more than a hundredth."""

    parameters: Tensor
    loss: Tensor
    damping: Tensor
    steps: Tensor
    stalled: Tensor

    def select(self, problems: Tensor) -> ProblemState:
        return ProblemState(**{name: value[problems] for name, value in vars(self).items()})

    def put(self, problems: Tensor, states: ProblemState) -> ProblemState:
        """The state with these problems' entries replaced."""
        return ProblemState(
            **{name: value.index_copy(0, problems, vars(states)[name]) for name, value in vars(self).items()}
        )


def begin(problem: Problem, parameters: Tensor, damping: float = 1e-2) -> ProblemState:
    """The state before the first step."""
    loss = _loss(problem, parameters)
    zero = torch.zeros_like(loss, dtype=torch.int64)
    return ProblemState(parameters, loss, torch.full_like(loss, damping), zero, zero)


def step(problem: Problem, state: ProblemState) -> ProblemState:
    """Try ``p - (A + d diag A)^-1 J^T r`` with ``A = J^T J`` in each problem; keep it where the loss falls."""
    residuals, jacobian = problem.residuals(state.parameters), problem.jacobian(state.parameters)
    gram = jacobian.mT @ jacobian
    slope = (jacobian.mT @ residuals[..., None])[..., 0]
    diagonal = gram.diagonal(dim1=-2, dim2=-1)
    # A parameter without influence would make the matrix singular; damping it by the scale of the others leaves it in
    # place.
    weighed = torch.maximum(diagonal, 1e-12 * diagonal.amax(-1, keepdim=True)).clamp(min=1e-300)
    factor, failed = torch.linalg.cholesky_ex(gram + torch.diag_embed(state.damping[..., None] * weighed))
    trial = state.parameters - torch.cholesky_solve(slope[..., None], factor)[..., 0]
    loss = _loss(problem, trial)
    better = (failed == 0) & (loss < state.loss)
    return ProblemState(
        torch.where(better[..., None], trial, state.parameters),
        torch.where(better, loss, state.loss),
        (state.damping * torch.where(better, EASED, TIGHTENED)).clamp(1e-14, 1e14),
        state.steps + 1,
        torch.where(better & (loss < 0.99 * state.loss), 0, state.stalled + 1),
    )


def minimise(
    problem: Problem, parameters: Tensor, *, steps: int = 100, patience: int = 15, enough: float = 1e-28
) -> ProblemState:
    """Iterate from ``parameters`` until each problem has had ``steps`` steps, has not improved in ``patience``, or its
    loss is at most ``enough``. Finished problems cost nothing."""
    whole = begin(problem, parameters)
    left = torch.arange(len(parameters), device=parameters.device)
    active, state = problem, whole
    for _ in range(steps):
        running = (state.loss > enough) & (state.stalled < patience)
        if not all_set(running):
            whole = whole.put(left, state)
            left, state = left[running], state.select(running)
            active = problem.select(left)
        if not len(left):
            return whole
        state = step(active, state)
    return whole.put(left, state)


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
