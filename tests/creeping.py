"""Random small programs whose bounds creep: cycles of weighted rules, thresholds, contradictions, what reads them.

``creeping(seed)`` is a function of its argument. ``compared(program)`` asks the engine and, with patience, the oracle.
"""

from __future__ import annotations

import random
from contextlib import ExitStack
from dataclasses import dataclass
from unittest import mock

import lnnkit
from tests.oracle import (
    Fact,
    Predicate,
    Program,
    Result,
    Statement,
    completion,
    inference,
    neurons,
    passes,
    robust,
    run,
)
from tests.oracle.program import Formula, rename
from tests.programs import to_text

PATIENCE = 12_000
WEIGHTS = (0.98, 0.985, 0.99, 0.99, 0.995, 0.995, 1.0, 1.0, 1.0, 1.005)
BIASES = (1.0, 1.0, 1.0, 1.0, 1.001, 1.005, 0.999, 0.99)
TRUTHS = ((1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (0.995, 1.0), (0.9, 1.0), (0.999, 1.0))
LOGICS = ("lukasiewicz", "product", "godel")


def creeping(seed: int) -> Program:
    """One to three cycles over two to six atoms, and up to four more statements."""
    return _Creeping(random.Random(f"creeping {seed}")).build()


class _Creeping:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def build(self) -> Program:
        rng = self.rng
        unary = rng.random() < 0.4
        names = [f"P{i}" for i in range(rng.choice([2, 2, 3, 3, 4, 6]))]
        self.argument = (("var", "X"),) if unary else ()
        predicates = [Predicate(name, int(unary), ("entity",) if unary else ()) for name in names]
        self.atoms = [("atom", name, self.argument) for name in names]
        statements = []
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            statements += self.cycle()
        statements += [self.extra() for _ in range(rng.choice([0, 0, 1, 2, 4]))]
        facts = [fact for entity in (("a", "b") if unary else ((),)) for fact in self.facts(names, entity)]
        rng.shuffle(statements)
        return Program(predicates, facts, statements, list(self.atoms), {}, rng.choice(LOGICS))

    def cycle(self) -> list[Statement]:
        rng = self.rng
        length = rng.choice([1, 2, 2, 2, 3, min(4, len(self.atoms))])
        chosen = rng.sample(self.atoms, min(length, len(self.atoms)))
        literals = [atom if rng.random() < 0.75 else ("not", atom) for atom in chosen]
        logic = rng.choice([None, None, *LOGICS])
        steps = zip(literals, [*literals[1:], literals[0]], strict=True)
        return [self.step(here, there, logic) for here, there in steps]

    def step(self, here: Formula, there: Formula, logic: str | None) -> Statement:
        rng = self.rng
        kind = rng.random()
        weight, bias = rng.choice(WEIGHTS), rng.choice(BIASES)
        if kind < 0.15:
            here = ("and", ((rng.choice(WEIGHTS), here), (rng.choice(WEIGHTS), rng.choice(self.atoms))), 1.0, logic)
        elif kind < 0.3:
            first = rng.choice(WEIGHTS), here
            here = ("or", (first, (rng.choice([0.1, 0.5, 1.0]), rng.choice(self.atoms))), 1.0, logic)
        elif kind < 0.34 and self.argument:
            here = (rng.choice(["exists", "forall"]), ("Y",), rename(here, {"X": "Y"}))
        if kind > 0.95 and logic != "product":
            formula = ("iff", (weight, here), (rng.choice(WEIGHTS), there), 1.0, logic)
        else:
            formula = ("implies", (weight, here), (rng.choice([1.0, 1.0, 0.99, 1.01]), there), bias, logic)
        return Statement("axiom", formula, *rng.choice(TRUTHS))

    def extra(self) -> Statement:
        rng = self.rng
        parts = [atom if rng.random() < 0.6 else ("not", atom) for atom in rng.sample(self.atoms, 2)]
        kind = rng.choice(["implies", "implies", "and", "or", "iff"])
        logic = rng.choice([None, None, "godel", *LOGICS])
        pairs = tuple((rng.choice([1.0, 1.0, 0.5, 0.9]), part) for part in parts)
        formula = (kind, pairs, 1.0, logic) if kind in ("and", "or") else (kind, *pairs, 1.0, logic)
        truth = (rng.choice([0.0, 0.3, 0.7, 1.0]), 1.0) if kind != "and" else (0.0, rng.choice([0.7, 0.9, 1.0]))
        return Statement("axiom", formula, *truth)

    def facts(self, names: list[str], entity: str | tuple[()]) -> list[Fact]:
        rng = self.rng
        found = []
        for name in names:
            lower, upper = sorted((round(rng.random(), 2), round(rng.random(), 2)))
            if rng.random() < 0.6:
                bounds = rng.choice([(lower, 1.0), (lower, 1.0), (0.0, upper), (lower, upper), (lower, lower)])
                found.append(Fact(name, (entity,) if entity else (), *bounds))
        return found


@dataclass
class Compared:
    """``expected`` is None where the oracle creeps too, or amplifies rounding."""

    status: str
    rounds: int
    expected: Result | None
    wrong: list[str]


def patient(program: Program) -> Result | None:
    """The oracle's answer after up to ``PATIENCE`` rounds that may each gain next to nothing. Its tolerance is small:
    in Goedel logic it takes ends that close for equal, and would stop a cycle that gains ever less before its limit."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(inference, "STEP", 1e-15))
        for module in (completion, inference, neurons, passes):
            stack.enter_context(mock.patch.object(module, "TOL", 1e-13))
        result = run(program, PATIENCE)
        sturdy = result.rounds < PATIENCE and robust(program, result, PATIENCE, jitter=1e-14, within=1e-10)
    return result if sturdy else None


def compared(program: Program, tolerance: float = 1e-9) -> Compared:
    """The engine's answers beside the oracle's: equal, or only containing them if the engine says that it creeps: it
    may then have stopped before some contradictions."""
    kb = lnnkit.loads(to_text(program))
    outcome = kb.infer()
    expected = patient(program)
    found = Compared(outcome.status, outcome.rounds, expected, [])
    if expected is None:
        return found
    missing = len(expected.contradictions) - len(outcome.contradictions)
    if missing < 0 or (missing and outcome.status != "creeping"):
        found.wrong.append(f"{outcome.contradictions}, but the oracle has {expected.contradictions}")
    for number, answers in enumerate(kb.answers()):
        got = {tuple(a.bindings[v] for v in expected.variables[number]): (a.lower, a.upper) for a in answers}
        for entities, value in expected.answers[number].items():
            lower, upper = got.get(entities, (0.0, 1.0))
            slack = (lower - value.lower, value.upper - upper)  # how much tighter than the oracle
            if max(slack) > tolerance or (outcome.status != "creeping" and min(slack) < -tolerance):
                found.wrong.append(f"{answers.query} {entities}: {lower, upper}, but the oracle says {value}")
    return found
