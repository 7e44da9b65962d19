"""Programs with aggregates that hold in a world drawn first: no answer excludes it, and nothing contradicts itself."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import lnnkit
from tests.aggregates.aggregate_worlds import Formula, NoValue, grounded, planted, text
from tests.blocks import in_blocks


def proof_faults(kb: lnnkit.KnowledgeBase, formula: Formula, env: Mapping[str, str]) -> list[str]:
    """What the checker finds wrong with the proof of an answer."""
    asked = text(grounded(formula, env))
    return [f"{asked}: {fault}" for fault in kb.explain(asked).verify()]


def exclusions(seed: int, *, prove: bool = False) -> list[str]:
    """Contradictions, and answers that exclude the world by more than rounding; if asked to ``prove``, also what is
    wrong with the proofs of the answers."""
    case = planted(seed)
    kb = lnnkit.loads(case.text)
    wrong = [f"contradiction: {contradiction}" for contradiction in kb.infer().contradictions]
    for formula, variables in case.asked:
        for answer in kb.ask(text(formula)):
            env = {variable: answer.bindings[variable] for variable in variables}
            wrong += proof_faults(kb, formula, env) if prove else []
            try:
                numeric = formula[0] == "number"
                value = float((case.world.value if numeric else case.world.truth)(formula, env))
            except NoValue:
                continue
            room = 1e-9 * max(1.0, abs(value))
            if not answer.lower - room <= value <= answer.upper + room:
                wrong.append(f"{text(formula)} {env}: [{answer.lower}, {answer.upper}] excludes {value}")
    return wrong


@pytest.mark.parametrize("block", in_blocks(range(3000), 100, plain=4))
def test_no_answer_excludes_the_planted_world(block: range) -> None:
    for seed in block:
        assert exclusions(seed) == [], f"seed {seed}"


@pytest.mark.parametrize("block", in_blocks(range(3000, 3400), 20, plain=1))
def test_proofs_verify(block: range) -> None:
    for seed in block:
        assert exclusions(seed, prove=True) == [], f"seed {seed}"
