"""Kept instances copied out separately, each with its own rows, once for each request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from lnnkit.flags import where_set
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.formula.unfolding import Formula
from lnnkit.join.instances.rule_shape import RuleShape


class Unrolled(NamedTuple):
    """For each block the rows of the batch and their grouping; ``instance`` (n,) is the requested instance to which
    each row of a block belongs, or the first of those that share it."""

    formula: Formula
    rows: tuple[Tensor, ...]
    groupings: tuple[Grouping | None, ...]
    instance: tuple[Tensor, ...]
    ranks: tuple[Tensor, ...]  # by row of the batch's block: its position in its group
    starts: tuple[Tensor, ...]  # by group: where its rows start

    def places(self, block: int, path: Sequence[Tensor], which: Tensor | None = None) -> Tensor:
        """The positions of rows of a block, one for each requested instance (or some of them, ``which``); ``path`` are
        the rows of the enclosing blocks."""
        found = torch.arange(len(path[0])) if which is None else which
        for each, rows in zip(self.formula.path(block)[1:], path[1:], strict=True):
            found = self.starts[each].index_select(0, found) + self.ranks[each].index_select(0, rows)
        return found


def unroll(batch: RuleShape, tops: Tensor, kinds: Tensor | None = None, within: int = 0) -> Unrolled:
    """Copy out instances. ``tops`` are rows of block 0, in any order, perhaps repeated. If ``kinds`` are given,
    instances of one kind share the groups that they share in the batch, except those on the path to the block
    ``within``."""
    formula = batch.formula
    rows, instance, own_kinds = [tops.long()], [torch.arange(len(tops))], [kinds]
    ranks, starts = [torch.empty(0)], [torch.empty(0)]
    found: list[Grouping | None] = [None]
    way = formula.path(within)
    for number, block in enumerate(formula.blocks):
        if number == 0:
            continue
        own, around, kind = batch.blocks[number], rows[block.parent], own_kinds[block.parent]
        group = own.of.tensor.index_select(0, around) if block.grouped else around
        teller, of = instance[block.parent], None
        if block.grouped and kind is not None and number not in way:
            count = max(own.groups, 1)
            codes, of = torch.unique(kind * count + group, return_inverse=True)
            first = torch.full((len(codes),), len(group)).scatter_reduce_(0, of, torch.arange(len(group)), "amin")
            group, teller, kind = (each.index_select(0, first) for each in (group, teller, kind))
        groups = own.groups if block.grouped else len(batch.blocks[block.parent])
        alive = where_set(own.group.tensor >= 0).long()
        of_alive = own.group.tensor.index_select(0, alive)
        order = alive.index_select(0, torch.argsort(of_alive, stable=True))
        counts = torch.bincount(of_alive, minlength=groups)
        begins = counts.cumsum(0) - counts
        rank = torch.full((len(own),), -1)
        rank[order] = torch.arange(len(order)) - begins.index_select(0, own.group.tensor.index_select(0, order))
        lengths = counts.index_select(0, group)
        start = lengths.cumsum(0) - lengths
        owner = torch.arange(len(group)).repeat_interleave(lengths)
        within_group = torch.arange(len(owner)) - start.index_select(0, owner)
        picked = order.index_select(0, begins.index_select(0, group).index_select(0, owner) + within_group)
        rows.append(picked)
        instance.append(teller.index_select(0, owner))
        own_kinds.append(None if kind is None else kind.index_select(0, owner))
        ranks.append(rank)
        starts.append(start)
        virtual, stranger = (each.tensor.index_select(0, picked) for each in (own.virtual, own.stranger))
        found.append(Grouping(owner, len(group), of, virtual, stranger))
    return Unrolled(formula, tuple(rows), tuple(found), tuple(instance), tuple(ranks), tuple(starts))
