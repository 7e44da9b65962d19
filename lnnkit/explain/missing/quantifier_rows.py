"""Ranks the rows of quantifiers by what they lack: the candidates of an ``exists``, nearest first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lnnkit.explain.provenance.instance_view import InstanceView


def row_ranks(view: InstanceView, costs: Mapping[int, np.ndarray]) -> list[np.ndarray]:
    """For each inner block the rank of each row among its siblings, by what it lacks: its own ``costs`` (by block) plus
    those of its best rows in inner blocks. A row's rank follows that of its parent."""
    blocks = view.formula.blocks
    total = {number: costs[number].copy() for number in range(1, len(blocks))}
    for number in reversed(range(1, len(blocks))):
        parent = blocks[number].parent
        if parent:
            best = np.full(len(total[parent]), np.inf)
            np.minimum.at(best, view.inner[number - 1].parent, total[number])
            total[parent] += np.where(np.isfinite(best), best, 0.0)
    found: list[np.ndarray] = []
    for number in range(1, len(blocks)):
        own = view.inner[number - 1]
        order = np.lexsort((np.arange(len(own.parent)), total[number], own.parent))
        start = np.searchsorted(own.parent[order], own.parent[order], "left")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - start
        above = blocks[number].parent
        found.append(rank if not above else np.maximum(rank, found[above - 1][own.parent]))
    return found
