"""Programs whose facts and labels follow a law that fitting is to find."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

Row = Mapping[str, float]
Draw = Callable[[random.Random], float]


def whole(low: int, high: int) -> Draw:
    return lambda rng: rng.randint(low, high)


def real(low: float, high: float) -> Draw:
    return lambda rng: round(rng.uniform(low, high), 3)


def rows(columns: Mapping[str, Draw], count: int, seed: int) -> list[Row]:
    rng = random.Random(seed)
    return [{name: draw(rng) for name, draw in columns.items()} for _ in range(count)]


def facts(some: list[Row], missing: float = 0.0, seed: int = 0) -> str:
    """A number for each column, a fact for each cell but a share that is missing."""
    rng = random.Random(seed)
    lines = [f"number {name}(item)" for name in some[0]]
    for place, row in enumerate(some):
        lines += [f"fact {name}(i{place}) = {value!r}" for name, value in row.items() if rng.random() >= missing]
    return "\n".join(lines) + "\n"


def truths(some: list[Row], law: Callable[[Row], bool], noise: float = 0.0, seed: int = 0) -> str:
    """Labels of ``P`` by a law, a share of them turned round."""
    rng = random.Random(seed)
    said = [law(row) != (rng.random() < noise) for row in some]
    return "".join(f"label {'' if each else '~'}P(i{place})\n" for place, each in enumerate(said))


def values(some: list[Row], law: Callable[[Row], float], noise: float = 0.0, seed: int = 0) -> str:
    """Labels of the number ``total`` by a law, with relative noise."""
    rng = random.Random(seed)
    said = [law(row) * (1 + noise * rng.gauss(0, 1)) for row in some]
    return "number total(item)\n" + "".join(f"label total(i{n}) = {each!r}\n" for n, each in enumerate(said))
