"""Random programs with numbers, in the oracle's structure, and their ``.lnn`` text.

``generate(seed, size, mode)`` is a function of its arguments. In the modes "crisp" and "fuzzy" every fact and statement
holds in a hidden world, which each answer must contain; in the mode "free" nothing keeps them from contradicting.
"""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass, field

from tests.oracle import Fact, Formula, Predicate, Program, Statement
from tests.oracle.network import ground_term
from tests.oracle.program import Box, free_variables, map_numbers, numbers, operands, subformulas, weights
from tests.points import Undefined, truth_at, value_at
from tests.programs import LOGICS, value_of

MODES = ("crisp", "fuzzy", "free")
PEOPLE: tuple[str, ...] = ("anna", "bob", "cleo")
VARIABLES: tuple[str, ...] = ("X", "Y")
OPERATORS = (">", ">=", "<", "<=", ">", ">=", "<", "<=", "=", "!=")
OPERATIONS = ("add", "add", "subtract", "subtract", "multiply", "multiply", "divide", "power", "negate", "abs", "sqrt")
OPERATIONS += ("nau", "nmu", "realnpu")
World = dict[tuple[str, tuple[str, ...]], float]

TRUTHS = [
    Predicate("Known", 1, ("person",)),
    Predicate("Peer", 1, ("person",)),
    Predicate("Qualm", 1, ("person",)),
    Predicate("Risk", 1, ("person",)),
    Predicate("Shut", 1, ("person",), closed=True),
    Predicate("Near", 2, ("person", "person")),
    Predicate("Storm", 0, ()),
]
NUMBERS = [
    Predicate("age", 1, ("person",), numeric=True),
    Predicate("debt", 1, ("person",), numeric=True),
    Predicate("pay", 1, ("person",), numeric=True),
    Predicate("gap", 2, ("person", "person"), numeric=True),
    Predicate("limit", 0, (), numeric=True),
]


@dataclass
class Generated:
    """A program, and the world that it was drawn from unless its mode is "free". ``once`` says that in no instance of a
    comparison a number stands twice, so that its hulls are exact."""

    program: Program
    world: World | None
    once: bool


class _Retry(Exception):
    pass


def generate(seed: int, size: int = 4, mode: str = "fuzzy", related: float = 0.0) -> Generated:
    """A valid program with about ``size`` statements; so large a share of its comparisons compares the terms of
    another one by another relation."""
    for attempt in range(100):
        try:
            return _Generator(random.Random(f"{seed} {size} {mode} {attempt}"), size, mode, related).build()
        except _Retry:
            continue
    raise AssertionError(f"no valid program for seed {seed}")


@dataclass
class _Generator:
    rng: random.Random
    size: int
    mode: str
    related: float
    pool: list[Formula] = field(default_factory=list)  # comparisons to repeat

    def build(self) -> Generated:
        rng = self.rng
        self.people = PEOPLE[: rng.choice([1, 2, 2, 3])]
        self.logic = rng.choice(LOGICS) if rng.random() < 0.4 else "lukasiewicz"
        self.twice = rng.random() < 0.2  # whether a number may stand twice in a comparison
        self.truths = [TRUTHS[0], *rng.sample(TRUTHS[1:], rng.choice([2, 3, 4]))]
        self.derived = self.mode == "free" and rng.random() < 0.3
        if self.derived:
            self.truths.append(Predicate("Derived", 1, ("person",), closed=True))
        self.numbers = rng.sample(NUMBERS, rng.choice([1, 2, 3]))
        self.world: World = {}
        for predicate in (*self.truths, *self.numbers):
            for row in itertools.product(self.people, repeat=predicate.arity):
                self.world[predicate.name, row] = self._value(predicate)
        statements = [self._statement() for _ in range(self.size)]
        if self.derived:
            statements.append(("rule", self._implication(self._body(["X"]), ("atom", "Derived", (("var", "X"),)))))
        self._repair(statements)
        facts = self._facts()
        stated = [Statement(kind, formula, *self._truth(formula)) for kind, formula in statements]
        stated = [statement for statement in stated if (statement.lower, statement.upper) != (0.0, 1.0)]
        queries = [self._query(statements) for _ in range(rng.choice([2, 3, 4]))]
        program = Program([*self.truths, *self.numbers], facts, stated, queries, {"person": False}, self.logic)
        return Generated(program, None if self.mode == "free" else self.world, numbers_stand_once(program))

    # --- the world ----------------------------------------------------------------------------------------------------

    def _value(self, predicate: Predicate) -> float:
        rng = self.rng
        if predicate.numeric:
            return rng.choice([float(rng.randint(-4, 12)), float(rng.randint(0, 9)), rng.randint(-30, 90) / 10])
        if predicate.name == "Known":
            return 1.0
        if self.mode == "crisp" or rng.random() < 0.4:
            return float(rng.random() < 0.5)
        return rng.choice([0.25, 0.5, 0.75, rng.randrange(11) / 10])

    def _facts(self) -> list[Fact]:
        facts = []
        kinds = {predicate.name: predicate for predicate in (*self.truths, *self.numbers)}
        share = self.rng.choice([0.4, 0.7, 0.9])
        for (name, row), value in self.world.items():
            numeric, closed = kinds[name].numeric, kinds[name].closed
            if name == "Known" or (closed and value > 0 and name != "Derived") or self.rng.random() < share:
                if name == "Derived" and self.rng.random() < 0.8:
                    continue
                facts.append(Fact(name, row, *(self._reach(value) if numeric else self._around(value))))
        return facts

    def _reach(self, value: float) -> Box:
        """Ends of a number: its value, an interval around it, or one end alone."""
        rng = self.rng
        if self.mode == "free" and rng.random() < 0.1:
            value += rng.choice([-3.0, 1.0])
        low = rng.choice([value, value, value - rng.randint(0, 5), math.floor(value - 0.5), -math.inf])
        high = rng.choice([value, value, value + rng.randint(0, 5), math.ceil(value + 0.5), math.inf])
        return (value, value) if rng.random() < 0.4 else (float(low), float(high))

    def _around(self, value: float) -> Box:
        rng = self.rng
        if rng.random() < 0.8:
            return value, value
        return min(value, rng.choice([0.0, value])), max(value, rng.choice([1.0, value]))

    # --- terms and comparisons ----------------------------------------------------------------------------------------

    def _number(self, scope: list[str], used: set[Formula]) -> Formula:
        """A number atom that does not stand in the comparison yet, unless it may; else a constant."""
        rng = self.rng
        for _ in range(6):
            predicate = rng.choice(self.numbers)
            atom = ("number", predicate.name, tuple(self._argument(scope) for _ in range(predicate.arity)))
            # another atom of the same name may be the same one under some binding
            if self.twice or (atom not in used and all(other[1] != predicate.name for other in used)):
                used.add(atom)
                return atom
        return self._constant()

    def _constant(self) -> Formula:
        return "constant", self.rng.choice([float(self.rng.randint(-3, 6)), self.rng.randint(1, 30) / 10])

    def _term(self, scope: list[str], used: set[Formula], depth: int) -> Formula:
        """An operation on constants alone is a constant: whether it has a value is checked before a program is run."""
        term = self._operation(scope, used, depth)
        return term if numbers(term) else self._constant()

    def _operation(self, scope: list[str], used: set[Formula], depth: int) -> Formula:
        rng = self.rng
        if depth == 0 or rng.random() < 0.4:
            return self._number(scope, used) if rng.random() < 0.8 else self._constant()
        kind = rng.choice(OPERATIONS)
        if kind == "power":
            return "power", self._term(scope, used, depth - 1), ("constant", rng.choice([2.0, 2.0, 3.0, -1.0, 0.5]))
        if kind in ("negate", "abs", "sqrt"):
            return kind, self._term(scope, used, depth - 1)
        parts = tuple(self._term(scope, used, depth - 1) for _ in range(2))
        if kind == "divide" and parts[1] == ("constant", 0.0):
            return parts[0]
        if kind == "nau":
            return kind, (rng.choice([1.0, -1.0, 0.5]), rng.choice([1.0, 0.0, -0.5])), parts
        if kind == "nmu":
            return kind, (rng.choice([1.0, 0.5]), rng.choice([1.0, 0.0])), parts
        if kind == "realnpu":
            return kind, (rng.choice([1.0, 2.0]), rng.choice([1.0, -1.0, 0.0])), parts
        return kind, *parts

    def _comparison(self, scope: list[str]) -> Formula:
        """A comparison, or a chain of two; its constant is near the value that the other side has somewhere."""
        rng = self.rng
        if self.pool and rng.random() < 0.25:
            again = rng.choice(self.pool)
            if {*free_variables(again)} <= {*scope}:
                return again
        if self.related and self.pool and rng.random() < self.related:
            again = rng.choice(self.pool)
            if {*free_variables(again)} <= {*scope}:
                return self._relative(again)
        used: set[Formula] = set()
        left = self._term(scope, used, rng.choice([0, 0, 1, 1, 2]))
        right = self._term(scope, used, 1) if rng.random() < 0.4 else self._beside(left)
        while not numbers(left) and not numbers(right):
            left = self._number(scope, used)
        scale = rng.choice([0.5, 2.0, 5.0]) if self.mode != "crisp" and rng.random() < 0.2 else None
        operator, weight = rng.choice(OPERATORS), None
        if self.mode != "crisp" and rng.random() < 0.06:
            operator, weight = "<?>", (2.0, rng.choice([-1.0, 1.0]), rng.choice([-1.0, 1.0]))
        formula: Formula = ("compare", operator, left, right, scale, weight)
        if rng.random() < 0.15 and weight is None and numbers(left):
            low, high = sorted([rng.randint(-5, 10), rng.randint(-5, 10)])
            first = ("compare", rng.choice(["<", "<="]), ("constant", float(low)), left, scale, None)
            second = ("compare", rng.choice(["<", "<="]), left, ("constant", float(high)), scale, None)
            return "and", ((1.0, first), (1.0, second)), 1.0, None
        self.pool.append(formula)
        return formula

    def _relative(self, comparison: Formula) -> Formula:
        """A crisp comparison of the same terms: turned around, with its variables exchanged, about a person, or of a
        difference with 0."""
        rng = self.rng
        _, _, left, right, _, _ = comparison
        if rng.random() < 0.4:
            left, right = right, left
        if rng.random() < 0.2:
            left, right = ("subtract", left, right), ("constant", 0.0)
        made: Formula = ("compare", rng.choice(OPERATORS), left, right, None, None)
        names = [*free_variables(made)]
        if len(names) == 2 and rng.random() < 0.5:
            swap = {("var", a): ("var", b) for a, b in (names, names[::-1])}
            made = map_numbers(made, lambda n: ("number", n[1], tuple(swap.get(a, a) for a in n[2])))
        if names and rng.random() < 0.15:
            given = {("var", names[0]): ("const", rng.choice(self.people))}
            made = map_numbers(made, lambda n: ("number", n[1], tuple(given.get(a, a) for a in n[2])))
        return made

    def _beside(self, term: Formula) -> Formula:
        env = {variable: self.rng.choice(self.people) for variable in free_variables(term)}
        try:
            value = value_at(ground_term(term, env), lambda n: self.world[n[1], n[2]])
        except Undefined:
            return self._constant()
        if not abs(value) < 1e4:
            return self._constant()
        return "constant", self.rng.choice(
            [round(value) + self.rng.randint(-2, 2), round(value, 1), float(round(value))]
        )

    # --- formulas -----------------------------------------------------------------------------------------------------

    def _atom(self, scope: list[str], among: list[Predicate] | None = None) -> Formula:
        predicate = self.rng.choice(among or [p for p in self.truths if p.name not in ("Known", "Derived")])
        return "atom", predicate.name, tuple(self._argument(scope) for _ in range(predicate.arity))

    def _argument(self, scope: list[str]) -> tuple[str, str]:
        if scope and self.rng.random() < 0.92:
            return "var", self.rng.choice(scope)
        return "const", self.rng.choice(self.people)

    def _literal(self, scope: list[str]) -> Formula:
        part = self._comparison(scope) if self.rng.random() < 0.5 else self._atom(scope)
        return ("not", part) if self.rng.random() < 0.25 else part

    def _connect(self, kind: str, parts: list[Formula]) -> Formula:
        heavy = self.rng.random() < 0.15
        weighted = tuple((self.rng.choice([0.5, 1.0, 2.0]) if heavy else 1.0, part) for part in parts)
        return (kind, weighted, 1.0, None) if kind in ("and", "or") else (kind, *weighted, 1.0, None)

    def _implication(self, body: Formula, head: Formula) -> Formula:
        return self._connect("implies", [body, head])

    def _body(self, scope: list[str]) -> Formula:
        parts = [self._literal(scope) for _ in range(self.rng.choice([1, 2, 2]))]
        parts += [("atom", "Known", (("var", v),)) for v in scope if self.rng.random() < 0.2]
        return parts[0] if len(parts) == 1 else self._connect(self.rng.choice(["and", "and", "or"]), parts)

    def _head(self, scope: list[str]) -> Formula:
        if self.rng.random() < 0.5:
            return self._comparison(scope)
        open_ones = [p for p in self.truths if not p.closed and p.name != "Known"]
        atom = self._atom(scope, open_ones) if open_ones else self._comparison(scope)
        return ("not", atom) if self.rng.random() < 0.2 else atom

    def _statement(self) -> tuple[str, Formula]:
        rng = self.rng
        for _ in range(30):
            scope = list(VARIABLES[: rng.choice([1, 1, 1, 2])])
            shape = rng.random()
            if shape < 0.6:
                formula = self._implication(self._body(scope), self._head(scope))
            elif shape < 0.72:
                formula = self._comparison(scope)
            elif shape < 0.85:
                formula = self._connect(rng.choice(["or", "iff", "xor"]), [self._literal(scope) for _ in range(2)])
            else:
                part = self._connect(rng.choice(["and", "or"]), [self._literal(["X", "Z"]), self._literal(["Z"])])
                if "Z" not in free_variables(part):
                    continue
                formula = (rng.choice(["exists", "forall"]), ("Z",), part)
                if "X" in free_variables(formula) and rng.random() < 0.5:
                    formula = self._implication(formula, self._head(["X"]))
            if self._usable(formula) and (self.mode == "free" or max(self._values(formula)) > 0.5):
                return rng.choice(["rule", "axiom"]), formula
        raise _Retry

    def _usable(self, formula: Formula) -> bool:
        """Every comparison has a value in the world, in every instance, and no huge one."""
        try:
            values = self._values(formula)
        except Undefined:
            return False
        bound = {v for f in subformulas(formula) if f[0] in ("exists", "forall") for v in f[1]}
        return bool(values) and not bound & {*free_variables(formula)}

    def _values(self, formula: Formula) -> list[float]:
        free = free_variables(formula)
        rows = itertools.product(self.people, repeat=len(free))
        return [self._evaluate(formula, dict(zip(free, row, strict=True))) for row in rows]

    def _evaluate(self, formula: Formula, env: dict[str, str]) -> float:
        match formula[0]:
            case "atom":
                return self.world[formula[1], tuple(env[t] if k == "var" else t for k, t in formula[2])]
            case "compare":
                ground = ground_term(formula, env)
                for side in ground[2:4]:
                    if abs(value_at(side, lambda n: self.world[n[1], n[2]])) > 1e6:
                        raise Undefined
                return truth_at(ground, lambda n: self.world[n[1], n[2]])
            case "not":
                return 1 - self._evaluate(formula[1], env)
            case "forall" | "exists":
                rows = [
                    self._evaluate(formula[2], env | dict(zip(formula[1], row, strict=True)))
                    for row in itertools.product(self.people, repeat=len(formula[1]))
                ]
                return min(rows) if formula[0] == "forall" else max(rows)
        values = [self._evaluate(part, env) for part in operands(formula)]
        return value_of(formula[0], formula[-1] or self.logic, weights(formula), formula[-2], values)

    def _repair(self, statements: list[tuple[str, Formula]]) -> None:
        """Moves atoms that heads mention until implications hold; the intervals come later, so it need not succeed."""
        for _, formula in statements * 2:
            if self.mode == "free" or formula[0] != "implies":
                continue
            head = formula[2][1]
            atom = head[1] if head[0] == "not" else head
            if atom[0] != "atom":
                continue
            free = free_variables(formula)
            for row in itertools.product(self.people, repeat=len(free)):
                env = dict(zip(free, row, strict=True))
                if self._evaluate(formula, env) < 0.7:
                    place = atom[1], tuple(env[t] if k == "var" else t for k, t in atom[2])
                    self.world[place] = float(head[0] == "atom")

    def _truth(self, formula: Formula) -> Box:
        if self.mode == "free":
            return self.rng.choice([(1.0, 1.0)] * 5 + [(0.8, 1.0), (0.5, 1.0), (0.2, 0.6), (0.0, 0.3)])
        values = self._values(formula)
        lower = math.floor(min(values) * 100) / 100
        if lower >= 0.05:
            return lower, 1.0
        if formula[0] == "forall":
            return 0.0, 1.0
        return 0.0, min(1.0, math.ceil(max(values) * 100) / 100)

    def _query(self, statements: list[tuple[str, Formula]]) -> Formula:
        rng = self.rng
        for _ in range(30):
            scope = list(VARIABLES[: rng.choice([0, 1, 1, 2])])
            chance = rng.random()
            if chance < 0.3:
                query = self._number(scope, set())
            elif chance < 0.45:
                query = self._term(scope, set(), 2)
            elif chance < 0.6:
                query = self._comparison(scope)
            elif chance < 0.75:
                query = self._atom(scope)
            elif chance < 0.9:
                parts = [f for _, s in statements for f in subformulas(s) if f[0] in ("and", "or", "iff", "compare")]
                query = rng.choice(parts) if parts else self._comparison(scope)
            else:
                query = self._connect("and", [self._literal(scope), self._literal(scope)])
            if query[0] != "constant" and (numbers(query) or query[0] not in ("add", "multiply", "divide", "power")):
                if query[0] in ("negate", "abs", "sqrt", "subtract", "nau", "nmu", "realnpu") and not numbers(query):
                    continue
                return query
        raise _Retry


def numbers_stand_once(program: Program) -> bool:
    """Whether in no instance of a comparison or a term, in statements and queries, a number stands twice."""
    return all(
        _once(formula, program) for formula in (*(each.formula for each in program.statements), *program.queries)
    )


def _once(formula: Formula, program: Program) -> bool:
    """Whether no binding makes two of a comparison's numbers one."""
    people = sorted({text for fact in program.facts for text in fact.arguments})
    for part in (f for f in subformulas(formula) if numbers(f)):
        free = free_variables(part)
        for row in itertools.product(people, repeat=len(free)):
            found = numbers(ground_term(part, dict(zip(free, row, strict=True))))
            if len(set(found)) < len(found):
                return False
    return True
