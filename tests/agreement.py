"""The engine against the oracle: one generated program, asked of both."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import lnnkit
from tests.oracle import Formula, Program, Result, robust, run
from tests.oracle.inference import near
from tests.oracle.program import TERMS, UNITS, subformulas, weights, with_stated_facts
from tests.programs import to_text

TOLERANCE = 1e-9
# Relative, of numbers behind soft status registers: far out a truth hardly changes, so its last digit is 1e-7 of the
# number.
REGISTER = 1e-7
# Of truths among soft comparisons: one comes as near to an end as the tolerance, where some neurons read it as that end
# and others do not, and a cycle carries that on.
SOFT = 1e-8
INF = math.inf


def neutral(program: Program) -> Program:
    """The same entities, sorts and formulas, but nothing said: its answers are the queries' values at the defaults."""
    program = with_stated_facts(program)
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


def answers_of(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], tuple[float, float]]:
    """The answers to a program's queries: by query and bindings, their bounds."""
    kb = lnnkit.loads(text)
    return {
        (answers.query, frozenset(answer.bindings.items())): (answer.lower, answer.upper)
        for answers in kb.answers()
        for answer in answers
    }


def disagreements(program: Program, max_rounds: int = 500) -> list[str] | None:
    """Where the engine's answers differ from the oracle's; None where the oracle does not converge, or where cycles
    amplify rounding so that no two implementations need agree."""
    result = run(program, max_rounds)
    if result.status != "converged" or not robust(program, result, max_rounds):
        return None
    if lnnkit.loads(to_text(program)).infer().status == "creeping":
        return None  # only containment is promised: tests/engine/test_slow_convergence.py
    return _differences(program, result, result)


def disagreements_about_numbers(program: Program, once: bool) -> list[str] | None:
    """As `disagreements`, for a program with numbers: where answers are not between those of exact sets of numbers and
    those of closed ones. The engine's intervals are closed, and an end that is only approached may have left a piece
    that nothing reaches. Unless every number stands ``once`` in each comparison, an answer may be closer too."""
    result, looser = run(program, 40), run(program, 40, closed=True)
    settled = result.status == looser.status == "converged" and robust(program, result, 40)
    if not settled or _arrested(result) != _arrested(looser) or (not once and result.contradictions):
        return None
    return _differences(program, result, looser, closer=not once)


def _arrested(result: Result) -> set[object]:
    return {(each.kind, each.what) for each in result.contradictions}


def _differences(program: Program, result: Result, looser: Result, closer: bool = False) -> list[str]:
    parts = [part for each in program.statements for part in subformulas(each.formula)]
    soft = {part[1] for part in parts if part[0] == "compare" and part[4]}
    defaults = run(neutral(program), 0, of_unnamed=result.of_unnamed).answers
    kb = lnnkit.loads(to_text(program))
    found = [] if kb.infer().status == "converged" else ["the engine did not converge"]
    for number, answers in enumerate(kb.answers()):
        variables, expected = result.variables[number], result.answers[number]
        numeric = program.queries[number][0] in (*TERMS, *UNITS)
        within = max(_within(program.queries[number]), SOFT if soft and not numeric else 0.0)
        within = REGISTER if "<?>" in soft else within
        got = {tuple(a.bindings[v] for v in variables): (a.lower, a.upper) for a in answers}
        for entities, value in expected.items():
            default, loose = defaults[number][entities], looser.answers[number][entities]
            if closer and entities not in got:  # the engine's own default, which may be closer than the oracle's
                lower, upper = _of_one(kb, answers.query, dict(zip(variables, entities, strict=True)))
            else:
                lower, upper = got.pop(entities, (default.lower, default.upper))
            low = _between(lower, loose.lower, INF if closer else value.lower, within)
            high = _between(upper, -INF if closer else value.upper, loose.upper, within)
            if not (low and high):
                wanted = f"{(value.lower, value.upper)} within {(loose.lower, loose.upper)}"
                found.append(
                    f"query {number} {answers.query} {entities}: {(lower, upper)}, but the oracle says {wanted}"
                )
        found += [f"query {number} {answers.query} {entities}: answered beyond the domain" for entities in got]
    return found


def _of_one(kb: lnnkit.KnowledgeBase, query: str, bindings: dict[str, str]) -> tuple[float, float]:
    """The bounds of a query whose variables are these entities."""
    grounded = re.sub(r"\b[A-Z]\b", lambda found: bindings.get(found[0], found[0]), query)
    (answer,) = kb.ask(grounded)
    return answer.lower, answer.upper


def _within(query: Formula) -> float:
    """An end that the tolerance is off saying nothing says nothing: the oracle reads it so at every neuron, the engine
    where it enters a formula. A soft comparison in between comes so near, and the weights above it carry that on."""
    parts = list(subformulas(query))
    if not any(part[0] == "compare" and part[4] for part in parts):
        return TOLERANCE
    connectives = [part for part in parts if part[0] in ("and", "or", "implies", "iff", "xor")]
    return TOLERANCE * max(1.0, sum(weight for part in connectives for weight in weights(part)))


def _between(value: float, low: float, high: float, within: float) -> bool:
    return low <= value <= high or near(value, low, within) or near(value, high, within)
