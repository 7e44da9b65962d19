"""The formulas of the benchmark: laws are evaluated as written, judged on wider ranges, and found at a small size."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.arithmetic import epidemics, equations
from benchmarks.arithmetic.batch import Batch
from benchmarks.arithmetic.laws import KINDS, Law, feynman, random_law

LAW = Law("kinetic", "1/2*m*(v**2+u**2) - sqrt(m)/abs(u)", ("m", "v", "u"), ((1, 5), (1, 5), (1, 5)))


def test_a_law_equals_its_text() -> None:
    m, v, u = table = np.array([[4.0, 3.0, -2.0]]).T
    assert LAW.value(table.T) == pytest.approx(0.5 * m * (v**2 + u**2) - np.sqrt(m) / abs(u))


def test_other_text_is_refused() -> None:
    with pytest.raises(ValueError, match="is no arithmetic"):
        Law("wrong", "__import__('os')", (), ()).value(np.zeros((1, 0)))


@pytest.mark.parametrize("kind", KINDS)
def test_random_laws_are_finite_and_the_same_again(kind: str) -> None:
    law = random_law(kind, 3)
    assert law == random_law(kind, 3)
    assert np.isfinite(law.value(law.draw(200, np.random.default_rng(0), wider=0.5))).all()


def test_feynman_has_36_without_functions_beyond_arithmetic() -> None:
    laws = feynman()
    if not laws:
        pytest.skip("LNNKIT_DATA has no feynman/equations.csv")
    assert len(laws) == 36 and sum(law.is_monomial for law in laws) == 17
    for law in laws:
        assert np.isfinite(law.value(law.draw(50, np.random.default_rng(0)))).all()


def test_constants_are_exact_only_if_they_hold_on_wider_ranges() -> None:
    clean = equations.SETTINGS[0]
    assert equations.judged(LAW.value, LAW, clean, 0)[0] == 0
    assert equations.judged(lambda rows: LAW.value(rows) * (1 + 2e-6), LAW, clean, 0)[0] > equations.EXACT
    assert equations.judged(lambda rows: rows[:, 0] * np.nan, LAW, clean, 0)[0] == np.inf


@pytest.mark.slow
def test_a_monomial_is_found_with_noise() -> None:
    noisy = equations.SETTINGS[1]
    (outcome,) = equations.solve("random monomial", noisy, "FormulaRegressor", Batch(1, 1))
    assert outcome.solved and outcome.found


def test_means_over_a_week() -> None:
    days = np.arange(20.0).reshape(10, 2)
    assert epidemics.weekly(days) == pytest.approx(np.stack([days[at : at + 7].mean(0) for at in range(4)]))


@pytest.mark.slow
def test_an_epidemic_that_follows_the_equations_is_forecast() -> None:
    """Susceptible, infected, recovered by difference equations; the next 14 days to a hundredth."""
    days = [np.array([990.0, 10.0, 0.0])]
    for _ in range(74):
        now = days[-1]
        infected, recovering = 0.0002 * now[0] * now[1], 0.08 * now[1]
        days.append(now + np.array([-infected, infected - recovering, recovering]))
    found, _ = epidemics.forecast(np.array(days[:60]), 14, 0)
    np.testing.assert_allclose(found, np.array(days[60:74])[:, 1], rtol=0.01)
