"""Minimal parts, against all subsets."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from lnnkit.explain.necessary import minimal


@pytest.mark.parametrize("seed", range(300))
def test_a_minimal_part_is_enough_and_nothing_can_be_left_out(seed: int) -> None:
    draw = random.Random(seed)
    count = draw.randint(1, 9)
    wanted = [frozenset(draw.sample(range(count), draw.randint(0, count))) for _ in range(draw.randint(1, 4))]

    def enough(items: Sequence[int]) -> bool:
        return any(each <= {*items} for each in wanted)

    found = minimal(range(count), enough)
    assert enough(found)
    assert not any(enough([item for item in found if item != left_out]) for left_out in found)
    assert found == sorted(found)


def test_it_asks_little_for_a_needle() -> None:
    asked = 0

    def enough(items: Sequence[int]) -> bool:
        nonlocal asked
        asked += 1
        return 77 in items

    assert minimal(range(1024), enough) == [77]
    assert asked < 40
