"""A rule from a table of labelled rows, where none is given: a disjunction of conjunctions of literals.

Two ways are tried, and told apart by rows held back. *Covering*: conjunctions are grown literal by literal, each to
cover true rows that none does yet (Fuernkranz, "Separate-and-conquer rule learning", 1999); the rule is a plain
disjunction. *Weighing*: the paths of boosted shallow trees and the literals themselves are candidates, and a logistic
regression under an absolute penalty chooses among them (Friedman and Popescu, "Predictive learning via rule ensembles",
2008); the rule is a weighted disjunction, whose truth is linear in the score. How many conjunctions there are is chosen
on the rows held back. Covering is kept where it is as good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lnnkit.learn.literals import Literal, TableColumn, literals, truths

Conjunction = tuple[tuple[int, bool], ...]  # literals by number, and whether each is to hold

_LONGEST = 6  # literals of a conjunction that covers
_TREES, _DEPTH, _STEP = 40, 3, 0.3
_POOL = 250  # conjunctions that are weighed at most
_PENALTIES = (0.3, 0.1, 0.05, 0.02, 0.01, 0.005, 0.0025, 0.001)  # of the least that leaves nothing
_ITERATIONS = 150
_HELD = 0.25  # of the rows
_SPAN = 8.0  # of the score: over this much of it truth goes from 0 to 1
_CLEAN = 0.995  # accuracy from which a plain rule is kept whatever the weighed one has


@dataclass(frozen=True, slots=True)
class Induced:
    """A rule: ``score = start + sum weight * conjunction``, true where it is above 0. Weights may be negative. ``plain``
    rules are disjunctions of conjunctions without weights."""

    literals: tuple[Literal, ...]
    conjunctions: tuple[Conjunction, ...]
    weights: np.ndarray
    start: float
    plain: bool

    def score(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) the score of rows. A conjunction of which a literal is unknown holds to the share of the training rows
        for which that does."""
        known = truths(self.literals, columns)
        if self.plain:
            held = [_holds(each, known) for each in self.conjunctions]
            return (np.max(held, axis=0) if held else np.zeros(len(known))) * 2.0 * _SPAN / 2 - _SPAN / 2
        total = np.full(len(known), self.start)
        for weight, each in zip(self.weights, self.conjunctions, strict=True):
            total += weight * _holds(each, known)
        return total


def induce(columns: Sequence[TableColumn], positive: np.ndarray, weight: np.ndarray, seed: int) -> Induced:
    """A rule for the rows of ``columns`` that are ``positive`` (n,), each counting ``weight`` (n,)."""
    found = literals(columns)
    known = truths(found, columns)
    rng = np.random.default_rng(seed)
    train, held = _split(positive, rng)
    covering = _cover(known[train], positive[train], weight[train])
    plain = Induced(tuple(found), tuple(covering), np.ones(len(covering)), 0.0, plain=True)
    right = _accuracy(_plain(covering, known[held]), positive[held], weight[held])
    again = tuple(_cover(known, positive, weight))
    whole = _accuracy(_plain(again, known), positive, weight)
    if right >= _CLEAN and whole >= _CLEAN:
        return _needed(replace(plain, conjunctions=again, weights=np.ones(len(again))))
    pool = _candidates(known[train], positive[train], weight[train], rng)
    best: tuple[float, float] | None = None
    for penalty, start, weights in _path(_design(pool, known[train]), positive[train], weight[train], _PENALTIES):
        z = start + _design(pool, known[held]) @ weights
        loss = float((weight[held] * np.logaddexp(0.0, np.where(positive[held], -z, z))).sum() / weight[held].sum())
        if best is None or loss < best[0]:
            best = loss, penalty
    assert best is not None
    pool = _candidates(known, positive, weight, rng)
    chosen = tuple(each for each in _PENALTIES if each >= best[1])
    *_, (_, start, weights) = _path(_design(pool, known), positive, weight, chosen)
    kept = np.flatnonzero(np.abs(weights) > 1e-4)
    return _needed(Induced(tuple(found), tuple(pool[k] for k in kept), weights[kept], start, plain=False))


def _needed(rule: Induced) -> Induced:
    """Without literals that no conjunction holds."""
    used = sorted({number for each in rule.conjunctions for number, _ in each})
    place = {number: at for at, number in enumerate(used)}
    renamed = tuple(tuple((place[number], holds) for number, holds in each) for each in rule.conjunctions)
    return replace(rule, literals=tuple(rule.literals[number] for number in used), conjunctions=renamed)


def _split(positive: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows held back, with the same share of true ones."""
    held = np.zeros(len(positive), bool)
    for kind in (True, False):
        mine = np.flatnonzero(positive == kind)
        held[rng.permutation(mine)[: round(_HELD * len(mine))]] = True
    if held.all() or not held.any():
        return np.arange(len(positive)), np.arange(len(positive))
    return np.flatnonzero(~held), np.flatnonzero(held)


def _holds(conjunction: Conjunction, known: np.ndarray) -> np.ndarray:
    result = np.ones(len(known), known.dtype)
    for number, holds in conjunction:
        result = result * (known[:, number] if holds else 1 - known[:, number])
    return result


def _plain(conjunctions: Sequence[Conjunction], known: np.ndarray) -> np.ndarray:
    covered = np.zeros(len(known), bool)
    for each in conjunctions:
        covered |= _holds(each, known) > 0.5
    return covered


def _accuracy(said: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> float:
    return float((weight * (said == positive)).sum() / weight.sum())


# --- covering -----------------------------------------------------------------------------------------------------------


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
    """One conjunction, by the gain in information that each literal brings (FOIL), then without what it can spare."""
    live = rest | ~positive
    chosen: list[int] = []
    while len(chosen) < _LONGEST:
        right, wrong = (weight * (live & rest)), (weight * (live & ~positive))
        p, n = right.sum(), wrong.sum()
        if n <= 0 or p <= 0:
            break
        held = both > 0.5
        ps, ns = right @ held, wrong @ held
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.where(ps > 0, ps * (np.log2(ps / (ps + ns)) - np.log2(p / (p + n))), -np.inf)
        best = int(gain.argmax())
        if gain[best] <= 1e-9:
            break
        chosen.append(best)
        live &= held[:, best]
    return _spared(chosen, both, rest, positive, weight)


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


# --- weighing -----------------------------------------------------------------------------------------------------------


def _candidates(
    known: np.ndarray, positive: np.ndarray, weight: np.ndarray, rng: np.random.Generator
) -> list[Conjunction]:
    """The literals, and the paths of boosted trees, those that lower the loss most first."""
    worth: dict[Conjunction, float] = {}
    score = np.zeros(len(known))
    for _ in range(_TREES):
        p = 1 / (1 + np.exp(-score))
        slope, curve = weight * (positive - p), weight * p * (1 - p)
        sample = rng.random(len(known)) < 0.7
        parts = _tree(known, slope * sample, curve * sample)
        for path, inside, gain in parts:
            if gain > 0:
                worth[path] = worth.get(path, 0.0) + gain
        for _, inside, gain in parts:
            if gain < 0:  # a leaf
                score[inside] += _STEP * slope[inside].sum() / (curve[inside].sum() + 1.0)
    ordered = sorted(worth, key=lambda path: (-worth[path], path))
    wide = [path for path in ordered if len(path) > 1][:_POOL]
    return [*(((number, True),) for number in range(known.shape[1])), *wide]


def _tree(known: np.ndarray, slope: np.ndarray, curve: np.ndarray) -> list[tuple[Conjunction, np.ndarray, float]]:
    """The paths of one tree with the rows inside and the gain of each; leaves come once more, with a gain of -1."""
    parts: list[tuple[Conjunction, np.ndarray, float]] = []
    level: list[tuple[Conjunction, np.ndarray]] = [((), np.arange(len(known)))]
    for depth in range(_DEPTH + 1):
        deeper: list[tuple[Conjunction, np.ndarray]] = []
        for path, inside in level:
            best = _best_cut(known, slope, curve, inside) if depth < _DEPTH else None
            if best is None:
                parts.append((path, inside, -1.0))
                continue
            number, gain = best
            holds = known[inside, number] > 0.5
            for side in (True, False):
                longer = tuple(sorted((*path, (number, side))))
                within = inside[holds] if side else inside[~holds]
                parts.append((longer, within, gain))
                deeper.append((longer, within))
        level = deeper
    return parts


def _best_cut(known: np.ndarray, slope: np.ndarray, curve: np.ndarray, inside: np.ndarray) -> tuple[int, float] | None:
    if len(inside) < 8:
        return None
    block, g, h = known[inside], slope[inside].astype(np.float32), curve[inside].astype(np.float32)
    gs, hs = g @ block, h @ block
    total_g, total_h = float(g.sum()), float(h.sum())
    gain = gs**2 / (hs + 1) + (total_g - gs) ** 2 / (total_h - hs + 1) - total_g**2 / (total_h + 1)
    least = 0.01 * total_h
    gain[(hs <= least) | (total_h - hs <= least)] = 0.0
    best = int(gain.argmax()) if len(gain) else 0
    return (best, float(gain[best])) if len(gain) and gain[best] > 1e-6 else None


def _design(pool: Sequence[Conjunction], known: np.ndarray) -> np.ndarray:
    """(n, m) what the rows say of conjunctions."""
    result = np.empty((len(known), len(pool)), np.float32)
    for place, each in enumerate(pool):
        result[:, place] = _holds(each, known)
    return result


def _path(
    design: np.ndarray, positive: np.ndarray, weight: np.ndarray, penalties: Sequence[float]
) -> list[tuple[float, float, np.ndarray]]:
    """Logistic regressions under an absolute penalty, each from the one before (accelerated proximal gradient, Beck and
    Teboulle 2009): (penalty, start, weights). Columns are penalised by their spread."""
    share = (weight / weight.sum()).astype(np.float32)
    mean = share @ design
    spread = np.sqrt(np.maximum(share @ design**2 - mean**2, 1e-6)).astype(np.float32)
    z = (design - mean) / spread
    target = positive.astype(np.float32)
    rate = float(np.clip(share @ target, 1e-6, 1 - 1e-6))
    start, weights = np.float32(np.log(rate / (1 - rate))), np.zeros(design.shape[1], np.float32)
    most = float(np.abs((share * (target - rate)) @ z).max()) if design.shape[1] else 1.0
    size = _curvature(z, share)
    found = []
    for penalty in penalties:
        b, momentum, t, other = weights, weights, 1.0, start
        for _ in range(_ITERATIONS):
            p = 1 / (1 + np.exp(-(other + z @ momentum)))
            miss = share * (p - target)
            stepped = momentum - (miss @ z) / size
            new = np.sign(stepped) * np.maximum(np.abs(stepped) - penalty * most / size, 0.0)
            other = other - miss.sum() * 4
            after = (1 + np.sqrt(1 + 4 * t * t)) / 2
            momentum = new + (t - 1) / after * (new - b)
            moved = float(np.abs(new - b).max()) if len(b) else 0.0
            b, t = new.astype(np.float32), after
            momentum = momentum.astype(np.float32)
            if moved < 1e-5:
                break
        weights, start = b, np.float32(other)
        plain = (b / spread).astype(np.float64)
        found.append((penalty, float(start - (plain * mean).sum()), plain))
    return found


def _curvature(z: np.ndarray, share: np.ndarray) -> float:
    """The greatest curvature of the loss along any direction, by the power method."""
    v = np.ones(z.shape[1], np.float32) / np.sqrt(max(1, z.shape[1]))
    for _ in range(15):
        v = (share * (z @ v)) @ z
        norm = float(np.linalg.norm(v))
        if norm == 0:
            return 1.0
        v = v / norm
    return 0.25 * norm * 1.05
