"""Every law, over generated programs of all kinds (see `laws` and `drawing`)."""

from __future__ import annotations

import pytest

from tests.blocks import in_blocks
from tests.laws.drawing import drawn
from tests.laws.laws import LAWS
from tests.programs import to_text

# The least share of programs of which a law says something, so that none says nothing for long.
SHARES = {"heads apart": 0.05, "logics alike": 0.05, "rule by rule": 0.1, "tightened": 0.25, "told later": 0.2}


@pytest.mark.parametrize("block", in_blocks(range(1200), 60, plain=2))
@pytest.mark.parametrize("law", LAWS)
def test_law(law: str, block: range) -> None:
    said = 0
    for seed in block:
        wrong = LAWS[law](drawn(seed))
        said += wrong is not None
        assert not wrong, f"{law}, seed {seed}:\n{to_text(drawn(seed))}\n" + "\n".join(wrong)
    assert said >= SHARES.get(law, 0.5) * len(block) or len(block) < 10
