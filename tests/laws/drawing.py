"""The programs that laws are tried on: those of the generators, some of them with all atoms asked for."""

from __future__ import annotations

import random
from dataclasses import replace

from tests import linked_comparisons, numeric_programs, programs
from tests.laws.rewriting import of_all_atoms
from tests.oracle import Program


def drawn(seed: int) -> Program:
    """Three in five without numbers; few of them contradict themselves, since most laws say nothing of such."""
    rng = random.Random(f"laws {seed}")
    kind, size = rng.choice(["logic", "logic", "logic", "numbers", "linked"]), rng.randint(1, 6)
    mode = rng.choice(["crisp", "crisp", "fuzzy", "fuzzy", "free"])
    if kind == "linked":
        program = linked_comparisons.generate(seed)
    elif kind == "numbers":
        program = numeric_programs.generate(seed, size, mode, rng.choice([0.0, 0.6])).program
    else:
        equal, ground, few, linked = (rng.choice([0.0, 0.0, 0.0, 0.25]) for _ in range(4))
        program = programs.generate(seed, size, mode, equal, ground, few, linked).program
    if rng.random() < 0.4:
        program = replace(program, queries=[*program.queries, *of_all_atoms(program)])
    return program
