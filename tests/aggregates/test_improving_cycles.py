"""Closed numbers whose candidates improve around a cycle without end, by Bellman and Ford's passes: what a cycle
reaches is open on the side on which it improves, and all others are exact, however early cycles are looked for."""

from __future__ import annotations

import itertools
import math
import random

import pytest

import lnnkit
from lnnkit.engine import number_completion
from tests.blocks import at_length

PASSES, CHAIN = 60, 9
Values = dict[str, float]


def solved(edges: dict[tuple[str, str], int], starts: Values, kind: str) -> tuple[Values, set[str]]:
    """The best candidates after many passes, and which of them still improve."""
    better, found, moved = min if kind == "min" else max, dict(starts), set[str]()
    for turn in range(PASSES):
        new = dict(found)
        for (one, other), weight in edges.items():
            if one in found:
                new[other] = better(new.get(other, found[one] + weight), found[one] + weight)
        if 2 * turn > PASSES:
            moved |= {name for name, value in new.items() if value != found.get(name)}
        found = new
    return found, moved


@pytest.mark.parametrize("first", [1, 3, 128])
@pytest.mark.parametrize("seed", at_length([*range(10)], plain=3))
def test_what_cycles_reach(seed: int, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_completion, "_FIRST", first)
    rng = random.Random(seed)
    names, kind = [f"n{i}" for i in range(rng.choice([3, 5, 7]))], rng.choice(["min", "max"])
    weights = rng.choice([[-3, 1, 2, 4], [-1, -2, 3], [0, 1]])
    edges = {pair: rng.choice(weights) for pair in itertools.permutations(names, 2) if rng.random() < 1.2 / len(names)}
    edges |= {(f"m{i}", f"m{i + 1}"): 1 for i in range(CHAIN)}  # apart from any cycle, and reached late
    starts: Values = {name: float(rng.randrange(5)) for name in names if rng.random() < 0.4} | {"m0": 0.0}
    lines = [f"fact w({one}, {other}) = {weight}" for (one, other), weight in edges.items()]
    lines += [f"fact p({name}) = {value}" for name, value in starts.items()] + [f"fact K({name})" for name in names]
    rule = f"rule p(Y) = ({kind} X: p(X) + w(X, Y))\nquery p(X)\n"
    kb = lnnkit.loads("number w(n, n) closed\nnumber p(n) closed\n" + "\n".join(lines) + f"\n{rule}")
    outcome = kb.infer()
    values, improving = solved(edges, starts, kind)
    assert outcome.status == ("drifting" if improving else "converged")
    answers = {answer.bindings["X"]: (answer.lower, answer.upper) for answer in kb.answers()[0]}
    assert answers.keys() == values.keys()
    for name, (lower, upper) in answers.items():
        if name not in improving:
            assert lower == upper == values[name]
        elif kind == "min":
            assert lower == -math.inf and upper <= max(starts.values()) + max(edges.values()) * len(names)
        else:
            assert upper == math.inf and lower >= min(starts.values()) + min(0, *edges.values()) * len(names)
