"""Bounds of numbers, and what comparisons say of them, are explained and replayed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import lnnkit
from tests import programs
from tests.blocks import at_length, in_blocks
from tests.explain.proving import known_atoms, replay
from tests.numeric_programs import MODES, generate
from tests.oracle import Formula, Program
from tests.programs import to_text

EXAMPLES = Path(__file__).parents[3] / "kb_examples"
TEXT = """
number income(person)
number debt(person)
fact debt(bob) = 100
fact income(bob) in [0, inf]
fact ~Eligible(bob)
rule ok: income(X) - debt(X) > 500 -> Eligible(X)
"""


def test_an_upper_end_of_a_number() -> None:
    explanation = lnnkit.loads(TEXT).explain("income(bob)")
    assert (explanation.lower, explanation.upper, explanation.state) == (0.0, 600.0, "number")
    assert not explanation.verify()
    top = explanation.steps[explanation.proof.upper]
    rests = {(explanation.steps[p.step].atom, explanation.steps[p.step].side) for p in top.premises}
    assert rests == {("debt(bob)", "upper"), ("income(bob) - debt(bob) > 500", "upper")}


def test_a_wrong_proof_of_a_number_does_not_hold() -> None:
    explanation = lnnkit.loads(TEXT).explain("income(bob)")
    explanation.steps[explanation.proof.upper].bound = 550.0
    assert explanation.verify()


def test_a_term_is_explained_by_its_numbers() -> None:
    explanation = lnnkit.loads(TEXT).explain("income(bob) / 2")
    assert (explanation.lower, explanation.upper) == (0.0, 300.0)
    assert not explanation.verify()


def test_nothing_is_known_of_a_number() -> None:
    explanation = lnnkit.loads(f"{TEXT}query income(anna)\n").explain("income(anna)")
    assert (explanation.lower, explanation.upper) == (-math.inf, math.inf)
    assert explanation.as_dict()["lower"] is not None
    assert not explanation.verify()


@pytest.mark.parametrize("name", ["loans", "triage"])
def test_every_atom_of_an_example(name: str) -> None:
    kb = lnnkit.load(EXAMPLES / name / f"{name}.lnn")
    _, wrong = replay(kb, list(known_atoms(kb)))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("block", in_blocks(range(240), 10, plain=2))
def test_random_programs(block: range) -> None:
    for seed in block:
        text = to_text(generate(seed, 1 + seed % 6, MODES[seed % 3]).program)
        kb = lnnkit.loads(text)
        _, wrong = replay(kb, list(known_atoms(kb)))
        assert not wrong, f"seed {seed}:\n{text}\n" + "\n".join(wrong)


def replay_queries(found: Iterable[Program]) -> int:
    """Compound queries too: comparisons that only they hold rest on their numbers."""
    asked = 0
    for seed, program in enumerate(found):
        kb = lnnkit.loads(to_text(program))
        for query, answers in zip(program.queries, kb.answers(), strict=True):
            for answer in list(answers)[:2]:
                text = formula_text(query, {name: answer.bindings[name] for name in answer.bindings})
                explanation = kb.explain(text)
                context = f"seed {seed}: {text}\n{to_text(program)}\n{explanation}"
                # a gain below 1e-12 is rounding and not recorded: at a cycle's end answers read it, proofs do not
                shown = pytest.approx((answer.lower, answer.upper), rel=1e-12, abs=1e-12)
                assert (explanation.lower, explanation.upper) == shown, context
                assert explanation.contested == answer.contested, context
                assert not explanation.verify(), f"{context}\n" + "\n".join(explanation.verify())
                asked += 1
    return asked


def formula_text(query: Formula, entities: dict[str, str]) -> str:
    """A query of the oracle about some entities, as text."""
    bound = replace_variables(query, entities)
    return to_text(Program([], queries=[bound])).split("query ", 1)[1].strip()


def replace_variables(part: Any, entities: dict[str, str]) -> Any:
    if isinstance(part, tuple) and len(part) == 2 and part[0] == "var":
        return ("const", entities.get(part[1])) if part[1] in entities else part
    return tuple(replace_variables(each, entities) for each in part) if isinstance(part, tuple) else part


@pytest.mark.parametrize("block", in_blocks(range(40), 10, plain=3))
def test_random_queries(block: range) -> None:
    modes = ("crisp", "fuzzy", "free")
    assert replay_queries(generate(n, 1 + n % 6, modes[n % 3], 0.5).program for n in block) > len(block)


@pytest.mark.parametrize("block", in_blocks(range(20), 10, plain=3))
def test_random_queries_without_numbers(block: range) -> None:
    found = (programs.generate(seed, 1 + seed % 6, MODES[seed % 3]).program for seed in block)
    assert replay_queries(found) > len(block)


@pytest.mark.parametrize("block", at_length(range(20, 220, 20), plain=0))
def test_random_queries_at_length(block: int) -> None:
    for generator in (generate, programs.generate):
        replay_queries(generator(seed, 1 + seed % 6, MODES[seed % 3]).program for seed in range(block, block + 20))


@pytest.mark.parametrize(
    "query",
    [
        "npu(a(x)){power: [0]} > 0 & P(x)",
        "exists X: npu(a(X)){power: [0]} > 0 & P(X)",
        "3 > 2 & P(x)",
        "~(3 > 2)",
        "nau(a(x), 3){weight: [0, 1]}",
        "nau(a(x), 3){weight: [0, 1]} + a(x)",
        "Q(x)",
    ],
)
def test_what_does_not_depend_on_any_number(query: str) -> None:
    text = "number a(e)\nfact a(x) = 2\nfact P(x)\nrule npu(a(X)){power: [0]} > 0 & P(X) -> Q(X)\n"
    kb = lnnkit.loads(text)
    explanation, answer = kb.explain(query), kb.ask(query)[0]
    assert (explanation.lower, explanation.upper) == (answer.lower, answer.upper)
    assert explanation.verify() == []


def test_an_atom_that_needs_no_contradiction_is_not_contested() -> None:
    text = "predicate Derived(p) closed\nfact Peer(bob)\nfact ~Peer(bob)\nfact Shut(bob)\n"
    kb = lnnkit.loads(text + "rule (Peer(X) | Shut(X)) -> Derived(X)\n")
    assert not kb.explain("Derived(bob)").contested
    assert kb.explain("Peer(bob)").contested
