"""Formulas are found from tables, judged where the search has not been: on wider ranges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lnnkit.discovery.expression import evaluate
from lnnkit.discovery.formula_search import Discovered, Search, discover

Law = Callable[[np.ndarray], np.ndarray]

LAWS: dict[str, Law] = {
    "monomial": lambda x: 0.75 * x[:, 0] ** 2 / np.sqrt(x[:, 1]),
    "sum": lambda x: 3 * x[:, 0] * x[:, 1] - 2 / x[:, 2] + 0.5,
    "quotient": lambda x: (x[:, 0] + 2 * x[:, 1]) / (x[:, 0] + x[:, 2]),
    "root": lambda x: 2 * np.sqrt(x[:, 0] ** 2 + x[:, 1] ** 2) / x[:, 2],
    "pi": lambda x: np.pi**2 * x[:, 0] / (4 * x[:, 1] ** 2),
}


def table(rows: int, width: int, seed: int, high: float = 4.0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(1.0, high, (rows, width))


def off(found: Discovered, law: Law, width: int) -> float:
    """The largest error on rows of a wider range, relative to the values there."""
    fresh = table(500, width, 99, high=12.0)
    wanted = law(fresh)
    return float(np.max(np.abs(evaluate(found.formula, fresh) - wanted)) / np.max(np.abs(wanted)))


@pytest.mark.parametrize("name", list(LAWS))
def test_laws_are_found_exactly(name: str) -> None:
    rows = table(200, 3, 1)
    assert off(discover(rows, LAWS[name](rows), Search(seconds=20)), LAWS[name], 3) < 1e-9


def test_noise_and_columns_that_do_not_matter() -> None:
    rows = table(400, 8, 2)
    law = LAWS["root"]
    noisy = law(rows) * (1 + 0.01 * np.random.default_rng(3).standard_normal(400))
    assert off(discover(rows, noisy, Search(seconds=20)), law, 8) < 1e-6


def test_missing_cells_and_rows_without_a_target() -> None:
    rows = table(300, 4, 4)
    law = LAWS["monomial"]
    target = law(rows)
    generator = np.random.default_rng(5)
    rows[generator.random(rows.shape) < 0.05] = np.nan
    target[:20] = np.nan
    assert off(discover(rows, target, Search(seconds=20)), law, 4) < 1e-9


def test_units_of_very_different_scale() -> None:
    unit = np.array([1e-9, 1e7, 1.0])
    rows = table(200, 3, 6) * unit

    def law(x: np.ndarray) -> np.ndarray:
        return 6.5e-11 * x[:, 1] ** 2 / (x[:, 0] * x[:, 2])

    found = discover(rows, law(rows), Search(seconds=20))
    fresh = table(100, 3, 7, high=9.0) * unit
    np.testing.assert_allclose(evaluate(found.formula, fresh), law(fresh), rtol=1e-9)


def test_a_target_that_depends_on_nothing_is_a_constant() -> None:
    rows = table(200, 3, 8)
    noise = np.random.default_rng(9).standard_normal(200)
    found = discover(rows, 5 + 0.1 * noise, Search(seconds=10))
    np.testing.assert_allclose(evaluate(found.formula, rows), 5, atol=0.05)
    constant = discover(rows, np.full(200, 7.0))
    assert evaluate(constant.formula, rows) == pytest.approx(np.full(200, 7.0))


def test_the_list_falls_in_error_and_rises_in_size() -> None:
    rows = table(200, 3, 1)
    pareto = discover(rows, LAWS["quotient"](rows), Search(seconds=20)).pareto
    sizes = [each.size for each in pareto]
    assert sizes == sorted(sizes) and pareto[-1].error < 1e-9 < pareto[0].error


def test_the_same_seed_finds_the_same() -> None:
    rows = table(150, 3, 11)
    target = LAWS["sum"](rows)
    assert discover(rows, target, Search(seed=3)) == discover(rows, target, Search(seed=3))


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 9])
def test_few_rows_are_no_error(rows: int) -> None:
    found = discover(table(rows, 2, 12), np.arange(rows, dtype=float))
    assert np.isfinite(evaluate(found.formula, table(rows, 2, 12))).all()


def test_no_target_is_an_error() -> None:
    with pytest.raises(ValueError, match="no row has a target"):
        discover(table(3, 2, 1), np.full(3, np.nan))
