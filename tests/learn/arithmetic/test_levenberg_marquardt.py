"""Levenberg-Marquardt: as low as SciPy gets, problem by problem, and never up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
import pytest
import torch
from scipy.optimize import least_squares
from torch import Tensor

from lnnkit.learn.comparisons.least_squares import minimise
from tests.blocks import at_length

PLACES = torch.linspace(-2, 2, 30, dtype=torch.float64)


def curve(parameters: Tensor, wanted: Tensor) -> Tensor:
    """A bump on a slope, against what was measured at `PLACES`."""
    height, middle, width, slope = parameters
    return height * torch.exp(-(((PLACES - middle) / width.exp()) ** 2)) + slope * PLACES - wanted


@dataclass(frozen=True)
class FunctionProblem:
    """Any differentiable ``function`` of one problem's parameters and data, ``[parameters], [...] -> [rows]``, as a
    problem for each row of ``data``, ``[problems, ...]``."""

    function: Callable[[Tensor, Tensor], Tensor]
    data: Tensor

    def residuals(self, parameters: Tensor) -> Tensor:
        return torch.vmap(self.function)(parameters, self.data)

    def jacobian(self, parameters: Tensor) -> Tensor:
        return torch.vmap(torch.func.jacrev(self.function))(parameters, self.data)

    def select(self, problems: Tensor) -> Self:
        return type(self)(self.function, self.data[problems])


def problems(count: int, noise: float) -> tuple[FunctionProblem, Tensor]:
    """Random curves and starts near them."""
    drawn = torch.Generator().manual_seed(1)
    truth = torch.randn(count, 4, dtype=torch.float64, generator=drawn) * torch.tensor([1.0, 0.5, 0.3, 1.0]).double()
    truth[:, 0] += 3 * truth[:, 0].sign()
    clean = torch.vmap(curve, (0, None))(truth, torch.zeros_like(PLACES))
    measured = clean + noise * torch.randn(clean.shape, dtype=clean.dtype, generator=drawn)
    return FunctionProblem(curve, measured), truth + 0.3 * torch.randn(truth.shape, dtype=truth.dtype, generator=drawn)


@pytest.mark.parametrize("noise", at_length([0.1, 0.0], plain=1))
def test_as_low_as_scipy(noise: float) -> None:
    problem, start = problems(20, noise)
    done = minimise(problem, start, steps=300, patience=50)
    lows = []
    for first, data in zip(start, problem.data, strict=True):

        def residuals(p: np.ndarray, data: Tensor = data) -> np.ndarray:
            return curve(torch.from_numpy(p), data).numpy()

        lows.append(2 * least_squares(residuals, first.numpy(), method="lm", xtol=1e-13, ftol=1e-13).cost / len(PLACES))
    mine, theirs = done.loss.numpy(), np.array(lows)
    # Each may end in another valley now and then; in the same one both end at the same depth.
    assert (mine <= theirs * (1 + 1e-6) + 1e-20).mean() >= 0.9
    assert (theirs <= mine * (1 + 1e-6) + 1e-20).mean() >= 0.9


def test_the_loss_never_rises() -> None:
    problem, start = problems(20, 0.1)
    now = minimise(problem, start, steps=0)
    assert torch.equal(now.parameters, start)
    for steps in range(1, 16):
        after = minimise(problem, start, steps=steps, patience=steps)
        assert bool((after.loss <= now.loss).all())
        moved = (after.parameters != now.parameters).any(-1)
        assert torch.equal(moved, after.loss < now.loss)
        now = after


def test_problems_do_not_touch_each_other() -> None:
    problem, start = problems(6, 0.1)
    together = minimise(problem, start, steps=40)
    for number in range(6):
        alone = minimise(problem.select(torch.tensor([number])), start[number : number + 1], steps=40)
        assert torch.allclose(together.parameters[number], alone.parameters[0], rtol=1e-6, atol=1e-8)
        assert int(together.steps[number]) == pytest.approx(int(alone.steps[0]), abs=2)


def test_a_linear_problem_takes_a_few_steps() -> None:
    matrix = torch.randn(50, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    wanted = matrix @ torch.arange(1.0, 6.0, dtype=torch.float64)
    problem = FunctionProblem(lambda p, data: matrix @ p - data, wanted[None])
    done = minimise(problem, torch.zeros(1, 5, dtype=torch.float64))
    assert done.parameters[0].tolist() == pytest.approx([1, 2, 3, 4, 5], rel=1e-12)
    assert int(done.steps) < 12


def test_a_parameter_without_influence_stays() -> None:
    problem = FunctionProblem(lambda p, data: (p[0] - data).expand(3), torch.tensor([2.0], dtype=torch.float64))
    done = minimise(problem, torch.tensor([[0.0, 7.0]], dtype=torch.float64))
    assert done.parameters[0].tolist() == pytest.approx([2, 7])


def test_no_step_leads_where_residuals_are_no_number() -> None:
    problem = FunctionProblem(lambda p, data: (p[0].sqrt() - data).expand(3), torch.tensor([-3.0]).double())
    done = minimise(problem, torch.tensor([[4.0]], dtype=torch.float64))
    assert 0 <= done.parameters.item() < 1e-3
