"""The list of size against error, and what is chosen of it."""

from __future__ import annotations

import numpy as np

from lnnkit.discovery.exact_constants import Constant
from lnnkit.discovery.expression import applied, constant, scaled, variable
from lnnkit.discovery.formula_errors import front, weighted

X = variable(0)
ROWS = np.random.default_rng(1).uniform(1, 5, (200, 1))


def test_what_no_smaller_formula_beats() -> None:
    wide = scaled(X, Constant(1.5))
    kept, chosen = front([constant(3.0), wide, X], weighted(ROWS, ROWS[:, 0]))
    assert [each.formula for each in kept] == [X] and kept[chosen].error == 0
    kept, _ = front([constant(3.0), scaled(X, Constant(1.001)), wide], weighted(ROWS, ROWS[:, 0]))
    assert [each.formula for each in kept] == [constant(3.0), scaled(X, Constant(1.001))]


def test_the_smallest_formula_not_significantly_worse_is_chosen() -> None:
    noisy = ROWS[:, 0] + 0.1 * np.random.default_rng(2).standard_normal(200)
    near = scaled(X, Constant(1.0001))
    kept, chosen = front([constant(3.0), near, X], weighted(ROWS, noisy))
    assert kept[chosen].formula == X


def test_a_formula_that_is_exact_in_most_rows_makes_not_all_others_alike() -> None:
    """It is not kept, and what is kept was once measured by its residuals: a constant was then chosen."""
    near = scaled(X, Constant(1 + 1e-6))
    partly = applied("if", X, constant(2.5), X, constant(-900.0))
    kept, chosen = front([constant(3.0), near, partly], weighted(ROWS, ROWS[:, 0]))
    assert partly not in [each.formula for each in kept]
    assert kept[chosen].formula == near
