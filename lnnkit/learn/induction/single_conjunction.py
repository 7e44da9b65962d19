"""The one conjunction that is right most often: what a rule is where it may have one term (with one literal, a rule of
Holte, "Very simple classification rules perform well on most commonly used datasets", 1993)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lnnkit.learn.induction.stratified_splits import Part
from lnnkit.learn.induction.table_literals import Conjunction

_LONGEST = 6  # literals, as in covering
_BEAM = 10  # conjunctions that are made longer: the most often right, and as many of the purest
_SKETCH = 4000  # rows on which the length is chosen


def single(
    known: np.ndarray, positive: np.ndarray, weight: np.ndarray, parts: Sequence[Part], longest: int | None = None
) -> Conjunction | None:
    """The conjunction of literals whose truths are ``known`` (n, m), of at most ``longest`` of them: as long as does
    best on the rows held back in ``parts``. None where it is right no more often there than the commoner class."""
    longest = _LONGEST if longest is None else min(longest, _LONGEST)
    if not known.shape[1]:
        return None
    right, least = np.zeros(longest), 0.0
    for inside, out in parts:
        some = inside[:: max(1, len(inside) // _SKETCH)]
        held = weight[out]
        for length, each in enumerate(_best(known[some], positive[some], weight[some], longest)):
            right[length] += held @ (_covers(each, known[out]) == positive[out])
        least += max(held @ positive[out], held @ ~positive[out])
    length = int(right.argmax())
    if right[length] <= least:
        return None
    return _best(known, positive, weight, length + 1)[length]


def _covers(conjunction: Conjunction, known: np.ndarray) -> np.ndarray:
    """(n,) the rows of which all literals are known to hold."""
    covered = np.ones(len(known), bool)
    for number, wanted in conjunction:
        covered &= (known[:, number] if wanted else 1 - known[:, number]) >= 1
    return covered


def _best(known: np.ndarray, positive: np.ndarray, weight: np.ndarray, longest: int) -> list[Conjunction]:
    """For each length the conjunction of so many literals or fewer that is right of most rows, by beam search."""
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
                for place in order[:_BEAM].tolist():
                    if place not in chosen and covered[place] > 0:
                        longer[tuple(sorted((*chosen, place)))] = float(more[place]), float(purity[place])
        if not longer:
            break
        often = sorted(longer, key=lambda each: (-longer[each][0], each))
        pure = sorted(longer, key=lambda each: (-longer[each][1], -longer[each][0], each))
        best = max(best, (longer[often[0]][0], often[0]), key=lambda each: each[0])
        found.append(tuple((place % count, place < count) for place in best[1]))
        beam = [(each, held[:, list(each)].min(axis=1)) for each in dict.fromkeys((*often[:_BEAM], *pure[:_BEAM]))]
    return [*found, *[found[-1]] * (longest - len(found))] if found else [()] * longest
