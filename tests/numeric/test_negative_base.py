"""``x ^ y`` with negative ``x``, downward, against each integral exponent by itself."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from lnnkit.numeric import Comparison, Fixed, Interval, Sign, apply, constant, number
from tests.blocks import at_length
from tests.numeric.random_terms import Box, contract, intervals

BASES = (-9.0, -4.0, -3.0, -2.0, -1.5, -1.0, -0.75, -0.5, -0.1)
EXPONENTS = (-6.0, -4.5, -3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 2.5, 4.0, 5.0)
VALUES = (-30.0, -8.0, -4.0, -1.0, -0.3, 0.0, 0.04, 0.5, 1.0, 2.0, 4.0, 16.0, 81.0)


def left(base: Box, exponent: Box, value: Box) -> tuple[Box, Box] | None:
    """The hulls of those ``x`` and of those ``y`` with ``x ^ y`` in ``value``; None if there are none."""
    bases: list[float] = []
    exponents: list[int] = []
    for y in range(math.ceil(exponent[0]), math.floor(exponent[1]) + 1):
        p, q = value if y % 2 == 0 else (-value[1], -value[0])  # of |x| ^ y
        a, b = -base[1], -base[0]
        if y == 0:
            low, high = (a, b) if p <= 1 <= q else (1.0, 0.0)
        elif q <= 0:
            continue
        else:
            roots = [end ** (1 / y) if end > 0 else (0.0 if y > 0 else math.inf) for end in (p, q)]
            low, high = max(a, min(roots)), min(b, max(roots))
        if low <= high * (1 + 1e-12):
            bases += [-low, -high]
            exponents.append(y)
    return ((min(bases), max(bases)), (min(exponents), max(exponents))) if exponents else None


def contracted(base: Box, exponent: Box, sign: Sign, value: float) -> tuple[Box, Box] | None:
    comparison = Comparison(apply("power", number(0), number(1)), constant(value), Fixed(sign))
    true = Interval(*(np.ones(1) for _ in range(2)))
    found = contract(comparison, intervals([[base, exponent]]), true)
    if bool(found.empty):
        return None
    one, other = ((each.lower.item(), each.upper.item()) for each in found.inputs)
    return one, other


def box(draw: random.Random, ends: tuple[float, ...]) -> Box:
    low, high = sorted((draw.choice(ends), draw.choice(ends)))
    return low, high


@pytest.mark.parametrize("seed", at_length(range(5), plain=0))
def test_hulls_are_exact(seed: int) -> None:
    draw = random.Random(seed)
    narrowed = impossible = 0
    for _ in range(400):
        base, exponent = box(draw, BASES), box(draw, EXPONENTS)
        value, sign = draw.choice(VALUES), draw.choice(("=", ">=", "<="))
        asked = {"=": (value, value), ">=": (value, math.inf), "<=": (-math.inf, value)}[sign]
        if math.ceil(exponent[0]) > math.floor(exponent[1]):
            continue
        wanted, found = left(base, exponent, asked), contracted(base, exponent, sign, value)
        context = (base, exponent, sign, value)
        if wanted is None:
            assert found is None, context
            impossible += 1
            continue
        assert found is not None, context
        for one, other in zip(found, wanted, strict=True):
            assert one == pytest.approx(other, rel=1e-9, abs=1e-12), context
        narrowed += found != (base, exponent)
    assert narrowed > 50
    assert impossible > 20


@pytest.mark.parametrize(
    ("base", "exponent", "value", "bases", "exponents"),
    [
        ((-math.inf, math.inf), (2, 3), 4, (-2, 2), (2, 3)),
        ((-math.inf, math.inf), (2.5, 3.5), -27, (-3, -3), (3, 3)),
        ((-2, -2), (-math.inf, math.inf), 4, (-2, -2), (2, 2)),
        ((-2, -2), (-math.inf, math.inf), -0.125, (-2, -2), (-3, -3)),
        ((0, 0), (-math.inf, math.inf), 1, (0, 0), (0, 0)),
        ((0, 0), (-3, math.inf), 0, (0, 0), (0, math.inf)),
        ((-5, -3.9), (-math.inf, math.inf), 256, (-4, -4), (4, 4)),
        ((-math.inf, -1e-3), (-math.inf, math.inf), 16, (-math.inf, -1e-3), None),
    ],
)
def test_bases_of_any_sign(base: Box, exponent: Box, value: float, bases: Box, exponents: Box | None) -> None:
    found = contracted(base, exponent, "=", value)
    assert found is not None
    if exponents is not None:
        assert found[0] == pytest.approx(bases)
        assert found[1] == pytest.approx(exponents)


@pytest.mark.parametrize(("base", "value"), [((0, 0), 2), ((-2, -2), 5), ((-2, -2), -4), ((-1, -1), 3)])
def test_no_exponent(base: Box, value: float) -> None:
    assert contracted(base, (-math.inf, math.inf), "=", value) is None
