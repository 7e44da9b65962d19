"""Programs about dates that hold in a world drawn first: no answer excludes it, and nothing contradicts itself."""

from __future__ import annotations

import pytest

import lnnkit
from tests.blocks import in_blocks
from tests.dates.planted_dates import planted


def faults(seed: int, *, verify: bool = False) -> list[str]:
    """Contradictions, answers that exclude the world, and, if asked to ``verify``, what is wrong with the proofs."""
    case = planted(seed)
    kb = lnnkit.loads("\n".join(case.lines))
    wrong = [f"contradiction: {contradiction}" for contradiction in kb.infer().contradictions]
    for asked, value in (case.truths | case.values).items():
        for answer in kb.ask(asked):
            room = 1e-9 * max(1.0, abs(value))
            if not answer.lower - room <= value <= answer.upper + room:
                wrong.append(f"{asked}: [{answer.lower}, {answer.upper}] excludes {value}")
            wrong += kb.explain(asked).verify() if verify else []
    return wrong


@pytest.mark.parametrize("block", in_blocks(range(2000), 100, plain=1))
def test_no_answer_excludes_the_planted_world(block: range) -> None:
    for seed in block:
        assert faults(seed) == [], f"seed {seed}\n" + "\n".join(planted(seed).lines)


@pytest.mark.parametrize("block", in_blocks(range(2000, 2300), 20, plain=1))
def test_proofs_verify(block: range) -> None:
    for seed in block:
        assert faults(seed, verify=True) == [], f"seed {seed}\n" + "\n".join(planted(seed).lines)
