"""Levenberg-Marquardt: as low as SciPy gets, problem by problem, and never up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from scipy.optimize import least_squares
from torch import Tensor

from lnnkit.learn.comparisons.least_squares import Residuals, minimise

PLACES = torch.linspace(-2, 2, 30, dtype=torch.float64)


def curve(parameters: Sequence[Tensor] | Tensor, wanted: Tensor) -> Tensor:
    """A bump on a slope, against what was measured at `PLACES`."""
    height, middle, width, slope = parameters
    return height * torch.exp(-(((PLACES - middle) / width.exp()) ** 2)) + slope * PLACES - wanted


def problem(data: Tensor) -> tuple[Residuals, Callable[[Tensor], Tensor]]:
    """Residuals of curves against ``data``, ``[problems, rows]``, which are told apart by their first parameter; and
    the parameters with that number in front."""

    def residuals(columns: Sequence[Tensor]) -> Tensor:
        which, *rest = columns
        return curve(rest, data[which[:, 0].detach().long()])

    return residuals, lambda start: torch.cat([torch.arange(len(start)).double()[:, None], start], 1)


def problems(count: int, noise: float) -> tuple[Tensor, Tensor]:
    """Measurements of random curves, and starts near them."""
    drawn = torch.Generator().manual_seed(1)
    truth = torch.randn(count, 4, dtype=torch.float64, generator=drawn) * torch.tensor([1.0, 0.5, 0.3, 1.0]).double()
    truth[:, 0] += 3 * truth[:, 0].sign()
    clean = curve(truth.T[..., None], torch.zeros_like(PLACES))
    measured = clean + noise * torch.randn(clean.shape, dtype=clean.dtype, generator=drawn)
    return measured, truth + 0.3 * torch.randn(truth.shape, dtype=truth.dtype, generator=drawn)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_as_low_as_scipy(noise: float) -> None:
    measured, start = problems(30, noise)
    residuals_of_all, numbered = problem(measured)
    done = minimise(residuals_of_all, numbered(start), steps=300, held=1)
    lows = []
    for first, data in zip(start, measured, strict=True):

        def residuals(p: np.ndarray, data: Tensor = data) -> np.ndarray:
            return curve(torch.from_numpy(p), data).numpy()

        lows.append(2 * least_squares(residuals, first.numpy(), method="lm", xtol=1e-13, ftol=1e-13).cost / len(PLACES))
    mine, theirs = done.loss.numpy(), np.array(lows)
    # Each may end in another valley now and then; in the same one both end at the same depth.
    assert (mine <= theirs * (1 + 1e-6) + 1e-20).mean() >= 0.9
    assert (theirs <= mine * (1 + 1e-6) + 1e-20).mean() >= 0.9


def test_the_loss_never_rises() -> None:
    measured, start = problems(20, 0.1)
    residuals, numbered = problem(measured)
    now = minimise(residuals, numbered(start), steps=0, held=1)
    assert torch.equal(now.parameters, numbered(start))
    for steps in range(1, 31):
        after = minimise(residuals, numbered(start), steps=steps, held=1)
        assert bool((after.loss <= now.loss).all())
        moved = (after.parameters != now.parameters).any(-1)
        assert torch.equal(moved, after.loss < now.loss)
        now = after


def test_problems_do_not_touch_each_other() -> None:
    measured, start = problems(6, 0.1)
    residuals, numbered = problem(measured)
    together = minimise(residuals, numbered(start), steps=40, held=1)
    for number in range(6):
        alone = minimise(residuals, numbered(start)[number : number + 1], steps=40, held=1)
        assert torch.allclose(together.parameters[number], alone.parameters[0], rtol=1e-6, atol=1e-8)


def test_a_linear_problem_takes_a_few_steps() -> None:
    matrix = torch.randn(50, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    wanted = matrix @ torch.arange(1.0, 6.0, dtype=torch.float64)

    def residuals(columns: Sequence[Tensor]) -> Tensor:
        return sum((column * row for column, row in zip(columns, matrix.T, strict=True)), -wanted)

    done = minimise(residuals, torch.zeros(1, 5, dtype=torch.float64), steps=11)
    assert done.parameters[0].tolist() == pytest.approx([1, 2, 3, 4, 5], rel=1e-12)


def test_a_parameter_without_influence_stays() -> None:
    done = minimise(lambda x: (x[0] - 2.0).expand(-1, 3), torch.tensor([[0.0, 7.0]], dtype=torch.float64))
    assert done.parameters[0].tolist() == pytest.approx([2, 7])


def test_no_step_leads_where_residuals_are_no_number() -> None:
    done = minimise(lambda x: (x[0].sqrt() + 3.0).expand(-1, 3), torch.tensor([[4.0]], dtype=torch.float64))
    assert 0 <= done.parameters.item() < 1e-3
