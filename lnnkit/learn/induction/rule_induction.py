"""Induces a rule from a table of labelled rows: a disjunction of conjunctions of literals.

*Covering* (`covering`) gives an unweighted disjunction, which is taken if it is almost always right, or is right on
held-out rows more often than the weighted one. *Weighing* (`weighing.weighted_rules`) gives a weighted disjunction of
few terms, whose truth is linear in a score. If only one conjunction is allowed, it is the one that is right most often
(`best_conjunction`). Conjunctions are searched on some rows and with some thresholds; then the thresholds are moved to
the best of all cuts (`cut_refinement`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lnnkit.learn.induction.best_conjunction import as_rule, best_conjunctions
from lnnkit.learn.induction.covering import LONGEST, PURE, Literals, accuracy, cover, literals_of
from lnnkit.learn.induction.cut_refinement import refined
from lnnkit.learn.induction.hot_deck import Donors, expected
from lnnkit.learn.induction.stratified_splits import Part, folds, split
from lnnkit.learn.induction.table_literals import (
    Conjunction,
    Literal,
    TableColumn,
    coded_truths,
    compared_columns,
    holds,
    literals,
    missing,
    soft_literals,
    split_literals,
    truths,
)
from lnnkit.learn.induction.time_budget import Clock
from lnnkit.learn.induction.weighing.logistic_regression import sigmoid
from lnnkit.learn.induction.weighing.weighted_rules import Weighed, weighed

SPAN = 8.0  # the span of the score over which the truth goes from 0 to 1
GRID = SPAN / 100  # weights are multiples of this
_CELLS = 12_000_000  # greatest number of truths of literals in rows; fewer rows are used where there would be more
_LEAST = 10_000  # rows that are used however many literals there are
_PATHS = 80
_MANY = 10_000  # from this many rows on, one share is held out instead of each in turn
_SKETCH = 4000  # rows of a first trial
_LENGTHS = 3  # folds by which the length of a single conjunction is chosen
# Measured by `python -m benchmarks.induction_constants` on 800 rows of each table.
_HOPELESS = 0.9  # accuracy required in the first trial
_CLEAN = 0.99  # accuracy from which a plain rule is kept
_SLIPS = 0.5  # held-out rows that may be wrong even if these are few
_PRICES = (3.0, 1.0)  # of a false row, where there is noise


@dataclass(frozen=True, slots=True)
class Induced:
    """A rule: ``score = start + sum weight * conjunction``, true where it is above 0. Weights may be negative.
    ``plain`` rules are disjunctions of conjunctions without weights. ``unknown``: the truth of rows for which a plain
    rule is unknown; None: that of similar rows."""

    literals: tuple[Literal, ...]
    conjunctions: tuple[Conjunction, ...]
    weights: np.ndarray
    start: float
    plain: bool
    unknown: float | None = None

    def score(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) the score of rows. A conjunction with an unknown literal has its mean truth over the training rows."""
        known = truths(self.literals, columns)
        if self.plain and self.unknown is not None:
            return (self._certain(columns) - 0.5) * SPAN
        if self.plain:
            held = [holds(each, known) for each in self.conjunctions]
            return (np.max(held, axis=0) if held else np.zeros(len(known))) * SPAN - SPAN / 2
        total = np.full(len(known), self.start)
        for weight, each in zip(self.weights, self.conjunctions, strict=True):
            total += weight * holds(each, known)
        return total

    def _certain(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) the truth of a plain rule, ``unknown`` where it is not known."""
        rows = len(columns[0].values) if columns else 0
        unknown = {place: missing(columns[place]) for each in self.literals for place in each.columns}
        true, possible = np.zeros(rows, bool), np.zeros(rows, bool)
        for each in self.conjunctions:
            certain, left = np.ones(rows, bool), np.ones(rows, bool)
            for number, wanted in each:
                literal = self.literals[number]
                gaps = np.logical_or.reduce([unknown[place] for place in literal.columns])
                own = (literal.holds(columns) >= 0.5) == wanted
                certain &= own & ~gaps
                left &= own | gaps
            true |= certain
            possible |= left
        return np.where(true, 1.0, np.where(possible, self.unknown or 0.0, 0.0))

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
        if self.unknown is not None:
            return sigmoid(self.score(columns))
        return expected(lambda filled: sigmoid(self.score(filled)), columns, self._gaps(columns), donors)

    def _gaps(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) a mask of rows with a missing cell that the rule reads."""
        gaps = np.zeros(len(columns[0].values) if columns else 0, bool)
        for place in {at for each in self.literals for at in each.columns}:
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


@dataclass(frozen=True, slots=True)
class _Table:
    columns: Sequence[TableColumn]
    positive: np.ndarray
    weight: np.ndarray

    def at(self, rows: np.ndarray) -> _Table:
        kept = [each.of(each.values[rows]) for each in self.columns]
        return _Table(kept, self.positive[rows], self.weight[rows])

    def sketch(self) -> _Table:
        """Evenly spread rows, for a search whose thresholds are moved later."""
        return self.at(np.arange(0, len(self.positive), max(1, -(-len(self.positive) // _SKETCH))))

    def literals(self, found: Sequence[Literal]) -> Literals:
        return literals_of(found, self.columns, self.positive, self.weight)


def induce(
    columns: Sequence[TableColumn],
    positive: np.ndarray,
    weight: np.ndarray,
    seed: int,
    limits: Limits | None = None,
    clock: Clock | None = None,
) -> Induced:
    """A rule for the rows of ``columns`` that are ``positive`` (n,), each counting ``weight`` (n,)."""
    limits, clock = limits or Limits(), clock or Clock()
    rng = np.random.default_rng(seed)
    table = _Table(columns, positive, weight)
    if limits.conjunctions == 1 and limits.plain:
        clock.begins("searching for one conjunction")
        only = _single(table, limits.literals, rng)
        if only is not None:
            return only
    clock.begins("reading thresholds")
    crisp = literals(columns, positive, weight)
    soft = soft_literals(columns)
    most = max(_LEAST, _CELLS // max(1, len(crisp) + len(soft) + _PATHS))
    if len(positive) > most:
        table = table.at(np.sort(rng.permutation(len(positive))[:most]))
    held_back = split(table.positive, rng)
    clock.begins("searching for pure conjunctions")
    cut = list(dict.fromkeys([*crisp, *split_literals(table.columns, table.positive, table.weight)]))
    plain = _pure(table, cut, held_back, limits)
    if plain is not None:
        return _needed(plain)
    parts = [held_back] if len(table.positive) > _MANY else folds(table.positive, rng)
    every = (*crisp, *soft)
    clock.begins("searching for conjunctions among noise")
    price, wrong = _noisy(table, cut, parts, limits) if limits.plain else (0.0, None)
    known = coded_truths(every, table.columns)
    found = weighed(
        every, known, table.positive, table.weight, parts, rng, clock, limits.conjunctions, limits.literals, wrong
    )
    if found is None:
        return _needed(_covering(table, cut, price, limits))
    return _needed(_rounded(found, every, table.weight))


def _disjunction(table: _Table, found: Sequence[Literal], conjunctions: Sequence[Conjunction]) -> Induced:
    literals, parts = refined(found, conjunctions, table.columns, table.positive, table.weight)
    return Induced(literals, parts, np.ones(len(parts)), 0.0, plain=True)


def _pure(table: _Table, found: Sequence[Literal], held_back: Part, limits: Limits) -> Induced | None:
    """Conjunctions that are almost always right, if there are such."""
    train, held = (table.at(rows) for rows in held_back)
    least, asked = _HOPELESS, held.literals(found)
    for rows in (train.sketch(), train) if found else ():
        conjunctions = cover(rows.literals(found), PURE, limits.conjunctions, limits.literals)
        right, decided = accuracy(conjunctions, asked)
        if right < least:
            return None
        least = min(_CLEAN, 1 - _SLIPS / max(1.0, decided))
    whole = table.literals(found)
    conjunctions = cover(whole, PURE, limits.conjunctions, limits.literals)
    if accuracy(conjunctions, whole)[0] < _CLEAN:
        return None
    return _disjunction(table, found, conjunctions)


def _noisy(
    table: _Table, found: Sequence[Literal], parts: Sequence[Part], limits: Limits
) -> tuple[float, np.ndarray | None]:
    """The price at which conjunctions are wrong least on held-out rows, and the rows where they are, part by part."""
    weight = table.weight[np.concatenate([out for _, out in parts])]
    best: tuple[float, float, np.ndarray | None] = (np.inf, 0.0, None)
    for price in _PRICES if found else ():
        slips: list[np.ndarray] = []
        for inside, out in parts:
            held = table.at(out)
            slips.append((_covering(table.at(inside), found, price, limits).score(held.columns) > 0) != held.positive)
        wrong = np.concatenate(slips)
        best = min(best, (float(weight @ wrong), price, wrong), key=lambda each: each[:2])
    return best[1:]


def _covering(table: _Table, found: Sequence[Literal], price: float, limits: Limits) -> Induced:
    rows = table.sketch().literals(found)
    return _disjunction(table, found, cover(rows, price, limits.conjunctions, limits.literals))


def _single(table: _Table, longest: int | None, rng: np.random.Generator) -> Induced | None:
    """The conjunction that is right most often. Its length is ``longest`` at most; without that, the one that is right
    most often on held-out rows. None if it is no more accurate than the majority class."""
    lengths = min(longest or 2, 2)
    if longest is None or longest > 2:
        parts = folds(table.positive, rng)[:_LENGTHS]
        right = np.zeros(longest or LONGEST)
        for inside, out in parts:
            held = table.at(out)
            for place, rule in enumerate(_conjunctions(table.at(inside), len(right))):
                right[place] += held.weight @ ((rule.score(held.columns) > 0) == held.positive)
        lengths = int(right.argmax()) + 1
    best = _conjunctions(table, lengths)[-1]
    least = max(table.weight[table.positive].sum(), table.weight[~table.positive].sum())
    hits = (best.score(table.columns) > 0) == table.positive
    return _needed(best) if float(table.weight @ hits) > least + 1e-9 else None


def _conjunctions(table: _Table, longest: int) -> list[Induced]:
    """The best conjunction of at most 1, 2, ... literals; from three on of those that a beam search finds."""
    compared = compared_columns(table.columns, table.positive, table.weight)
    found: list[Induced] = []
    for each in best_conjunctions(table.columns, compared, table.positive, table.weight, longest):
        literals_, conjunction = as_rule(each, table.columns, compared)
        unknown = None if not conjunction else float(each.unknown)
        found.append(Induced(literals_, (conjunction,) if conjunction else (), np.ones(1), 0.0, True, unknown))
    if longest > 2:
        crisp = literals(table.columns, table.positive, table.weight)
        rows = table.sketch().literals(crisp)
        for length in range(3, longest + 1):
            longer = _disjunction(table, crisp, cover(rows, 1.0, 1, length))
            rules = (found[-1], replace(longer, unknown=0.0))
            right = [float(table.weight @ ((each.score(table.columns) > 0) == table.positive)) for each in rules]
            found.append(rules[int(right[1] > right[0] + 1e-9)])
    return found


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
