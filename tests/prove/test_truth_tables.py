"""Classical verdicts against truth tables."""

from __future__ import annotations

import pytest

from tests.blocks import in_blocks
from tests.prove.truth_table_agreement import agree

pytest.importorskip("z3", reason="z3-solver is not installed")
ALL, PLAIN, BLOCK = 3000, 3, 150


@pytest.mark.parametrize("block", in_blocks(range(ALL), BLOCK, PLAIN))
def test_verdicts_are_those_of_truth_tables(block: range) -> None:
    agree(block)
