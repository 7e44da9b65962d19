"""Formulas as trees: values, text and size agree with arithmetic that is worked out here."""

from __future__ import annotations

import math

import numpy as np
import pytest

import lnnkit
from lnnkit.discovery.exact_constants import Constant, simplest_fraction, snapped
from lnnkit.discovery.expression import (
    Product,
    absolute,
    applied,
    constant,
    evaluate,
    power,
    product,
    scaled,
    size,
    substituted,
    tidied,
    total,
    variable,
)
from lnnkit.discovery.formula_text import formula_latex, formula_text, program_text

NAMES = ["a", "b", "c-d"]


def drawn(generator: np.random.Generator, depth: int) -> tuple[Product, np.ndarray, np.ndarray]:
    """A random formula, with its values over a table worked out beside it without the formula's own code."""
    table = generator.uniform(0.5, 3.0, (7, 3))

    def grow(depth: int) -> tuple[Product, np.ndarray]:
        kind = int(generator.integers(0, 8)) if depth else int(generator.integers(0, 2))
        if kind == 0:
            value = float(generator.integers(1, 9))
            return constant(value), np.full(7, value)
        if kind == 1:
            place = int(generator.integers(0, 3))
            return variable(place), table[:, place]
        one, left = grow(depth - 1)
        if kind == 2:
            return absolute(one), np.abs(left)
        if kind == 3:
            exponent = float(generator.choice([-2, -1, 2, 3]))
            return power(one, exponent), left**exponent
        if kind == 6:
            name = str(generator.choice(["exp", "log", "sin", "cos"]))
            return (applied(name, one), getattr(np, name)(left)) if np.abs(left).max() < 50 else (one, left)
        other, right = grow(depth - 1)
        if kind == 4:
            return product(one, other), left * right
        if kind == 5:
            return total(one, other), left + right
        return total(one, scaled(other, Constant(-1.0, -1, 1))), left - right

    with np.errstate(all="ignore"):
        made, values = grow(depth)
    return made, values, table


@pytest.mark.parametrize("seed", range(60))
def test_values_are_those_of_the_operations(seed: int) -> None:
    formula, expected, table = drawn(np.random.default_rng(seed), 4)
    found = evaluate(formula, table)
    fine = np.isfinite(expected) & (np.abs(expected) > 1e-6) & np.isfinite(found)
    np.testing.assert_allclose(found[fine], expected[fine], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(evaluate(tidied(formula, table), table)[fine], expected[fine], rtol=1e-6, atol=1e-9)


def test_a_coefficient_that_is_too_small_for_a_float_has_no_reciprocal() -> None:
    tiny = scaled(variable(0), Constant(1e-200 * 1e-200))
    assert np.isnan(evaluate(power(tiny, -1.0), np.ones((2, 1)))).all()


@pytest.mark.parametrize("seed", range(12))
def test_the_program_answers_what_is_evaluated(seed: int) -> None:
    formula, _, table = drawn(np.random.default_rng(1000 + seed), 3)
    kb = lnnkit.loads(program_text(formula, NAMES, "y") + "number one(row)\nfact one(extra) = 1\n")
    for place, name in enumerate(NAMES):
        if f"number {name}(row)" in kb.text:
            kb.tell(name, {"row": [f"r{row}" for row in range(len(table))], "value": table[:, place].tolist()})
    expected = evaluate(formula, table)
    answers = kb.ask("y(X)")
    rows = [name for name in answers.columns[0] if name != "extra"]
    for name, lower, upper in zip(answers.columns[0], answers.lower, answers.upper, strict=True):
        if name in rows:
            want = expected[int(name[1:])]
            if np.isfinite(want):
                assert lower == pytest.approx(want, rel=1e-9) and upper == pytest.approx(want, rel=1e-9)


A, B, C = variable(0), variable(1), variable(2)
QUARTER_PI = Constant(1 / (4 * math.pi), 1, 4, -1)


@pytest.mark.parametrize(
    ("formula", "text", "latex"),
    [
        (product(constant(QUARTER_PI), A, power(B, -2.0)), "a / (4 * pi * b^2)", r"\frac{a}{4 \, \pi \, {b}^{2}}"),
        (power(product(A, power(B, -1.0)), 0.5), "sqrt(a / b)", r"\sqrt{\frac{a}{b}}"),
        (total(A, scaled(B, Constant(-2.0, -2, 1))), "a - 2 * b", r"a - 2 \, b"),
        (absolute(total(A, B)), "abs(a + b)", r"\left|a + b\right|"),
        (power(total(A, B), 2.0), "(a + b)^2", r"\left(a + b\right)^{2}"),
        (product(power(A, 1.5), power(B, -1.0)), "a^1.5 / b", r"\frac{{a}^{1.5}}{b}"),
        (applied("if", A, constant(2.0), A, B), "if(a > 2, a, b)", None),
        (scaled(A, Constant(6.674e-11, 3337, 50_000_000_000_000)), "6.674e-11 * a", r"6.674 \cdot 10^{-11} \, a"),
        (applied("exp", scaled(A, Constant(-0.7, -7, 10))), "exp(-0.7 * a)", r"\exp\left(-0.7 \, a\right)"),
        (power(applied("sin", total(A, B)), 2.0), "sin(a + b)^2", r"\sin\left(a + b\right)^{2}"),
        (power(total(power(A, -1.0), power(B, -1.0)), -1.0), "a * b / (b + a)", r"\frac{a \, b}{b + a}"),
    ],
)
def test_texts(formula: Product, text: str, latex: str | None) -> None:
    assert formula_text(formula, NAMES) == text
    assert latex is None or formula_latex(formula, NAMES) == latex


def test_a_column_called_pi_is_no_constant() -> None:
    assert formula_text(scaled(A, Constant(math.pi, 1, 1, 1)), ["pi"]) == "3.141592653589793 * pi"


def test_a_choice_within_a_choice_is_three_rules() -> None:
    formula = applied("if", A, constant(6.0), A, applied("if", A, constant(2.0), B, constant(1.0)))
    kb = lnnkit.loads(program_text(formula, NAMES, "y"))
    kb.tell("a", [("r", 1), ("s", 4), ("t", 7)])
    kb.tell("b", [("r", 3), ("s", 5), ("t", 3)])
    assert list(kb.ask("y(X)").lower) == [1, 5, 7]


def test_substituted_formulas_are_simplified() -> None:
    difference = total(A, scaled(B, Constant(-1.0, -1, 1)))
    assert substituted(power(A, 2.0), [difference]) == power(difference, 2.0)
    assert total(A, B, scaled(A, Constant(-1.0, -1, 1))) == B
    assert product(power(A, 2.0), power(absolute(A), -1.0)) == absolute(A)
    assert product(power(absolute(A), 3.0), power(absolute(A), -1.0), B) == product(power(A, 2.0), B)
    assert size(product(A, B)) == 3 and size(constant(math.e)) == 3


@pytest.mark.parametrize(
    ("value", "error", "expected"),
    [
        (0.5, 1e-9, (1, 2, 0, False)),
        (-2 / 3, 1e-9, (-2, 3, 0, False)),
        (4 * math.pi, 1e-9, (4, 1, 1, False)),
        (1 / (4 * math.pi), 1e-12, (1, 4, -1, False)),
        (math.sqrt(2), 1e-9, (2, 1, 0, True)),
        (0.3335, 0.0004, (1, 3, 0, False)),
        (0.3331, 0.015, (1, 3, 0, False)),
        (6.674e-11, 1e-19, (3337, 50_000_000_000_000, 0, False)),
        (12.566, 0.004, (4, 1, 1, False)),
        (1.012, 0.006, (1, 1, 0, False)),  # not 10 / pi^2
        (math.pi**2, 1e-4, (1, 1, 2, False)),
    ],
)
def test_constants_are_made_exact(value: float, error: float, expected: tuple[int, int, int, bool]) -> None:
    found = snapped(value, error)
    assert found is not None
    assert (found.numerator, found.denominator, found.pi, found.root) == expected


@pytest.mark.parametrize(
    ("value", "error"), [(0.72134752, 0.0002), (3.7, 2.0), (0.0, 0.1), (math.inf, 1.0), (9.86, 0.014)]
)
def test_constants_that_chance_makes_simple_are_left(value: float, error: float) -> None:
    assert snapped(value, error) is None


@pytest.mark.parametrize("seed", range(40))
def test_the_simplest_fraction_has_the_least_denominator(seed: int) -> None:
    generator = np.random.default_rng(seed)
    low = float(generator.uniform(0.01, 20))
    high = low * (1 + float(10 ** generator.uniform(-4, -1)))
    top, bottom = simplest_fraction(low, high)
    # All denominators in turn, up to the first that has a numerator in between
    expected = next(each for each in range(1, 10**6) if math.ceil(low * each) <= high * each)
    assert bottom == expected and low <= top / bottom <= high
