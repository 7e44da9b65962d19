"""Selects and weighs the terms of a weighted rule: as few terms as lose almost nothing on held-out rows.

Three sets of terms are tried, from simple to rich: one broad soft threshold for each number; all thresholds;
conjunctions of literals too. In each set, a regularised reference model uses all terms, and a few terms are chosen to
reproduce its predictions, which are less noisy than the labels (Piironen and Vehtari, "Comparison of Bayesian
predictive methods for model selection", 2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lnnkit.learn.induction.boosted_trees import tree_paths
from lnnkit.learn.induction.forward_selection import Sum, forward, without_idle
from lnnkit.learn.induction.logistic_regression import PENALTIES, Reference, log_losses
from lnnkit.learn.induction.stratified_splits import Part
from lnnkit.learn.induction.table_literals import Conjunction, Literal, holds

# Measured on crx, german and pima, three folds each: accuracy 0.775 with 11.8 terms a rule, standard error 0.008. No
# value below changes it beyond chance; what they set is the length of rules.
_CRISP = 10.0  # factor of the penalty for a crisp threshold of a graded number; 1: 13.1 terms, 100: 11.7 terms
_PATHS = 40  # number of boosted trees; 0 and 80 the same, 20: 0.777 with 13.2 terms
_TERMS = 40  # the same with 80; 20: 0.771 with 10.9 terms
_FEW = 10  # terms that are quick to read, if each is of a separate column; 1: 0.774, 20: 0.778 with 13.3 terms
_UNSAID = 0.003  # share of the best rule's gain on held-out rows that a shorter one may lose; 0.001: 0.776, 0.01: 0.775
_ERRORS = 0.5  # standard errors by which a simpler way may be worse; 0: 0.776 with 12.8 terms, 1: 0.777 with 12.3


@dataclass(frozen=True, slots=True)
class Weighed:
    """``start + sum weight * conjunction``, fitted to the logit of the reference's ``truth`` (n,). ``rows`` (n, m) has
    the truth of the conjunctions."""

    conjunctions: tuple[Conjunction, ...]
    weights: np.ndarray
    start: float
    rows: np.ndarray
    truth: np.ndarray


@dataclass(frozen=True, slots=True)
class _Terms:
    """Candidate conjunctions, their truth (n, m), and their share of the penalty (m,)."""

    conjunctions: tuple[Conjunction, ...]
    rows: np.ndarray
    costs: np.ndarray


def weighed(
    found: Sequence[Literal],
    known: np.ndarray,
    positive: np.ndarray,
    weight: np.ndarray,
    parts: Sequence[Part],
    rng: np.random.Generator,
    most: int | None = None,
    longest: int | None = None,
) -> Weighed:
    """The weighted rule over literals whose truths are ``known`` (n, m). ``parts`` are the held-out rows of each fold.
    It has at ``most`` this many terms, each of at most ``longest`` literals."""
    crisp = [number for number, each in enumerate(found) if each.scale is None]

    def paths(rows: np.ndarray) -> list[Conjunction]:
        grown = tree_paths(known[rows][:, crisp], positive[rows], weight[rows], rng)
        grown = [each for each in grown if longest is None or len(each) <= longest][:_PATHS]
        return [tuple((crisp[number], wanted) for number, wanted in each) for each in grown]

    broad, every = _broad(found), list(range(len(found)))
    none: list[list[Conjunction]] = [[] for _ in parts]
    ways = [(broad, none), (every, none), (every, [paths(inside) for inside, _ in parts])]
    tried = [
        _tried([_terms(found, known, numbers, each) for each in joined], positive, weight, parts)
        for numbers, joined in ways
    ]
    tried = [each if most is None else replace(each, losses=each.losses[: most + 1]) for each in tried]
    way, count = _simplest(tried, weight[np.concatenate([out for _, out in parts])])
    count = count if most is None else min(count, most)
    numbers, joined = ways[way]
    whole = np.arange(len(positive))
    terms = _terms(found, known, numbers, paths(whole) if joined is not none else [])
    truth = Reference(terms.rows, terms.costs, positive, weight, whole).truth(tried[way].penalty, whole)
    *_, chosen = forward(terms.rows, truth, weight, count)
    chosen = without_idle(chosen, terms.rows, truth, weight)
    conjunctions = tuple(terms.conjunctions[place] for place in chosen.columns)
    return Weighed(conjunctions, chosen.weights, chosen.start, terms.rows[:, list(chosen.columns)], truth)


def _broad(found: Sequence[Literal]) -> list[int]:
    """The literals without crisp or narrow thresholds of graded numbers."""
    broadest: dict[int, float] = {}
    for each in found:
        if each.scale is not None:
            broadest[each.column] = max(broadest.get(each.column, 0.0), each.scale)
    return [
        number
        for number, each in enumerate(found)
        if each.column not in broadest or each.scale == broadest[each.column]
    ]


def _terms(found: Sequence[Literal], known: np.ndarray, numbers: Sequence[int], paths: Sequence[Conjunction]) -> _Terms:
    graded = {each.column for each in found if each.scale is not None}
    costs = [_CRISP if found[n].scale is None and found[n].column in graded else 1.0 for n in numbers]
    wide = [holds(each, known)[:, None] for each in paths]
    return _Terms(
        (*(((number, True),) for number in numbers), *paths),
        np.concatenate([known[:, numbers], *wide], axis=1),
        np.array([*costs, *[1.0] * len(paths)]),
    )


@dataclass(frozen=True, slots=True)
class _Tried:
    """The best penalty of a reference, by its index, and the held-out rows that it misclassifies (n,); the losses
    (sizes, n) of rules with 0, 1, ... terms."""

    penalty: int
    wrong: np.ndarray
    losses: np.ndarray


def _tried(sets: Sequence[_Terms], positive: np.ndarray, weight: np.ndarray, parts: Sequence[Part]) -> _Tried:
    references = [
        Reference(terms.rows, terms.costs, positive, weight, inside)
        for terms, (inside, _) in zip(sets, parts, strict=True)
    ]
    lost = np.zeros(len(PENALTIES))
    for each, (_, out) in zip(references, parts, strict=True):
        lost += each.losses(out, positive[out]) @ weight[out]
    penalty = int(lost.argmin())
    wrong: list[np.ndarray] = []
    found: list[np.ndarray] = []
    for terms, reference, (inside, out) in zip(sets, references, parts, strict=True):
        wrong.append((reference.truth(penalty, out) > 0.5) != positive[out])
        sums: list[Sum] = list(forward(terms.rows[inside], reference.truth(penalty, inside), weight[inside], _TERMS))
        sums += [sums[-1]] * (_TERMS + 1 - len(sums))
        found.append(np.stack([log_losses(each.score(terms.rows[out]), positive[out]) for each in sums]))
    return _Tried(penalty, np.concatenate(wrong), np.concatenate(found, axis=1))


def _simplest(tried: Sequence[_Tried], weight: np.ndarray) -> tuple[int, int]:
    """The first set of terms that is no worse than the best one, and the fewest terms with nearly its gain. To be
    better, a set needs both a lower loss and fewer misclassified rows, since either alone may be chance; for a rule
    with fewer terms the loss alone counts."""
    way, least = 0, _least(tried[0], weight)
    for richer, each in enumerate(tried[1:], 1):
        own = _least(each, weight)
        pairs = ((tried[way].wrong.astype(float), each.wrong.astype(float)), (least, own))
        if not any(_no_worse(*pair, weight) for pair in pairs):
            way, least = richer, own
    lost = tried[way].losses @ weight
    size = int((lost <= lost.min() + _UNSAID * (lost[0] - lost.min())).argmax())
    return way, max(size, _FEW) if way == 0 else size


def _least(tried: _Tried, weight: np.ndarray) -> np.ndarray:
    """(n,) the losses at the best size."""
    return tried.losses[int((tried.losses @ weight).argmin())]


def _no_worse(losses: np.ndarray, others: np.ndarray, weight: np.ndarray) -> bool:
    """Whether the losses exceed the others by no more than chance: the standard error of the mean difference."""
    more = losses - others
    mean = float(weight @ more / weight.sum())
    return mean <= _ERRORS * float(np.sqrt((weight**2) @ (more - mean) ** 2)) / float(weight.sum())
