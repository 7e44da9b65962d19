"""Which rows of a quantifier lack least: the candidates of an ``exists``, nearest first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lnnkit.explain.provenance.instance_view import Sight


def row_ranks(sight: Sight, costs: Mapping[int, np.ndarray]) -> list[np.ndarray]:
    """For each inner block the place of each row among those of one parent, by what it lacks: its own ``costs`` (by
    block) and those of its best rows in the blocks beneath. A row's place comes after that of its parent."""
    blocks = sight.formula.blocks
    total = {number: costs[number].copy() for number in range(1, len(blocks))}
    for number in reversed(range(1, len(blocks))):
        parent = blocks[number].parent
        if parent:
            best = np.full(len(total[parent]), np.inf)
            np.minimum.at(best, sight.inner[number - 1].parent, total[number])
            total[parent] += np.where(np.isfinite(best), best, 0.0)
    found: list[np.ndarray] = []
    for number in range(1, len(blocks)):
        own = sight.inner[number - 1]
        order = np.lexsort((np.arange(len(own.parent)), total[number], own.parent))
        start = np.searchsorted(own.parent[order], own.parent[order], "left")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - start
        above = blocks[number].parent
        found.append(rank if not above else np.maximum(rank, found[above - 1][own.parent]))
    return found
