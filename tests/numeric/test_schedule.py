"""The papers' schedules at the steps that matter."""

from __future__ import annotations

import pytest

from benchmarks.arithmetic.schedules import NAU_PENALTY, NMU_PENALTY, Glide, Ramp, Stairs


def test_the_ramp_of_nau_and_nmu() -> None:
    assert [NMU_PENALTY(step) for step in (0, 1_000_000, 1_500_000, 2_000_000, 5_000_000)] == [0, 0, 5, 10, 10]
    assert [NAU_PENALTY(step) for step in (5_000, 27_500, 50_000)] == pytest.approx([0, 0.005, 0.01])
    assert Ramp(1, 10, 20)(15) == 0.5


def test_the_stairs_of_npu() -> None:
    stairs = Stairs(1e-9, 1e-7)
    steps = (0, 9_999, 10_000, 20_000, 50_000)
    assert [stairs(step) for step in steps] == pytest.approx([1e-9, 1e-9, 1e-8, 1e-7, 1e-7])
    assert Stairs(1e-6, 5e-6)(10_000) == 5e-6


def test_a_glide_in_equal_ratios() -> None:
    glide = Glide(1.0, 100.0, 10)
    assert [glide(step) for step in (0, 5, 10, 20)] == pytest.approx([1, 10, 100, 100])
