"""Tables of thousands of rows are decided in columns, without a table of atoms: as the engine decides them.

A limit on rounds is the engine's alone, so a knowledge base with one says what the engine finds.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import lnnkit
from tests.rows.row_programs import generate, write

ROWS = 4_000  # of at least three tables: more facts than the engine takes by itself
LIMIT = 99_999


def both(seed: int, folder: Path, size: int = 5) -> tuple[lnnkit.KnowledgeBase, lnnkit.KnowledgeBase, bool]:
    program = generate(seed, size=size, rows=ROWS, reference=False)
    write(program, folder)
    kb, other = lnnkit.loads(program.text, folder), lnnkit.loads(program.text, folder)
    return kb, other, program.rounded


def differences(kb: lnnkit.KnowledgeBase, other: lnnkit.KnowledgeBase, *, rounded: bool) -> list[str]:
    outcome, expected = kb.infer(), other.infer(max_rounds=LIMIT)
    if expected.status != "converged":
        return []
    found = [] if (outcome.status, outcome.rounds) == ("converged", expected.rounds) else [f"{outcome}, {expected}"]
    if outcome.contradictions != expected.contradictions:
        found.append(f"{len(outcome.contradictions)} contradictions, {len(expected.contradictions)}")
    for query, mine, theirs in zip(kb.queries, kb.answers(), other.answers(), strict=True):
        keys = [each.bindings["X"] for each in mine], [each.bindings["X"] for each in theirs]
        if keys[0] != keys[1] or not np.array_equal(mine.contested, theirs.contested):
            found.append(f"{query}: {len(keys[0])} answers, {len(keys[1])}")
            continue
        for own, ends in zip((mine.lower, mine.upper), (theirs.lower, theirs.upper), strict=True):
            same = own == ends
            if rounded:
                same |= np.isclose(own, ends, rtol=1e-12, atol=1e-12)
            found += [f"{query}, {keys[0][row]}: {own[row]}, {ends[row]}" for row in np.flatnonzero(~same)[:3]]
    return found


@pytest.mark.parametrize("seed", [4, 9])
def test_columns_answer_as_the_engine(seed: int, tmp_path: Path) -> None:
    kb, other, rounded = both(seed, tmp_path)
    assert differences(kb, other, rounded=rounded) == []


@pytest.mark.slow
@pytest.mark.parametrize("block", range(6))
def test_many_programs(block: int, tmp_path: Path) -> None:
    for seed in range(100 * block, 100 * block + 15):
        folder = tmp_path / str(seed)
        folder.mkdir()
        kb, other, rounded = both(seed, folder, size=1 + seed % 4)
        assert differences(kb, other, rounded=rounded) == [], seed
