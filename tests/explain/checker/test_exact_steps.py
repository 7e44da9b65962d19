"""Exact steps: what `lnnkit.prove` finds, checked by a solver that is given their premises and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

import lnnkit
from lnnkit.explain.proof.explanation import Explanation
from lnnkit.explain.proof.proof import Step
from tests.blocks import in_blocks
from tests.programs import formula_text, to_text
from tests.prove.exact_comparison import drawn

pytest.importorskip("z3", reason="z3-solver is not installed")

LEAK = """
fact Valve in [0.2, 0.6]
axiom Valve | Pipe in [0.9, 1]
axiom a: Valve -> Leak in [0.8, 1]
axiom b: Pipe -> Leak in [0.8, 1]
"""
GRAPH = """
predicate Edge(node, node) closed
fact Edge(a, b)
fact Edge(b, c)
axiom P(a) | Q
axiom P(X) & Edge(X, Y) -> P(Y)
axiom Q -> (exists X: Edge(X, a)) | P(c)
"""
COMPLETED = """
predicate D(entity) closed
fact U(anna) in [0.4, 0.8]
rule U(X) -> D(X) in [0.9, 1]
"""
NUMBERS = """
number x
number y
fact x in [0, 10]
axiom x + y = 12
axiom y < 5 | A
axiom x > 7 -> A
"""
PROGRAMS = (
    (LEAK, "Leak", 0.25, 1.0),
    (GRAPH, "P(c)", 0.5, 1.0),
    (COMPLETED, "U(anna) <-> D(anna)", 0.9, 0.9),
    (NUMBERS, "A", 1.0, 1.0),
    ("logic godel\naxiom A | B in [0.7, 1]\naxiom A -> C\naxiom B -> C in [0.6, 1]\n", "C", 0.6, 1.0),
)


def exact_steps(explanation: Explanation) -> list[int]:
    return [number for number, step in enumerate(explanation.steps) if step.reason == "exact"]


def with_step(explanation: Explanation, number: int, step: Step) -> Explanation:
    steps = list(explanation.steps)
    steps[number] = step
    return replace(explanation, proof=replace(explanation.proof, steps=steps))


def spoiled(step: Step) -> Iterator[Step]:
    """The step with a tighter bound, and without each of the things that it rests on."""
    yield replace(step, bound=step.bound + (0.001 if step.side == "lower" else -0.001))
    for place in range(len(step.premises)):
        yield replace(step, premises=[*step.premises[:place], *step.premises[place + 1 :]])
    for atom in step.completes:
        yield replace(step, completes=[each for each in step.completes if each is not atom])
    if step.rules:
        yield replace(step, rules=())


@pytest.mark.parametrize(("text", "question", "lower", "upper"), PROGRAMS)
def test_a_tightened_bound_is_explained_and_checked(text: str, question: str, lower: float, upper: float) -> None:
    explanation = lnnkit.loads(text).explain(question, exact=True)
    assert (explanation.lower, explanation.upper) == (lower, upper)
    assert explanation.verify() == []
    assert exact_steps(explanation)
    for number in exact_steps(explanation):
        for wrong in spoiled(explanation.steps[number]):
            assert with_step(explanation, number, wrong).verify() != []


def test_the_core_is_named() -> None:
    text = str(lnnkit.loads(LEAK).explain("Leak", exact=True))
    assert "Leak >= 0.25   exact: these together allow no other bound" in text
    for line in (3, 4, 5):
        assert f"<string>:{line}\n" in text + "\n"
    assert "Valve >= 0.2" not in text  # which is not needed


def test_rules_that_complete_an_atom_are_named() -> None:
    explanation = lnnkit.loads(COMPLETED).explain("U(anna) <-> D(anna)", exact=True)
    assert "D(anna) as true as rules make it (<string>:4)" in str(explanation)
    found = explanation.as_dict()["lower"]
    assert isinstance(found, dict)
    assert found["reason"] == "exact"
    assert [rule["line"] for rule in found["rules"]] == [4]


def test_a_premise_that_is_made_up_is_found_out() -> None:
    """A statement with more than it says makes the exact step hold, and is itself no longer one."""
    explanation = lnnkit.loads(LEAK).explain("Leak", exact=True)
    (number,) = exact_steps(explanation)
    step = explanation.steps[number]
    (place,) = (each.step for each in step.premises if explanation.steps[each.step].atom == "Valve | Pipe")
    made_up = with_step(explanation, place, replace(explanation.steps[place], bound=1.0))
    bolder = with_step(made_up, number, replace(step, bound=0.3))
    assert len(bolder.verify()) == 1
    assert "Valve | Pipe" in bolder.verify()[0]


def test_another_program_does_not_prove_it() -> None:
    one = lnnkit.loads(LEAK).explain("Leak", exact=True)
    other = lnnkit.loads(LEAK.replace("Pipe -> Leak in [0.8, 1]", "Pipe -> Leak in [0.7, 1]")).explain("Leak")
    assert replace(one, _world=other._world).verify() != []


def test_bounds_of_inference_need_no_exact_step() -> None:
    kb = lnnkit.loads("fact A in [0.7, 1]\naxiom A -> B in [0.8, 1]\n")
    explanation = kb.explain("B", exact=True)
    assert exact_steps(explanation) == []
    assert str(explanation) == str(kb.explain("B"))


def test_a_program_that_contradicts_itself_has_no_exact_step() -> None:
    explanation = lnnkit.loads("axiom A | B in [0.9, 1]\naxiom ~A\naxiom ~B in [0.5, 1]\n").explain("A", exact=True)
    assert exact_steps(explanation) == []
    assert [warning.code for warning in explanation.warnings] == ["inconsistent"]


@pytest.mark.parametrize("logic", ["lukasiewicz", "godel"])
@pytest.mark.parametrize("block", in_blocks(range(60), 30, 1))
def test_exact_steps_of_random_programs(block: range, logic: str) -> None:
    check(block, logic, 2.0)


@pytest.mark.slow
def test_exact_steps_of_random_programs_in_product_logic() -> None:
    check(range(5), "product", 1.0)


def test_an_implication_less_than_true_fixes_its_consequent_from_both_sides() -> None:
    """What raises the lower bound of P here is the upper bound of Q, against the polarity of their occurrences."""
    text = "logic godel\nfact Q in [0, 0.5]\naxiom (~Q | P) & (~P -> P) in [0.1, 0.1]\n"
    explanation = lnnkit.loads(text).explain("P")
    assert (explanation.lower, explanation.upper) == (0.1, 0.1)
    assert explanation.verify() == []
    lower = explanation.as_dict()["lower"]
    assert isinstance(lower, dict)
    assert [each["atom"] for each in lower["premises"]] == ["Q"]


def check(seeds: range, logic: str, seconds: float) -> None:
    """Every proof verifies, has the bounds that proving has, and none with a spoiled exact step does."""
    for seed in seeds:
        case = drawn(seed, logic)
        if case is None:
            continue
        kb = lnnkit.loads(to_text(case.program))
        for question in dict.fromkeys(case.program.queries):
            text = formula_text(question)
            explanation = kb.explain(text, exact=True, timeout=seconds)
            said = f"seed {seed}, {logic}\n{to_text(case.program)}\n{text}\n{explanation}"
            assert explanation.verify() == [], said
            codes = {warning.code for warning in explanation.warnings}
            assert "no-proof" not in codes, said
            if "not-settled" in codes:
                continue
            proved = kb.prove(text, reading="exact", timeout=None)
            assert (explanation.lower, explanation.upper) == pytest.approx((proved.lower, proved.upper), abs=1e-9), said
            for number in exact_steps(explanation):
                for wrong in spoiled(explanation.steps[number]):
                    assert with_step(explanation, number, wrong).verify() != [], said
