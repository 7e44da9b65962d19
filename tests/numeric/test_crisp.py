"""Single values in crisp relations, against the rule of equal numbers written out for one pair."""

from __future__ import annotations

import random

import numpy as np
import pytest

import lnnkit
from lnnkit.numeric.crisp import SIGNS, image
from lnnkit.numeric.interval import points

BESIDE = (0.0, 1e-16, 1e-10, 9e-10, 1.1e-9, 1.9e-9, 2.1e-9, 1e-6)


def true(sign: str, left: float, right: float) -> bool:
    size = max(abs(left), abs(right))
    whole = left == int(left) and right == int(right) and size <= 2.0**53
    equal = left == right or (not whole and abs(left - right) <= 1e-9 * size)
    return {"=": equal, "!=": not equal, "<": left < right and not equal, ">": left > right and not equal}.get(
        sign, equal or (left < right if sign == "<=" else left > right)
    )


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("fixed", [True, False])
def test_single_values(sign: str, fixed: bool) -> None:
    rng = random.Random(sign)
    for _ in range(60):
        level = rng.choice([0.0, 1.0, -3.0, 0.1, 5e8, -2.5e-7, 1e-310, 2.0**53, rng.uniform(-9, 9)])
        near = [level * (1 + rng.choice((-1, 1)) * each) for each in rng.sample(BESIDE, rng.randint(0, 4))]
        left = [*near, *(rng.choice([level, float(rng.randint(-4, 4)), rng.uniform(-9, 9)]) for _ in range(3))]
        right = [level] if fixed else [rng.choice([level, each]) for each in left]
        found, _ = image(
            SIGNS[sign],  # pyright: ignore[reportArgumentType]  # a key of it
            points(np.array([left], np.float64)),
            points(np.array([right], np.float64)),
        )
        pairs = zip(left, right * len(left) if fixed else right, strict=True)
        assert found.tolist() == [true(sign, one, other) for one, other in pairs], (sign, left, right)


@pytest.mark.parametrize("relation", ["<", ">"])
def test_whole_numbers_within_the_tolerance_of_each_other_are_not_equal(relation: str) -> None:
    """2e12 may be a, 2e12 + 1 be b: both are whole, and so compared exactly."""
    one, other = ("a", "b") if relation == "<" else ("b", "a")
    facts = "fact a(k) in [2000000000000, 2000000000010]\nfact b(k) in [2000000000001, 2000000000001.5]\n"
    kb = lnnkit.loads(f"number a(x)\nnumber b(x)\n{facts}query {one}(k) {relation} {other}(k)\n")
    (answers,) = kb.answers()
    assert (answers.lower[0], answers.upper[0]) == (0.0, 1.0)
