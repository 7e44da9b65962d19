"""The conjunction that is right most often, against all that there are, tried one by one."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from lnnkit.learn.induction.covering import single


def right(known: np.ndarray, positive: np.ndarray, weight: np.ndarray, chosen: tuple[tuple[int, bool], ...]) -> float:
    """The weight of the rows of which a conjunction says what they are; where a literal is unknown it does not hold."""
    total = 0.0
    for row, true, own in zip(known.tolist(), positive.tolist(), weight.tolist(), strict=True):
        holds = all(row[number] == (1.0 if wanted else 0.0) for number, wanted in chosen)
        total += own * (holds == true)
    return total


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("longest", [1, 2])
def test_none_is_right_more_often(seed: int, longest: int) -> None:
    draw = np.random.default_rng(seed)
    known = draw.choice([0.0, 1.0, 0.4], (60, 5), p=[0.45, 0.45, 0.1]).astype(np.float32)
    weight = draw.choice([1.0, 2.0], 60)
    positive = (known[:, 0] == 1) & (known[:, 1] < 1)
    positive ^= draw.random(60) < 0.1
    every = np.arange(60)
    found = single(known, positive, weight, [(every, every)], longest)
    best = max(
        right(known, positive, weight, tuple(zip(numbers, wanted, strict=True)))
        for length in range(1, longest + 1)
        for numbers in combinations(range(5), length)
        for wanted in product([False, True], repeat=length)
    )
    least = max(weight[positive].sum(), weight[~positive].sum())
    if best <= least:
        assert found is None
    else:
        assert found is not None and len(found) <= longest
        assert right(known, positive, weight, found) == pytest.approx(best)


def test_what_is_no_better_than_the_commoner_class_is_none() -> None:
    known = np.array([[0.0], [1.0]] * 20, np.float32)
    positive = np.array([True] * 30 + [False] * 10)
    every = np.arange(40)
    assert single(known, positive, np.ones(40), [(every, every)]) is None
    assert single(known[:, :0], positive, np.ones(40), [(every, every)]) is None
