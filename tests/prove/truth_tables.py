"""Random small programs of classical logic, and what they entail by all their worlds. Knows nothing of lnnkit.

A world gives each open atom a truth. Closed predicates without rules are true of what is listed; those with rules are
the least fixpoint of them, listed atoms apart.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.oracle import Fact, Formula, Predicate, Program, Statement
from tests.oracle.program import free_variables, operands, with_stated_facts

Key = tuple[str, tuple[str, ...]]
World = dict[Key, bool]
ENTITIES = ("anna", "bob", "cleo")


def holds(formula: Formula, world: Mapping[Key, bool], entities: tuple[str, ...], env: Mapping[str, str]) -> bool:
    """The truth of a formula in a world."""
    match formula[0]:
        case "true" | "false":
            return formula[0] == "true"
        case "atom":
            return world[formula[1], tuple(env[t] if k == "var" else t for k, t in formula[2])]
        case "eq":
            one, other = (env[t] if k == "var" else t for k, t in formula[1:])
            return one == other
        case "not":
            return not holds(formula[1], world, entities, env)
        case "forall" | "exists":
            rows = itertools.product(entities, repeat=len(formula[1]))
            found = (
                holds(formula[2], world, entities, {**env, **dict(zip(formula[1], row, strict=True))}) for row in rows
            )
            return all(found) if formula[0] == "forall" else any(found)
    x = [holds(part, world, entities, env) for part in operands(formula)]
    match formula[0]:
        case "and":
            return all(x)
        case "or":
            return any(x)
        case "implies":
            return not x[0] or x[1]
    return (x[0] == x[1]) == (formula[0] == "iff")


@dataclass
class Case:
    """A program, its entities, and its worlds."""

    program: Program
    entities: tuple[str, ...]
    worlds: list[World] = field(default_factory=list)

    def verdict(self, question: Formula) -> str:
        found = {holds(question, world, self.entities, {}) for world in self.worlds}
        return {(): "inconsistent", (True,): "entailed", (False,): "refuted"}.get(tuple(found), "neither")


def draw(seed: int) -> Case:
    """A function of the seed."""
    rng = random.Random(f"truth table {seed}")
    while True:
        case = _Drawer(rng).case()
        case.worlds = list(worlds(case))
        if case.worlds or rng.random() < 0.2:
            return case


def worlds(case: Case) -> Iterator[World]:
    """All worlds in which facts and statements hold."""
    program, entities = case.program, case.entities
    listed: dict[Key, set[bool]] = {}
    for fact in program.facts:
        allowed = {value for value in (False, True) if fact.lower <= value <= fact.upper}
        key = fact.predicate, fact.arguments
        listed[key] = listed.get(key, {False, True}) & allowed
    rules = [statement.formula for statement in program.statements if statement.upper == 1]
    closed = {predicate.name for predicate in program.predicates if predicate.closed}
    derived = {head[1] for rule in rules if rule[0] == "implies" for head in _heads(rule) if head[1] in closed}
    choices: list[tuple[Key, tuple[bool, ...]]] = []
    completed: list[Key] = []
    for predicate in program.predicates:
        for row in itertools.product(entities, repeat=predicate.arity):
            key = predicate.name, row
            if key in listed:
                choices.append((key, tuple(sorted(listed[key]))))
            elif predicate.name in derived:
                completed.append(key)
            else:
                choices.append((key, (False,) if predicate.closed else (False, True)))
    for values in itertools.product(*(options for _, options in choices)):
        world = dict(zip((key for key, _ in choices), values, strict=True))
        _complete(world, completed, [rule for rule in rules if rule[0] == "implies"], entities)
        if all(_stands(statement, world, entities) for statement in program.statements):
            yield world


def _complete(world: World, completed: list[Key], rules: list[Formula], entities: tuple[str, ...]) -> None:
    """Strata in the order of the names of derived predicates, which are numbered."""
    own = set(completed)
    for key in completed:
        world[key] = False
    for name in sorted({name for name, _ in completed}):
        grown = True
        while grown:
            grown = False
            for rule in rules:
                heads = [head for head in _heads(rule) if head[1] == name]
                free = free_variables(rule)
                for row in itertools.product(entities, repeat=len(free)) if heads else ():
                    env = dict(zip(free, row, strict=True))
                    if not holds(operands(rule)[0], world, entities, env):
                        continue
                    for head in heads:
                        key = name, tuple(env[t] if k == "var" else t for k, t in head[2])
                        if key in own and not world[key]:
                            world[key] = grown = True


def _heads(rule: Formula) -> list[Formula]:
    consequent = operands(rule)[1]
    parts = operands(consequent) if consequent[0] == "and" else (consequent,)
    return [part for part in parts if part[0] == "atom"]


def _stands(statement: Statement, world: World, entities: tuple[str, ...]) -> bool:
    free = free_variables(statement.formula)
    for row in itertools.product(entities, repeat=len(free)):
        held = holds(statement.formula, world, entities, dict(zip(free, row, strict=True)))
        if not statement.lower <= held <= statement.upper:
            return False
    return True


class _Drawer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def case(self) -> Case:
        rng = self.rng
        entities = ENTITIES[: rng.choice([1, 2, 2, 3])]
        self.entities = entities
        unary = rng.choice([1, 2, 3]) if len(entities) < 3 else rng.choice([1, 2])
        open_ones = [Predicate(f"U{i}", 1, ("entity",)) for i in range(unary)]
        open_ones += [Predicate(f"P{i}", 0, ()) for i in range(rng.choice([1, 2, 3]))]
        closed = [Predicate("Edge", 2, ("entity", "entity"), closed=True)] if rng.random() < 0.6 else []
        self.derived = [
            Predicate(f"D{i}", rng.choice([1, 1, 2]), None, closed=True) for i in range(rng.choice([0, 0, 1, 1, 2]))
        ]
        self.derived = [Predicate(p.name, p.arity, ("entity",) * p.arity, closed=True) for p in self.derived]
        self.bodies = [*open_ones, *closed]
        statements = [
            Statement(
                rng.choice(["rule", "axiom"]), self.formula(["X", "Y"][: rng.choice([0, 1, 2])], 2), *self.truth()
            )
            for _ in range(rng.choice([1, 2, 3, 4, 5]))
        ]
        for place, head in enumerate(self.derived):
            below = [*self.bodies, *self.derived[: place + 1]]
            for _ in range(rng.choice([1, 1, 2])):
                statements.append(Statement("rule", self.defining(head, below)))
        self.bodies += self.derived
        statements = [each._replace(formula=_stripped(each)) for each in statements]
        facts = [Fact("Known", (who,), 1.0, 1.0) for who in entities]
        for predicate in self.bodies:
            for row in itertools.product(entities, repeat=predicate.arity):
                chance = rng.random()
                if predicate.closed and predicate not in self.derived:
                    if chance < 0.4:
                        facts.append(Fact(predicate.name, row, 1.0 if chance < 0.3 else 0.0, 1.0))
                elif chance < (0.06 if predicate in self.derived else 0.2):
                    facts.append(Fact(predicate.name, row, *rng.choice([(1.0, 1.0), (0.0, 0.0)])))
        predicates = [*self.bodies, Predicate("Known", 1, ("entity",))]
        questions = [self.formula([], 2) for _ in range(2)] + [self.literal([]) for _ in range(2)]
        logic = rng.choice(["lukasiewicz", "product", "godel"])
        return Case(with_stated_facts(Program(predicates, facts, statements, questions, {}, logic)), entities)

    def truth(self) -> tuple[float, float]:
        return (1.0, 1.0) if self.rng.random() < 0.85 else (0.0, 0.0)

    def defining(self, head: Predicate, below: list[Predicate]) -> Formula:
        rng = self.rng
        names = ["X", "Y"][: head.arity]
        scope = [*names, "Z"] if rng.random() < 0.5 else names
        body = [
            self.atom(below[-1] if rng.random() < 0.4 else rng.choice(below), scope) for _ in range(rng.choice([1, 2]))
        ]
        body = [("not", each) if rng.random() < 0.25 and each[1] != head.name else each for each in body]
        antecedent = body[0] if len(body) == 1 else ("and", tuple((1.0, part) for part in body), 1.0, None)
        consequent: Formula = ("atom", head.name, tuple(("var", name) for name in names))
        return ("implies", (1.0, antecedent), (1.0, consequent), 1.0, None)

    def atom(self, predicate: Predicate, scope: list[str]) -> Formula:
        rng = self.rng
        arguments = [
            ("var", rng.choice(scope)) if scope and rng.random() < 0.85 else ("const", rng.choice(self.entities))
            for _ in range(predicate.arity)
        ]
        return "atom", predicate.name, tuple(arguments)

    def literal(self, scope: list[str]) -> Formula:
        atom = self.atom(self.rng.choice(self.bodies), scope)
        if scope and self.rng.random() < 0.1:
            one, other = ("var", self.rng.choice(scope)), ("var", self.rng.choice(scope))
            atom = ("eq", one, other if other != one else ("const", self.rng.choice(self.entities)))
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
            body = self.formula([*scope, name], depth - 1)
            if _placed(body, name):
                return kind, (name,), body
            return self.literal(scope) if name in free_variables(body) else body
        count = rng.choice([2, 3]) if kind in ("and", "or") else 2
        parts = tuple((1.0, self.formula(scope, depth - 1)) for _ in range(count))
        return (kind, parts, 1.0, None) if kind in ("and", "or") else (kind, *parts, 1.0, None)


def _stripped(statement: Statement) -> Formula:
    """Without the universal quantifiers at its head, which say nothing where the upper truth is 1."""
    formula = statement.formula
    while formula[0] == "forall" and statement.upper == 1:
        formula = formula[2]
    return formula


def _placed(formula: Formula, name: str) -> bool:
    """Whether a variable stands in an atom, so that it has a sort."""
    if formula[0] == "atom":
        return ("var", name) in formula[2]
    return any(_placed(part, name) for part in operands(formula))
