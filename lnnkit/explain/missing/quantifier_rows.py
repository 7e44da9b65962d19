"""The rows of quantifiers that may change something, ranked by what they lack: the candidates of an ``exists``,
nearest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lnnkit.engine.bounds_state import State
from lnnkit.explain.provenance.instance_view import InstanceView
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.logic.bounds import Bounds


def unsettled(view: InstanceView, state: State, own: int, raised: Mapping[int, bool]) -> InstanceView:
    """The instance without the rows of quantifiers that change nothing: where the body of a ``forall`` that
    is ``raised`` is true, or that of an ``exists`` that is lowered is false. ``raised`` says so by block, where either
    is the aim. One row of each quantifier stays, and those that read the atom ``own``."""
    formula, found = view.formula, view.found
    if not view.has_rows:
        return view
    bodies = view.bodies({leaf: Bounds(*(end[None] for end in state.read(rows))) for leaf, rows in view.rows.items()})
    rows, ids, lengths, groupings = dict(view.rows), [found.ids[0]], [1], list[Grouping | None]([None])
    kinds = {neuron.inner: neuron.kind for neuron in formula.neurons if neuron.inner > 0}
    kept = [np.ones(1, bool)]  # for each block, which of its rows stay; a block comes after those around it
    for number in range(1, len(formula.blocks)):
        grouping, above = found.groupings[number], kept[formula.blocks[number].parent]
        assert grouping is not None
        mine = [leaf for leaf in rows if leaf >= 0 and formula.neurons[leaf].block == number]
        stays = above[grouping.group]
        if (up := raised.get(number)) is not None and up == (kinds[number] == "forall"):
            lower, upper = (end[0] for end in bodies[number])
            open_ = lower < 1 if up else upper > 0
            for leaf in mine:
                open_ |= rows[leaf] == own
            open_[np.unique(grouping.group, return_index=True)[1]] = True
            stays &= open_
        kept.append(stays)
        parent = (np.cumsum(above) - 1)[grouping.group[stays]]
        flags = grouping.virtual[stays], grouping.stranger[stays]
        groupings.append(Grouping(parent, int(above.sum()), None, *flags))
        ids.append({variable: column[stays] for variable, column in found.ids[number].items()})
        lengths.append(int(stays.sum()))
        rows.update((leaf, rows[leaf][stays]) for leaf in mine)
    kept_rows = replace(found, ids=tuple(ids), lengths=tuple(lengths), rows=rows, groupings=tuple(groupings))
    return replace(view, found=kept_rows)


def row_ranks(view: InstanceView, costs: Mapping[int, np.ndarray]) -> list[np.ndarray]:
    """For each inner block the rank of each row among its siblings, by what it lacks: its own ``costs`` (by block) plus
    those of its best rows in inner blocks. A row's rank follows that of its parent."""
    blocks = view.formula.blocks
    total = {number: costs[number].copy() for number in range(1, len(blocks))}
    for number in reversed(range(1, len(blocks))):
        parent = blocks[number].parent
        if parent:
            best = np.full(len(total[parent]), np.inf)
            np.minimum.at(best, view.parents(number), total[number])
            total[parent] += np.where(np.isfinite(best), best, 0.0)
    found: list[np.ndarray] = []
    for number in range(1, len(blocks)):
        own = view.parents(number)
        order = np.lexsort((np.arange(len(own)), total[number], own))
        start = np.searchsorted(own[order], own[order], "left")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - start
        above = blocks[number].parent
        found.append(rank if not above else np.maximum(rank, found[above - 1][own]))
    return found
