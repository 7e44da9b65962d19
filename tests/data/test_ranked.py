"""Encoding and sorting of many texts, against Python's own sets and sort."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lnnkit.data.arrow import ranked

PIECES = ["a", "b", "ab", "é", "日", "\0", "12", "person_", "xxxxxxxxyyyyyyyy", " ", "z" * 30]


def plain(values: pa.Array) -> list[str]:
    return [value.decode() if isinstance(value, bytes) else value for value in values.to_pylist()]


def check(texts: list[str]) -> None:
    for kind in (pa.string(), pa.binary()):
        array = pa.array(["in", "front", *texts], pa.string()).slice(2).cast(kind)
        codes, values = ranked(array)
        assert values.type == kind
        assert plain(values) == sorted(set(texts))
        assert [plain(values)[code] for code in codes] == texts


@pytest.mark.parametrize("seed", range(60))
def test_texts_that_begin_alike(seed: int) -> None:
    rng = random.Random(seed)
    pieces = rng.sample(PIECES, rng.randint(1, 6))
    start = rng.choice(["", "", "pre", "http://x.y/zzz/", "p" * 17])
    for _ in range(8):
        longest = rng.choice([1, 3, 20])
        check([start + "".join(rng.choices(pieces, k=rng.randint(0, longest))) for _ in range(rng.randint(0, 60))])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=12), max_size=20))
def test_any_texts(texts: list[str]) -> None:
    check(texts)


def test_long_shared_parts_are_left_to_arrow() -> None:
    check(["a", *("b" * 1000 + str(number) for number in range(50))])


def test_a_start_that_few_share_with_all() -> None:
    check(["person_1"] * 200 + ["anna"] + ["person_2"] * 200)
    check([f"p{number}" for number in range(300)] + ["q" * 9])
