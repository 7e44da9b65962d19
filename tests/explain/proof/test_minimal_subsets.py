"""Minimal parts, against all subsets."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from lnnkit.explain.proof.sufficient_premises import minimal


def holding_one_of_several(draw: random.Random, count: int, most: int) -> Callable[[Sequence[int]], bool]:
    wanted = [frozenset(draw.sample(range(count), draw.randint(0, most))) for _ in range(draw.randint(1, 4))]
    return lambda items: any(each <= {*items} for each in wanted)


def test_a_minimal_part_is_enough_and_nothing_can_be_left_out() -> None:
    for seed in range(300):
        draw = random.Random(seed)
        count = draw.randint(1, 9)
        enough = holding_one_of_several(draw, count, count)
        found = minimal(range(count), enough)
        assert enough(found), f"seed {seed}"
        assert not any(enough([item for item in found if item != left_out]) for left_out in found), f"seed {seed}"
        assert found == sorted(found), f"seed {seed}"


def test_it_asks_little_for_a_needle() -> None:
    asked = 0

    def enough(items: Sequence[int]) -> bool:
        nonlocal asked
        asked += 1
        return 77 in items

    assert minimal(range(1024), enough) == [77]
    assert asked < 40


def test_an_insufficient_collection_is_kept_whole() -> None:
    assert minimal(range(100), lambda _items: False) == [*range(100)]
