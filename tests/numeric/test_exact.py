"""Hulls and contractions against z3's real arithmetic: nothing beyond an end, and something at every end.

Each number occurs once. Hulls are closed, so an end may be neared only: a solution within `NEAR` of it will do; and a
strict relation contracts as its closure does.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import z3

from lnnkit.numeric import Apply, Comparison, Constant, Fixed, Input, Interval, Term
from tests.blocks import at_length
from tests.numeric.random_terms import SIGNS, Box, contract, intervals, random_box, random_term

NEAR = Fraction(1, 10_000)  # relative to ends over 1
FAR = 1000  # a solution beyond it stands for one without end
MILLISECONDS = 400


Real = Any  # z3's operators are typed too loosely to say more


class Reals:
    """A box of real numbers, and terms over it, as z3 sees them."""

    def __init__(self, box: Sequence[Box]) -> None:
        self.solver = z3.Solver()
        self.solver.set("timeout", MILLISECONDS)
        self.numbers = [z3.Real(f"x{index}") for index in range(len(box))]
        self.unknown = 0
        for own, (low, high) in zip(self.numbers, box, strict=True):
            if low > -math.inf:
                self.solver.add(own >= Fraction(low))
            if high < math.inf:
                self.solver.add(own <= Fraction(high))

    def value(self, term: Term) -> Real:
        """A term; where it is undefined is ruled out."""
        values: list[Real] = []
        for step in term.steps:
            match step:
                case Input():
                    values.append(self.numbers[step.index])
                case Constant():
                    values.append(z3.RealVal(Fraction(step.value)))
                case Apply():
                    values.append(self._applied(step, values, term))
        return values[-1]

    def possible(self, condition: z3.BoolRef | bool) -> bool | None:
        """Whether the condition can hold; None if z3 finds no answer in time."""
        found = self.solver.check(condition)
        if found == z3.unknown:
            self.unknown += 1
            return None
        return found == z3.sat

    def assert_end(self, value: Real, box: Box, context: object) -> int:
        """Check a claimed hull of ``value``; returns the number of checks that were answered."""
        answered = 0
        for end, sign in ((box[0], 1), (box[1], -1)):
            if math.isinf(end):
                reached, beyond = self.possible(sign * value < -FAR), None
            else:
                room = NEAR * max(1, abs(Fraction(end)))
                reached = self.possible(sign * value <= sign * Fraction(end) + room)
                beyond = self.possible(sign * value < sign * Fraction(end) - room)
            assert reached is not False, ("not tight", context, box)
            assert not beyond, ("not sound", context, box)
            answered += (reached is not None) + (beyond is not None)
        return answered

    def _applied(self, step: Apply, values: Sequence[Real], term: Term) -> Real:
        own = [values[place] for place in step.operands]
        match step.operation:
            case "add":
                return sum(own[1:], own[0])
            case "subtract":
                return own[0] - own[1]
            case "multiply":
                return math.prod(own[1:], start=own[0])
            case "divide":
                self.solver.add(own[1] != 0)
                return own[0] / own[1]
            case "power":
                exponent = term.steps[step.operands[1]]
                assert isinstance(exponent, Constant)
                return self._power(own[0], exponent.value)
            case "negate":
                return -own[0]
            case "abs":
                return z3.If(own[0] >= 0, own[0], -own[0])
            case "sqrt":
                return self._root(own[0])

    def _power(self, base: Real, exponent: float) -> Real:
        if exponent != int(exponent):
            base, exponent = self._root(base), 2 * exponent
        if exponent < 0:
            self.solver.add(base != 0)
        power = math.prod([base] * int(abs(exponent)), start=z3.RealVal(1))
        return 1 / power if exponent < 0 else power

    def _root(self, value: Real) -> Real:
        root = z3.FreshReal()
        self.solver.add(root >= 0, root * root == value)
        return root


def closed(sign: str, asked: float, left: Real, right: Real, *, whole: bool) -> z3.BoolRef:
    """The closure of a relation, or of its complement: what contraction works with; of whole numbers, itself."""
    wanted = sign if asked else {">": "<=", ">=": "<", "<": ">=", "<=": ">", "=": "!=", "!=": "="}[sign]
    if wanted == "!=":
        return z3.BoolVal(True)
    if whole and wanted in ("<", ">"):
        return left < right if wanted == "<" else left > right
    return {">": left >= right, "<": left <= right, "=": left == right}[wanted[0]]


def fixed_powers(term: Term) -> bool:
    """Whether all exponents are constants, which z3 can do."""
    return all(
        isinstance(term.steps[step.operands[1]], Constant)
        for step in term.steps
        if isinstance(step, Apply) and step.operation == "power"
    )


def check(seed: int, count: int) -> None:
    draw = random.Random(seed)
    answered = unknown = 0
    for _ in range(count):
        term = random_term(draw, 2, draw.randint(1, 3), once=True)
        limit = random_term(draw, 0, 0)
        if not fixed_powers(term):
            continue
        box = [random_box(draw) for _ in range(2)]
        sign, asked = draw.choice(SIGNS), draw.choice((0.0, 1.0))
        hull, defined = term.hull(intervals([box]))
        reals = Reals(box)
        value = reals.value(term)
        if bool(defined):
            answered += reals.assert_end(value, (hull.lower.item(), hull.upper.item()), (term, box))
        else:
            assert not reals.possible(True), (term, box)
        bounds = Interval(*(np.array([asked], np.float64) for _ in range(2)))
        comparison = Comparison(term, limit, Fixed(sign))
        found = contract(comparison, intervals([box]), bounds)
        reals.solver.add(closed(sign, asked, value, reals.value(limit), whole=term.integral and limit.integral))
        if bool(found.empty) or not bool(defined):
            assert not reals.possible(True), (comparison, box, asked)
            continue
        for number, left in zip(reals.numbers, found.inputs, strict=True):
            answered += reals.assert_end(number, (left.lower.item(), left.upper.item()), (comparison, box, asked))
        unknown += reals.unknown
    assert answered > 5 * count
    assert unknown < answered / 10


def test_hulls_and_contractions_are_exact() -> None:
    check(1, 80)


@pytest.mark.parametrize("seed", at_length(range(2, 12), plain=0))
def test_more_hulls_and_contractions_are_exact(seed: int) -> None:
    check(seed, 400)
