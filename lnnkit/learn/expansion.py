"""The rows of instances with inner blocks, once for each event: the same instance stands there as often as it spoke."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.formula.passes import Grouping
from lnnkit.join.rule_shape import RuleShape


@dataclass(frozen=True, slots=True)
class Expansion:
    """For each block the rows of the batch, and how they belong together; ``event`` (n,) says of each row of a block to
    which of the instances asked for it belongs."""

    rows: tuple[Tensor, ...]
    groupings: tuple[Grouping | None, ...]
    event: tuple[Tensor, ...]
    ranks: tuple[Tensor, ...]  # by row of the batch's block: its place among those of its instance, -1 where retired
    starts: tuple[Tensor, ...]  # by instance asked for: where its rows start

    def places(self, block: int, instances: Tensor) -> Tensor:
        """Where a row of the batch's block stands, one for each of the instances asked for."""
        if block == 0:
            return torch.arange(len(instances))
        return self.starts[block] + self.ranks[block].index_select(0, instances)


def expand(batch: RuleShape, tops: Tensor) -> Expansion:
    """``tops`` are rows of block 0, in any order, some perhaps more than once."""
    count = len(tops)
    rows, events = [tops.long()], [torch.arange(count)]
    ranks, starts = [torch.zeros(len(batch.blocks[0]), dtype=torch.int64)], [torch.arange(count)]
    groupings: list[Grouping | None] = [None]
    if len(batch.blocks) > 1:
        whole, kept = batch.groupings()
        for block in range(1, len(batch.blocks)):
            _expand_block(batch, block, tops, (whole[block], kept), rows, events, ranks, starts, groupings)
    return Expansion(tuple(rows), tuple(groupings), tuple(events), tuple(ranks), tuple(starts))


def _expand_block(
    batch: RuleShape,
    block: int,
    tops: Tensor,
    found: tuple[Grouping | None, Sequence[Tensor | None]],
    rows: list[Tensor],
    events: list[Tensor],
    ranks: list[Tensor],
    starts: list[Tensor],
    groupings: list[Grouping | None],
) -> None:
    grouping, kept = found
    own = kept[block]
    assert grouping is not None and own is not None
    order = torch.argsort(grouping.outermost, stable=True)
    counts = torch.bincount(grouping.outermost, minlength=len(batch.blocks[0]))
    first = counts.cumsum(0) - counts
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order)) - first.index_select(0, grouping.outermost.index_select(0, order))
    rank = torch.full((len(batch.blocks[block]),), -1, dtype=torch.int64)
    rank[own] = place
    lengths = counts.index_select(0, tops.long())
    begin = lengths.cumsum(0) - lengths
    event = torch.repeat_interleave(torch.arange(len(tops)), lengths)
    within = torch.arange(len(event)) - begin.index_select(0, event)
    picked = order.index_select(0, first.index_select(0, tops.long()).index_select(0, event) + within)
    parent = batch.formula.blocks[block].parent
    above = grouping.group.index_select(0, picked)
    if parent == 0:
        group = event
    else:
        outer = kept[parent]
        assert outer is not None
        group = starts[parent].index_select(0, event) + ranks[parent].index_select(0, outer.index_select(0, above))
    rows.append(own.index_select(0, picked))
    events.append(event)
    ranks.append(rank)
    starts.append(begin)
    groupings.append(
        Grouping(
            group,
            len(rows[parent]),
            event,
            grouping.virtual.index_select(0, picked),
            grouping.stranger.index_select(0, picked),
        )
    )
