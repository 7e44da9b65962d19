"""Minimal parts, against all subsets."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from lnnkit.explain.proof.sufficient_premises import minimal, minimal_at_once


def holding_one_of_several(draw: random.Random, count: int, most: int) -> Callable[[Sequence[int]], bool]:
    wanted = [frozenset(draw.sample(range(count), draw.randint(0, most))) for _ in range(draw.randint(1, 4))]
    return lambda items: any(each <= {*items} for each in wanted)


def of_each(enough: Callable[[Sequence[int]], bool]) -> Callable[[Sequence[Sequence[int]]], list[bool]]:
    return lambda parts: [enough(part) for part in parts]


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


def test_judged_together_it_is_the_same_part() -> None:
    """Both prefer earlier items, so they find the same one."""
    for seed in range(300):
        draw = random.Random(seed)
        count = draw.choice([1, 2, 5, 9, 70, 200])
        enough = holding_one_of_several(draw, count, min(count, 12))
        items = [*range(count)]
        assert minimal_at_once(items, of_each(enough)) == minimal(items, enough), f"seed {seed}"


def test_an_insufficient_collection_is_kept_whole() -> None:
    items = [*range(100)]
    assert minimal_at_once(items, lambda parts: [False] * len(parts)) == items


def test_it_makes_few_calls() -> None:
    asked = 0

    def enough(parts: Sequence[Sequence[int]]) -> list[bool]:
        nonlocal asked
        asked += 1
        assert len(parts) <= 64
        return [any(item in part for item in (17, 40)) for part in parts]

    assert minimal_at_once([*range(64)], enough) == [17]
    assert asked <= 4
