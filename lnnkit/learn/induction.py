"""A rule from a table of labelled rows, where none is given: a disjunction of conjunctions of literals.

Two ways are tried. *Covering*: conjunctions are grown literal by literal, each to cover true rows that none does yet
(Fuernkranz, "Separate-and-conquer rule learning", 1999); the rule is a plain disjunction, and is kept where it is all
but always right. *Weighing*: the rule is a weighted disjunction, whose truth is linear in a score. Its weights are
those of a logistic regression under a squared penalty, over the literals, one staircase of literals for each number (so
that what is linear in a number costs no more than in a regression), and the paths of boosted shallow trees (Friedman
and Popescu, "Predictive learning via rule ensembles", 2008). How many of those paths take part, and how much is
penalised, is chosen on rows held back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lnnkit.learn.literals import Literal, TableColumn, literals, truths

Conjunction = tuple[tuple[int, bool], ...]  # literals by number, and whether each is to hold

_LONGEST = 6  # literals of a conjunction that covers
_BEAM = 20
_SKETCH = 2000  # rows on which covering is tried first
_HOPELESS = 0.9  # accuracy there
_TREES, _DEPTH, _STEP, _SAMPLE = 40, 3, 0.3, 0.7
_PATHS = (0, 10, 30, 100)  # so many paths of trees are tried beside the literals
_PENALTIES = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
_STAIRS, _CATEGORIES = 0.003, 0.2  # of the penalty: what staircases and categories cost
_ITERATIONS = 12
_FOLDS = 5
_MANY = 6000  # rows of which one share is held back, instead of each in turn
_SLIGHT = 2e-3  # a weight, by the spread of its conjunction, that is left out
_ERRORS = 0.3  # standard errors that a simpler rule may be worse by
_HELD = 0.25  # of the rows
SPAN = 8.0  # of the score: over this much of it truth goes from 0 to 1
_CLEAN = 0.99  # accuracy from which a plain rule is kept
_FEW = 300  # rows of which one held back more or less decides nothing


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
        """(n,) the score of rows. A conjunction of which a literal is unknown holds to the share of the training rows
        for which that does."""
        known = truths(self.literals, columns)
        if self.plain:
            held = [_holds(each, known) for each in self.conjunctions]
            return (np.max(held, axis=0) if held else np.zeros(len(known))) * 2.0 * SPAN / 2 - SPAN / 2
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
    plain = _clean(known, positive, weight, (train, held))
    if plain is not None:
        return _needed(Induced(tuple(found), plain, np.ones(len(plain)), 0.0, plain=True))
    parts = [(train, held)] if len(positive) > _MANY else _folds(positive, rng)
    losses: dict[tuple[int, float], list[float]] = {}
    for inside, outside in parts:
        paths = _paths(known[inside], positive[inside], weight[inside], rng)
        for count in _PATHS[: 1 + sum(each <= len(paths) for each in _PATHS[1:])]:
            design = _Design(found, columns, paths[:count])
            fitted = _path(design, known[inside], positive[inside], weight[inside], _PENALTIES)
            for penalty, start, weights in fitted:
                loss = _loss(start + design.rows(known[outside]) @ weights, positive[outside], weight[outside])
                losses.setdefault((count, penalty), []).append(loss)
    count, penalty = _simplest({each: own for each, own in losses.items() if len(own) == len(parts)})
    design = _Design(found, columns, _paths(known, positive, weight, rng)[:count])
    chosen = [each for each in _PENALTIES if each >= penalty]
    *_, (_, start, weights) = _path(design, known, positive, weight, chosen)
    return _needed(design.rule(known, start, weights))


def _simplest(losses: Mapping[tuple[int, float], Sequence[float]]) -> tuple[int, float]:
    """How many paths and which penalty: the least of the one and the greatest of the other whose loss is no more than
    one standard error above the least, taken over differences between folds."""
    folds = max(map(len, losses.values()))
    whole = {each: own for each, own in losses.items() if len(own) == folds}  # a fold may have fewer paths
    best = min(whole, key=lambda each: sum(whole[each]))
    good = []
    for each, own in whole.items():
        more = np.array(own) - np.array(losses[best])
        error = float(more.std(ddof=1)) / math.sqrt(len(more)) if len(more) > 1 else 0.0
        if float(more.mean()) <= _ERRORS * error:
            good.append(each)
    return min(good, key=lambda each: (each[0], -each[1]))


class _Design:
    """What is weighed: staircases, literals, and conjunctions, as columns."""

    def __init__(self, found: Sequence[Literal], columns: Sequence[TableColumn], paths: Sequence[Conjunction]) -> None:
        self._literals = tuple(found)
        self._paths = tuple(paths)
        self._stairs = _staircases(found, columns)
        self.penalty = np.concatenate(
            [
                np.full(len(self._stairs), _STAIRS),
                [_CATEGORIES if each.threshold is None else 1.0 for each in found],
                np.ones(len(self._paths)),
            ]
        )

    def rows(self, known: np.ndarray) -> np.ndarray:
        """(n, m)."""
        wide = [_holds(each, known)[:, None] for each in self._paths]
        return np.concatenate([known @ self._stairs.T, known, *wide], axis=1)

    def rule(self, known: np.ndarray, start: float, weights: np.ndarray) -> Induced:
        """The rule with these weights; what hardly counts is left out."""
        stairs, count = len(self._stairs), len(self._literals)
        own = weights[stairs : stairs + count] + weights[:stairs] @ self._stairs
        pool: list[Conjunction] = [*(((number, True),) for number in range(count)), *self._paths]
        every = np.concatenate([own, weights[stairs + count :]])
        held = np.stack([_holds(each, known) for each in pool], axis=1) if pool else np.zeros((len(known), 0))
        kept = np.abs(every) * held.std(axis=0) > _SLIGHT
        start += float((every * held.mean(axis=0))[~kept].sum())
        conjunctions = tuple(each for each, keep in zip(pool, kept, strict=True) if keep)
        return Induced(self._literals, conjunctions, every[kept], start, plain=False)


def _staircases(found: Sequence[Literal], columns: Sequence[TableColumn]) -> np.ndarray:
    """(c, m) for each number the literals that climb with it, each by the way to the next threshold."""
    rows: list[np.ndarray] = []
    for place in range(len(columns)):
        mine = [(each.threshold, number) for number, each in enumerate(found) if each.column == place]
        steps = sorted((threshold, number) for threshold, number in mine if threshold is not None)
        if len(steps) > 1:
            row = np.zeros(len(found), np.float32)
            cuts = np.array([threshold for threshold, _ in steps])
            gaps = np.gradient(cuts)
            for (_, number), gap in zip(steps, gaps / max(gaps.sum(), 1e-300), strict=True):
                row[number] = gap
            rows.append(row)
    return np.stack(rows) if rows else np.zeros((0, len(found)), np.float32)


def _folds(positive: np.ndarray, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows inside and outside of each fold, with the same share of true ones."""
    fold = np.zeros(len(positive), int)
    for kind in (True, False):
        mine = rng.permutation(np.flatnonzero(positive == kind))
        fold[mine] = np.arange(len(mine)) % _FOLDS
    parts = [(np.flatnonzero(fold != each), np.flatnonzero(fold == each)) for each in range(_FOLDS)]
    good = [(inside, out) for inside, out in parts if len(out) and len(np.unique(positive[inside])) > 1]
    return good or [(np.arange(len(positive)), np.arange(len(positive)))]


def _loss(score: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> float:
    return float((weight * np.logaddexp(0.0, np.where(positive, -score, score))).sum())


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


def _clean(
    known: np.ndarray, positive: np.ndarray, weight: np.ndarray, parts: tuple[np.ndarray, np.ndarray]
) -> tuple[Conjunction, ...] | None:
    """The conjunctions that cover the true rows, if a plain rule does well on rows held back."""
    train, held = parts
    least = _HOPELESS
    for rows in (train[:: max(1, len(train) // _SKETCH)], train):
        covering = _cover(known[rows], positive[rows], weight[rows])
        if _accuracy(_plain(covering, known[held]), positive[held], weight[held]) < least:
            return None
        least = _CLEAN if len(train) > _FEW else _HOPELESS
    again = tuple(_cover(known, positive, weight))
    return again if _accuracy(_plain(again, known), positive, weight) >= _CLEAN else None


# --- covering ---------------------------------------------------------------------------------------------------------


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


# --- weighing ---------------------------------------------------------------------------------------------------------


def _paths(known: np.ndarray, positive: np.ndarray, weight: np.ndarray, rng: np.random.Generator) -> list[Conjunction]:
    """The paths of boosted trees that are longer than a literal, those that lower the loss most first."""
    worth: dict[Conjunction, float] = {}
    score = np.zeros(len(known))
    for _ in range(_TREES):
        p = 1 / (1 + np.exp(-score))
        slope, curve = weight * (positive - p), weight * p * (1 - p)
        sample = rng.random(len(known)) < _SAMPLE
        parts = _tree(known, slope * sample, curve * sample)
        for path, inside, gain in parts:
            if gain is None:
                score[inside] += _STEP * slope[inside].sum() / (curve[inside].sum() + 1.0)
            elif len(path) > 1:
                worth[path] = worth.get(path, 0.0) + gain
    return sorted(worth, key=lambda path: (-worth[path], path))


def _tree(
    known: np.ndarray, slope: np.ndarray, curve: np.ndarray
) -> list[tuple[Conjunction, np.ndarray, float | None]]:
    """The paths of one tree with the rows inside and the gain of each; leaves come once more, without a gain."""
    parts: list[tuple[Conjunction, np.ndarray, float | None]] = []
    level: list[tuple[Conjunction, np.ndarray]] = [((), np.arange(len(known)))]
    for depth in range(_DEPTH + 1):
        deeper: list[tuple[Conjunction, np.ndarray]] = []
        for path, inside in level:
            best = _best_cut(known, slope, curve, inside) if depth < _DEPTH else None
            if best is None:
                parts.append((path, inside, None))
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


def _path(
    design: _Design, known: np.ndarray, positive: np.ndarray, weight: np.ndarray, penalties: Sequence[float]
) -> list[tuple[float, float, np.ndarray]]:
    """Logistic regressions under squared penalties, each from the one before, by Newton's method: (penalty, start,
    weights). Columns are penalised by their spread."""
    rows = design.rows(known).astype(np.float64)
    share = weight / weight.sum()
    mean = share @ rows
    spread = np.sqrt(np.maximum(share @ rows**2 - mean**2, 1e-6))
    z = np.concatenate([np.ones((len(rows), 1)), (rows - mean) / spread], axis=1)
    rate = float(np.clip(share @ positive, 1e-6, 1 - 1e-6))
    own = np.concatenate([[math.log(rate / (1 - rate))], np.zeros(rows.shape[1])])
    found = []
    for penalty in penalties:
        costs = np.concatenate([[1e-9], penalty * design.penalty])
        for _ in range(_ITERATIONS):
            p = 1 / (1 + np.exp(-np.clip(z @ own, -30, 30)))
            curve = share * np.maximum(p * (1 - p), 1e-5)
            hessian = (z * curve[:, None]).T @ z + np.diag(costs)
            step = np.linalg.solve(hessian, z.T @ (share * (positive - p)) - costs * own)
            own = own + step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-300))
            if float(np.abs(step).max()) < 1e-4:
                break
        plain = own[1:] / spread
        found.append((penalty, float(own[0] - (plain * mean).sum()), plain))
    return found
