"""Where the programs of a soak come from. A case is a function of its name, ``KIND:SEED``."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tests import creeping, numeric_programs, planted, planted_numbers, programs
from tests.oracle import Program
from tests.soak.checks import (
    COMMON,
    Check,
    as_the_oracle,
    as_the_oracle_about_numbers,
    as_the_patient_oracle,
    keeps_numbers,
    keeps_world,
)


@dataclass(frozen=True)
class Case:
    """A program and the checks that it must pass, by their names."""

    name: str
    program: Program
    checks: Mapping[str, Check]


def _logic(seed: int) -> tuple[Program, dict[str, Check]]:
    draw = random.Random(seed)
    equal, ground, few = (draw.choice([0.0, 0.0, 0.0, 0.25]) for _ in range(3))
    generated = programs.generate(seed, draw.randint(1, 8), draw.choice(programs.MODES), equal, ground, few)
    return generated.program, {"as the oracle": as_the_oracle}


def _numbers(seed: int) -> tuple[Program, dict[str, Check]]:
    draw = random.Random(seed)
    related = draw.choice([0.0, 0.6])
    generated = numeric_programs.generate(seed, draw.randint(1, 6), draw.choice(numeric_programs.MODES), related)
    return generated.program, {"as the oracle": as_the_oracle_about_numbers}


def _creeping(seed: int) -> tuple[Program, dict[str, Check]]:
    return creeping.creeping(seed), {"as the oracle": as_the_patient_oracle}


def _planted(seed: int) -> tuple[Program, dict[str, Check]]:
    case = planted.plant(seed)
    return case.program, {"keeps the world": keeps_world(case.world)}


def _planted_numbers(seed: int) -> tuple[Program, dict[str, Check]]:
    """Without huge and tiny numbers, of which ``tests/test_planted_numbers.py`` lists wrong answers that are known."""
    case = planted_numbers.planted(seed, mild=True)
    return case.program, {"keeps the world": keeps_numbers(case.world)}


KINDS: dict[str, Callable[[int], tuple[Program, dict[str, Check]]]] = {
    "logic": _logic,
    "numbers": _numbers,
    "creeping": _creeping,
    "planted": _planted,
    "planted-numbers": _planted_numbers,
}
_SHARES = {"logic": 4, "numbers": 3, "creeping": 1, "planted": 2, "planted-numbers": 2}


def case(name: str) -> Case:
    """The case of a name. Raises ValueError where there is none."""
    kind, _, seed = name.partition(":")
    if kind not in KINDS or not seed.isdecimal():
        raise ValueError(f"a case is KIND:SEED, with a kind of {', '.join(KINDS)}; got {name!r}")
    program, checks = KINDS[kind](int(seed))
    return Case(name, program, checks | COMMON)


def names(seed: int) -> Iterator[str]:
    """The names of the cases of a soak, without an end."""
    draw = random.Random(seed)
    while True:
        yield f"{draw.choices([*_SHARES], [*_SHARES.values()])[0]}:{draw.randrange(2**32)}"
