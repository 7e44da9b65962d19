"""Columns that matter are told from those that do not."""

from __future__ import annotations

import numpy as np
import pytest

from lnnkit.discovery.relevant_inputs import quadratic, relevant_columns


@pytest.mark.parametrize("rows", [150, 2000])
def test_three_of_twenty_three(rows: int) -> None:
    """By the quadratic terms of all where there are rows for them, else by a forward selection."""
    generator = np.random.default_rng(rows)
    table = generator.uniform(1, 5, (rows, 23))
    target = table[:, 4] * table[:, 11] / table[:, 20] + 0.01 * generator.standard_normal(rows)
    found = relevant_columns(table, target)
    assert {4, 11, 20} <= set(found) and len(found) <= 5


def test_a_product_of_columns_that_vary_about_zero() -> None:
    generator = np.random.default_rng(1)
    table = generator.uniform(-1, 1, (600, 8))
    assert set(relevant_columns(table, table[:, 2] * table[:, 5])) >= {2, 5}


def test_outliers_hide_nothing() -> None:
    generator = np.random.default_rng(2)
    table = generator.uniform(1, 5, (500, 10))
    target = table[:, 0] * table[:, 1]
    target[:25] += 1e6
    assert {0, 1} <= set(relevant_columns(table, target))


def test_a_column_that_explains_the_residuals() -> None:
    generator = np.random.default_rng(3)
    table = generator.uniform(1, 5, (400, 6))
    rest = 0.1 * table[:, 3] ** 2 + 0.1 * generator.standard_normal(400)
    assert relevant_columns(table, rest, least=0)[0] == 3
    assert not relevant_columns(table, generator.standard_normal(400), least=0)


def test_quadratic_terms_are_all_products_of_two() -> None:
    terms, members = quadratic(np.array([[2.0, 3.0]]))
    assert sorted(terms[0].tolist()) == [1, 2, 3, 4, 6, 9]
    assert members.tolist() == [
        [False, False],
        [True, False],
        [False, True],
        [True, False],
        [True, True],
        [False, True],
    ]
