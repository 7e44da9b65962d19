"""Random programs about numbers whose terms may have no value: quotients, roots, powers. Their verdicts by a solver
that is asked separately, and their worlds point by point. Knows nothing of lnnkit.

A comparison of which a term has no value is false. Terms and formulas are nested tuples.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

ENTITIES = ("anna", "bob")
NUMBERS = ("a", "b", "c")  # and x(anna), x(bob)
Number = float | Fraction
RELATIONS = (">", ">=", "<", "<=", "=", "!=")
Tree = tuple[Any, ...]
FUNCTIONS = ("floor", "ceil", "round", "min", "max")
_NEAR = 1e-6


@dataclass
class Case:
    facts: list[tuple[str, float, float]]  # a number and its ends
    statements: list[Tree]
    questions: list[Tree]

    def text(self) -> str:
        lines = [f"number {name}" for name in NUMBERS]
        lines += ["sort person", "number x(person)", "predicate U(person)", "predicate K(person) closed"]
        lines += ["predicate P", "predicate Q", "fact K(anna)", "fact U(bob) in [0, 1]"]
        lines += [f"fact {name} in [{low}, {high}]" for name, low, high in self.facts]
        # Numbers beside a fraction are no integers
        lines += ["axiom true | a + b + c + x(X) > 0.5"]
        lines += [f"axiom {written(each)}" for each in self.statements]
        return "\n".join(lines) + "\n"


def draw(seed: int, *, functions: bool = False) -> Case:
    """A random case; with ``functions``, a third of its operations are of `FUNCTIONS`."""
    kinds = ["+", "-", "*", "/", "/", "/", "^", "abs", "sqrt"]
    return _Drawer(random.Random(f"partial terms {seed}"), kinds + [*FUNCTIONS] * functions).case()


class _Drawer:
    def __init__(self, rng: random.Random, kinds: list[str]) -> None:
        self.rng, self.kinds = rng, kinds

    def case(self) -> Case:
        rng = self.rng
        names = [*NUMBERS, "x(anna)", "x(bob)"]
        facts = []
        for name in rng.sample(names, rng.choice([0, 1, 1, 2])):
            low = rng.choice([-2.0, -1.0, 0.0, 0.5, 2.0])
            facts.append((name, low, low + rng.choice([0.0, 0.0, 1.0, 2.0])))
        statements = [self.formula([], 2) for _ in range(rng.choice([1, 2, 2, 3]))]
        return Case(facts, statements, [self.formula([], rng.choice([0, 1, 1])) for _ in range(3)])

    def formula(self, scope: list[str], depth: int) -> Tree:
        rng = self.rng
        kind = rng.choice(["leaf", "and", "or", "implies", "not", "forall", "exists"]) if depth else "leaf"
        if kind in ("forall", "exists") and not scope:
            guard = "atom", rng.choice(["U", "K"]), "X"  # of K alone here: in a consequent it would be derived
            return kind, ("implies" if kind == "forall" else "and", guard, self.formula(["X"], depth - 1))
        if kind == "not":
            return "not", self.formula(scope, depth - 1)
        if kind in ("and", "or", "implies"):
            return kind, self.formula(scope, depth - 1), self.formula(scope, depth - 1)
        if rng.random() < 0.25:
            return self.atom(scope)
        return "compare", rng.choice(RELATIONS), self.term(scope, 2), self.term(scope, rng.choice([0, 0, 1]))

    def atom(self, scope: list[str]) -> Tree:
        name = "U" if scope else self.rng.choice(["P", "Q", "U"])
        if name in "PQ":
            return "atom", name, None
        return "atom", name, "X" if scope else self.rng.choice(ENTITIES)

    def term(self, scope: list[str], depth: int) -> Tree:
        rng = self.rng
        if not depth or rng.random() < 0.2:
            if rng.random() < 0.35:
                return "constant", Fraction(rng.choice(["-2", "-1", "0", "1", "2", "3", "0.5"]))
            if scope and rng.random() < 0.6:
                return "number", "x(X)"
            return "number", rng.choice([*NUMBERS, "x(anna)", "x(bob)"])
        kind = rng.choice(self.kinds)
        if kind in ("abs", "sqrt", "floor", "ceil", "round"):
            return kind, self.term(scope, depth - 1)
        if kind == "^":
            return kind, self.term(scope, depth - 1), Fraction(rng.choice(["2", "-1", "-2", "0", "0.5", "-0.5", "3"]))
        return kind, self.term(scope, depth - 1), self.term(scope, depth - 1)


# --- text -------------------------------------------------------------------------------------------------------------


def written(tree: Tree) -> str:
    match tree:
        case ("constant", value):
            return f"({float(value)})"
        case ("number", name):
            return name
        case ("abs" | "sqrt" | "floor" | "ceil" | "round" | "min" | "max" as name, *inner):
            return f"{name}({', '.join(map(written, inner))})"
        case ("^", base, exponent):
            return f"(({written(base)}) ^ ({float(exponent)}))"
        case ("+" | "-" | "*" | "/" as sign, one, other):
            return f"({written(one)} {sign} {written(other)})"
        case ("compare", relation, one, other):
            return f"({written(one)} {relation} {written(other)})"
        case ("atom", name, argument):
            return name if argument is None else f"{name}({argument})"
        case ("not", inner):
            return f"~({written(inner)})"
        case ("forall" | "exists" as kind, inner):
            return f"({kind} X: {written(inner)})"
        case (kind, one, other):
            return f"({written(one)} {({'and': '&', 'or': '|', 'implies': '->'})[kind]} {written(other)})"
    raise ValueError(tree)


def about(tree: Any, entity: str) -> Any:
    """The tree with an entity for its variable."""
    if isinstance(tree, tuple):
        return tuple(about(each, entity) for each in tree)
    return entity if tree == "X" else f"x({entity})" if tree == "x(X)" else tree


# --- by a solver ------------------------------------------------------------------------------------------------------


class Solved:
    """The worlds of a case as constraints of Z3."""

    def __init__(self, z3: Any, case: Case, milliseconds: int, *, defined: bool = False) -> None:
        self.z3 = z3
        self.case = case
        self.solver = z3.Solver()
        self.solver.set("timeout", milliseconds)
        self.count = 0
        self.needs: list[Any] = []
        for name, low, high in case.facts:
            self.solver.add(z3.Real(name) >= str(low), z3.Real(name) <= str(high))
        for each in case.statements:
            self.solver.add(self.formula(each))
        if defined:  # what inference may conclude from a comparison that is certain where it has a value
            self.solver.add(self.needs)

    def verdict(self, question: Tree) -> str | None:
        """None if the solver can not tell."""
        goal = self.formula(question)
        found = []
        for each in (goal, self.z3.Not(goal)):
            self.solver.push()
            self.solver.add(each)
            found.append(str(self.solver.check()))
            self.solver.pop()
        names = {"sat sat": "neither", "sat unsat": "entailed", "unsat sat": "refuted", "unsat unsat": "inconsistent"}
        return names.get(" ".join(found))

    def formula(self, tree: Tree) -> Any:
        z3 = self.z3
        match tree:
            case ("compare", relation, one, other):
                there: list[Any] = []
                x, y = self.term(one, there), self.term(other, there)
                self.needs += there
                held = {">": x > y, ">=": x >= y, "<": x < y, "<=": x <= y, "=": x == y, "!=": x != y}[relation]
                return z3.And(*there, held)
            case ("atom", "K", argument):
                return z3.BoolVal(argument == "anna")
            case ("atom", name, argument):
                return z3.Bool(f"{name}({argument})")
            case ("not", inner):
                return z3.Not(self.formula(inner))
            case ("forall", inner):
                return z3.And([self.formula(about(inner, each)) for each in ENTITIES])
            case ("exists", inner):
                return z3.Or([self.formula(about(inner, each)) for each in ENTITIES])
        x, y = self.formula(tree[1]), self.formula(tree[2])
        return {"and": z3.And, "or": z3.Or, "implies": z3.Implies}[tree[0]](x, y)

    def term(self, tree: Tree, there: list[Any]) -> Any:
        """A term; what it needs to have a value is added to ``there``. A quotient and a root are variables."""
        z3 = self.z3
        match tree:
            case ("constant", value):
                return z3.RealVal(str(value))
            case ("number", name):
                return z3.Real(name)
            case ("abs", inner):
                x = self.term(inner, there)
                return z3.If(x < 0, -x, x)
            case ("floor" | "ceil" | "round" as name, inner):
                return self.whole(name, self.term(inner, there))
            case ("sqrt", inner):
                return self.root(self.term(inner, there), there)
            case ("^", base, exponent):
                x = self.term(base, there)
                x = self.root(x, there) if exponent.denominator == 2 else x
                size = abs(exponent.numerator)
                power = z3.RealVal(1)
                for _ in range(size):
                    power = power * x
                return power if exponent >= 0 else self.quotient(z3.RealVal(1), power, there)
        x, y = self.term(tree[1], there), self.term(tree[2], there)
        if tree[0] == "/":
            return self.quotient(x, y, there)
        if tree[0] in ("min", "max"):
            made, sign = self.fresh(), 1 if tree[0] == "min" else -1
            self.solver.add(sign * made <= sign * x, sign * made <= sign * y, z3.Or(made == x, made == y))
            return made
        return x + y if tree[0] == "+" else x - y if tree[0] == "-" else x * y

    def whole(self, name: str, value: Any) -> Any:
        """A whole number, by the inequalities that determine it."""
        z3, made = self.z3, self.fresh()
        self.solver.add(z3.IsInt(made))
        if name == "round":
            near = z3.And(2 * made - 1 <= 2 * value, 2 * value < 2 * made + 1)
            below = z3.And(2 * made - 1 < 2 * value, 2 * value <= 2 * made + 1)
            self.solver.add(z3.If(value >= 0, near, below))
        else:
            sign = 1 if name == "floor" else -1
            self.solver.add(sign * made <= sign * value, sign * value < sign * made + 1)
        return made

    def quotient(self, one: Any, other: Any, there: list[Any]) -> Any:
        made = self.fresh()
        self.solver.add(self.z3.Or(other == 0, made * other == one))
        there.append(other != 0)
        return made

    def root(self, value: Any, there: list[Any]) -> Any:
        made = self.fresh()
        self.solver.add(self.z3.Or(value < 0, self.z3.And(made >= 0, made * made == value)))
        there.append(value >= 0)
        return made

    def fresh(self) -> Any:
        self.count += 1
        return self.z3.Real(f"!{self.count}")


# --- point by point ---------------------------------------------------------------------------------------------------


class Undefined(Exception):
    pass


def value(tree: Tree, numbers: Mapping[str, Number]) -> Number:
    """A term at a point, in fractions where they suffice. Raises `Undefined`; ``KeyError`` for an unknown number."""
    match tree:
        case ("constant", constant):
            return constant
        case ("number", name):
            return numbers[name]
        case ("abs", inner):
            return abs(value(inner, numbers))
        case ("floor" | "ceil" as name, inner):
            return Fraction(getattr(math, name)(value(inner, numbers)))
        case ("round", inner):
            given = Fraction(value(inner, numbers))
            return (1 if given > 0 else -1) * Fraction(math.floor(abs(given) + Fraction(1, 2)))
        case ("min" | "max" as name, *inner):
            return (min if name == "min" else max)(value(each, numbers) for each in inner)
        case ("sqrt", inner):
            return _power(value(inner, numbers), Fraction(1, 2))
        case ("^", base, exponent):
            return _power(value(base, numbers), exponent)
    x, y = value(tree[1], numbers), value(tree[2], numbers)
    if tree[0] == "/":
        if y == 0:
            raise Undefined
        return x / y
    return x + y if tree[0] == "+" else x - y if tree[0] == "-" else x * y


def _power(base: Number, exponent: Fraction) -> Number:
    if (base < 0 and exponent.denominator > 1) or (base == 0 and exponent < 0):
        raise Undefined
    return base ** int(exponent) if exponent.denominator == 1 else float(base) ** float(exponent)


def _size(tree: Tree, numbers: Mapping[str, Number]) -> Number:
    """The largest magnitude that the term passes through: what its rounding is relative to."""
    inner = [part for part in tree[1:] if isinstance(part, tuple)]
    return max([abs(value(tree, numbers)), *(_size(part, numbers) for part in inner)])


def truth(tree: Tree, atoms: Mapping[str, float], numbers: Mapping[str, Number], near: float = _NEAR) -> bool | None:
    """A formula at a point; None if it reads what is not there or is true in part, or if both sides of a comparison are
    too ``near`` each other to tell."""
    match tree:
        case ("compare", relation, one, other):
            try:
                x, y = value(one, numbers), value(other, numbers)
            except Undefined:
                return False
            except KeyError:
                return None
            if near and abs(x - y) <= near * max(1, _size(one, numbers), _size(other, numbers)):
                return None
            held = {">": x > y, ">=": x >= y, "<": x < y, "<=": x <= y, "=": x == y, "!=": x != y}[relation]
            return held
        case ("atom", "K", argument):
            return argument == "anna"
        case ("atom", name, argument):
            found = atoms.get(name if argument is None else f"{name}({argument})")
            return None if found is None or 0 < found < 1 else found == 1
        case ("not", inner):
            found = truth(inner, atoms, numbers, near)
            return None if found is None else not found
        case ("forall" | "exists" as kind, inner):
            parts = [truth(about(inner, each), atoms, numbers, near) for each in ENTITIES]
            return _joined(parts, kind == "exists")
    x, y = (truth(each, atoms, numbers, near) for each in tree[1:])
    if tree[0] == "implies":
        x = None if x is None else not x
    return _joined([x, y], tree[0] != "and")


def _joined(parts: list[bool | None], decides: bool) -> bool | None:
    if decides in parts:
        return decides
    return None if None in parts else not decides


def fits(case: Case, numbers: Mapping[str, Number]) -> bool:
    """Whether numbers are within the facts."""
    return all(low - _NEAR <= numbers[name] <= high + _NEAR for name, low, high in case.facts if name in numbers)


def points(case: Case, rng: random.Random, count: int) -> list[tuple[dict[str, float], dict[str, Fraction]]]:
    """Random points with few digits that are worlds, exactly."""
    found = []
    names = [*NUMBERS, "x(anna)", "x(bob)"]
    ends = {name: (Fraction(low), Fraction(high)) for name, low, high in case.facts}
    for _ in range(count):
        numbers = {}
        for name in names:
            low, high = ends.get(name, (Fraction(-3), Fraction(3)))
            numbers[name] = low + (high - low) * Fraction(rng.choice(range(7)), 6)
        atoms = {name: float(rng.random() < 0.5) for name in ("P", "Q", "U(anna)", "U(bob)")}
        try:
            if all(truth(each, atoms, numbers, 0) for each in case.statements):
                found.append((atoms, numbers))
        except OverflowError:
            pass
    return found
