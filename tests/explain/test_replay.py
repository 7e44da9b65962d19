"""Every explanation verifies: replayed from its leaves, by the program's text and the kernels alone."""

from __future__ import annotations

import pytest

import lnnkit
from tests.explain.proving import atom_texts, replay
from tests.programs import MODES, generate, to_text
from tests.test_examples import EXAMPLES


@pytest.mark.parametrize("block", range(0, 60, 6))
def test_random_programs(block: int) -> None:
    for seed in range(block, block + 6):
        text = to_text(generate(seed, 1 + seed % 6, MODES[seed % 3]).program)
        kb = lnnkit.loads(text)
        _, wrong = replay(kb, list(atom_texts(kb)))
        assert not wrong, f"seed {seed}:\n{text}\n" + "\n".join(wrong)
