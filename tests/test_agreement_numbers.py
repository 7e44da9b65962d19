"""The engine's answers about numbers lie between those of exact and of closed sets of numbers (P5, P8)."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.agreement import answers_of, disagreements_about_numbers
from tests.blocks import all_but, at_length, in_blocks
from tests.numeric_programs import MODES, generate
from tests.programs import to_text

PLAIN, ALL, BLOCK = 3, 3000, 20


def compare(seeds: range, related: float = 0.0) -> int:
    compared = 0
    for seed in seeds:
        generated = generate(seed, 1 + seed % 6, MODES[seed % 3], related)
        found = disagreements_about_numbers(generated.program, generated.once)
        if found is not None:
            compared += 1
            assert not found, f"seed {seed}:\n{to_text(generated.program)}\n" + "\n".join(found)
    return compared


@pytest.mark.parametrize("block", in_blocks(range(ALL), BLOCK, PLAIN))
def test_oracle(block: range) -> None:
    assert compare(block) >= all_but(0.25, block)


@pytest.mark.parametrize("block", in_blocks(range(100_000, 101_500), BLOCK, plain=2))
def test_oracle_where_terms_are_compared_again(block: range) -> None:
    assert compare(block, related=0.6) >= all_but(0.25, block)


# A truth that a register only comes near far below; an equality that is fully true; an end between two tolerances; an
# inequality that is fully true, and its numbers to the last digits.
@pytest.mark.parametrize("seed", at_length([377, 746, 898, 1109, 1339, 2717, 2957, 1777, 1995, 3155], plain=4))
def test_deviations_are_reported(seed: int) -> None:
    assert compare(range(seed, seed + 1)) == 1


@pytest.mark.parametrize("seed", at_length(range(5000, 5030), plain=2))
def test_order_is_nothing(seed: int) -> None:
    """Bitwise, with contradictions or without."""
    program = generate(seed, 1 + seed % 6, MODES[seed % 3], 0.6 * (seed >= 5020)).program
    expected = answers_of(to_text(program))
    shuffle = random.Random(seed)
    facts, statements = list(program.facts), list(program.statements)
    shuffle.shuffle(facts)
    shuffle.shuffle(statements)
    assert answers_of(to_text(replace(program, facts=facts, statements=statements))) == expected
