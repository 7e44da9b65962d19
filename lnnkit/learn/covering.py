"""Plain rules from a table: disjunctions of conjunctions that are all but always right.

Conjunctions are grown literal by literal, each to cover true rows that none does yet (Fuernkranz, "Separate-and-conquer
rule learning", 1999). The rule is kept where it is right on rows held back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lnnkit.learn.literals import Conjunction, holds

_LONGEST = 6  # literals of a conjunction
_BEAM = 20
_SKETCH = 2000  # rows on which covering is tried first
_HOPELESS = 0.9  # accuracy there
_CLEAN = 0.99  # accuracy from which a plain rule is kept
_SLIPS = 0.5  # rows held back that may be wrong, where there are few


def covering(
    known: np.ndarray, positive: np.ndarray, weight: np.ndarray, parts: tuple[np.ndarray, np.ndarray]
) -> tuple[Conjunction, ...] | None:
    """The conjunctions that cover the true rows, if a plain rule does well on rows held back."""
    train, held = parts
    least = _HOPELESS
    if not known.shape[1]:
        return None
    for rows in (train[:: max(1, len(train) // _SKETCH)], train):
        found = _cover(known[rows], positive[rows], weight[rows])
        if _accuracy(_plain(found, known[held]), positive[held], weight[held]) < least:
            return None
        least = min(_CLEAN, 1 - _SLIPS / len(held))
    again = tuple(_cover(known, positive, weight))
    return again if _accuracy(_plain(again, known), positive, weight) >= _CLEAN else None


def _plain(conjunctions: Sequence[Conjunction], known: np.ndarray) -> np.ndarray:
    covered = np.zeros(len(known), bool)
    for each in conjunctions:
        covered |= holds(each, known) > 0.5
    return covered


def _accuracy(said: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> float:
    return float((weight * (said == positive)).sum() / weight.sum())


def _cover(known: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> list[Conjunction]:
    """Conjunctions that between them cover the true rows, each as good as it can be made, best first."""
    both = np.concatenate([known, 1 - known], axis=1)  # literals, then their negations
    count = known.shape[1]
    rest, found = positive.copy(), []
    while rest.any() and len(found) < 4 * _LONGEST:
        conjunction = _grown(both, rest, positive, weight)
        covered = np.ones(len(known), bool)
        for place in conjunction:
            covered &= both[:, place] > 0.5
        right, wrong = weight[covered & rest].sum(), weight[covered & ~positive].sum()
        if not conjunction or right <= 2 * wrong or right <= 0:
            break
        found.append(tuple((place % count, place < count) for place in sorted(conjunction)))
        rest &= ~covered
    return found


def _grown(both: np.ndarray, rest: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> list[int]:
    """One conjunction: the shortest that covers no false row, and of those the one that covers most; of its beginnings
    the most informative are tried further. Where there is none, the purest."""
    right, wrong = weight * rest, weight * ~positive
    held = (both > 0.5).astype(np.float32)
    beam: list[tuple[list[int], np.ndarray]] = [([], np.ones(len(both), np.float32))]
    best: tuple[float, float, list[int]] = (0.0, 0.0, [])
    for _ in range(_LONGEST):
        longer: dict[tuple[int, ...], tuple[float, list[int]]] = {}
        for chosen, inside in beam:
            ps, ns = (right * inside) @ held, (wrong * inside) @ held
            ps[chosen] = 0.0
            p, n = float((right * inside).sum()), float((wrong * inside).sum())
            if p <= 0 or n <= 0:
                continue
            with np.errstate(divide="ignore", invalid="ignore"):
                gain = np.where(ps > 0, ps * (np.log2(ps / (ps + ns)) - np.log2(p / (p + n))), -np.inf)
                purity = np.where(ps > 0, ps / (ps + ns), 0.0)
            for place in np.argsort(-gain, kind="stable")[:_BEAM].tolist():
                if gain[place] > 1e-9:
                    longer.setdefault(tuple(sorted((*chosen, place))), (float(gain[place]), [*chosen, place]))
            place = int(np.lexsort((-ps, -purity))[0])
            best = max(best, (float(purity[place]), float(ps[place]), [*chosen, place]), key=lambda each: each[:2])
        if best[0] >= 1.0 or not longer:
            break
        ordered = sorted(longer.values(), key=lambda each: (-each[0], each[1]))[:_BEAM]
        beam = [(chosen, held[:, chosen].min(axis=1)) for _, chosen in ordered]
    return _spared(best[2], both, rest, positive, weight)


def _spared(
    chosen: list[int], both: np.ndarray, rest: np.ndarray, positive: np.ndarray, weight: np.ndarray
) -> list[int]:
    """Without the literals that leave it as pure."""

    def worth(some: list[int]) -> tuple[float, float]:
        covered = (both[:, some] > 0.5).all(1)
        right, wrong = weight[covered & rest].sum(), weight[covered & ~positive].sum()
        return right / (right + wrong) if right + wrong > 0 else 0.0, right

    for place in list(chosen):
        fewer = [each for each in chosen if each != place]
        if fewer and worth(fewer) >= worth(chosen):
            chosen = fewer
    return chosen
