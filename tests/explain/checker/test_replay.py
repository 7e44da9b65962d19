"""Every explanation verifies: replayed from its leaves, by the program's text and the kernels alone."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import lnnkit
from benchmarks import lubm
from lnnkit.explain.proof.explanation import Explanation
from lnnkit.explain.proof.proof import Proof, Step
from tests.blocks import at_length, in_blocks
from tests.creeping import creeping
from tests.explain.proving import known_atoms, replay
from tests.programs import MODES, generate, to_text

EXAMPLES = sorted((Path(__file__).parents[3] / "kb_examples").glob("*/*.lnn"))
PLAIN, ALL, BLOCK = 3, 600, 12
SLOW = {15}  # two wide equivalences, whose compilation takes long


def replay_random(seeds: range, ground: float = 0.0) -> Counter[str]:
    found: Counter[str] = Counter()
    for seed in seeds:
        if seed in SLOW:
            continue
        text = to_text(generate(seed, 1 + seed % 6, MODES[seed % 3], ground=ground).program)
        kb = lnnkit.loads(text)
        reasons, wrong = replay(kb, known_atoms(kb))
        assert not wrong, f"seed {seed}:\n{text}\n" + "\n".join(wrong)
        found += reasons
    return found


@pytest.mark.parametrize("block", in_blocks(range(ALL), BLOCK, PLAIN))
def test_random_programs(block: range) -> None:
    assert replay_random(block)["statement"] > 3


@pytest.mark.parametrize("block", at_length(range(0, 120, BLOCK), plain=0))
def test_quantifiers_as_whole_formulas(block: int) -> None:
    replay_random(range(block, block + BLOCK), ground=0.3)


@pytest.mark.parametrize("seed", at_length([4, 20, 35], plain=0))
def test_cycles_that_creep(seed: int) -> None:
    kb = lnnkit.loads(to_text(creeping(seed)))
    _, wrong = replay(kb, known_atoms(kb))
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_a_cycle_is_replayed_round_by_round() -> None:
    kb = lnnkit.loads("fact A in [0.2, 1]\naxiom (A@0.99 -> B) in [0.999, 1]\naxiom (B@0.99 -> A) in [0.999, 1]\n")
    explanation = kb.explain("A")
    assert explanation.lower == pytest.approx(0.9)
    assert len(explanation.steps) > 1000
    assert explanation.verify() == []


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path: Path) -> None:
    kb = lnnkit.load(path)
    _, wrong = replay(kb, known_atoms(kb, 40))
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_lubm() -> None:
    """Every derived atom is quick to explain, and a sample of a thousand is replayed."""
    if not (lubm.DATA / "tbox.tsv").is_file():
        pytest.skip(f"no LUBM data in {lubm.DATA}; set LNNKIT_DATA")
    kb = lnnkit.loads(lubm.program(lubm.read(lubm.DATA / "tbox.tsv")), lubm.DATA)
    derived = sorted(lubm.true_atoms(kb) - set(lubm.read(lubm.DATA / "abox.tsv")))
    assert len(derived) == 3265
    seconds: list[float] = []
    for position, (subject, relation, value) in enumerate(derived):
        start = time.process_time()
        proof = kb._session.program_fixpoint().explainer.prover.prove(*_atom(subject, relation, value))
        seconds.append(time.process_time() - start)
        if position % 3 == 0:
            assert Explanation(proof, _world=lambda: kb._session.program_fixpoint().explainer.world).verify() == []
    assert sorted(seconds)[-10] < 0.05  # but for the pauses of the machine


def _atom(subject: str, relation: str, value: str) -> tuple[str, list[str]]:
    return (value, [subject]) if relation == "type" else (relation, [subject, value])


# --- the checker is not blind -----------------------------------------------------------------------------------------

TRIAGE = """
predicate Contact(person, person) closed
predicate Safe(person) closed
fact Contact(anna, bob)
fact Contact(bob, cleo)
fact Infected(anna)
rule spread: Infected(X) & Contact(X, Y) -> Infected(Y) in [0.8, 1]
rule Contact(X, Y) & ~Contact(Y, X) -> Safe(X)
"""


def spoiled(explanation: Explanation, draw: random.Random) -> Explanation:
    """The same with one step changed so that it no longer holds."""
    steps = list(explanation.steps)
    number = draw.choice([n for n, step in enumerate(steps) if step.reason in ("fact", "statement", "completed")])
    steps[number] = draw.choice([_bolder, _without_a_premise] if steps[number].premises else [_bolder])(steps[number])
    proof = Proof(explanation.atom, steps, explanation.proof.lower, explanation.proof.upper)
    return replace(explanation, proof=proof)


def _bolder(step: Step) -> Step:
    by = 0.01 if step.side == "lower" else -0.01
    return replace(step, bound=step.bound + by)


def _without_a_premise(step: Step) -> Step:
    return replace(step, premises=step.premises[1:])


@pytest.mark.parametrize("seed", at_length([*range(40)], plain=10))
def test_a_spoiled_proof_is_found_out(seed: int) -> None:
    kb = lnnkit.loads(TRIAGE)
    explanation = kb.explain(["Infected(cleo)", "Safe(cleo)", "Infected(bob)", "Safe(bob)"][seed % 4])
    assert explanation.verify() == []
    assert spoiled(explanation, random.Random(seed)).verify() != []


def test_a_fact_from_nowhere_is_found_out() -> None:
    one = lnnkit.loads(TRIAGE).explain("Infected(cleo)")
    text = TRIAGE.replace("fact Contact(bob, cleo)\n", "fact Contact(bob, anna)\nquery Infected(cleo)\n")
    other = lnnkit.loads(text).explain("Infected(cleo)")
    assert replace(one, _world=other._world).verify() != []


def test_a_circle_is_found_out() -> None:
    kb = lnnkit.loads("fact A in [0.4, 1]\naxiom A -> B\naxiom B -> A\n")
    explanation = kb.explain("B")
    (premise,) = explanation.steps[explanation.proof.lower].premises
    steps = list(explanation.steps)
    axiom = kb._checked.assertions[1]
    steps[premise.step] = replace(
        steps[explanation.proof.lower],
        conclusion=steps[premise.step].conclusion,
        statement=axiom,
        formula=axiom.formula,  # type: ignore[arg-type]
        premises=[replace(premise, step=explanation.proof.lower)],
    )
    circular = replace(explanation, proof=replace(explanation.proof, steps=steps))
    assert circular.verify() == ["steps rest on each other in a circle"]


# Rounds that gain as much again and again, one atom and then the other, until bounds meet.
STEADY = (
    "axiom A@0.999 -> B\naxiom B -> A@0.999\nfact A in [0.3, 1]\nquery A\nquery B\n",
    "axiom A@0.999 -> B\naxiom B@0.999 -> A in [0.999, 1]\nfact B in [0.28, 0.48]\nquery A\nquery B\n",
)


@pytest.mark.slow
@pytest.mark.parametrize("text", STEADY)
def test_cycles_that_gain_steadily_are_replayed(text: str) -> None:
    kb = lnnkit.loads(text)
    for atom in ("A", "B"):
        assert kb.explain(atom).verify() == []
