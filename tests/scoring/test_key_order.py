"""Keys that rise are known not to be repeated, without storing them."""

from __future__ import annotations

import random
from decimal import Decimal

import pyarrow as pa
import pytest

from lnnkit.rows.strip_facts import KeyRange


def range_of(keys: list[object], parts: int) -> KeyRange:
    found = KeyRange()
    step = -(-len(keys) // parts)
    for start in range(0, len(keys), step):
        found = found.then(KeyRange.of(pa.array(keys[start : start + step])))
    return found


@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize(
    ("keys", "rising"),
    [
        ([str(number) for number in range(120)], True),  # whole numbers as a CSV has them
        (sorted(str(number) for number in range(120)), True),  # the same in the order of a dictionary
        (["a", "ab", "b", "ba", "c"], True),
        (["b", "c", "aa"], True),
        (["b", "aa", "ab", "aa"], False),
        ([3, 5, 9, 12, 20], True),
        ([3, 5, 5, 12, 20], False),
        (["1", "2", "2", "10"], False),
        ([*map(Decimal, (-9, -5, 3, 20))], True),
        ([*map(Decimal, (-9, -5, -9, 20))], False),
    ],
)
def test_keys_that_rise_by_bytes_or_by_length(keys: list[object], rising: bool, parts: int) -> None:
    assert range_of(keys, parts).rising is rising


@pytest.mark.parametrize("seed", range(30))
def test_rising_keys_are_never_repeated(seed: int) -> None:
    rng = random.Random(seed)
    keys: list[object] = [rng.choice("ab") * rng.randint(1, 3) for _ in range(rng.randint(1, 5))]
    if rng.random() < 0.5:
        keys.sort(key=lambda key: (len(str(key)), str(key)))
    if range_of(keys, rng.randint(1, 3)).rising:
        assert len({*keys}) == len(keys)
