"""Smokers, friends and cancer: weights planted in the rules are recovered from what 1,000 people are seen to be.

The labels are what the planted program infers: lower ends of truth, exact or with noise."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import numpy as np

import lnnkit
from benchmarks.relations.outcome import Outcome

_PROGRAM = """\
predicate Friends(person, person) closed
predicate Exposed(person)
rule spread: Smokes(X)@{smokes} & Friends(X, Y) -> Smokes(Y) in [{spread}, 1]
rule cancer: (Smokes(X)@{tobacco} | Exposed(X)@{exposed}){{bias: {bias}}} -> Cancer(X)
"""
_PLANTED = {"smokes": 0.8, "spread": 0.9, "tobacco": 0.7, "exposed": 0.5, "bias": 1.1}
_STARTS = {"smokes": 1.0, "spread": 0.6, "tobacco": 1.0, "exposed": 1.0, "bias": 1.0}
_FRIENDS, _SMOKERS = 3, 0.3
_WITHIN = 0.05


def outcomes(people: int = 1000, seed: int = 0, epochs: int = 300) -> Iterator[Outcome]:
    rng = np.random.default_rng(seed)
    facts = _facts(people, rng)
    planted = _told({name: str(value) for name, value in _PLANTED.items()}, facts)
    seen = {
        name: (list(answers.columns[0]), np.asarray(answers.lower))
        for name, answers in ((each, planted.ask(f"{each}(X)")) for each in ("Smokes", "Cancer"))
    }
    for noise in (0.0, 0.05):
        kb = _told({name: f"?{name}={value}" for name, value in _STARTS.items()}, facts)
        for name, (who, lower) in seen.items():
            noisy = np.clip(lower + noise * rng.standard_normal(len(lower)), 0, 1)
            kb.label(name, {"person": who, "lower": noisy.tolist(), "upper": [1.0] * len(who)})
        began = time.process_time()
        values = kb.fit(epochs=epochs, seed=seed).values
        seconds = time.process_time() - began
        error = max(abs(values[name] - value) for name, value in _PLANTED.items())
        setting = f"{people:,} people, noise {noise:g}"
        yield Outcome(
            "smokers", setting, "greatest error", error, _WITHIN, "at most", error <= _WITHIN, seconds, kb.text
        )


def _facts(people: int, rng: np.random.Generator) -> dict[str, object]:
    names = [f"person{place}" for place in range(people)]
    pairs = rng.integers(0, people, (_FRIENDS * people, 2))
    smokers = [name for name in names if rng.random() < _SMOKERS]
    return {
        "Friends": [(names[one], names[other]) for one, other in pairs.tolist() if one != other],
        "Smokes": [
            (name, float(lower), 1.0) for name, lower in zip(smokers, rng.uniform(0.3, 1, people), strict=False)
        ],
        "Exposed": [(name, float(truth), float(truth)) for name, truth in zip(names, rng.random(people), strict=True)],
    }


def _told(values: Mapping[str, str], facts: Mapping[str, object]) -> lnnkit.KnowledgeBase:
    kb = lnnkit.loads(_PROGRAM.format(**values))
    for name, rows in facts.items():
        kb.tell(name, rows)
    return kb
