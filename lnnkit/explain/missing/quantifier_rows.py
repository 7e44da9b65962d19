"""The rows of quantifiers that may change something, ranked by what they lack: the candidates of an ``exists``,
nearest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lnnkit.engine.bounds_state import State
from lnnkit.explain.provenance.instance_view import Inner, InstanceView
from lnnkit.logic.bounds import Bounds


def unsettled(view: InstanceView, state: State, own: int, raised: Mapping[int, bool]) -> InstanceView:
    """The instance without the rows of quantifiers that change nothing: where the body of a ``forall`` that
    is ``raised`` is true, or that of an ``exists`` that is lowered is false. ``raised`` says so by block, where either
    is the aim. One row of each quantifier stays, and those that read the atom ``own``."""
    formula = view.formula
    if not view.inner:
        return view
    read = {leaf: Bounds(*(end[None] for end in state.read(rows))) for leaf, rows in view.rows.items()}
    bodies = view.bodies(read)
    rows, inner = dict(view.rows), list(view.inner)
    quantifiers = {neuron.inner: neuron.kind for neuron in formula.neurons if neuron.inner > 0}
    kept = [np.ones(1, bool)]  # for each block, which of its rows stay; a block comes after those around it
    for number, each in enumerate(view.inner, 1):
        above = kept[formula.blocks[number].parent]
        mine = [leaf for leaf, neuron in enumerate(formula.neurons) if neuron.block == number and leaf in rows]
        stays = above[each.parent]
        if (up := raised.get(number)) is not None and up == (quantifiers[number] == "forall"):
            lower, upper = (end[0] for end in bodies[number - 1])
            open_ = lower < 1 if up else upper > 0
            for leaf in mine:
                open_ |= rows[leaf] == own
            open_[np.unique(each.parent, return_index=True)[1]] = True
            stays &= open_
        kept.append(stays)
        parent = (np.cumsum(above) - 1)[each.parent[stays]]
        ids = {variable: column[stays] for variable, column in each.ids.items()}
        inner[number - 1] = Inner(parent, each.virtual[stays], each.stranger[stays], ids)
        rows.update((leaf, rows[leaf][stays]) for leaf in mine)
    return replace(view, rows=rows, inner=tuple(inner))


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
