"""Which bounds move with those that just moved: along each bound's last setter, to whatever that reads, forward."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.engine.extrapolation.moving import Moving, Setters
from lnnkit.engine.workspace import Workspace
from lnnkit.flags import any_set, where_set
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.join.grounding import Grounding


@dataclass(frozen=True, slots=True)
class Followers:
    """``moving`` is the map of all that moves; ``source`` and ``target`` (n,) number its bounds, then ``hubs`` more
    nodes between them: the setter of ``target`` may read ``source``."""

    moving: Moving
    hubs: int
    source: Tensor
    target: Tensor

    def core(self) -> Tensor:
        """(n,) flags of the bounds on cycles, and between cycles; of all where there is no cycle."""
        kept = torch.ones(len(self.moving) + self.hubs, dtype=torch.bool)
        source, target = self.source, self.target
        for _ in range(len(kept)):
            ends = [torch.zeros_like(kept).index_fill_(0, side, True) for side in (source, target)]
            left = ends[0] & ends[1]
            if torch.equal(left, kept):
                break
            kept = left
            inside = kept.index_select(0, source) & kept.index_select(0, target)
            source, target = source[inside], target[inside]
        kept = kept[: len(self.moving)]
        return kept if any_set(kept) else torch.ones_like(kept)


def followers(
    space: Workspace, batches: Collection[int], moved: tuple[Tensor, Tensor], *, completes: bool = False
) -> Followers | None:
    """What moves with the rows ``moved`` (those raised, those lowered) by setters in ``batches``; None if nothing."""
    grounding, state = space.grounding, space.state
    every = list(_setters(space, batches))
    hubs = _Hubs(2 * len(grounding.atoms))
    edges = [edge for each, rows in every for edge in _edges(grounding, each, rows, hubs, completes)]
    if not edges:
        return None
    source, target = (torch.cat(ends) for ends in zip(*edges, strict=True))
    start = torch.cat([2 * moved[0], 2 * moved[1] + 1])
    reached = _reached(source, target, start)
    parts: list[tuple[Tensor, ...]] = []
    for each, rows in every:
        node = 2 * rows + each.side
        mine = where_set(torch.isin(node, reached))
        if len(mine):
            instances = each.instances.index_select(0, mine)
            constant = [torch.full_like(mine, value) for value in (each.side, each.leaf, each.batch)]
            parts.append((rows.index_select(0, mine), *constant, instances))
    if not parts or any(grounding.batches[int(part[3][0])].formula.numeric for part in parts):
        return None  # arithmetic is no piece of a linear map
    columns = tuple(torch.cat(column) for column in zip(*parts, strict=True))
    rows, side, leaf, batch, instances = _sorted(columns)  # atoms are numbered in a canonical order
    setters = [
        Setters(key[0], key[1], key[2], mine, instances.index_select(0, mine))
        for key in torch.stack([side, batch, leaf], 1).unique(dim=0).tolist()
        for mine in [where_set((side == key[0]) & (batch == key[1]) & (leaf == key[2]))]
    ]
    moving = Moving(grounding, state, rows, side, setters, completes=completes)
    return Followers(moving, *_inner(2 * rows + side, reached[reached >= 2 * len(grounding.atoms)], source, target))


def _setters(space: Workspace, batches: Collection[int]) -> Iterator[tuple[Setters, Tensor]]:
    """All that set a bound last and still speak, with the rows that they set. What only listens is left out."""
    grounding, state = space.grounding, space.state
    arrested = {number: torch.from_numpy(space.arrested(number)) for number in batches}
    rows = torch.arange(len(grounding.atoms))
    for side in (0, 1):
        batch, leaf, instance = map(torch.from_numpy, space.winners.winner(side, rows.numpy()))
        known = (batch >= 0) & ~torch.from_numpy(state.frozen)[: len(rows)]
        for number in torch.unique(batch[known]).tolist():
            if number not in batches:
                continue
            mine = where_set(known & (batch == number))
            for index in torch.unique(leaf[mine]).tolist():
                if index in grounding.batches[number].observed:
                    continue
                some = mine[leaf[mine] == index]
                instances = instance.index_select(0, some).long()
                alive = ~arrested[number][_outermost(grounding, number, index, instances)]
                yield Setters(side, number, index, some[alive], instances[alive]), some[alive]


def _outermost(grounding: Grounding, number: int, leaf: int, instances: Tensor) -> Tensor:
    """The rows of block 0 that rows of a leaf's block belong to."""
    batch = grounding.batches[number]
    block = 0 if leaf == AUXILIARY else batch.formula.neurons[leaf].block
    return instances if block == 0 else batch.blocks[block].outermost.tensor.index_select(0, instances)


class _Hubs:
    """Nodes between what an instance with inner rows reads and what it sets."""

    def __init__(self, first: int) -> None:
        self._next = first
        self._start: dict[tuple[int, int, int], int] = {}

    def of(self, key: tuple[int, int, int], count: int) -> int:
        """The first of ``count`` numbers, one for each instance."""
        if key not in self._start:
            self._start[key] = self._next
            self._next += count
        return self._start[key]


def _edges(
    grounding: Grounding, each: Setters, rows: Tensor, hubs: _Hubs, completes: bool
) -> Iterator[tuple[Tensor, Tensor]]:
    """(source, target) from each bound that the setters may read to those that they set; a bound is numbered by twice
    its row, and one more for an upper side."""
    batch = grounding.batches[each.batch]
    read = [(leaf, (0, 1)) for leaf in batch.formula.leaves] if completes else []
    target = 2 * rows + each.side
    if not batch.formula.blocks[1:]:
        for leaf, sides in read or grounding.reads(each.batch, each.leaf, each.side):
            column = batch.blocks[0].columns[leaf].tensor.index_select(0, each.instances)
            for side in sides:
                yield 2 * column.long() + side, target
        return
    first = hubs.of((each.batch, each.leaf, each.side), len(batch.blocks[0]))
    outer = _outermost(grounding, each.batch, each.leaf, each.instances)
    yield first + outer, target
    told = torch.zeros(len(batch.blocks[0]), dtype=torch.bool).index_fill_(0, outer, True)
    for leaf, sides in read or grounding.reads(each.batch, each.leaf, each.side):
        block = 0 if leaf == AUXILIARY else batch.formula.neurons[leaf].block
        column = batch.blocks[block].columns[leaf].tensor
        owner = _outermost(grounding, each.batch, leaf, torch.arange(len(column)))
        mine = told.index_select(0, owner)
        for side in sides:
            yield 2 * column[mine].long() + side, first + owner[mine]


def _reached(source: Tensor, target: Tensor, start: Tensor) -> Tensor:
    """The nodes that edges lead to from ``start``, itself among them."""
    nodes, place = torch.cat([source, target, start]).unique(return_inverse=True)
    source, target, front = place.split([len(source), len(target), len(start)])
    order = source.argsort()
    target = target.index_select(0, order)
    stop = torch.bincount(source, minlength=len(nodes)).cumsum(0)
    seen = torch.zeros(len(nodes), dtype=torch.bool)
    while len(front):
        seen[front] = True
        first = torch.where(front > 0, stop.index_select(0, (front - 1).clamp(min=0)), 0)
        count = stop.index_select(0, front) - first
        offset = torch.arange(int(count.sum())) - (count.cumsum(0) - count).repeat_interleave(count)
        following = target.index_select(0, first.repeat_interleave(count) + offset)
        front = following[~seen.index_select(0, following)].unique()
    return nodes[seen]


def _sorted(columns: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Rows in the order of their first two columns."""
    for key in (1, 0):
        order = columns[key].argsort(stable=True)
        columns = tuple(column.index_select(0, order) for column in columns)
    return columns


def _inner(nodes: Tensor, hubs: Tensor, source: Tensor, target: Tensor) -> tuple[int, Tensor, Tensor]:
    """The number of hubs, and the edges among nodes and hubs, renumbered by their places."""
    every, place = torch.cat([nodes, hubs]).sort()
    ends: list[Tensor] = []
    for end in (source, target):
        near = torch.searchsorted(every, end).clamp(max=len(every) - 1)
        ends.append(torch.where(every.index_select(0, near) == end, place.index_select(0, near), -1))
    inside = (ends[0] >= 0) & (ends[1] >= 0)
    return len(hubs), ends[0][inside], ends[1][inside]
