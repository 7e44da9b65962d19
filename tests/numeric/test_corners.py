"""Intervals worked out by hand: unbounded ends, zeros, powers, and the tolerance."""

from __future__ import annotations

import math

import numpy as np
import pytest

import lnnkit
from lnnkit.numeric import (
    Comparator,
    Comparison,
    Constant,
    Fixed,
    Interval,
    Learned,
    Sign,
    Term,
    apply,
    constant,
    number,
    point,
    same,
)
from lnnkit.numeric.term import gated_product, linear, power_product
from tests.numeric.random_terms import Box, contract, intervals

INF = math.inf
X, Y = number(0), number(1)
UNKNOWN = (-INF, INF)
UNDEFINED = None


def power(base: Term, exponent: float) -> Term:
    return apply("power", base, constant(exponent))


HULLS: list[tuple[Term, list[Box], Box | None]] = [
    (apply("add", X, Y), [UNKNOWN, (1, 2)], UNKNOWN),
    (apply("add", X, Y), [(-INF, 1), (-INF, 2)], (-INF, 3)),
    (apply("subtract", X, Y), [(0, INF), (0, INF)], UNKNOWN),
    (apply("multiply", X, Y), [(0, 0), UNKNOWN], (0, 0)),
    (apply("multiply", X, Y), [(0, 2), (3, INF)], (0, INF)),
    (apply("multiply", X, Y), [(-2, 3), (-5, 4)], (-15, 12)),
    (apply("multiply", constant(0), Y), [(1, 1), UNKNOWN], (0, 0)),
    (apply("divide", X, Y), [(1, 2), (0, 4)], (0.25, INF)),
    (apply("divide", X, Y), [(1, 2), (-4, 0)], (-INF, -0.25)),
    (apply("divide", X, Y), [(1, 2), (-1, 1)], UNKNOWN),
    (apply("divide", X, Y), [(0, 0), (-1, 1)], (0, 0)),
    (apply("divide", X, Y), [(0, 1), (0, 1)], (0, INF)),
    (apply("divide", X, Y), [(1, 2), (0, 0)], UNDEFINED),
    (apply("divide", X, Y), [(1, 2), (4, INF)], (0, 0.5)),
    (apply("divide", X, Y), [UNKNOWN, (2, 4)], UNKNOWN),
    (apply("abs", apply("divide", constant(1), X)), [(-1, 2)], (0.5, INF)),  # two pieces within
    (power(apply("divide", constant(1), X), 2), [(-1, 2)], (0.25, INF)),
    (power(X, 2), [(-2, 3)], (0, 9)),
    (power(X, 2), [UNKNOWN], (0, INF)),
    (power(X, 3), [(-2, 3)], (-8, 27)),
    (power(X, 0), [(-2, 3)], (1, 1)),
    (power(X, 0), [(0, 0)], (1, 1)),
    (power(X, -1), [(-2, 4)], UNKNOWN),
    (power(X, -2), [(-2, 4)], (1 / 16, INF)),
    (power(X, -2), [(0, 0)], UNDEFINED),
    (power(X, -3), [(0, 2)], (0.125, INF)),
    (power(X, 0.5), [(-4, 9)], (0, 3)),
    (power(X, 1.5), [(-4, -1)], UNDEFINED),
    (power(X, -0.5), [(0, 4)], (0.5, INF)),
    (power(X, 200), [(1e3, 1e4)], (1.7976931348623157e308, INF)),  # over the greatest float
    (apply("power", X, Y), [(2, 3), (-1, 2)], (1 / 3, 9)),
    (apply("power", X, Y), [(-2, -1), (2, 3)], (-8, 4)),
    (apply("power", X, Y), [(-2, -1), (2.2, 2.8)], UNDEFINED),
    (apply("power", X, Y), [(-3, -3), (0, 4)], (-27, 81)),
    (apply("power", X, Y), [(0, 0), (-1, 1)], (0, 1)),
    (apply("power", X, Y), [(0, 0), (-2, -1)], UNDEFINED),
    (apply("power", constant(2), Y), [UNKNOWN, (-INF, 3)], (0, 8)),
    (apply("sqrt", X), [(-4, 9)], (0, 3)),
    (apply("sqrt", X), [(-4, -1)], UNDEFINED),
    (apply("sqrt", apply("divide", X, Y)), [(8, 50), (-INF, 2)], (2, INF)),  # no quotient is zero
    (apply("abs", X), [(-3, 2)], (0, 3)),
    (apply("negate", X), [(-3, INF)], (-INF, 3)),
    (linear([2, -1, 0], [X, Y, X]), [(1, 2), (0, 3)], (-1, 4)),
    (linear([0], [X]), [(1, 2)], (0, 0)),
    (gated_product([1, 0.5], [X, Y]), [(2, 3), (-1, 2)], (0, 4.5)),
    (power_product([1, -1], [X, Y]), [(-6, 6), (2, 3)], (-3, 3)),
]


@pytest.mark.parametrize(("term", "box", "expected"), HULLS)
def test_hulls(term: Term, box: list[Box], expected: Box | None) -> None:
    found, defined = term.hull(intervals([box]))
    assert bool(defined) == (expected is not None)
    assert (found.lower.item(), found.upper.item()) == pytest.approx(expected or UNKNOWN, rel=1e-12, abs=0)


QUOTIENT = apply("divide", X, Y)
CONTRACTIONS: list[tuple[Term, Sign, float, float, list[Box], list[Box] | None]] = [
    (X, ">=", 18, 1, [UNKNOWN], [(18, INF)]),
    (X, ">=", 18, 0, [UNKNOWN], [(-INF, 18)]),
    (X, "=", 18, 1, [(0, 50)], [(18, 18)]),
    (X, "=", 18, 0, [(0, 50)], [(0, 50)]),
    (X, "!=", 18, 0, [(0, 50)], [(18, 18)]),
    (X, "=", 18, 1, [(20, 50)], None),
    (QUOTIENT, ">", 0.4, 0, [UNKNOWN, (100, 100)], [(-INF, 40), (100, 100)]),
    (QUOTIENT, ">", 3, 1, [(1, 2), (-1, 1)], [(1, 2), (0, 2 / 3)]),
    (QUOTIENT, "=", 0, 1, [UNKNOWN, (1, 2)], [(0, 0), (1, 2)]),
    (QUOTIENT, "=", 3, 1, [(1, 2), (0, 0)], [(1, 2), (0, 0)]),  # undefined: nothing is said
    (apply("multiply", X, Y), "=", 0, 1, [(-1, 1), (2, 3)], [(0, 0), (2, 3)]),
    (apply("multiply", X, Y), "=", 6, 1, [(-1, 2), (-4, 4)], [(1.5, 2), (3, 4)]),
    (apply("multiply", X, Y), "=", 1, 1, [(0, 0), UNKNOWN], None),
    (power(X, 2), "=", 9, 1, [UNKNOWN], [(-3, 3)]),
    (power(X, 2), "=", 9, 1, [(0, 50)], [(3, 3)]),
    (power(X, 2), "<=", -1, 1, [UNKNOWN], None),
    (power(X, 3), "=", -27, 1, [UNKNOWN], [(-3, -3)]),
    (power(X, -2), ">=", 4, 1, [UNKNOWN], [(-0.5, 0.5)]),
    (apply("sqrt", X), ">", 3, 0, [UNKNOWN], [(0, 9)]),
    (apply("sqrt", X), ">", -1, 1, [UNKNOWN], [(0, INF)]),  # it is known, so it is defined
    (apply("abs", X), "<", 2, 1, [UNKNOWN], [(-2, 2)]),
    (apply("abs", X), ">=", 2, 1, [(-1, 5)], [(2, 5)]),
    (apply("power", constant(2), X), "=", 8, 1, [UNKNOWN], [(3, 3)]),
    (apply("power", X, Y), "=", 8, 1, [(1, 10), (3, 3)], [(2, 2), (3, 3)]),
    (apply("add", X, X), "=", 8, 1, [(0, 10)], [(0, 8)]),  # a number twice: sound only
]


@pytest.mark.parametrize(("term", "sign", "limit", "asked", "box", "expected"), CONTRACTIONS)
def test_contractions(
    term: Term, sign: Sign, limit: float, asked: float, box: list[Box], expected: list[Box] | None
) -> None:
    truth = point(np.array([asked], np.float64))
    found = contract(Comparison(term, constant(limit), Fixed(sign)), intervals([box]), truth)
    assert bool(found.empty) == (expected is None)
    for (lower, upper), wanted in zip(found.inputs, expected or box, strict=True):
        assert (lower.item(), upper.item()) == pytest.approx(wanted, rel=1e-12, abs=0)


TRUTHS: list[tuple[Term, Comparator, Term, list[Box], Box]] = [
    (X, Fixed(">"), Y, [(0, 5), (5, 9)], (0, 0)),
    (X, Fixed(">="), Y, [(0, 5), (5, 9)], (0, 1)),
    (X, Fixed("<="), Y, [(0, 5), (5, 9)], (1, 1)),
    (X, Fixed("="), Y, [(5, 5), (5, 5)], (1, 1)),
    (X, Fixed("="), Y, [(5, 5), (5, 6)], (0, 1)),
    (X, Fixed("!="), Y, [(5, 6), (7, 8)], (1, 1)),
    (apply("divide", constant(1), X), Fixed("="), constant(0.25), [(-1, 2)], (0, 0)),  # between the two pieces
    (apply("divide", constant(1), X), Fixed(">"), constant(0), [(1, INF)], (1, 1)),
    (apply("divide", X, Y), Fixed(">"), constant(1), [(1, 1), (0, 0)], (0, 1)),
    (apply("add", X, Y), Fixed("<="), constant(0.3), [(0.1, 0.1), (0.2, 0.2)], (1, 1)),
    (apply("subtract", apply("add", X, Y), constant(0.3)), Fixed(">"), constant(0), [(0.1, 0.1), (0.2, 0.2)], (0, 0)),
    (X, Fixed("="), Y, [(2**53, 2**53), (2**53 - 1, 2**53 - 1)], (0, 0)),
    (X, Fixed(">", 2.0), Y, [(3, 3), (3, 3)], (0.5, 0.5)),
    (X, Fixed(">=", 2.0), Y, [(3, 5), (1, 3)], (0.5, 1 / (1 + math.exp(-2)))),
    (X, Fixed("<", 2.0), Y, [(3, INF), (3, 3)], (0, 0.5)),
    (X, Fixed("=", 2.0), Y, [(1, 4), (3, 3)], (1 - math.tanh(1) ** 2, 1)),
    (X, Fixed("!=", 2.0), Y, [(4, 7), (3, 3)], (math.tanh(0.5) ** 2, math.tanh(2) ** 2)),
    (X, Learned(2, -1, -1), Y, [(4, 7), (3, 3)], (1 / (1 + math.exp(-2)), 1 / (1 + math.exp(-2)))),
    (X, Learned(2, -1, -1), Y, [(3, 7), (3, 3)], (1 / (1 + math.exp(2)), 1 / (1 + math.exp(-2)))),
    (
        X,
        Learned(0, 2, 0, 1.0),
        Y,
        [(2, 4), (3, 3)],
        (1 / (1 + math.exp(4 * math.tanh(1) ** 2 - 2)), 1 / (1 + math.exp(-2))),
    ),
]


@pytest.mark.parametrize(("left", "relation", "right", "box", "expected"), TRUTHS)
def test_truths(left: Term, relation: Comparator, right: Term, box: list[Box], expected: Box) -> None:
    lower, upper = Comparison(left, right, relation).truth(intervals([box]))
    assert (lower.item(), upper.item()) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_a_truth_that_is_only_neared_leaves_the_numbers_near_it() -> None:
    truth = point(np.array([1.0], np.float64))
    found = contract(Comparison(X, constant(5), Fixed(">", 1.0)), intervals([[(0, INF)]]), truth)
    assert not bool(found.empty)
    assert found.inputs[0].lower.item() == pytest.approx(5 + math.log(1e9), rel=1e-6)


def test_a_crisp_comparison_has_no_truth_between() -> None:
    truth = Interval(*(np.array([end], np.float64) for end in (0.3, 0.8)))
    response = Comparison(X, constant(5), Fixed(">")).respond(intervals([[(0, 9)]]), truth)
    assert bool(response.empty)
    assert not bool(response.crossed)


def test_excluded_truth_crosses() -> None:
    truth = point(np.array([1.0, 1.0], np.float64))
    response = Comparison(X, constant(5), Fixed(">")).respond(intervals([[(0, 4)], [(0, 9)]]), truth)
    assert response.crossed.tolist() == [True, False]
    assert response.inputs[0].lower.tolist() == [0, 5]


def test_constants_are_folded() -> None:
    third = apply("divide", constant(1), constant(2))
    found, defined = apply("power", X, third).hull(intervals([[(-4, 9)]]))
    assert bool(defined)
    assert (found.lower.item(), found.upper.item()) == (0, 3)
    assert apply("divide", constant(1), constant(0)).value is None
    assert Term((Constant(2.0),)).value == 2.0


def test_integers_are_the_same_only_if_equal() -> None:
    one = np.array([10.0**12, 0.1 + 0.2, 10.0**12 + 0.5, INF, -INF, 1e20], np.float64)
    other = np.array([10.0**12 + 1, 0.3, 10.0**12 + 0.25, INF, INF, 1e20 + 1e5], np.float64)
    assert same(one, other).tolist() == [False, True, True, True, False, True]


def test_rounding_beside_a_large_operand_removes_no_value() -> None:
    """``(a - b)^3`` is whatever ``a`` is not, which leaves every ``a``: what the floats lose of it is no cut, nor is it
    the next time."""
    cubed = Comparison(power(apply("subtract", X, Y), 3.0), X, Fixed("!="))
    box: list[Box] = [(-6.806895304436382, INF), (2.0**53, 2.0**53)]
    for _ in range(5):
        found = contract(cubed, intervals([box]), Interval(np.ones(1), np.ones(1)))
        box = [(each.lower.item(), each.upper.item()) for each in found.inputs]
    assert box == [(-6.806895304436382, INF), (2.0**53, 2.0**53)]


def test_whole_numbers_are_cut_beside_great_ones() -> None:
    total = Comparison(apply("add", X, Y), constant(2.0**52 + 9), Fixed("<="))
    found = contract(total, intervals([[(0.0, 10.0), (2.0**52, 2.0**53)]]), point(np.ones(1)))
    assert [(each.lower.item(), each.upper.item()) for each in found.inputs] == [(0, 9), (2.0**52, 2.0**52 + 9)]


@pytest.mark.parametrize("exponent", [3.0, 5.0, 7.0])
@pytest.mark.parametrize("value", [2.0**53, 2.0**53 - 1, 94906267.0, 3.0, 0.1, 1e40, 1e-40])
def test_a_power_leads_back_to_its_base(exponent: float, value: float) -> None:
    term = power(X, exponent)
    there, _ = term.hull(intervals([[(value, value)]]))
    back = term.contract(intervals([[UNKNOWN]]), there).inputs[0]
    for end in back:
        assert end.item() == pytest.approx(value, rel=5e-16)


def test_whole_powers_are_defined_everywhere() -> None:
    assert not power(X, 3.0).partial
    assert not power(X, -2.0).partial
    assert power(X, 0.5).partial
    assert apply("power", constant(2.0), X).partial


def test_the_root_of_a_power_of_0_is_any_number() -> None:
    kb = lnnkit.loads("number a(p)\npredicate P(p)\nfact P(x)\nrule P(X) -> a(X)^0 = 1\nquery a(X)\n")
    assert kb.infer().contradictions == ()
