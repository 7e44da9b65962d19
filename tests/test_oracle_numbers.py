"""The oracle's arithmetic against points, and against Z3 where the numbers are rational."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
import z3

from tests.blocks import at_length
from tests.oracle.comparison import contract, truth, values
from tests.oracle.neurons import TOL, Empty
from tests.oracle.program import Box, Formula, numbers
from tests.oracle.reals import INF, Reals, between, hull, intersect
from tests.points import Undefined, truth_at, value_at

Real = Any  # z3's operators are typed too loosely to say more
NAMES = "abcd"
ENDS = (-INF, -7.0, -3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 2.5, 4.0, 10.0, INF)
OPERATORS = (">", ">=", "<", "<=", "=", "!=")


def number(name: str) -> Formula:
    return "number", name, ()


def constant(value: float) -> Formula:
    return "constant", value


def a_term(rng: random.Random, names: Iterator[str], depth: int, rational: bool = False) -> Formula:
    """A term in which every number stands once."""
    if depth == 0 or rng.random() < 0.25:
        return number(next(names)) if rng.random() < 0.75 else constant(rng.choice([-3.0, -1.0, 0.0, 0.5, 2.0, 4.0]))
    kinds = ["add", "subtract", "multiply", "divide", "power", "negate", "abs"] + ["sqrt", "nau"] * (not rational)
    kind = rng.choice(kinds)
    if kind == "power":
        exponents = [2.0, 2.0, 3.0, -1.0, -2.0, 0.0] + [0.5, 1.5, -0.5] * (not rational)
        if not rational and rng.random() < 0.2:
            return "power", constant(rng.choice([2.0, 0.5])), a_term(rng, names, depth - 1)
        return "power", a_term(rng, names, depth - 1, rational), constant(rng.choice(exponents))
    if kind == "nau":
        weights = (rng.choice([1.0, -1.0, 0.5]), rng.choice([1.0, 0.0, -1.0]))
        return "nau", weights, (a_term(rng, names, depth - 1), a_term(rng, names, depth - 1))
    count = 1 if kind in ("negate", "abs", "sqrt") else 2
    return kind, *(a_term(rng, names, depth - 1, rational) for _ in range(count))


def a_comparison(rng: random.Random, rational: bool = False) -> Formula:
    names = iter([*NAMES, *NAMES.upper()])
    left = a_term(rng, names, 2, rational)
    right = a_term(rng, names, rng.choice([0, 0, 1]), rational)
    operator, scale, weight = rng.choice(OPERATORS), None, None
    if not rational and rng.random() < 0.3:
        scale = rng.choice([0.5, 2.0])
    if not rational and rng.random() < 0.15:
        operator, weight = "<?>", tuple(rng.choice([-2.0, 0.0, 1.0, 2.0]) for _ in range(3))
    return "compare", operator, left, right, scale, weight


def a_box(rng: random.Random, comparison: Formula) -> dict[str, Box]:
    box = {}
    for _, name, _ in numbers(comparison):
        low, high = sorted(rng.choices(ENDS, k=2))
        box[name] = (low, high) if -INF < low == high < INF or low < high else (-INF, INF)
    return box


def a_point(rng: random.Random, box: dict[str, Box]) -> dict[str, float]:
    point = {}
    for name, (low, high) in box.items():
        near = max(low, -20.0), min(high, 20.0)
        choices = [near[0], near[1], rng.uniform(*near), float(rng.randint(math.ceil(near[0]), math.floor(near[1])))
                   if math.ceil(near[0]) <= math.floor(near[1]) else near[0]]  # fmt: skip
        point[name] = rng.choice(choices)
    return point


def up(comparison: Formula, box: dict[str, Box]) -> Box:
    _, operator, left, right, scale, weight = comparison
    left, right = (values(side, lambda n: between(*box[n[1]])) for side in (left, right))
    return truth(operator, scale, weight, left, right)


def down(comparison: Formula, box: dict[str, Box], wanted: Box) -> dict[str, Box] | None:
    """The contracted box; None where it is empty."""
    _, operator, left, right, scale, weight = comparison
    kept: dict[str, Reals] = {name: between(*piece) for name, piece in box.items()}

    def send(n: Formula, found: Reals) -> None:
        kept[n[1]] = intersect(kept[n[1]], found)

    try:
        contract(operator, scale, weight, left, right, wanted, lambda n: between(*box[n[1]]), send)
    except Empty:
        return None
    return {name: hull(found) for name, found in kept.items()} if all(kept.values()) else None


def inside(value: float, piece: Box, slack: float = 1e-9) -> bool:
    return piece[0] - slack * max(1, abs(value)) <= value <= piece[1] + slack * max(1, abs(value))


@pytest.mark.parametrize("block", at_length(range(30), plain=1))
def test_no_point_is_lost(block: int) -> None:
    """Values, truth, and what is left of the numbers where the truth is known."""
    rng, met = random.Random(block), 0
    for _ in range(100):
        comparison = a_comparison(rng)
        box = a_box(rng, comparison)
        for _ in range(30):
            point = a_point(rng, box)
            try:
                found = truth_at(comparison, lambda n, point=point: point[n[1]])
                value = value_at(comparison[2], lambda n, point=point: point[n[1]])
            except Undefined:
                continue
            if abs(value) > 1e12:
                continue
            met += 1
            sides = values(comparison[2], lambda n, box=box: between(*box[n[1]]))
            assert any(inside(value, piece[:2]) for piece in sides), (comparison, box, point)
            assert inside(found, up(comparison, box)), (comparison, box, point)
            for wanted in ((max(0.0, found - 0.1), 1.0), (0.0, min(1.0, found + 0.1)), (found, found)):
                left = down(comparison, box, wanted)
                assert left is not None, (comparison, box, point, wanted)
                for name, x in point.items():  # a soft truth of nearly 0 or 1 tells its number loosely
                    slack = 1e-9 if comparison[4] is None or TOL < found < 1 - TOL else 1e-2
                    assert inside(x, left[name], slack), (comparison, box, point, wanted, left)
    assert met > 1000


# --- Z3: nothing is kept that no point needs -----------------------------------------------------------------------


def solved(term: Formula, variables: dict[str, Real], conditions: list[Real]) -> Real:
    if term[0] == "number":
        return variables[term[1]]
    if term[0] == "constant":
        return z3.RealVal(str(Fraction(term[1])))
    below = [solved(part, variables, conditions) for part in term[1:]]
    match term[0]:
        case "add":
            return below[0] + below[1]
        case "subtract":
            return below[0] - below[1]
        case "multiply":
            return below[0] * below[1]
        case "divide":
            return _quotient(below[0], below[1], conditions)
        case "negate":
            return -below[0]
        case "abs":
            return z3.If(below[0] >= 0, below[0], -below[0])
    exponent = int(term[2][1])
    product = z3.RealVal(1)
    for _ in range(abs(exponent)):
        product = product * below[0]
    return product if exponent >= 0 else _quotient(z3.RealVal(1), product, conditions)


def _quotient(a: Real, b: Real, conditions: list[Real]) -> Real:
    quotient = z3.FreshReal("q")
    conditions += [b != 0, quotient * b == a]
    return quotient


def relation(operator: str, a: Real, b: Real) -> Real:
    return {">": a > b, ">=": a >= b, "<": a < b, "<=": a <= b, "=": a == b, "!=": a != b}[operator]


class Asked:
    """A comparison over a box, as a Z3 problem."""

    def __init__(self, comparison: Formula, box: dict[str, Box]) -> None:
        self.variables = {name: z3.Real(name) for name in box}
        conditions: list[Real] = []
        sides = [solved(side, self.variables, conditions) for side in comparison[2:4]]
        self.true = relation(comparison[1], *sides)
        self.defined = [*conditions, *(c for name, piece in box.items() for c in self.within(name, piece))]

    def within(self, name: str, piece: Box) -> list[Real]:
        x, (low, high) = self.variables[name], piece
        return [*([x >= Fraction(low)] if low > -INF else []), *([x <= Fraction(high)] if high < INF else [])]

    def possible(self, *conditions: Real) -> bool | None:
        solver = z3.Solver()
        solver.set("timeout", 1000)
        solver.add(*self.defined, *conditions)
        answer = solver.check()
        return None if answer == z3.unknown else answer == z3.sat


@pytest.mark.parametrize("block", at_length(range(18), plain=1))
def test_every_end_is_near_a_point(block: int) -> None:
    """Where each number stands once: truth is as Z3 says, and the numbers come as near to each end as one likes."""
    rng, met = random.Random(1000 + block), 0
    for _ in range(20):
        comparison = a_comparison(rng, rational=True)
        box = a_box(rng, comparison)
        asked = Asked(comparison, box)
        true, false = asked.possible(asked.true), asked.possible(z3.Not(asked.true))
        if true is None or false is None or not (true or false):
            continue
        low, high = up(comparison, box)
        assert (low, high) == (float(not false), float(true)), (comparison, box)
        for wanted, holds in (((1.0, 1.0), asked.true), ((0.0, 0.0), z3.Not(asked.true))):
            possible, left = asked.possible(holds), down(comparison, box, wanted)
            if not possible or left is None:
                assert not possible or left is not None, (comparison, box, wanted)
                continue
            for name, (lower, upper) in left.items():
                x: Real = asked.variables[name]
                for end, near in ((lower, x - Fraction(lower) if lower > -INF else None),
                                  (upper, Fraction(upper) - x if upper < INF else None)):  # fmt: skip
                    condition = (
                        near <= Fraction(1, 1000) if near is not None else (x <= -1000 if end < 0 else x >= 1000)
                    )
                    beyond = near <= Fraction(-1, 10**6) if near is not None else z3.BoolVal(False)
                    met += 1
                    assert asked.possible(holds, condition) is not False, (comparison, box, wanted, left, name, end)
                    assert not asked.possible(holds, beyond), (comparison, box, wanted, left, name, end)
    assert met > 33
