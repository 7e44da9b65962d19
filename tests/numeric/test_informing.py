from __future__ import annotations

from lnnkit.numeric.comparison import informing
from lnnkit.numeric.term import apply, number


def test_a_sum_is_unknown_until_all_of_it_is_known() -> None:
    difference = apply("subtract", number(0), number(1))
    assert informing(difference, 2) == (frozenset({0, 1}),)
    assert informing(apply("divide", difference, number(2)), 3) == (frozenset({0, 1}),)  # it is 0 where these are equal


def test_a_product_may_be_zero_as_soon_as_one_factor_is_known() -> None:
    assert set(informing(apply("multiply", number(0), number(1)), 2)) == {frozenset({0}), frozenset({1})}
