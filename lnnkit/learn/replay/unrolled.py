"""Kept instances copied out separately, each with its own rows, once for each request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lnnkit.arrays import where_set
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.formula.unfolding import Formula
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.store.columns.row_arrays import Array


class Unrolled(NamedTuple):
    """For each block the rows of the batch and their grouping; ``instance`` (n,) is the requested instance to which
    each row of a block belongs, or the first of those that share it."""

    formula: Formula
    rows: tuple[Array, ...]
    groupings: tuple[Grouping | None, ...]
    instance: tuple[Array, ...]
    ranks: tuple[Array, ...]  # by row of the batch's block: its position in its group
    starts: tuple[Array, ...]  # by group: where its rows start

    def places(self, block: int, path: Sequence[Array], which: Array | None = None) -> Array:
        """The positions of rows of a block, one for each requested instance (or some of them, ``which``); ``path`` are
        the rows of the enclosing blocks."""
        found = np.arange(len(path[0])) if which is None else which
        for each, rows in zip(self.formula.path(block)[1:], path[1:], strict=True):
            found = self.starts[each].take(found) + self.ranks[each].take(rows)
        return found


def unroll(batch: RuleShape, tops: Array, kinds: Array | None = None) -> Unrolled:
    """Copy out instances. ``tops`` are rows of block 0, in any order, perhaps repeated. If ``kinds`` are given,
    instances of one kind share the groups that they share in the batch."""
    formula = batch.formula
    rows, instance, own_kinds = [tops.astype(np.int64)], [np.arange(len(tops))], [kinds]
    ranks: list[Array] = [np.empty(0)]
    starts: list[Array] = [np.empty(0)]
    found: list[Grouping | None] = [None]
    for number, block in enumerate(formula.blocks):
        if number == 0:
            continue
        own, around, kind = batch.blocks[number], rows[block.parent], own_kinds[block.parent]
        group = own.of.values.take(around) if block.grouped else around
        teller, of = instance[block.parent], None
        if block.grouped and kind is not None:
            count = max(own.groups, 1)
            codes, of = np.unique(kind * count + group, return_inverse=True)
            first = np.full(len(codes), len(group))
            np.minimum.at(first, of, np.arange(len(group)))
            group, teller, kind = (each.take(first) for each in (group, teller, kind))
        groups = own.groups if block.grouped else len(batch.blocks[block.parent])
        alive = where_set(own.group.values >= 0).astype(np.int64)
        of_alive = own.group.values.take(alive)
        order = alive.take(np.argsort(of_alive, stable=True))
        counts = np.bincount(of_alive, minlength=groups)
        begins = counts.cumsum(0) - counts
        rank = np.full((len(own),), -1)
        rank[order] = np.arange(len(order)) - begins.take(own.group.values.take(order))
        lengths = counts.take(group)
        start = lengths.cumsum(0) - lengths
        owner = np.arange(len(group)).repeat(lengths)
        within_group = np.arange(len(owner)) - start.take(owner)
        picked = order.take(begins.take(group).take(owner) + within_group)
        rows.append(picked)
        instance.append(teller.take(owner))
        own_kinds.append(None if kind is None else kind.take(owner))
        ranks.append(rank)
        starts.append(start)
        virtual, stranger = (each.values.take(picked) for each in (own.virtual, own.stranger))
        found.append(Grouping(owner, len(group), of, virtual, stranger))
    return Unrolled(formula, tuple(rows), tuple(found), tuple(instance), tuple(ranks), tuple(starts))
