"""Programs with aggregates that hold in a world drawn first: no answer excludes it, and nothing contradicts itself."""

from __future__ import annotations

import pytest

import lnnkit
from tests.aggregates.aggregate_worlds import NoValue, planted, text
from tests.blocks import in_blocks


def exclusions(seed: int) -> list[str]:
    """Contradictions, and answers that exclude the world by more than rounding."""
    case = planted(seed)
    kb = lnnkit.loads(case.text)
    wrong = [f"contradiction: {contradiction}" for contradiction in kb.infer().contradictions]
    for formula, variables in case.asked:
        for answer in kb.ask(text(formula)):
            env = {variable: answer.bindings[variable] for variable in variables}
            try:
                numeric = formula[0] == "number"
                value = float((case.world.value if numeric else case.world.truth)(formula, env))
            except NoValue:
                continue
            room = 1e-9 * max(1.0, abs(value))
            if not answer.lower - room <= value <= answer.upper + room:
                wrong.append(f"{text(formula)} {env}: [{answer.lower}, {answer.upper}] excludes {value}")
    return wrong


@pytest.mark.parametrize("block", in_blocks(range(3000), 100, plain=2))
def test_no_answer_excludes_the_planted_world(block: range) -> None:
    for seed in block:
        assert exclusions(seed) == [], f"seed {seed}"
