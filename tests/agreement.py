"""The engine against the oracle: one generated program, asked of both."""

from __future__ import annotations

import math
from dataclasses import replace

import lnnkit
from tests.oracle import Program, robust, run
from tests.oracle.inference import near
from tests.programs import to_text

TOLERANCE = 1e-9


def neutral(program: Program) -> Program:
    """The same entities, sorts and formulas, but nothing said: its answers are the queries' values at the defaults."""
    closed = {predicate.name for predicate in program.predicates if predicate.closed}
    numeric = {predicate.name for predicate in program.predicates if predicate.numeric}
    facts = [
        fact._replace(lower=-math.inf, upper=math.inf)
        if fact.predicate in numeric
        else fact._replace(lower=0.0, upper=0.0 if fact.predicate in closed else 1.0)
        for fact in program.facts
    ]
    statements = [statement._replace(lower=0.0, upper=1.0) for statement in program.statements]
    return replace(program, facts=facts, statements=statements)


def disagreements(program: Program) -> list[str] | None:
    """Where the engine's answers differ from the oracle's; None where the oracle does not converge, or where cycles
    amplify rounding so that no two implementations need agree."""
    result = run(program)
    if result.status != "converged" or not robust(program, result):
        return None
    defaults = run(neutral(program)).answers
    kb = lnnkit.loads(to_text(program))
    found = [] if kb.infer().status in ("converged", "accelerated") else ["the engine did not converge"]
    for number, answers in enumerate(kb.answers()):
        variables, expected = result.variables[number], result.answers[number]
        got = {tuple(a.bindings[v] for v in variables): (a.lower, a.upper) for a in answers}
        for entities, value in expected.items():
            wanted, default = (value.lower, value.upper), defaults[number][entities]
            answer = got.pop(entities, (default.lower, default.upper))
            if not all(near(a, b, TOLERANCE) for a, b in zip(answer, wanted, strict=True)):
                found.append(f"query {number} {answers.query} {entities}: {answer}, but the oracle says {wanted}")
        found += [f"query {number} {answers.query} {entities}: answered beyond the domain" for entities in got]
    return found
