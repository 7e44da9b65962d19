"""Random programs with truth degrees that hold in a world drawn first, and exact truths there, in rational numbers.

All that is written has few decimals and is read as these; weights of product logic are whole, so that its truths are
rational too. Knows nothing of lnnkit.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.oracle import Fact, Formula, Predicate, Program, Statement
from tests.oracle.program import free_variables, operands, weights

Key = tuple[str, tuple[str, ...]]
World = dict[Key, Fraction]
LOGICS = ("lukasiewicz", "product", "godel")
ENTITIES = ("anna", "bob")
ONE, ZERO = Fraction(1), Fraction(0)


def connective(kind: str, logic: str, w: Sequence[Fraction], b: Fraction, x: Sequence[Fraction]) -> Fraction:
    """A weighted connective at a point (P2; semantics 1 to 4)."""
    match kind:
        case "or":
            return 1 - connective("and", logic, w, b, [1 - each for each in x])
        case "and" if logic == "lukasiewicz":
            return cut(b - sum(v * (1 - each) for v, each in zip(w, x, strict=True)))
        case "and" if logic == "product":
            return Fraction(math.prod(each ** int(v) for v, each in zip(w, x, strict=True)))
        case "and":
            return cut(min([b, *(b - v * (1 - each) for v, each in zip(w, x, strict=True))]))
        case "implies" if logic == "lukasiewicz":
            return cut(1 - b + w[0] * (1 - x[0]) + w[1] * x[1])
        case "implies" if logic == "product":
            top, bottom = x[1] ** int(w[1]), x[0] ** int(w[0])
            return ONE if top >= bottom else top / bottom
        case "implies":
            low, high = cut(b - w[0] * (1 - x[0])), cut(1 - w[1] * (1 - x[1]))
            return ONE if low <= high else cut(high + 1 - b)
        case "iff":
            return min(connective("implies", logic, w[::s], b, x[::s]) for s in (1, -1))
        case "xor":
            return 1 - connective("iff", logic, w, b, x)
    raise ValueError(kind)


def cut(value: Fraction) -> Fraction:
    return max(ZERO, min(ONE, value))


def truth(formula: Formula, logic: str, world: Mapping[Key, Fraction], env: Mapping[str, str], case: Case) -> Fraction:
    """The exact truth of a formula in a world."""
    match formula[0]:
        case "atom":
            return world[formula[1], tuple(env[t] if k == "var" else t for k, t in formula[2])]
        case "not":
            return 1 - truth(formula[1], logic, world, env, case)
        case "forall" | "exists":
            rows = itertools.product(case.entities, repeat=len(formula[1]))
            found = [
                truth(formula[2], logic, world, {**env, **dict(zip(formula[1], row, strict=True))}, case)
                for row in rows
            ]
            return min(found) if formula[0] == "forall" else max(found)
    x = [truth(part, logic, world, env, case) for part in operands(formula)]
    return connective(formula[0], formula[-1] or logic, [decimal(v) for v in weights(formula)], decimal(formula[-2]), x)


def decimal(value: float) -> Fraction:
    """A number as it is written."""
    return Fraction(repr(float(value)))


@dataclass
class Case:
    """A program, its entities, the world that it holds in; ``recursive`` if completed atoms depend on themselves."""

    program: Program
    entities: tuple[str, ...]
    world: World
    recursive: bool = False

    def truth(self, formula: Formula) -> Fraction:
        return truth(formula, self.program.logic, self.world, {}, self)

    def instances(self, formula: Formula) -> Iterator[Fraction]:
        """The truths of a statement's instances."""
        free = free_variables(formula)
        for row in itertools.product(self.entities, repeat=len(free)):
            yield truth(formula, self.program.logic, self.world, dict(zip(free, row, strict=True)), self)


def draw(seed: int, logic: str | None = None) -> Case:
    """A function of its arguments."""
    return _Drawer(random.Random(f"graded world {seed}"), logic).case()


class _Drawer:
    def __init__(self, rng: random.Random, logic: str | None) -> None:
        self.rng = rng
        self.logic = logic or rng.choice(LOGICS)
        self.plain = rng.random() < 0.4

    def case(self) -> Case:
        rng = self.rng
        self.entities = ENTITIES[: rng.choice([1, 2, 2])]
        opens = [Predicate(f"U{i}", 1, ("entity",)) for i in range(rng.choice([1, 2]))]
        opens += [Predicate(f"P{i}", 0, ()) for i in range(rng.choice([1, 2, 4]))]
        closed = [Predicate("Edge", 2, ("entity", "entity"), closed=True)] if rng.random() < 0.4 else []
        derived = [Predicate(f"D{i}", 1, ("entity",), closed=True) for i in range(rng.choice([0, 0, 1, 2]))]
        facts = [Fact("Known", (who,), 1.0, 1.0) for who in self.entities]
        world: World = {("Known", (who,)): ONE for who in self.entities}
        for predicate in [*opens, *closed]:
            for row in itertools.product(self.entities, repeat=predicate.arity):
                listed = not predicate.closed or rng.random() < 0.5
                world[predicate.name, row] = Fraction(self.value()) if listed else ZERO
                if listed and (predicate.closed or rng.random() < 0.6):
                    facts.append(Fact(predicate.name, row, *self.around(world[predicate.name, row])))
        self.bodies = [*opens, *closed]
        case = Case(Program([], facts, [], [], {}, self.logic), self.entities, world)
        statements = self.definitions(case, derived)
        self.bodies += derived
        for _ in range(rng.choice([1, 2, 3, 4])):
            formula = self.formula(["X"] if rng.random() < 0.5 else [], 2)
            if formula[0] in ("atom", "not"):
                formula = self.connect("or", [formula, self.literal([])])
            if formula[0] == "implies" and any(part[1] in ("D0", "D1", "Edge") for part in _heads(formula)):
                continue  # it would define these
            found = list(case.instances(formula))
            statements.append(Statement(rng.choice(["rule", "axiom"]), formula, *self.about(min(found), max(found))))
        questions = [self.formula([], 2), self.formula([], 1), self.literal([]), self.literal([])]
        predicates = [*self.bodies, Predicate("Known", 1, ("entity",))]
        case.program = Program(predicates, facts, statements, questions, {}, self.logic)
        return case

    def definitions(self, case: Case, derived: Sequence[Predicate]) -> list[Statement]:
        """Rules of closed predicates, and these in the world: the least fixpoint."""
        rng = self.rng
        found: list[Statement] = []
        for place, head in enumerate(derived):
            below = [*self.bodies, *derived[: place + (rng.random() < 0.3)]]
            rules = []
            for _ in range(rng.choice([1, 2])):
                scope = ["X", "Z"] if rng.random() < 0.4 else ["X"]
                body = [self.atom(rng.choice(below), scope) for _ in range(rng.choice([1, 2]))]
                body = [("not", part) if rng.random() < 0.2 and part[1] != head.name else part for part in body]
                case.recursive |= any(part[1] == head.name for part in body)
                antecedent = body[0] if len(body) == 1 else ("and", tuple((1.0, part) for part in body), 1.0, None)
                lower = rng.choice([1.0, 1.0, 0.8, 0.5])
                consequent: Formula = ("atom", head.name, (("var", "X"),))
                rules.append(
                    Statement("rule", ("implies", (1.0, antecedent), (1.0, consequent), 1.0, None), lower, 1.0)
                )
            for who in self.entities:
                case.world[head.name, (who,)] = ZERO
            while self.raised(case, rules, head):
                pass
            found += rules
        return found

    def raised(self, case: Case, rules: Sequence[Statement], head: Predicate) -> bool:
        moved = False
        for rule in rules:
            free = free_variables(rule.formula)
            for row in itertools.product(self.entities, repeat=len(free)):
                env = dict(zip(free, row, strict=True))
                x, lower = truth(operands(rule.formula)[0], self.logic, case.world, env, case), decimal(rule.lower)
                need = {
                    "lukasiewicz": max(ZERO, lower + x - 1),
                    "product": lower * x,
                    "godel": min(lower, x),
                }[self.logic]
                key = head.name, (env["X"],)
                if need > case.world[key]:
                    case.world[key], moved = need, True
        return moved

    # --- truths -----------------------------------------------------------------------------------------------------

    def value(self) -> str:
        return self.rng.choice(["0", "1", "0.5", "0.3", "0.7", "0.9", "0.1", f"{self.rng.random():.2f}"])

    def around(self, value: Fraction) -> tuple[float, float]:
        chance = self.rng.random()
        if chance < 0.3:
            return float(value), float(value)
        if chance < 0.5:
            return float(value), 1.0
        if chance < 0.6:
            return 0.0, float(value)
        low, high = (decimal(round(self.rng.random() * 0.4, 2)) for _ in range(2))
        return float(cut(value - low)), float(cut(value + high))

    def about(self, low: Fraction, high: Fraction) -> tuple[float, float]:
        """An interval that holds both, of four decimals."""
        lower, upper = Fraction(math.floor(low * 10**4), 10**4), Fraction(math.ceil(high * 10**4), 10**4)
        chance = self.rng.random()
        if chance < 0.5:
            return float(lower), 1.0
        if chance < 0.6:
            return 0.0, float(upper)
        return float(lower), float(upper)

    # --- formulas ---------------------------------------------------------------------------------------------------

    def weight(self) -> float:
        if self.plain or self.rng.random() < 0.6:
            return 1.0
        return self.rng.choice([0.0, 2.0, 3.0] if self.logic == "product" else [0.0, 0.5, 0.7, 2.0, 1.5])

    def connect(self, kind: str, parts: Sequence[Formula]) -> Formula:
        bias = 1.0
        biased = self.logic == "lukasiewicz" or (self.logic == "godel" and kind not in ("iff", "xor"))
        if not self.plain and biased and self.rng.random() < 0.3:
            bias = self.rng.choice([0.5, 0.8, 1.2, 1.5])
        weighted = tuple((self.weight(), part) for part in parts)
        return (kind, weighted, bias, None) if kind in ("and", "or") else (kind, *weighted, bias, None)

    def atom(self, predicate: Predicate, scope: list[str]) -> Formula:
        arguments = [
            ("var", self.rng.choice(scope)) if scope else ("const", self.rng.choice(self.entities))
            for _ in range(predicate.arity)
        ]
        return "atom", predicate.name, tuple(arguments)

    def literal(self, scope: list[str]) -> Formula:
        atom = self.atom(self.rng.choice(self.bodies), scope)
        return ("not", atom) if self.rng.random() < 0.35 else atom

    def formula(self, scope: list[str], depth: int) -> Formula:
        rng = self.rng
        if depth <= 0:
            return self.literal(scope)
        kind = rng.choice(["and", "or", "or", "implies", "implies", "iff", "xor", "not", "exists", "forall"])
        if kind == "not":
            return "not", self.formula(scope, depth - 1)
        if kind in ("exists", "forall"):
            name = f"Z{depth}"
            body = self.formula([name], depth - 1)
            return (kind, (name,), body) if name in free_variables(body) else body
        count = rng.choice([2, 3]) if kind in ("and", "or") else 2
        return self.connect(kind, [self.formula(scope, depth - 1) for _ in range(count)])


def _heads(rule: Formula) -> list[Formula]:
    stack, found = [operands(rule)[1]], []
    while stack:
        each = stack.pop()
        if each[0] == "atom":
            found.append(each)
        elif each[0] == "and":
            stack.extend(operands(each))
    return found
