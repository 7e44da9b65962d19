"""Recursion in Goedel logic, where a path is as wide as its narrowest edge: both ends of a closed predicate, and the
lower ends of an open one, are those of the widest paths, by Floyd and Warshall's loops."""

from __future__ import annotations

import itertools
import random

import pytest

import lnnkit
from tests.blocks import at_length
from tests.engine.every_round import watched

Ends = dict[tuple[str, str], tuple[float, float]]


def widest(names: list[str], edges: Ends) -> Ends:
    """For each pair the width of the widest path, by the lower and by the upper ends of its edges."""
    found = {pair: edges.get(pair, (0.0, 0.0)) for pair in itertools.product(names, names)}
    for middle, one, other in itertools.product(names, names, names):
        first, second = found[one, middle], found[middle, other]
        through = min(first[0], second[0]), min(first[1], second[1])
        found[one, other] = max(found[one, other][0], through[0]), max(found[one, other][1], through[1])
    return found


@pytest.mark.parametrize("kind", [" closed", ""])
@pytest.mark.parametrize("seed", at_length([*range(14)], plain=3))
def test_widest_paths(seed: int, kind: str) -> None:
    """Where a short path is possible and a long one sure, upper ends come before lower ones; or the other way round
    with narrow short ones. Facts about paths are kept."""
    rng = random.Random(seed)
    names = [f"n{place}" for place in range(rng.choice([4, 6, 8]))]
    bounds = [(1.0, 1.0), (0.0, 1.0), (0.5, 1.0), (0.25, 0.5), (0.75, 0.75), (0.25, 1.0)]
    edges: Ends = {(one, other): rng.choice(bounds[2:]) for one, other in itertools.pairwise(names)}
    edges |= {
        pair: rng.choice(bounds)
        for pair in itertools.product(names, names)
        if rng.random() < rng.choice([0.1, 0.2]) and pair not in edges
    }
    left = rng.random() < 0.5
    step = "Path(X, Y) & E(Y, Z)" if left else "E(X, Y) & Path(Y, Z)"
    lines = [f"fact E({one}, {other}) in [{low}, {high}]" for (one, other), (low, high) in edges.items()]
    text = "logic godel\npredicate E(n, n) closed\n" + f"predicate Path(n, n){kind}\n" + "\n".join(lines)
    kb = lnnkit.loads(f"{text}\nrule E(X, Y) -> Path(X, Y)\nrule {step} -> Path(X, Z)\nquery Path(X, Y)\n")
    with watched():
        kb.infer()
    answers = {(a.bindings["X"], a.bindings["Y"]): (a.lower, a.upper) for a in kb.answers()[0]}
    for pair, (low, high) in widest(names, edges).items():
        default = (0.0, 0.0) if kind else (0.0, 1.0)
        assert answers.get(pair, default) == (low, high if kind else 1.0)
