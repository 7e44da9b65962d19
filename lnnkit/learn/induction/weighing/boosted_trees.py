"""Conjunctions of literals that separate the classes: the paths of boosted shallow trees (Friedman and Popescu,
"Predictive learning via rule ensembles", 2008)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.tree import DecisionTreeRegressor

Path = tuple[tuple[int, bool], ...]  # places of literals and their signs


def tree_paths(known: np.ndarray, positive: np.ndarray, weight: np.ndarray, rng: np.random.Generator) -> list[Path]:
    """The paths, longer than one literal, of boosted trees over the truths (n, m) of literals, by decreasing gain.
    Empty without literals, or with a single class."""
    if not known.shape[1] or positive.all() or not positive.any():
        return []
    worth: dict[Path, float] = {}
    model = GradientBoostingClassifier(
        n_estimators=40,
        learning_rate=0.3,
        subsample=0.7,
        min_samples_split=8,
        random_state=int(rng.integers(2**31)),
    )
    for tree in model.fit(known, positive, weight).estimators_[:, 0]:
        for path, gain in _paths(tree):
            worth[path] = worth.get(path, 0.0) + gain
    return sorted(worth, key=lambda path: (-worth[path], path))


def _paths(tree: DecisionTreeRegressor) -> Iterator[tuple[Path, float]]:
    """The paths of one tree with at least two literals, each with the gain of its last split."""
    nodes = tree.tree_
    loss = nodes.impurity * nodes.weighted_n_node_samples
    waiting: list[tuple[int, Path]] = [(0, ())]
    while waiting:
        node, path = waiting.pop()
        left, right = int(nodes.children_left[node]), int(nodes.children_right[node])
        if left < 0:
            continue
        for child, wanted in ((left, False), (right, True)):
            longer = tuple(sorted((*path, (int(nodes.feature[node]), wanted))))
            if len(longer) > 1:
                yield longer, float(loss[node] - loss[left] - loss[right])
            waiting.append((child, longer))
