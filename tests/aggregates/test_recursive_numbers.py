"""Closed numbers that rules derive, as shortest paths: worlds are drawn first, and no answer may exclude them."""

import math
import random

import pytest

import lnnkit
from tests.aggregates.candidate_worlds import Drawn

SEEDS = 40


def agree(low, value, high):
    return low - 1e-9 * max(1, abs(value)) <= value <= high + 1e-9 * max(1, abs(value))


def checked(seed):
    """Compare one program with its worlds; returns the number of worlds and of exact ends."""
    rng = random.Random(seed)
    drawn = Drawn(rng)
    kb = lnnkit.loads(drawn.text)
    outcome = kb.infer()
    answers = {
        (head, answer.bindings["X"]): (answer.lower, answer.upper)
        for head in drawn.heads
        for answer in kb.ask(f"{head}(X)")
    }
    lost = outcome.status == "drifting" or any(math.isinf(ends[drawn.kind == "max"]) for ends in answers.values())
    absent = (-math.inf, math.inf) if lost else (math.inf, -math.inf)  # an answer that is unknown is left out
    worlds, ends = 0, 0
    for _ in range(25):
        solved = drawn.solved(drawn.world(rng))
        if solved is None:
            assert lost, (seed, drawn.text)
            continue
        worlds += 1
        for key in ((head, name) for head in drawn.heads for name in drawn.names):
            low, high = answers.get(key, absent)
            if key in solved:
                assert agree(low, solved[key], high), (seed, drawn.text, key, solved[key], (low, high))
            else:
                none = key not in answers or (high == math.inf if drawn.kind == "min" else low == -math.inf)
                assert none, (seed, drawn.text, key, (low, high))
    best, worst = (drawn.solved(drawn.extreme(better)) for better in (True, False))
    if drawn.single and best is not None and worst is not None and outcome.status == "converged":
        assert answers.keys() == best.keys(), (seed, drawn.text)
        for key, (low, high) in answers.items():
            ends += 1
            exact = best[key], worst.get(key, math.inf if drawn.kind == "min" else -math.inf)
            for end, value in zip((low, high) if drawn.kind == "min" else (high, low), exact, strict=True):
                assert end == value or abs(end - value) <= 1e-9 * max(1, abs(value)), (seed, drawn.text, key, answers, exact)
    return worlds, ends


@pytest.mark.parametrize("first", range(0, 200, SEEDS))
def test_no_world_is_excluded(first):
    for seed in range(first, first + SEEDS):
        checked(seed)
