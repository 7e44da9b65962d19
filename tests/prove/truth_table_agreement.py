"""Classical verdicts of lnnkit against truth tables."""

from __future__ import annotations

from collections.abc import Iterable

import lnnkit
from tests.programs import formula_text, to_text
from tests.prove.truth_tables import draw


def agree(seeds: Iterable[int]) -> None:
    for seed in seeds:
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
