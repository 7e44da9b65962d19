"""Separate-and-conquer rule learning: a disjunction of conjunctions that are almost always right.

A conjunction is grown literal by literal, to cover true rows that no earlier one covers (Fuernkranz,
"Separate-and-conquer rule learning", 1999). The rule is accepted if it is accurate on held-out rows. A literal of a
missing cell is unknown: a conjunction covers the rows in which all its literals hold and rejects those in which one
fails; in other rows it is unknown and counts neither as right nor as wrong.

If only one conjunction is allowed, the most accurate one is taken. With one literal that is the 1R rule of Holte, "Very
simple classification rules perform well on most commonly used datasets", 1993.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lnnkit.learn.induction.stratified_splits import Part
from lnnkit.learn.induction.table_literals import Conjunction, holds

# Measured by `python -m benchmarks.induction_constants` on 800 rows of each table.
_LONGEST = 6  # greatest length of a conjunction: 3 and 12 change no accuracy
_MOST = 4 * _LONGEST  # greatest number of conjunctions
_BEAM = 20  # beam width: 5 and 80 change no accuracy; 80 takes 10.4 CPU s for all tables, 5 takes 6.1
_SKETCH = 2000  # rows of a first trial; 100 costs 0.036 of the accuracy on tictactoe
_HOPELESS = 0.9  # accuracy required there
_CLEAN = 0.99  # accuracy from which a plain rule is kept
_SLIPS = 0.5  # held-out rows that may be wrong even if these are few
_DECIDED = 0.25  # share of rows that a rule must cover
# Not measured: limits of work.
_WIDTH = 10  # for a single conjunction: the most accurate prefixes extended, and as many of the purest
_ROWS = 4000  # rows on which the length of a single conjunction is chosen


def covering(
    known: np.ndarray,
    positive: np.ndarray,
    weight: np.ndarray,
    parts: tuple[np.ndarray, np.ndarray],
    most: int | None = None,
    longest: int | None = None,
) -> tuple[Conjunction, ...] | None:
    """The conjunctions that cover the true rows, at ``most`` this many, each of at most ``longest`` literals; None if
    the rule is not accurate on held-out rows."""
    most = _MOST if most is None else min(most, _MOST)
    longest = _LONGEST if longest is None else min(longest, _LONGEST)
    train, held = parts
    least = _HOPELESS
    if not known.shape[1]:
        return None
    for rows in (train[:: max(1, len(train) // _SKETCH)], train):
        found = _cover(known[rows], positive[rows], weight[rows], most, longest)
        accuracy, decided = _accuracy(found, known[held], positive[held], weight[held])
        if accuracy < least:
            return None
        least = min(_CLEAN, 1 - _SLIPS / max(1, decided))
    again = tuple(_cover(known, positive, weight, most, longest))
    return again if _accuracy(again, known, positive, weight)[0] >= _CLEAN else None


def _accuracy(
    conjunctions: Sequence[Conjunction], known: np.ndarray, positive: np.ndarray, weight: np.ndarray
) -> tuple[float, int]:
    """The accuracy of the disjunction on the rows where it is known; 0 if these are too few."""
    covered, possible = np.zeros(len(known), bool), np.zeros(len(known), bool)
    for each in conjunctions:
        truth = holds(each, known)
        covered |= truth >= 1
        possible |= truth > 0
    decided = covered | ~possible
    count = int(decided.sum())
    if count < _DECIDED * len(known):
        return 0.0, count
    return float((weight * (covered == positive))[decided].sum() / weight[decided].sum()), count


def _cover(known: np.ndarray, positive: np.ndarray, weight: np.ndarray, most: int, longest: int) -> list[Conjunction]:
    """Conjunctions that together cover the true rows, greedily, best first."""
    both = np.concatenate([known, 1 - known], axis=1)  # literals, then their negations
    count = known.shape[1]
    rest, found = positive.copy(), []
    while rest.any() and len(found) < most:
        conjunction = _grown(both, rest, positive, weight, longest)
        own = both[:, conjunction]
        covered, possible = (own >= 1).all(axis=1), (own > 0).all(axis=1)
        right, wrong = weight[covered & rest].sum(), weight[covered & ~positive].sum()
        if not conjunction or right <= 2 * wrong or right <= 0:
            break
        found.append(tuple((place % count, place < count) for place in sorted(conjunction)))
        rest &= ~possible
    return found


def _grown(both: np.ndarray, rest: np.ndarray, positive: np.ndarray, weight: np.ndarray, longest: int) -> list[int]:
    """One conjunction by beam search: among those that cover no false row, the shortest, and among these the one with
    the greatest coverage. The most informative prefixes are extended. If every conjunction covers false rows, the
    purest."""
    right, wrong = weight * rest, weight * ~positive
    held = (both >= 1).astype(np.float32)
    beam: list[tuple[list[int], np.ndarray]] = [([], np.ones(len(both), np.float32))]
    best: tuple[float, float, list[int]] = (0.0, 0.0, [])
    for _ in range(longest):
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
    """The conjunction without the literals that can be dropped at no loss of purity."""

    def worth(some: list[int]) -> tuple[float, float]:
        covered = (both[:, some] >= 1).all(1)
        right, wrong = weight[covered & rest].sum(), weight[covered & ~positive].sum()
        return right / (right + wrong) if right + wrong > 0 else 0.0, right

    for place in list(chosen):
        fewer = [each for each in chosen if each != place]
        if fewer and worth(fewer) >= worth(chosen):
            chosen = fewer
    return chosen


def single(
    known: np.ndarray, positive: np.ndarray, weight: np.ndarray, parts: Sequence[Part], longest: int | None = None
) -> Conjunction | None:
    """The most accurate conjunction of the literals whose truths are ``known`` (n, m), with at most ``longest``
    literals; its length is chosen on the rows held out in ``parts``. None if it is no more accurate there than the
    majority class."""
    longest = _LONGEST if longest is None else min(longest, _LONGEST)
    if not known.shape[1]:
        return None
    right, least = np.zeros(longest), 0.0
    for inside, out in parts:
        some = inside[:: max(1, len(inside) // _ROWS)]
        held = weight[out]
        for length, each in enumerate(_most_often_right(known[some], positive[some], weight[some], longest)):
            right[length] += held @ (_certain(each, known[out]) == positive[out])
        least += max(held @ positive[out], held @ ~positive[out])
    length = int(right.argmax())
    if right[length] <= least:
        return None
    return _most_often_right(known, positive, weight, length + 1)[length]


def _certain(conjunction: Conjunction, known: np.ndarray) -> np.ndarray:
    """(n,) a mask of the rows in which all literals are known to hold."""
    covered = np.ones(len(known), bool)
    for number, wanted in conjunction:
        covered &= (known[:, number] if wanted else 1 - known[:, number]) >= 1
    return covered


def _most_often_right(known: np.ndarray, positive: np.ndarray, weight: np.ndarray, longest: int) -> list[Conjunction]:
    """The most accurate conjunction of at most k literals, for each length k, by beam search."""
    held = np.concatenate([known >= 1, known <= 0], axis=1).astype(np.float32)  # literals, then their negations
    count, signed = known.shape[1], np.where(positive, weight, -weight).astype(np.float32)
    total = weight.astype(np.float32)
    beam: list[tuple[tuple[int, ...], np.ndarray]] = [((), np.ones(len(known), np.float32))]
    best: tuple[float, tuple[int, ...]] = (-np.inf, ())
    found: list[Conjunction] = []
    for _ in range(longest):
        longer: dict[tuple[int, ...], tuple[float, float]] = {}
        for chosen, inside in beam:
            more, covered = (signed * inside) @ held, (total * inside) @ held
            purity = np.where(covered > 0, more / np.maximum(covered, 1e-9), -2.0)
            for order in (np.argsort(-more, kind="stable"), np.lexsort((-covered, -purity))):
                for place in order[:_WIDTH].tolist():
                    if place not in chosen and covered[place] > 0:
                        longer[tuple(sorted((*chosen, place)))] = float(more[place]), float(purity[place])
        if not longer:
            break
        often = sorted(longer, key=lambda each: (-longer[each][0], each))
        pure = sorted(longer, key=lambda each: (-longer[each][1], -longer[each][0], each))
        best = max(best, (longer[often[0]][0], often[0]), key=lambda each: each[0])
        found.append(tuple((place % count, place < count) for place in best[1]))
        beam = [(each, held[:, list(each)].min(axis=1)) for each in dict.fromkeys((*often[:_WIDTH], *pure[:_WIDTH]))]
    return [*found, *[found[-1]] * (longest - len(found))] if found else [()] * longest
