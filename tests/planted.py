"""Planted worlds: programs that hold in a world of extreme values drawn first, and the exact truth of formulas there.

A world gives each atom a truth value; facts are intervals around it, and each statement has an interval that holds the
exact truth of all its instances. So the program is satisfiable: no answer may exclude the world, and nothing may be
reported as a contradiction. Knows nothing of lnnkit.

Truths are exact: a pair of the value and its complement, each with a hundred digits, since in product logic either may
be too small for the other to show it. Sums and differences of a few floats with their products have fewer digits.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from mpmath import MPContext

import lnnkit
from tests.oracle import Fact, Formula, Predicate, Program, Statement
from tests.oracle.program import free_variables, operands, weights
from tests.programs import to_text

LOGICS = ("lukasiewicz", "product", "godel")
ENTITIES = ("anna", "bob", "cleo")
EXTREMES = (0.0, 1.0, 0.9999, 1e-9, 1 - 1e-9, 0.5, 0.95, 0.0001, 2e-9, 1 - 3e-9)
MIDDLING = (0.25, 0.75, 0.5, 0.3, 0.7, 0.1, 0.9, 0.2, 0.6)
WEIGHTS = (0.0, 0.05, 0.3, 0.5, 2.0, 7.5, 20.0)
BIASES = (0.0, 0.5, 0.8, 1.2, 1.5, 3.0)
BELOW_ONE = math.nextafter(1.0, 0.0)

_EXACT = MPContext()
_EXACT.dps = 100
Number = Any  # of mpmath, which has no types
World = Mapping[tuple[str, tuple[str, ...]], float]


class Exact(NamedTuple):
    """A truth, and one less it."""

    value: Number
    complement: Number

    def __invert__(self) -> Exact:
        return Exact(self.complement, self.value)

    def __le__(self, other: tuple[Number, ...]) -> bool:
        value, complement = other
        return bool(self.value <= value if self.value < 0.5 else self.complement >= complement)


TRUE, FALSE = Exact(_EXACT.mpf(1), _EXACT.mpf(0)), Exact(_EXACT.mpf(0), _EXACT.mpf(1))


def exact(value: float) -> Exact:
    """A float, as it is."""
    own = _EXACT.mpf(value)
    return Exact(own, 1 - own)


def _clamped(value: Number, complement: Number) -> Exact:
    return FALSE if value <= 0 else TRUE if complement <= 0 else Exact(value, complement)


def _cost(weight: float, truth: Exact) -> Number:
    """``-w ln x``."""
    if weight == 0:
        return _EXACT.mpf(0)
    if truth.value == 0:
        return _EXACT.inf
    logarithm = _EXACT.log(truth.value) if truth.value < 0.5 else _EXACT.log1p(-truth.complement)
    return -_EXACT.mpf(weight) * logarithm


def _power(cost: Number) -> Exact:
    """``e^-cost``, at most 1."""
    return TRUE if cost <= 0 else FALSE if cost == _EXACT.inf else Exact(_EXACT.exp(-cost), -_EXACT.expm1(-cost))


def connective(kind: str, logic: str, w: Sequence[float], bias: float, x: Sequence[Exact]) -> Exact:
    """A connective at a point (P2; semantics 1 to 4)."""
    b = _EXACT.mpf(bias)
    match kind:
        case "or":
            return ~connective("and", logic, w, bias, [~truth for truth in x])
        case "and" if logic == "lukasiewicz":
            lost = sum((_EXACT.mpf(v) * t.complement for v, t in zip(w, x, strict=True)), _EXACT.mpf(0))
            return _clamped(b - lost, 1 - b + lost)
        case "and" if logic == "product":
            return _power(sum((_cost(v, t) for v, t in zip(w, x, strict=True)), _EXACT.mpf(0)) - (b - 1))
        case "and":
            return _least([_level(v, t, b) for v, t in zip(w, x, strict=True)] + [_clamped(b, 1 - b)])
        case "implies" if logic == "lukasiewicz":
            said = _EXACT.mpf(w[0]) * x[0].complement + _EXACT.mpf(w[1]) * x[1].value
            return _clamped(1 - b + said, b - said)
        case "implies" if logic == "product":
            top, bottom = _cost(w[1], x[1]) - (1 - b), _cost(w[0], x[0])
            return TRUE if top <= bottom else _power(top - bottom)
        case "implies":
            antecedent, consequent = _level(w[0], x[0], b), _level(w[1], x[1], _EXACT.mpf(1))
            if antecedent <= consequent:
                return TRUE
            return _clamped(consequent.value + 1 - b, consequent.complement - 1 + b)
        case "iff":
            there, back = (connective("implies", logic, w[::s], bias, x[::s]) for s in (1, -1))
            return there if there <= back else back
        case "xor":
            return ~connective("iff", logic, w, bias, x)
    raise ValueError(kind)


def _level(weight: float, truth: Exact, bias: Number) -> Exact:
    """``clamp(b - w (1 - x))``."""
    lost = _EXACT.mpf(weight) * truth.complement
    if weight == 1 and bias == 1:
        return truth
    return _clamped(bias - lost, 1 - bias + lost)


def _least(truths: Sequence[Exact]) -> Exact:
    found = TRUE
    for truth in truths:
        found = truth if truth <= found else found
    return found


def truth(formula: Formula, logic: str, world: World, entities: Sequence[str], env: Mapping[str, str]) -> Exact:
    """The exact truth of a formula in a world."""
    match formula[0]:
        case "atom":
            row = tuple(env[text] if kind == "var" else text for kind, text in formula[2])
            return exact(world[formula[1], row])
        case "not":
            return ~truth(formula[1], logic, world, entities, env)
        case "forall" | "exists":
            found = [
                truth(formula[2], logic, world, entities, {**env, **dict(zip(formula[1], row, strict=True))})
                for row in itertools.product(entities, repeat=len(formula[1]))
            ]
            return _least(found) if formula[0] == "forall" else ~_least([~each for each in found])
    x = [truth(part, logic, world, entities, env) for part in operands(formula)]
    return connective(formula[0], formula[-1] or logic, weights(formula), formula[-2], x)


def instances(formula: Formula, logic: str, world: World, entities: Sequence[str]) -> Iterator[Exact]:
    """The exact truths of a statement's instances."""
    free = free_variables(formula)
    for row in itertools.product(entities, repeat=len(free)):
        yield truth(formula, logic, world, entities, dict(zip(free, row, strict=True)))


# --- intervals --------------------------------------------------------------------------------------------------------


def below(truth: Exact) -> float:
    """The greatest float that is no greater."""
    near = float(truth.value)
    if near >= 0.5 and near == 1.0:
        return 1.0 if truth.complement == 0 else BELOW_ONE
    return near if _EXACT.mpf(near) <= truth.value else math.nextafter(near, 0.0)


def above(truth: Exact) -> float:
    """The least float that is no less."""
    near = float(truth.value)
    return near if near == 1.0 or _EXACT.mpf(near) >= truth.value else math.nextafter(near, 1.0)


def rounded(truth: Exact) -> float | None:
    """The nearest float; None where only a truth of 0 or 1 may be told as such."""
    near = float(truth.value)
    crisp = (near == 0.0 and truth.value > 0) or (near == 1.0 and truth.complement > 0)
    return None if crisp else near


# --- programs ---------------------------------------------------------------------------------------------------------


@dataclass
class Planted:
    """A program and the world that it holds in, over these entities."""

    program: Program
    world: World
    entities: Sequence[str]


def plant(seed: int) -> Planted:
    """A program that holds in a world; a function of the seed."""
    return _Planter(random.Random(f"planted {seed}")).planted()


class _Planter:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.logic = rng.choice(LOGICS)
        self.mixed = rng.random() < 0.3
        self.plain = rng.random() < 0.3
        self.equivalences = rng.random() < 0.3  # how they can be told anything takes long to find out
        self.entities = ENTITIES[: rng.choice([1, 2, 3])]
        self.propositions = [f"P{i}" for i in range(rng.choice([3, 4, 6, 22]))]
        self.properties = [f"Q{i}" for i in range(rng.choice([0, 0, 2, 3]))]
        palette = [self._value() for _ in range(rng.choice([2, 3, 5]))]  # few, so that truths tie
        palette += [1 - value for value in palette if rng.random() < 0.3]
        palette += [min(1.0, value + 1e-10) for value in palette if rng.random() < 0.1]
        places = [(name, ()) for name in self.propositions]
        places += [(name, (who,)) for name in self.properties for who in self.entities]
        self.world = {place: rng.choice(palette) for place in places}

    def _value(self) -> float:
        chance = self.rng.random()
        if chance < 0.55:
            return self.rng.choice(EXTREMES)
        return self.rng.choice(MIDDLING) if chance < 0.85 else round(self.rng.random(), self.rng.choice([2, 3, 17]))

    def planted(self) -> Planted:
        rng = self.rng
        facts = [Fact(*place, *self._stated(value)) for place, value in self.world.items() if rng.random() < 0.8]
        facts += [Fact("Known", (), 1.0, 1.0)]
        facts += [Fact("Entity", (who,), 1.0, 1.0) for who in self.entities if self.properties]  # the domain
        self.world |= {("Known", ()): 1.0}
        formulas = [self._statement() for _ in range(rng.choice([1, 2, 2, 3, 4]))]
        statements = [Statement(rng.choice(["rule", "axiom"]), f, *self._interval(f)) for f in formulas]
        queries: list[Formula] = [("atom", name, ()) for name in self.propositions]
        queries += [("atom", name, (("var", "X"),)) for name in self.properties]
        queries += [f for f in formulas if len(free_variables(f)) < 2][:1]
        predicates = [Predicate(name, 0, ()) for name in (*self.propositions, "Known")]
        predicates += [Predicate(name, 1, ("entity",)) for name in self.properties]
        program = Program(predicates, facts, statements, queries, {}, self.logic)
        return Planted(program, self.world, self.entities)

    def _stated(self, value: float) -> tuple[float, float]:
        rng = self.rng
        chance = rng.random()
        if chance < 0.35:
            return value, value
        if chance < 0.5:
            return value, 1.0
        if chance < 0.65:
            return 0.0, value
        low, high = (rng.choice([value, *EXTREMES, rng.random()]) for _ in range(2))
        return min(low, value), max(high, value)

    def _interval(self, formula: Formula) -> tuple[float, float]:
        """Holds the exact truths of all instances; often no more, rounded to the nearest floats."""
        rng = self.rng
        found = list(instances(formula, self.logic, self.world, self.entities))
        least, most = _least(found), ~_least([~each for each in found])
        low, high = below(least), above(most)
        chance = rng.random()
        if chance < 0.3:
            near = rounded(least), rounded(most)
            return low if near[0] is None else near[0], high if near[1] is None else near[1]
        if chance < 0.55:
            return low, 1.0
        if chance < 0.7:
            return 0.0, high
        if chance < 0.85:
            return low, high
        return min(low, rng.choice([0.5, 0.9, 0.2])), max(high, rng.choice([0.5, 0.9, 1.0]))

    # --- formulas -----------------------------------------------------------------------------------------------------

    def _statement(self) -> Formula:
        rng = self.rng
        scope = ["X"] if self.properties and rng.random() < 0.5 else []
        chance = rng.random()
        if chance < 0.25:
            return self._connect("implies", [("atom", "Known", ()), self._wide(rng.choice(["and", "or", "or"]), scope)])
        if chance < 0.4:
            return self._wide(rng.choice(["and", "or"]), scope)
        if chance < 0.55:
            return self._connect(self._binary(), [self._literal(scope) for _ in range(2)])
        formula = self._formula(scope, rng.choice([1, 2, 2, 3]))
        return formula if formula[0] != "atom" else self._wide("or", scope)

    def _wide(self, kind: str, scope: list[str]) -> Formula:
        return self._connect(kind, [self._literal(scope) for _ in range(self.rng.choice([2, 3, 5, 6, 13, 20]))])

    def _formula(self, scope: list[str], depth: int) -> Formula:
        rng = self.rng
        kind = rng.choice(["and", "or", "or", self._binary(), self._binary(), "not", "exists", "forall", "literal"])
        if depth <= 0 or kind == "literal":
            return self._literal(scope)
        if kind == "not":
            return "not", self._formula(scope, depth - 1)
        if kind in ("exists", "forall"):
            name = f"Y{depth}"
            body = self._formula([*scope, name], depth - 1) if self.properties else self._literal(scope)
            return (kind, (name,), body) if name in free_variables(body) else body
        count = rng.choice([2, 2, 3, 4]) if kind in ("and", "or") else 2
        return self._connect(kind, [self._formula(scope, depth - 1) for _ in range(count)])

    def _binary(self) -> str:
        return self.rng.choice(["implies", "iff", "xor"] if self.equivalences else ["implies"])

    def _literal(self, scope: list[str]) -> Formula:
        rng = self.rng
        if scope and rng.random() < 0.8:
            atom: Formula = ("atom", rng.choice(self.properties), (("var", rng.choice(scope)),))
        else:
            atom = ("atom", rng.choice(self.propositions), ())
        return ("not", atom) if rng.random() < 0.3 else atom

    def _connect(self, kind: str, parts: list[Formula]) -> Formula:
        rng = self.rng
        logic = rng.choice(LOGICS) if self.mixed and rng.random() < 0.5 else None
        bias = 1.0
        if kind not in ("iff", "xor") or (logic or self.logic) == "lukasiewicz":
            bias = 1.0 if self.plain or rng.random() < 0.7 else rng.choice(BIASES)
        heavy = not self.plain and rng.random() < 0.5
        weighted = tuple((rng.choice(WEIGHTS) if heavy and rng.random() < 0.5 else 1.0, part) for part in parts)
        return (kind, weighted, bias, logic) if kind in ("and", "or") else (kind, *weighted, bias, logic)


# --- what the engine says of it ---------------------------------------------------------------------------------------


def exclusions(case: Planted, within: float = 1e-9) -> list[str]:
    """Contradictions, and answers that exclude the world by more than ``within``."""
    program = case.program
    kb = lnnkit.loads(to_text(program))
    found = [f"contradiction: {each}" for each in kb.infer().contradictions]
    for query, answers in zip(program.queries, kb.answers(), strict=True):
        free = free_variables(query)
        for answer in answers:
            env = {variable: answer.bindings[variable] for variable in free}
            value = float(truth(query, program.logic, case.world, case.entities, env).value)
            if not answer.lower - within <= value <= answer.upper + within:
                found.append(f"{answers.query} {answer.bindings}: {(answer.lower, answer.upper)} excludes {value!r}")
    return found
