"""Classical verdicts against truth tables."""

from __future__ import annotations

import pytest

import lnnkit
from tests.blocks import in_blocks
from tests.programs import formula_text, to_text
from tests.prove.truth_tables import draw

pytest.importorskip("z3", reason="z3-solver is not installed")
ALL, PLAIN, BLOCK = 3000, 8, 150


@pytest.mark.parametrize("block", in_blocks(range(ALL), BLOCK, PLAIN))
def test_verdicts_are_those_of_truth_tables(block: range) -> None:
    for seed in block:
        case = draw(seed)
        text = to_text(case.program)
        try:
            kb = lnnkit.loads(text)
        except lnnkit.ProgramError as problem:
            if {each.code for each in problem.diagnostics} <= {"unsafe-variable", "negative-cycle"}:
                continue
            raise
        for question in case.program.queries:
            expected = case.verdict(question)
            found = kb.prove(formula_text(question), reading="classical")
            assert found.verdict == expected, f"seed {seed}\n{text}\n{formula_text(question)}: {expected}, not {found}"
