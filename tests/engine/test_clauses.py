"""Clauses in few passes against the general response, to the bit."""

from __future__ import annotations

import random

import numpy as np
import pytest

import lnnkit
from lnnkit.engine.response.respond import respond
from lnnkit.engine.response.rule_response import clause
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds, enter_lower, enter_upper

ENDS = (0.0, 1.0, 0.5, 1e-10, 1 - 1e-10, 1e-16, 1 - 2**-53, 0.3)


def shapes(rng: random.Random) -> list[RuleShape]:
    lines = [f"predicate P{i}(row)\nfact P{i}(a) = 0.5" for i in range(5)]
    for place in range(6):
        names = rng.sample(range(5), 4)
        atoms = [f"{rng.choice(['', '~'])}P{i}(X)@{rng.choice([1, 1, 1, 0.5, 1.7, 0])}" for i in names]
        inner = f"({atoms[2]} {rng.choice(['|', '&', '->'])} {atoms[3]}){{bias: {rng.choice([1, 1, 0.8])}}}"
        body = f"({atoms[0]} {rng.choice(['&', '|'])} {atoms[1]} & {inner})"
        head = f"{rng.choice(['', '~'])}D{place}(X)"
        text = (
            f"({body}@{rng.choice([1, 1, 0.7])} -> {head}@{rng.choice([1, 1, 2])}){{bias: {rng.choice([1, 1, 0.9])}}}"
        )
        lines.append(f"rule {text}{rng.choice(['', ' in [0.8, 1]'])}\nquery D{place}(X)")
    kb = lnnkit.loads("\n".join(lines) + "\n")
    return kb._session.program_fixpoint().fixpoint.grounding.shapes


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 40), marks=pytest.mark.slow)])
def test_clauses_say_the_same(seeds: range) -> None:
    met = 0
    for seed in seeds:
        rng = random.Random(seed)
        for shape in shapes(rng):
            rule = clause(shape)
            if rule is None:
                continue
            target, side = rule.target
            boxes = {target: Bounds(np.zeros(101), np.ones(101))}
            ends: dict[int, np.ndarray] = {}
            for leaf, own in rule.sides.items():
                pairs = [sorted(rng.choice([rng.random(), *ENDS]) for _ in range(2)) for _ in range(101)]
                boxes[leaf] = Bounds(*np.ascontiguousarray(np.array(pairs, np.float64).T))
                ends[leaf] = (enter_lower, enter_upper)[own](boxes[leaf][own])
            told = respond(shape, lambda leaf: boxes[leaf], (None,))  # noqa: B023
            news, values = rule.proposed(ends)
            assert not told.bad.any()
            assert np.array_equal(news, told.proposed[target, side][0])
            assert np.array_equal(values[news], told.proposed[target, side][1][news])
            met += 1
    assert met >= 2 * len(seeds)
