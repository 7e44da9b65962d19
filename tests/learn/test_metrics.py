"""Scores against their definitions, worked out the slow way."""

from __future__ import annotations

import itertools
import math
import random

import pytest
import torch

import lnnkit
from lnnkit.learn.labels import areas, score


def drawn(seed: int) -> tuple[list[float], list[bool]]:
    rng = random.Random(seed)
    count = rng.randint(2, 30)
    return [rng.choice([0.0, 0.2, 0.5, rng.random(), 1.0]) for _ in range(count)], [
        rng.random() < 0.4 for _ in range(count)
    ]


@pytest.mark.parametrize("seed", range(60))
def test_areas(seed: int) -> None:
    truth, positive = drawn(seed)
    values, flags = torch.tensor(truth, dtype=torch.float64), torch.tensor(positive)
    pairs = [
        1.0 if a > b else 0.5 if a == b else 0.0
        for (a, p), (b, q) in itertools.product(zip(truth, positive, strict=True), repeat=2)
        if p and not q
    ]
    if not pairs:
        assert areas(values, flags) == (None, None)
        return
    auroc, aupr = areas(values, flags)
    assert auroc == pytest.approx(sum(pairs) / len(pairs))
    total, recall = 0.0, 0.0
    for cut in sorted(set(truth), reverse=True):
        taken = [p for t, p in zip(truth, positive, strict=True) if t >= cut]
        now = sum(taken) / sum(positive)
        total += (now - recall) * sum(taken) / len(taken)
        recall = now
    assert aupr == pytest.approx(total)


def test_scores_of_soft_labels() -> None:
    lower, upper = torch.tensor([0.6, 0.0, 0.1, 0.9]).double(), torch.tensor([1.0, 0.4, 0.9, 0.8]).double()
    label = torch.tensor([1.0, 0.0, 1.0, 0.7]).double()
    found = score((lower, upper), (label, label), (lower + upper) / 2, label)
    assert found.n == 4 and found.positives == 3 and found.contradictions == 1
    assert found.accuracy == 0.75  # [0.1, 0.9] is not above one half
    assert found.coverage == 0.75
    assert found.brier == pytest.approx((0.2**2 + 0.2**2 + 0.5**2 + 0.15**2) / 4)
    entropies = [-math.log(0.8), -math.log(0.8), -math.log(0.5), -0.7 * math.log(0.85) - 0.3 * math.log(0.15)]
    assert found.log_loss == pytest.approx(sum(entropies) / 4)
    assert found.calibration == pytest.approx((abs(1.0 + 0.7 - 0.8 - 0.85) + 0.2 + 0.5) / 4)
    ends = [0.4 + 0.0, 0.0 + 0.4, 0.9 + 0.1, 0.2 + 0.1]
    assert found.distance == pytest.approx(sum(ends) / 8)


def test_labels_that_are_met_are_right() -> None:
    """Nothing can tell the upper end of Poor, so labels count by their lower ends, as the answers do."""
    kb = lnnkit.loads(
        "fact Retired(anna)\nfact Retired(bob) = 0.6\nrule Retired(X) -> Poor(X) in [0.8, 1]\n"
        "label Poor(anna) in [0.8, 1]\nlabel Poor(bob) in [0.4, 1]\n"
    )
    found = kb.evaluate().predicates["Poor"]
    assert (found.accuracy, found.positives, found.distance) == (1.0, 1, pytest.approx(0.0))
    assert found.brier == pytest.approx(0.0)
