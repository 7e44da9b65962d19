"""Induces a rule from a table of labelled rows: a disjunction of conjunctions of literals.

*Covering* gives an unweighted disjunction, which is taken if it is almost always right, or right on held-out rows more
often than the weighted one; *weighing* gives a weighted one of few terms, whose truth is linear in a score. If only one
conjunction is allowed, it is the one that is right most often. Conjunctions are searched with some thresholds, on a
sample of a long table; then the thresholds are moved to the best of all cuts (`refined`).

A conjunction is grown by beam search, to cover true rows that no earlier one covers (Fuernkranz, "Separate-and-conquer
rule learning", 1999); then each is grown again beside the others, as long as that helps (the optimisation of Cohen,
"Fast effective rule induction", 1995). A false row costs ``price`` true ones: at a high price conjunctions are pure, at
1 the disjunction is right most often, which suits noise. A conjunction covers the rows in which all its literals hold
and rejects those in which one fails; other rows, with missing cells, count as neither right nor wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from lnnkit.learn.induction.best_conjunction import best_conjunctions, refined
from lnnkit.learn.induction.induced_rule import Induced
from lnnkit.learn.induction.table_literals import (
    LabelledTable,
    TableLiteral,
    compared_columns,
    literals,
    soft_literals,
    split_literals,
)
from lnnkit.learn.induction.weighted_rules import RowSplit, weighed

# Measured by `python -m benchmarks.induction_constants` on 800 rows of each table.
LONGEST = 6  # greatest length of a conjunction: 3 and 12 change no accuracy
_MOST = 4 * LONGEST  # greatest number of conjunctions
_BEAM = 20  # beam width: 5 and 80 change no accuracy
PURE = 100.0  # the price of a false row for a disjunction that is to be right everywhere
_CHANCE = 3.0  # standard errors by which a conjunction must be better than nothing, where there is noise
_IDLE = 2.0  # those by which a literal must help
_AGAIN = 2  # times that each conjunction is grown again
_DECIDED = 0.25  # share of rows that a rule must cover


@dataclass(frozen=True, slots=True)
class LiteralRows:
    """Of ``count`` crisp literals where each holds, then where each fails: ``held`` (2 count, n), 0 or 1. What each row
    counts: ``true`` (n,) a positive one, ``false`` (n,) another. Numbers in single precision, for products."""

    held: np.ndarray
    true: np.ndarray
    false: np.ndarray

    @property
    def count(self) -> int:
        return len(self.held) // 2

    def covered(self, chosen: Sequence[int]) -> np.ndarray:
        """(n,) the rows where all of these literals hold."""
        return self.held[list(chosen)].min(axis=0)

    def possible(self, chosen: Sequence[int]) -> np.ndarray:
        """(n,) the rows where none of these literals fails."""
        opposite = [(place + self.count) % len(self.held) for place in chosen]
        return 1 - self.held[opposite].max(axis=0)

    def worth(self, mask: np.ndarray, price: float) -> float:
        """The true rows of a mask, less ``price`` times the false ones."""
        return float(self.true @ mask) - price * float(self.false @ mask)


def literals_of(literals: Sequence[TableLiteral], table: LabelledTable) -> LiteralRows:
    """The rows of a table where literals hold and fail."""
    held = np.empty((2 * len(literals), len(table.positive)), np.float32)
    for place, literal in enumerate(literals):
        for row, wanted in ((place, True), (place + len(literals), False)):
            held[row] = literal.certain(wanted, table.columns)
    weight = table.weight.astype(np.float32)
    return LiteralRows(held, weight * table.positive, weight * ~table.positive)


def cover(rows: LiteralRows, price: float, most: int | None = None, longest: int | None = None) -> list[list[int]]:
    """Conjunctions, as rows of ``held``, that together cover the true rows: at most ``most``, each at most so long."""
    most = _MOST if most is None else min(most, _MOST)
    longest = LONGEST if longest is None else min(longest, LONGEST)
    nothing = np.zeros_like(rows.true)
    conjunctions: list[list[int]] = []
    done = nothing
    while rows.count and len(conjunctions) < most:
        grown, worth = grow(rows, done, longest, price)
        if not grown or worth <= 0 or not _significant(rows, grown, done, worth, price):
            break
        conjunctions.append(grown)
        done = np.maximum(done, rows.possible(grown))
    for _ in range(_AGAIN if price < PURE else 0):
        before = [list(chosen) for chosen in conjunctions]
        for place in range(len(conjunctions)):
            others = [rows.covered(chosen) for at, chosen in enumerate(conjunctions) if at != place and chosen]
            rest = np.max([nothing, *others], axis=0)
            grown, worth = grow(rows, rest, longest, price)
            mask = rows.covered(conjunctions[place]) * (1 - rest) if conjunctions[place] else nothing
            old = rows.worth(mask, price)
            if worth > old and _significant(rows, grown, rest, worth, price):
                conjunctions[place] = grown
            elif old <= 0:
                conjunctions[place] = []
        if conjunctions == before:
            break
    return [sorted(chosen) for chosen in conjunctions if chosen]


def _significant(rows: LiteralRows, chosen: Sequence[int], done: np.ndarray, worth: float, price: float) -> bool:
    """Whether a conjunction is worth more than chance gives the best of many."""
    return price >= PURE or worth > _CHANCE * rows.worth(rows.covered(chosen) * (1 - done), -1.0) ** 0.5


def grow(rows: LiteralRows, done: np.ndarray, longest: int, price: float) -> tuple[list[int], float]:
    """The conjunction that is worth most beside the rows that are ``done``, and its worth: the true rows that it adds,
    less ``price`` times the false ones. The most informative prefixes are extended."""
    rows = replace(rows, true=rows.true * (1 - done), false=rows.false * (1 - done) if price < PURE else rows.false)
    beam: list[tuple[int, ...]] = [()]
    best: tuple[float, list[int]] = (0.0, [])
    for _ in range(longest):
        longer: dict[tuple[int, ...], float] = {}
        inside = np.stack([rows.covered(chosen) if chosen else np.ones_like(done) for chosen in beam], axis=1)
        narrowed = [(rows.held @ (inside * of[:, None])).T.astype(np.float64) for of in (rows.true, rows.false)]
        for chosen, p, n, ps, ns in zip(beam, rows.true @ inside, rows.false @ inside, *narrowed, strict=True):
            if p <= 0 or n <= 0:
                continue
            ps[list(chosen)] = 0.0
            with np.errstate(divide="ignore", invalid="ignore"):
                gain = np.where(ps > 0, ps * (np.log2(ps / (ps + ns)) - np.log2(float(p) / float(p + n))), -np.inf)
            worth = ps - price * ns
            for place in np.argsort(-gain, kind="stable")[:_BEAM].tolist():
                if gain[place] > 1e-9:
                    longer.setdefault(tuple(sorted((*chosen, place))), float(gain[place]))
            place = int(np.argmax(np.where(ps > 0, worth, -np.inf)))
            if worth[place] > best[0] + 1e-9:
                best = float(worth[place]), [*chosen, place]
        if not longer or (price >= PURE and best[1]):
            break
        beam = sorted(longer, key=lambda chosen: (-longer[chosen], chosen))[:_BEAM]
    return _spared(best, rows, price)


def _spared(best: tuple[float, list[int]], rows: LiteralRows, price: float) -> tuple[list[int], float]:
    """The conjunction without the literals that can be dropped at no loss, or at one that may be chance."""
    worth, chosen = best
    chance = 0.0 if price >= PURE else _IDLE
    for place in list(chosen):
        fewer = [other for other in chosen if other != place]
        if fewer:
            mask = rows.covered(fewer)
            less, more = rows.worth(mask, price), rows.worth(mask * (1 - rows.covered(chosen)), -1.0)
            if less >= worth - chance * more**0.5:
                chosen, worth = fewer, less
    return chosen, worth


def accuracy(conjunctions: Sequence[Sequence[int]], rows: LiteralRows) -> tuple[float, float]:
    """The accuracy of the disjunction on the rows where it is known, and their weight; 0 if they are too few."""
    nothing = np.zeros_like(rows.true)
    covered = np.max([nothing, *map(rows.covered, conjunctions)], axis=0)
    possible = np.max([nothing, *map(rows.possible, conjunctions)], axis=0)
    decided, every = rows.worth(np.maximum(covered, 1 - possible), -1.0), rows.worth(nothing + 1, -1.0)
    if decided < _DECIDED * every or decided <= 0:
        return 0.0, decided
    return float(rows.true @ covered + rows.false @ ((1 - covered) * (1 - possible))) / decided, decided


_CELLS = 12_000_000  # greatest number of truths of literals in rows; fewer rows are used where there would be more
_LEAST = 10_000  # rows that are used however many literals there are
_PATHS = 80
_SKETCH = 4000  # rows of a search whose thresholds are moved later
_MANY = 10_000  # from this many rows on, one share is held out instead of each in turn
_LENGTHS = 3  # folds by which the length of a single conjunction is chosen
_FOLDS = 5
_HELD = 0.25  # cross-validation with this many folds, or a quarter held out, gave the accuracies of README's ten tables
# Measured by `python -m benchmarks.induction_constants` on 800 rows of each table.
_HOPELESS = 0.9  # accuracy required in the first trial
_CLEAN = 0.99  # accuracy from which a plain rule is kept
_SLIPS = 0.5  # held-out rows that may be wrong even if these are few
_PRICES = (3.0, 1.0)  # of a false row, where there is noise


@dataclass
class Clock:
    """Wall-clock time for steps of growing cost: the next begins if as much time is left as the last one took."""

    seconds: float | None = None
    tell: Callable[[str], None] = lambda step: None
    _started: float = field(default_factory=time.monotonic)
    _last: float = field(default_factory=time.monotonic)

    def begins(self, step: str) -> bool:
        """Tell of the next step; whether there is time for it. There always is for the first."""
        now = time.monotonic()
        took, self._last = now - self._last, now
        if self.seconds is not None and now + took > self._started + self.seconds:
            return False
        self.tell(step)
        return True


@dataclass(frozen=True, slots=True)
class Limits:
    """The greatest number of conjunctions, and of literals in each; None: no limit. A single conjunction is ``plain``
    if that is more accurate than the majority class: a weight would only express confidence."""

    conjunctions: int | None = None
    literals: int | None = None
    plain: bool = True


def induce(table: LabelledTable, seed: int, limits: Limits | None = None, clock: Clock | None = None) -> Induced:
    """A rule for the positive rows of a table."""
    limits, clock = limits or Limits(), clock or Clock()
    rng = np.random.default_rng(seed)
    if limits.conjunctions == 1 and limits.plain:
        clock.begins("searching for one conjunction")
        only = _single(table, limits.literals, rng)
        if only is not None:
            return only
    clock.begins("reading thresholds")
    crisp, soft = literals(table), soft_literals(table.columns)
    table = table.sample(max(_LEAST, _CELLS // (len(crisp) + len(soft) + _PATHS)))
    (held_back,) = folds(table.positive, rng, once=True)
    clock.begins("searching for pure conjunctions")
    cut = list(dict.fromkeys([*crisp, *split_literals(table)]))
    plain = _pure(table, cut, held_back, limits)
    if plain is not None:
        return plain
    parts = [held_back] if len(table.positive) > _MANY else folds(table.positive, rng)
    clock.begins("searching for conjunctions among noise")
    price, wrong = _noisy(table, cut, parts, limits) if limits.plain else (0.0, None)
    rule = weighed((*crisp, *soft), table, parts, rng, clock.begins, limits.conjunctions, limits.literals, wrong)
    return _covering(table, cut, price, limits) if rule is None else rule


def _disjunction(table: LabelledTable, crisp: Sequence[TableLiteral], chosen: Sequence[Sequence[int]]) -> Induced:
    """The disjunction of the conjunctions that `cover` has chosen, with its thresholds moved."""
    count = len(crisp)
    conjunctions = [tuple((crisp[place % count], place < count) for place in places) for places in chosen]
    parts = refined(conjunctions, table)
    return Induced(parts, np.ones(len(parts)), 0.0, plain=True)


def _pure(table: LabelledTable, crisp: Sequence[TableLiteral], held_back: RowSplit, limits: Limits) -> Induced | None:
    """Conjunctions that are almost always right, if there are such."""
    train, held = map(table.at, held_back)
    least, asked = _HOPELESS, literals_of(crisp, held)
    for rows in (train.sample(_SKETCH), train) if crisp else ():
        conjunctions = cover(literals_of(crisp, rows), PURE, limits.conjunctions, limits.literals)
        right, decided = accuracy(conjunctions, asked)
        if right < least:
            return None
        least = min(_CLEAN, 1 - _SLIPS / max(1.0, decided))
    whole = literals_of(crisp, table)
    conjunctions = cover(whole, PURE, limits.conjunctions, limits.literals)
    if accuracy(conjunctions, whole)[0] < _CLEAN:
        return None
    return _disjunction(table, crisp, conjunctions)


def _noisy(
    table: LabelledTable, crisp: Sequence[TableLiteral], parts: Sequence[RowSplit], limits: Limits
) -> tuple[float, np.ndarray | None]:
    """The price at which conjunctions are wrong least on held-out rows, and the rows where they are, part by part."""
    weight = table.weight[np.concatenate([out for _, out in parts])]
    best: tuple[float, float, np.ndarray | None] = (np.inf, 0.0, None)
    for price in _PRICES if crisp else ():
        slips: list[np.ndarray] = []
        for inside, out in parts:
            held = table.at(out)
            slips.append((_covering(table.at(inside), crisp, price, limits).score(held.columns) > 0) != held.positive)
        wrong = np.concatenate(slips)
        best = min(best, (float(weight @ wrong), price, wrong), key=lambda trial: trial[:2])
    return best[1:]


def _covering(table: LabelledTable, crisp: Sequence[TableLiteral], price: float, limits: Limits) -> Induced:
    rows = literals_of(crisp, table.sample(_SKETCH))
    return _disjunction(table, crisp, cover(rows, price, limits.conjunctions, limits.literals))


def _single(table: LabelledTable, longest: int | None, rng: np.random.Generator) -> Induced | None:
    """The conjunction that is right most often. Its length is ``longest`` at most; without that, the one that is right
    most often on held-out rows. None if it is no more accurate than the majority class."""
    lengths = min(longest or 2, 2)
    if longest is None or longest > 2:
        right = np.zeros(longest or LONGEST)
        for inside, out in folds(table.positive, rng)[:_LENGTHS]:
            held = table.at(out)
            for place, rule in enumerate(_conjunctions(table.at(inside), len(right))):
                right[place] += held.right(rule.score(held.columns) > 0)
        lengths = int(right.argmax()) + 1
    best = _conjunctions(table, lengths)[-1]
    least = max(table.weight[table.positive].sum(), table.weight[~table.positive].sum())
    return best if table.right(best.score(table.columns) > 0) > least + 1e-9 else None


def _conjunctions(table: LabelledTable, longest: int) -> list[Induced]:
    """The best conjunction of at most 1, 2, ... literals; from three on that of a beam search, or the shorter one if it
    is right as often."""
    compared = compared_columns(table)
    best: list[Induced] = []
    for conjunction in best_conjunctions(table, compared, longest):
        parts = (conjunction.cuts,) if conjunction.cuts else ()
        best.append(Induced(parts, np.ones(len(parts)), start=0.0, plain=True, unknown=float(conjunction.unknown)))
    if longest > 2:
        crisp = literals(table)
        rows = literals_of(crisp, table.sample(_SKETCH))
        for length in range(3, longest + 1):
            longer = _disjunction(table, crisp, cover(rows, 1.0, 1, length))
            rules = (best[-1], replace(longer, unknown=0.0))
            right = [table.right(rule.score(table.columns) > 0) for rule in rules]
            best.append(rules[int(right[1] > right[0] + 1e-9)])
    return best


def folds(positive: np.ndarray, rng: np.random.Generator, *, once: bool = False) -> list[RowSplit]:
    """The rows inside and outside of each fold, or, ``once``, training rows and held-out rows. Fewer folds for a class
    of few rows; all rows on both sides if a class has no row to spare."""
    every, rarer, seed = np.arange(len(positive)), int(min(positive.sum(), (~positive).sum())), int(rng.integers(2**31))
    if rarer < 2 or len(positive) < 4:
        return [(every, every)]
    splitter = StratifiedKFold(min(_FOLDS, rarer), shuffle=True, random_state=seed)
    if once:
        splitter = StratifiedShuffleSplit(1, test_size=max(_HELD, 2 / len(positive)), random_state=seed)
    return [(np.sort(inside), np.sort(out)) for inside, out in splitter.split(every, positive)]
