"""Conjunctions that tell rows apart together: the paths of boosted shallow trees (Friedman and Popescu, "Predictive
learning via rule ensembles", 2008)."""

from __future__ import annotations

import numpy as np

from lnnkit.learn.induction.literals import Conjunction

_TREES, _DEPTH, _STEP, _SAMPLE = 40, 3, 0.3, 0.7


def tree_paths(
    known: np.ndarray, positive: np.ndarray, weight: np.ndarray, rng: np.random.Generator
) -> list[Conjunction]:
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
