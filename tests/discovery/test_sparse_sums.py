"""Sparse least squares against all subsets, tried one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from lnnkit.discovery.sparse_sums import eliminated, sparse_fits
from tests.blocks import at_length


def left(features: np.ndarray, target: np.ndarray, places: tuple[int, ...]) -> float:
    columns = features[:, list(places)]
    rest = target - columns @ np.linalg.lstsq(columns, target, rcond=None)[0]
    return float(rest @ rest) / float(target @ target)


@pytest.mark.parametrize("seed", at_length([*range(12)], plain=3))
def test_the_best_sets_of_one_two_and_three_are_met(seed: int) -> None:
    generator = np.random.default_rng(seed)
    features = generator.standard_normal((40, 9)) + generator.standard_normal((40, 1))
    target = features[:, :4] @ generator.standard_normal(4) + 0.3 * generator.standard_normal(40)
    fits = list(sparse_fits(features, target, most=3))
    for count in (1, 2, 3):
        best = min(left(features, target, each) for each in itertools.combinations(range(9), count))
        assert min(each.left for each in fits if len(each.places) == count) == pytest.approx(best, rel=1e-6)
    for each in fits:
        assert each.left == pytest.approx(left(features, target, each.places), rel=1e-6)
        rest = target - features[:, list(each.places)] @ each.coefficients
        assert float(rest @ rest) / float(target @ target) == pytest.approx(each.left, rel=1e-6)


@pytest.mark.parametrize("exact", [False, True])
def test_elimination_keeps_the_terms_of_an_exact_sum(exact: bool) -> None:
    generator = np.random.default_rng(5)
    features = generator.standard_normal((100, 30))
    target = features[:, [3, 8, 20, 21, 29]] @ np.array([1.0, -2.0, 0.5, 3.0, 4.0])
    fits = list(eliminated(features, target, most=10, exact=exact))
    assert any(each.places == (3, 8, 20, 21, 29) and each.left < 1e-20 for each in fits)


def test_forced_terms_are_in_every_set() -> None:
    generator = np.random.default_rng(6)
    features = generator.standard_normal((50, 7))
    assert all(2 in each.places for each in sparse_fits(features, features[:, 0], most=3, forced=(2,)))


def test_nothing_of_nothing() -> None:
    assert list(sparse_fits(np.zeros((5, 2)), np.ones(5), most=3)) == []
    assert list(sparse_fits(np.ones((5, 2)), np.zeros(5), most=3)) == []


def test_multiples_of_what_is_held_add_nothing() -> None:
    """A column of one value beside the constant, as in the first weeks of an epidemic."""
    target = np.arange(20.0)
    features = np.ones((20, 2)) * [1.0, 2.0]
    assert [each.places for each in sparse_fits(features, target, most=5, forced=(0,))] == [(0,)]
    assert not list(sparse_fits(0 * features, target, most=5, forced=(0,)))
