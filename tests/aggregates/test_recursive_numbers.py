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
    head, limit = rng.choice(drawn.heads), rng.randint(0, 6)
    nearness = "\n".join(f"rule {head}(X) < {limit} -> Near(X)" for head in [head])
    kb = lnnkit.loads(f"{drawn.text}\npredicate Near(n) closed\n{nearness}\n")
    outcome = kb.infer()
    answers = {
        (head, answer.bindings["X"]): (answer.lower, answer.upper)
        for head in drawn.heads
        for answer in kb.ask(f"{head}(X)")
    }
    lost = outcome.status == "drifting" or any(math.isinf(ends[drawn.kind == "max"]) for ends in answers.values())
    lost |= any("1 /" in term for _, _, term, _ in drawn.rules)
    absent = (-math.inf, math.inf) if lost else (math.inf, -math.inf)  # an answer that is unknown is left out
    asked = {
        f"{head}(a) > {limit}": lambda found: None if "a" not in found else float(found["a"] > limit),
        f"sum X: {head}(X)": lambda found: sum(found.values()),
        f"max X: {head}(X)": lambda found: max(found.values(), default=None),
        f"min X: {head}(X) where Named(X)": lambda found: min(found.values(), default=None),
        f"count X: Named(X) & {head}(X) <= {limit}": lambda found: len([1 for v in found.values() if v <= limit]),
        "Near(a)": lambda found: float(found["a"] < limit) if "a" in found else None,
    }
    queried = {query: (answer.lower, answer.upper) for query in asked for answer in kb.ask(query)}
    worlds, ends = 0, 0
    for _ in range(25):
        solved = drawn.solved(drawn.world(rng))
        if solved is None:
            assert lost, (seed, drawn.text)
            continue
        worlds += 1
        found = {name: value for (one, name), value in solved.items() if one == head}
        for query, made in asked.items():
            value = made(found)
            if value is not None and (query[:5] != "count" or len(found) == len(drawn.names)):
                assert agree(queried[query][0], value, queried[query][1]), (seed, drawn.text, query, value, queried)
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
                assert end == value or abs(end - value) <= 1e-9 * max(1, abs(value)), (
                    seed,
                    drawn.text,
                    key,
                    answers,
                    exact,
                )
    return worlds, ends


@pytest.mark.parametrize("first", range(0, 200, SEEDS))
def test_no_world_is_excluded(first):
    for seed in range(first, first + SEEDS):
        checked(seed)
