"""Induces a rule from a table of labelled rows: a disjunction of conjunctions of literals.

Two methods are tried. *Covering* (`lnnkit.learn.induction.covering`) gives an unweighted disjunction, which is taken if
it is almost always right. *Weighing* (`lnnkit.learn.induction.weighted_rules`) gives a weighted disjunction of few
terms, whose truth is linear in a score. If only one conjunction is allowed, it is the most accurate one
(`covering.single`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lnnkit.learn.induction.covering import covering, single
from lnnkit.learn.induction.hot_deck import Donors, expected, missing
from lnnkit.learn.induction.logistic_regression import sigmoid
from lnnkit.learn.induction.stratified_splits import folds, split
from lnnkit.learn.induction.table_literals import (
    Conjunction,
    Literal,
    TableColumn,
    holds,
    literals,
    soft_literals,
    truths,
)
from lnnkit.learn.induction.weighted_rules import Weighed, weighed

SPAN = 8.0  # the span of the score over which the truth goes from 0 to 1
GRID = SPAN / 100  # weights are multiples of this
_MOST = 50_000  # greatest number of rows used
_MANY = 20_000  # from this many rows on, one share is held out instead of each in turn


@dataclass(frozen=True, slots=True)
class Induced:
    """A rule: ``score = start + sum weight * conjunction``, true where it is above 0. Weights may be negative.
    ``plain`` rules are disjunctions of conjunctions without weights."""

    literals: tuple[Literal, ...]
    conjunctions: tuple[Conjunction, ...]
    weights: np.ndarray
    start: float
    plain: bool

    def score(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) the score of rows. A conjunction with an unknown literal has its mean truth over the training rows."""
        known = truths(self.literals, columns, np.float64)
        if self.plain:
            held = [holds(each, known) for each in self.conjunctions]
            return (np.max(held, axis=0) if held else np.zeros(len(known))) * SPAN - SPAN / 2
        total = np.full(len(known), self.start)
        for weight, each in zip(self.weights, self.conjunctions, strict=True):
            total += weight * holds(each, known)
        return total

    @property
    def span(self) -> float:
        """The span of the score over which the truth goes from 0 to 1 in the rule as written, whose bias is not
        negative."""
        return max(SPAN, 2 * (self.start + float(self.weights[self.weights < 0].sum())))

    def truth(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) the truth of rows under the rule as written (`lnnkit.learn.induction.rule_statements`)."""
        return np.clip(0.5 + self.score(columns) / self.span, 0.0, 1.0)

    def expected_truth(self, columns: Sequence[TableColumn], donors: Donors) -> np.ndarray:
        """(n,) the truth of rows; if a cell that the rule reads is missing, the truth at the expected log-odds
        (`expected`). The mean of truths, which saturate at 0 and 1, was half a point less accurate on heloc."""
        found, gaps = self.truth(columns), self._gaps(columns)
        if gaps.any():
            likely = self.expected([each.of(each.values[gaps]) for each in columns], donors)
            odds = np.log(likely) - np.log(np.maximum(1 - likely, 1e-300))
            found[gaps] = np.clip(0.5 + odds / self.span, 0.0, 1.0)
        return found

    def expected(self, columns: Sequence[TableColumn], donors: Donors) -> np.ndarray:
        """(n,) the probability that rows are true, the sigmoid of the score. If a cell that the rule reads is missing,
        the mean over the donors that fill it."""
        return expected(lambda filled: sigmoid(self.score(filled)), columns, self._gaps(columns), donors)

    def _gaps(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) a mask of rows with a missing cell that the rule reads."""
        gaps = np.zeros(len(columns[0].values) if columns else 0, bool)
        for place in {each.column for each in self.literals}:
            gaps |= missing(columns[place])
        return gaps


@dataclass(frozen=True, slots=True)
class Limits:
    """The size limits of a rule: the number of conjunctions, and of literals in a conjunction; None: no limit. With a
    single conjunction the rule is ``plain`` if that is more accurate than the majority class: a weight would only
    express confidence."""

    conjunctions: int | None = None
    literals: int | None = None
    plain: bool = True


def induce(
    columns: Sequence[TableColumn], positive: np.ndarray, weight: np.ndarray, seed: int, limits: Limits | None = None
) -> Induced:
    """A rule for the rows of ``columns`` that are ``positive`` (n,), each counting ``weight`` (n,)."""
    limits = limits or Limits()
    rng = np.random.default_rng(seed)
    if len(positive) > _MOST:
        some = np.sort(rng.permutation(len(positive))[:_MOST])
        columns = [each.of(each.values[some]) for each in columns]
        positive, weight = positive[some], weight[some]
    crisp = literals(columns)
    known = truths(crisp, columns)
    held_back = split(positive, rng)
    plain = covering(known, positive, weight, held_back, limits.conjunctions, limits.literals)
    if plain is not None:
        return _needed(Induced(tuple(crisp), plain, np.ones(len(plain)), 0.0, plain=True))
    parts = [held_back] if len(positive) > _MANY else folds(positive, rng)
    if limits.conjunctions == 1 and limits.plain:
        only = single(known, positive, weight, parts, limits.literals)
        if only:
            return _needed(Induced(tuple(crisp), (only,), np.ones(1), 0.0, plain=True))
    every = (*crisp, *soft_literals(columns))
    known = np.concatenate([known, truths(every[len(crisp) :], columns)], axis=1)
    return _needed(
        _rounded(
            weighed(every, known, positive, weight, parts, rng, limits.conjunctions, limits.literals), every, weight
        )
    )


def _rounded(found: Weighed, every: tuple[Literal, ...], weight: np.ndarray) -> Induced:
    """The rule with its weights rounded to the grid, and its start set so that it is true as often as the reference."""
    weights = np.round(found.weights / GRID) * GRID
    score = found.rows @ weights
    start = found.start
    for _ in range(20):
        true = sigmoid(start + score)
        step = float(weight @ (found.truth - true) / max(weight @ (true * (1 - true)), 1e-9))
        start += float(np.clip(step, -1.0, 1.0))
    kept = [place for place in range(len(weights)) if weights[place]]
    conjunctions = tuple(found.conjunctions[place] for place in kept)
    return Induced(every, conjunctions, weights[kept], float(np.round(start / GRID) * GRID), plain=False)


def _needed(rule: Induced) -> Induced:
    """The rule without literals that no conjunction contains."""
    used = sorted({number for each in rule.conjunctions for number, _ in each})
    place = {number: at for at, number in enumerate(used)}
    renamed = tuple(tuple((place[number], wanted) for number, wanted in each) for each in rule.conjunctions)
    return replace(rule, literals=tuple(rule.literals[number] for number in used), conjunctions=renamed)
