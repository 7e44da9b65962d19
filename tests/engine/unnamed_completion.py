"""Programs whose rules complete closed predicates from variables that their heads lack, over open sorts."""

from __future__ import annotations

import itertools
import random

from tests.oracle import Formula, Program
from tests.oracle.program import Fact, Predicate, Statement, free_variables

VARIABLES = {"a": ("X", "X2"), "b": ("Y", "Y2"), "c": ("Z",)}
NAMES = tuple(itertools.chain(*VARIABLES.values()))
SHAPES = {"P": "ab", "Q": "b", "R": "a", "S": "aa", "W": "c"}
DERIVED = {"D": "b", "E": "a", "F": "aa", "G": ""}


class Completed:
    """A program of three sorts, most of them open, with rules for closed predicates that recur."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        sorts = {sort: rng.random() < share for sort, share in (("a", 0.9), ("b", 0.5), ("c", 0.4))}
        pool = {
            sort: [f"{sort}{i}" for i in range(rng.choice([0, 1, most, most]))]
            for sort, most in zip("abc", (2, 2, 1), strict=True)
        }
        self.shapes = SHAPES | {name: DERIVED[name] for name in rng.sample(list(DERIVED), rng.choice([1, 2, 2, 3]))}
        derived = [name for name in self.shapes if name in DERIVED]
        predicates = [
            Predicate(name, len(s), tuple(s), closed=name in DERIVED or rng.random() < 0.6)
            for name, s in self.shapes.items()
        ]
        facts = []
        for each in predicates:
            for row in itertools.product(*(pool[sort] for sort in each.sorts or ())):
                if rng.random() < (0.1 if each.name in DERIVED else 0.6):
                    lower = rng.choice([0.0, 0.0, 0.3, 0.7, 1.0])
                    facts.append(Fact(each.name, row, lower, rng.choice([lower, lower, 1.0])))
        statements = []
        for level, name in enumerate(derived):
            self.open_to = [each for each in self.shapes if each not in DERIVED or each in derived[: level + 1]]
            self.negatable = [each for each in self.shapes if each not in DERIVED or each in derived[:level]]
            for _ in range(rng.choice([1, 1, 2])):
                statements.append(self.rule([name, *rng.sample(derived, rng.choice([0, 0, 0, 1]))]))
        self.open_to = self.negatable = list(self.shapes)
        for _ in range(rng.choice([0, 0, 1])):
            every = self.formula(tuple(rng.sample(NAMES, rng.choice([1, 2]))), 1)
            statements.append(Statement("axiom", every, *rng.choice([(1.0, 1.0), (0.8, 1.0), (0.0, 0.4)])))
        queries: list[Formula] = []
        for name in derived:
            queries.append(self.atom(name, {s: list(v) for s, v in VARIABLES.items()}, apart=True))
            queries.append(self.quantified((), 1))
        logic = rng.choice(["lukasiewicz", "lukasiewicz", "godel", "product"])
        self.program = Program(predicates, facts, statements, queries, sorts, logic)

    def rule(self, names: list[str]) -> Statement:
        rng = self.rng
        scope = tuple(rng.sample(NAMES, rng.choice([1, 2, 2, 3])))
        body = self.formula(scope, rng.choice([1, 1, 2]))
        own = {sort: list(each) for sort, each in VARIABLES.items()}
        heads = [self.atom(name, own) for name in dict.fromkeys(names)]
        weight = rng.choice([1.0, 1.0, 1.0, 0.7])
        consequent = heads[0] if len(heads) == 1 else ("and", tuple((1.0, each) for each in heads), 1.0, "")
        lower = rng.choice([1.0, 1.0, 0.8])
        return Statement("rule", ("implies", (weight, body), (1.0, consequent), 1.0, ""), lower, 1.0)

    def atom(self, name: str, own: dict[str, list[str]], apart: bool = False) -> Formula:
        own = {sort: list(names) for sort, names in own.items()}
        arguments = []
        for sort in self.shapes[name]:
            arguments.append(("var", own[sort].pop(0) if apart else self.rng.choice(own[sort])))
        return ("atom", name, tuple(arguments))

    def literal(self, scope: tuple[str, ...]) -> Formula:
        rng, own = self.rng, {sort: [v for v in names if v in scope] for sort, names in VARIABLES.items()}
        pairs = [names for names in own.values() if len(names) == 2]
        if pairs and rng.random() < 0.1:
            return ("eq", *(("var", name) for name in rng.choice(pairs)))
        negated = rng.random() < 0.3
        fitting = [
            name for name in (self.negatable if negated else self.open_to) if all(own[s] for s in self.shapes[name])
        ]
        if not fitting:
            return ("true",)
        atom = self.atom(rng.choice(fitting), own)
        return ("not", atom) if negated else atom

    def formula(self, scope: tuple[str, ...], depth: int) -> Formula:
        if depth and self.rng.random() < 0.2 and len(scope) < len(NAMES):
            return self.quantified(scope, depth - 1)
        if not depth or self.rng.random() < 0.1:
            return self.literal(scope)
        kind = self.rng.choice(["and", "and", "and", "or"])
        parts = tuple((self.rng.choice([1.0, 1.0, 0.5]), self.formula(scope, depth - 1)) for _ in range(2))
        return (kind, parts, 1.0, "")

    def quantified(self, scope: tuple[str, ...], depth: int) -> Formula:
        new = [name for name in NAMES if name not in scope]
        bound = self.rng.sample(new, min(len(new), self.rng.choice([1, 2])))
        body = self.formula((*scope, *bound), max(depth, 1))
        used = tuple(name for name in free_variables(body) if name in bound)
        return (self.rng.choice(["forall", "exists"]), used, body) if used else body
