"""Random programs with numbers that hold in a planted world, extremes drawn often.

A world gives each atom a truth and each number a value. Facts are intervals around them; statements are drawn at
random, evaluated in the world exactly (`tests.exact`), and stated with floats around what they come to. So no answer
may exclude the world, and nothing contradicts itself.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import lnnkit
from tests.exact import (
    Unclear,
    Undefined,
    ceil_float,
    exact_truth,
    exact_value,
    floor_float,
    mpf,
)
from tests.oracle import Fact, Formula, Predicate, Program, Statement
from tests.oracle.network import ground_term
from tests.oracle.program import TERMS, UNITS, free_variables, numbers, subformulas, subterms
from tests.programs import LOGICS, to_text

PEOPLE = ("anna", "bob")
TRUTHS = ("Known", "P", "Q", "R")
NUMBERS = ("n0", "n1", "n2", "n3")
ZERO = ("constant", 0.0)
X = (("var", "X"),)

SMALL_TRUTHS = (0.0, 1.0, 0.5, 0.25, 0.9999, 1e-9, 1 - 1e-9, 1e-12, 2e-9, 1 - 2e-9, 1e-300, math.nextafter(1, 0))
HUGE = (1e9, 1e12, 1e15, 2.0**53 - 1, 2.0**53, 1e17, 1e30, 1e100, 1e154, 1e200, 1.7e308)
TINY = (1e-9, 1e-12, 1e-30, 1e-90, 1e-120, 1e-200, 1e-300, 5e-324)
SCALES_OUT = (1e-9, 0.01, 1.0, 5.0, 18.0, 20.0, 21.0, 30.0, 36.0, 37.0, 40.0, 100.0, 360.0, 400.0, 740.0, 800.0)
OPERATORS = (">", ">=", "<", "<=", "=", "!=")
OPERATIONS = ("add", "subtract", "multiply", "divide", "power", "negate", "abs", "sqrt", "nau", "nmu", "realnpu")

World = dict[tuple[str, tuple[str, ...]], float]


@dataclass
class Planted:
    program: Program
    world: World


class _Retry(Exception):
    pass


def planted(seed: int, size: int = 3, mild: bool = False, jumps: bool = True, functions: Sequence[str] = ()) -> Planted:
    """A program of ``size`` statements and its world, a function of the arguments. ``mild`` draws no huge or tiny
    numbers. Without ``jumps`` the connectives are continuous: the residua of product and Goedel logic are not. About
    half of the operations are of ``functions`` if there are any."""
    for attempt in range(200):
        try:
            return _Generator(random.Random(f"{seed} {size} {mild} {attempt}"), size, mild, jumps, functions).build()
        except (_Retry, Unclear, Undefined):
            continue
    raise AssertionError(f"no program for seed {seed}")


@dataclass
class _Generator:
    rng: random.Random
    size: int
    mild: bool
    jumps: bool
    functions: Sequence[str] = ()
    world: World = field(default_factory=dict)
    pool: list[Formula] = field(default_factory=list)

    def build(self) -> Planted:
        rng = self.rng
        self.people = PEOPLE[: rng.choice([1, 1, 2])]
        self.logic = rng.choice(LOGICS)
        for name, person in itertools.product(TRUTHS, self.people):
            self.world[name, (person,)] = 1.0 if name == "Known" else self._truth()
        for name, person in itertools.product(NUMBERS, self.people):
            self.world[name, (person,)] = self._number()
        statements = [self._statement() for _ in range(self.size)]
        facts = [fact for place, value in self.world.items() for fact in self._facts(place, value)]
        predicates = [Predicate(name, 1, ("person",)) for name in TRUTHS]
        predicates += [Predicate(name, 1, ("person",), numeric=True) for name in NUMBERS]
        queries = [("atom", name, X) for name in TRUTHS[1:]] + [("number", name, X) for name in NUMBERS]
        queries += list(dict.fromkeys(each for s in statements for each in _parts(s.formula)))
        program = Program(predicates, facts, statements, queries, {"person": False}, self.logic)
        return Planted(program, self.world)

    # --- the world ----------------------------------------------------------------------------------------------------

    def _truth(self) -> float:
        return self.rng.choice(SMALL_TRUTHS) if self.rng.random() < 0.6 else self.rng.randrange(101) / 100

    def _number(self) -> float:
        rng, chance = self.rng, self.rng.random()
        known = [value for (name, _), value in self.world.items() if name in NUMBERS]
        if known and chance < 0.25:
            value = rng.choice(known)
            return rng.choice([value, value, -value, value + 1, value * (1 + 1e-10), value * (1 - 3e-9), value / 3])
        if chance < 0.6 or self.mild:
            return rng.choice([float(rng.randint(-4, 12)), rng.randint(-30, 90) / 10, rng.uniform(-9, 9), 0.0, 0.9999])
        value = rng.choice(HUGE) if rng.random() < 0.5 else rng.choice(TINY)
        return value * rng.choice([1.0, 1.0, -1.0, 0.75, 1 / 3])

    def _facts(self, place: tuple[str, tuple[str, ...]], value: float) -> Iterator[Fact]:
        rng, (name, row) = self.rng, place
        if name == "Known":
            yield Fact(name, row, 1.0, 1.0)
        elif rng.random() < 0.7:
            if rng.random() < 0.4:
                yield Fact(name, row, value, value)
            elif name in TRUTHS:
                low = rng.choice([value, 0.0, max(0.0, value - 0.1), value * (1 - 1e-9)])
                high = rng.choice([value, 1.0, min(1.0, value + 0.1), min(1.0, value * (1 + 1e-9))])
                if (low, high) != (0.0, 1.0):
                    yield Fact(name, row, low, high)
            else:
                low = rng.choice([value, value - 1, value - abs(value) / 2, value - abs(value) * 1e-9, -math.inf])
                high = rng.choice([value, value + 1, value + abs(value) / 2, value + abs(value) * 1e-9, math.inf])
                if not math.isinf(low) or not math.isinf(high):
                    yield Fact(name, row, max(low, -1.7e308) if low > -math.inf else low, high)

    # --- terms and comparisons ----------------------------------------------------------------------------------------

    def _term(self, depth: int) -> Formula:
        rng = self.rng
        if depth == 0 or rng.random() < 0.35:
            return ("number", rng.choice(NUMBERS), X) if rng.random() < 0.8 else self._constant()
        kind = rng.choice(OPERATIONS)
        if self.functions and rng.random() < 0.5:
            kind = rng.choice(self.functions)
        if kind == "power":
            return kind, self._operand(depth - 1), ("constant", rng.choice([2.0, 3.0, -1.0, -2.0, 0.5, 1.5, 0.0, 5.0]))
        if kind in ("negate", "abs", "sqrt", "exp", "log", "sin", "cos", "floor", "ceil", "round"):
            return kind, self._operand(depth - 1)
        parts = self._operand(depth - 1), self._term(depth - 1)
        weight, other = rng.choice([1.0, -1.0, 0.5, 1e-9]), rng.choice([1.0, 0.0, -0.5, 0.9999])
        if kind == "nau":
            return kind, (weight, other), parts
        if kind == "nmu":
            return kind, (rng.choice([1.0, 0.5, 0.9999]), other if other >= 0 else 1.0), parts
        if kind == "realnpu":
            return kind, (rng.choice([1.0, 2.0, 0.5]), rng.choice([1.0, -1.0, 0.0])), parts
        return (kind, *(parts if rng.random() < 0.7 else parts[::-1]))

    def _operand(self, depth: int) -> Formula:
        """A term with a number in it: what is constant is checked before the program is run."""
        for _ in range(20):
            term = self._term(depth)
            if numbers(term):
                return term
        raise _Retry

    def _constant(self) -> Formula:
        rng = self.rng
        value = rng.choice([float(rng.randint(-3, 6)), rng.randint(1, 30) / 10, rng.choice(TINY[:3] + HUGE[:3])])
        return "constant", value

    def _comparison(self) -> Formula:
        rng = self.rng
        if self.pool and rng.random() < 0.2:
            again = rng.choice(self.pool)
            return again if rng.random() < 0.5 else (again[0], rng.choice(OPERATORS), *again[2:5], None)
        left = self._operand(rng.choice([0, 0, 1, 1, 2]))
        right = self._term(1) if rng.random() < 0.5 else ("constant", self._beside(left))
        person = rng.choice(self.people)
        values = [self.value(side, person) for side in (left, right)]
        for value in values:
            if abs(value) > 1e305:
                raise _Retry
        operator, scale, weight = rng.choice(OPERATORS), None, None
        if rng.random() < 0.55:
            gap = abs(Fraction(floor_float(values[0])) - Fraction(floor_float(values[1])))
            scale = float(gap) / rng.choice(SCALES_OUT) if gap and rng.random() < 0.8 else rng.choice([0.5, 1.0, 2.0])
            if not 1e-300 < scale < 1e300:
                raise _Retry
        if rng.random() < 0.12:
            operator = "<?>"
            weight = tuple(rng.choice([2.0, -1.0, 0.0, 20.0, -20.0, 1.0, 0.3]) for _ in range(3))
            if not any(weight[:2]):
                weight = (1.0, *weight[1:])
        if rng.random() < 0.3:
            left, right = right, left
        if rng.random() < 0.15:
            left, right = rng.choice([(("subtract", left, right), ZERO), (ZERO, ("subtract", right, left))])
        found: Formula = ("compare", operator, left, right, scale, weight)
        self.pool.append(found)
        return found

    def _beside(self, term: Formula) -> float:
        rng = self.rng
        value = self.value(term, rng.choice(self.people))
        if abs(value) > 1e305:
            raise _Retry
        near = rng.choice([floor_float, ceil_float])(value)
        chance = rng.random()
        if chance < 0.4:
            return near
        return rng.choice(
            [near + 1, near - 1, near * 2, near * (1 + 1e-8), near * (1 + 1e-10), 0.0, float(round(near))]
        )

    # --- formulas -----------------------------------------------------------------------------------------------------

    def _literal(self) -> Formula:
        rng = self.rng
        part = self._comparison() if rng.random() < 0.6 else ("atom", rng.choice(TRUTHS), X)
        return ("not", part) if rng.random() < 0.2 else part

    def _weight(self) -> float:
        return self.rng.choice([1.0] * 6 + [0.5, 2.0, 20.0, 0.0, 0.1])

    def _connect(self, kind: str, parts: list[Formula]) -> Formula:
        rng = self.rng
        logic = None if rng.random() < 0.7 else rng.choice(LOGICS)
        if kind in ("implies", "iff", "xor") and not self.jumps:
            logic = "lukasiewicz"
        plain = rng.random() < 0.5
        weighted = tuple((1.0 if plain else self._weight(), part) for part in parts)
        bias = 1.0 if plain or kind in ("iff", "xor") else rng.choice([1.0, 1.0, 0.9, 1.5, 0.5])
        return (kind, weighted, bias, logic) if kind in ("and", "or") else (kind, *weighted, bias, logic)

    def _formula(self) -> Formula:
        rng, shape = self.rng, self.rng.random()
        if shape < 0.3:
            found = self._comparison()
        elif shape < 0.7:
            body = self._literal()
            if rng.random() < 0.4:
                body = self._connect(rng.choice(["and", "or"]), [body, self._literal()])
            found = self._connect("implies", [body, self._literal()])
        else:
            kind = rng.choice(["and", "or", "iff", "xor", "implies"])
            found = self._connect(kind, [self._literal(), self._literal()])
        return ("not", found) if rng.random() < 0.1 else found

    def _statement(self) -> Statement:
        rng = self.rng
        for _ in range(40):
            pool = list(self.pool)
            try:
                formula = self._formula()
                truths = [self.truth(formula, person) for person in self.people]
            except (Undefined, Unclear, _Retry):
                self.pool = pool
                continue
            if not free_variables(formula):
                continue
            low, high = floor_float(min(truths)), ceil_float(max(truths))
            if rng.random() < 0.2:
                low = max(0.0, low - rng.choice([1e-9, 1e-6, 0.1]))
            ends = rng.choice([(low, 1.0), (0.0, high), (low, high), (low, high)])
            if ends != (0.0, 1.0):
                return Statement(rng.choice(["rule", "axiom"]), formula, *ends)
        raise _Retry

    def value(self, term: Formula, person: str) -> Any:
        return value_in(self.world, term, person)

    def truth(self, formula: Formula, person: str) -> Any:
        return truth_in(self.world, formula, person, self.logic)


def value_in(world: World, term: Formula, person: str) -> Any:
    """The exact value of a term about X."""
    return exact_value(ground_term(term, {"X": person}), lambda n: world[n[1], n[2]])


def truth_in(world: World, formula: Formula, person: str, logic: str) -> Any:
    """The exact truth of a formula about X."""

    def number(n: Formula) -> float:
        return world[n[1], (person,)]

    return exact_truth(formula, number, lambda a: world[a[1], (person,)], logic)


def _parts(formula: Formula) -> Iterator[Formula]:
    """What to ask of a statement: itself, its comparisons and connectives, and their terms."""
    for part in subformulas(formula):
        if part[0] == "not" or part[0] == "atom":
            continue
        yield part
        if part[0] == "compare":
            for side in part[2:4]:
                yield from (term for term in _terms(side) if numbers(term) and term[0] != "number")


def _terms(term: Formula) -> Iterator[Formula]:
    yield term
    for part in subterms(term):
        yield from _terms(part)


# --- what the engine says of it ---------------------------------------------------------------------------------------


def exclusions(case: Planted, within: float = 1e-9) -> list[str]:
    """Contradictions, and answers that exclude the world by more than ``within``, relative of numbers."""
    program = case.program
    kb = lnnkit.loads(to_text(program))
    outcome = kb.infer()
    found = [f"contradiction: {each}" for each in outcome.contradictions]
    for query, answers in zip(program.queries, kb.answers(), strict=True):
        for answer in answers:
            person = answer.bindings["X"]
            numeric = query[0] in (*TERMS, *UNITS)
            try:
                if numeric:
                    value = value_in(case.world, query, person)
                else:
                    value = truth_in(case.world, query, person, program.logic)
            except (Undefined, Unclear):
                continue
            if excluded(value, answer.lower, answer.upper, within, numeric):
                shown = float(value) if abs(value) < 1e308 else math.inf
                found.append(f"{answers.query} of {person}: {(answer.lower, answer.upper)}, but it is {shown!r}")
    return found


def excluded(value: Any, lower: float, upper: float, within: float, numeric: bool) -> bool:
    """Whether an answer leaves a value out by more than ``within``: of its size for numbers, as such for truths."""
    for end, sign in ((lower, 1), (upper, -1)):
        if math.isinf(end):
            continue
        beyond = sign * (mpf(Fraction(end)) - mpf(value))
        if beyond > within * (max(abs(mpf(Fraction(end))), abs(mpf(value))) if numeric else 1):
            return True
    return False
