"""Programs that hold in a world of numbers drawn first: no answer excludes it, and nothing contradicts itself."""

from __future__ import annotations

import pytest

import lnnkit
from tests.planted_numbers import exclusions, planted


@pytest.mark.parametrize("mild", [True, False], ids=("mild", "extreme"))
@pytest.mark.parametrize("first", range(0, 200, 20))
def test_no_answer_excludes_the_planted_world(first: int, mild: bool) -> None:
    for seed in range(first, first + 20):
        assert exclusions(planted(seed, mild=mild)) == [], f"seed {seed}"


@pytest.mark.slow
@pytest.mark.parametrize("mild", [True, False], ids=("mild", "extreme"))
@pytest.mark.parametrize("first", range(1000, 1200, 100))
def test_many(first: int, mild: bool) -> None:
    for seed in range(first, first + 100):
        assert exclusions(planted(seed, mild=mild)) == [], f"seed {seed}"


def test_a_soft_comparison_many_scales_out_is_not_false() -> None:
    """It is 1e-35, which floating point took for 0: then connectives took it for crisp."""
    kb = lnnkit.loads(
        "number n0(p)\nnumber n2(p)\nfact n2(a) = 20\nfact n0(a) = 0\nquery (n2(X) <= n0(X)){scale: 0.5}\n"
    )
    ((answer,),) = kb.answers()
    assert 0 <= answer.lower <= 1e-17 and answer.upper > 0
