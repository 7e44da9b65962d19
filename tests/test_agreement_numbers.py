"""The engine's answers about numbers lie between those of exact and of closed sets of numbers (P5, P8)."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.agreement import disagreements_about_numbers
from tests.numeric_programs import MODES, generate
from tests.programs import to_text
from tests.test_agreement import answers_of

PLAIN, ALL = 120, 3000
BLOCK = 20


def compare(seeds: range) -> int:
    compared = 0
    for seed in seeds:
        generated = generate(seed, 1 + seed % 6, MODES[seed % 3])
        found = disagreements_about_numbers(generated.program, generated.once)
        if found is not None:
            compared += 1
            assert not found, f"seed {seed}:\n{to_text(generated.program)}\n" + "\n".join(found)
    return compared


@pytest.mark.parametrize("block", range(0, PLAIN, BLOCK))
def test_oracle(block: int) -> None:
    assert compare(range(block, block + BLOCK)) >= BLOCK - 4


# A truth that a register only comes near far below; an equality that is fully true; an end between two tolerances.
@pytest.mark.parametrize("seed", [377, 746, 898, 1109, 1339, 2717, 2957])
def test_what_was_off(seed: int) -> None:
    assert compare(range(seed, seed + 1)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("block", range(PLAIN, ALL, BLOCK))
def test_oracle_at_length(block: int) -> None:
    assert compare(range(block, block + BLOCK)) >= BLOCK - 5


@pytest.mark.parametrize("seed", range(5000, 5020))
def test_order_is_nothing(seed: int) -> None:
    """Bitwise, with contradictions or without."""
    program = generate(seed, 1 + seed % 6, MODES[seed % 3]).program
    expected = answers_of(to_text(program))
    shuffle = random.Random(seed)
    facts, statements = list(program.facts), list(program.statements)
    shuffle.shuffle(facts)
    shuffle.shuffle(statements)
    assert answers_of(to_text(replace(program, facts=facts, statements=statements))) == expected
