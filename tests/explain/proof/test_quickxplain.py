"""Minimal parts, against all subsets."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from lnnkit.explain.proof.quickxplain import minimal, minimal_at_once


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


@pytest.mark.parametrize("seed", range(300))
def test_judged_together_it_is_the_same_part(seed: int) -> None:
    """Both prefer earlier items, so they find the same one."""
    draw = random.Random(seed)
    count = draw.choice([1, 2, 5, 9, 70, 200])
    few = min(count, 12)
    wanted = [frozenset(draw.sample(range(count), draw.randint(0, few))) for _ in range(draw.randint(1, 4))]

    def enough(items: Sequence[int]) -> bool:
        return any(each <= {*items} for each in wanted)

    items = [*range(count)]
    assert minimal_at_once(items, lambda parts: [enough(part) for part in parts]) == minimal(items, enough)


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
