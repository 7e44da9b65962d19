"""The strict kernels of Łukasiewicz, and products with a bias: an end is 0 or 1 only where it is so exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from lnnkit.logic import Lukasiewicz, logic_named
from lnnkit.logic.hulls import uncomplement
from tests.logic.neurons import arrays

STRICT = Lukasiewicz(strict=True)
TRUTHS = [0.0, 0.1, 0.2, 0.3, 0.7, 0.8, 0.9, 1.0]
PAIRS = list(product(TRUTHS, repeat=2))
WEIGHTS = [(1.0, 1.0), (0.3, 0.7), (1.7, 0.6)]
BIASES = [1.0, 1.1, 1.3, 1.7]


def total(kind: str, weights: tuple[float, ...], bias: float, truths: tuple[float, ...]) -> Fraction:
    """The truth of a neuron before the clamp."""
    pairs = list(zip(map(Fraction, weights), map(Fraction, truths), strict=True))
    if kind == "and":
        return Fraction(bias) - sum(weight * (1 - truth) for weight, truth in pairs)
    return 1 - Fraction(bias) + sum(weight * truth for weight, truth in pairs)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", ["and", "or"])
def test_a_neuron_is_false_or_true_only_where_it_is_exactly(
    kind: str, weights: tuple[float, float], bias: float
) -> None:
    ends = np.array(PAIRS)
    found = STRICT.up(kind, [arrays(column, column) for column in ends.T], weights, bias)
    for truths, lower, upper in zip(PAIRS, *found, strict=True):
        exact = total(kind, weights, bias, truths)
        assert lower < 1 or exact >= 1, truths
        assert upper > 0 or exact <= 0, truths


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", ["and", "or"])
def test_an_operand_is_false_or_true_only_where_it_is_exactly(
    kind: str, weights: tuple[float, float], bias: float
) -> None:
    """Of two operands one is known, and the neuron: the other's truth is a fraction, or there is none."""
    node, other = np.array(PAIRS).T
    unknown = arrays(np.zeros_like(node), np.ones_like(node))
    found = STRICT.down(kind, arrays(node, node), [unknown, arrays(other, other)], weights, bias)
    for (truth, known), lower, upper, empty in zip(PAIRS, *found.operands[0], found.empty, strict=True):
        exact = (Fraction(truth) - total(kind, weights, bias, (0.0, known))) / Fraction(weights[0])
        assert empty or lower < 1 or truth == 0 or exact >= 1, (truth, known)
        assert empty or upper > 0 or truth == 1 or exact <= 0, (truth, known)


def test_what_is_short_of_true_stays_short_of_it() -> None:
    """1 - 1e-20 is below 1, though no float next to 1 is as near."""
    unknown = arrays(np.array([0.0]), np.array([1.0]))
    found = uncomplement(arrays(np.array([0.0]), np.array([1e-20])), unknown)
    assert 1 - 1e-15 < found.lower[0] < 1
    assert uncomplement(arrays(np.array([0.0]), np.array([0.0])), unknown).lower[0] == 1


@pytest.mark.parametrize("bias", BIASES)
def test_a_product_is_true_only_where_it_is_exactly(bias: float) -> None:
    """``e^(b-1) x`` beside 1, with 50 digits."""
    near = np.array([math.exp(1 - bias) * (1 + place * 2.0**-53) for place in range(-20, 21)])
    truth, sure = arrays(near, near), arrays(np.ones(len(near)), np.ones(len(near)))
    found = logic_named("product").up("and", [truth, sure], (1.0, 1.0), bias)
    with mpmath.workdps(50):
        exact = [mpmath.log(mpmath.mpf(float(x))) + mpmath.mpf(bias) - 1 for x in near]
    assert all(lower < 1 or each >= 0 for lower, each in zip(found.lower, exact, strict=True))
