"""Whole rows from fitted ones, and what chance allows, against simulations."""

from __future__ import annotations

import pytest
import torch

from benchmarks.arithmetic.portfolio.rounding import oriented, whole_rows
from benchmarks.arithmetic.portfolio.templates import Template
from lnnkit.learn.comparisons.least_squares import by_chance

SUM, SQUARE, ROOT = Template("sum", (1,)), Template("square", (2,)), Template("root", (0.5,))
PRODUCT, QUOTIENT = Template("product", (1, 1)), Template("quotient", (1, -1))


@pytest.mark.slow
@pytest.mark.parametrize(("samples", "unknowns"), [(50, 10), (200, 100), (1024, 200)])
def test_the_truth_of_noisy_examples_is_within_chance(samples: int, unknowns: int) -> None:
    drawn = torch.Generator().manual_seed(samples)
    kept, trials = 0, 200
    ratios: list[float] = []
    for _ in range(trials):
        matrix = torch.randn(samples, unknowns, dtype=torch.float64, generator=drawn)
        noise = torch.randn(samples, 1, dtype=torch.float64, generator=drawn)
        rest = noise - matrix @ torch.linalg.lstsq(matrix, noise).solution
        ratios.append(float(noise.square().mean() / rest.square().mean()))
        kept += ratios[-1] <= by_chance(samples, unknowns)
    assert kept >= trials - 1
    assert by_chance(samples, unknowns) < 2 * max(ratios)


def test_a_fit_without_freedom_grants_nothing() -> None:
    assert by_chance(10, 10) == by_chance(10, 20) == 1


def test_rows_of_any_size_become_whole() -> None:
    drawn = torch.Generator().manual_seed(1)
    rows = torch.randint(-1, 2, (50, 2, 8), generator=drawn).double()
    rows[:, :, 0] = 1
    bent = rows + 0.1 * torch.randn(rows.shape, dtype=rows.dtype, generator=drawn)
    sizes = torch.tensor([7.0, 0.002], dtype=torch.float64)[:, None]
    for template in (PRODUCT, QUOTIENT):
        assert torch.equal(whole_rows(template, (bent * sizes).flatten(1)), rows.flatten(1))


def test_a_lone_row_is_rounded_as_it_is() -> None:
    row = torch.tensor([[0.4, 0.6, 1.7, -2.6]], dtype=torch.float64)
    assert whole_rows(SUM, row).tolist() == [[0, 1, 2, -2]]
    assert whole_rows(SQUARE, row).tolist() == [[0, 1, 1, -1]]


def test_signs_are_normalised_where_possible() -> None:
    x = -torch.ones(5, 2, dtype=torch.float64)
    down, up = torch.tensor([[-1.0, -1.0]]).double(), torch.tensor([[1.0, 1.0]]).double()
    assert torch.equal(oriented(SQUARE, down, x), up)
    assert torch.equal(oriented(ROOT, up, x), down)  # whose sums are above 0
    assert torch.equal(oriented(SUM, down, x), down)
    both = torch.tensor([[-1.0, 0.0], [1.0, 1.0]]).double()
    assert torch.equal(oriented(QUOTIENT, both, x), -both)
