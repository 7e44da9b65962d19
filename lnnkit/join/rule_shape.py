"""Instances of formulas of one shape, side by side, so that a sweep evaluates them together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from lnnkit.analysis.supports import Analysis
from lnnkit.flags import where_set
from lnnkit.formula.passes import Grouping
from lnnkit.formula.shape import Modes
from lnnkit.formula.unfolding import AUXILIARY, LEAF, Formula
from lnnkit.store.arrays import Array
from lnnkit.store.growing import Growing, Marks, Pieces


class ShapeBlock:
    """The rows of one block: for each leaf, constant or observed neuron a column of atom rows; for an inner block the
    parent's row, and which rows are virtual, and which of those are strangers. A row whose group is -1 is retired."""

    def __init__(self, columns: tuple[int, ...]) -> None:
        self.columns = {column: Pieces() for column in columns}
        self._member = Marks(np.int32)
        self._local = Marks(np.int32)
        self._length = 0
        self.group = Growing(np.int64)
        self.outermost = Growing(np.int64)
        self.virtual = Growing(np.bool_)
        self.stranger = Growing(np.bool_)

    def __len__(self) -> int:
        return self._length

    @property
    def member(self) -> Array:
        """(n,) which of its batch's members each row belongs to."""
        return self._member.reach(self._length)[: self._length]

    @property
    def local(self) -> Array:
        """(n,) each row's number in its member, for those that number them."""
        return self._local.reach(self._length)[: self._length]

    def number(self, count: int, member: int, local: int) -> range:
        """Numbers for ``count`` more rows of a member, there numbered from ``local`` on (-1: not at all)."""
        start = self._length
        self._length += count
        if member:
            self.member[start:] = member
        if local >= 0:
            self.local[start:] = np.arange(local, local + count, dtype=np.int32)
        return range(start, start + count)


class RuleShape:
    """All instances of the formulas that share ``formula``'s shape. ``arrested`` marks rows of block 0; ``reads`` says
    of each leaf whether a change of its lower and of its upper side can matter to an instance."""

    def __init__(
        self, formula: Formula, analysis: Analysis, modes: Modes, observed: tuple[int, ...], *, completes: bool
    ) -> None:
        self.formula = formula
        self.completes = completes
        read = (*formula.leaves, *((AUXILIARY,) if formula.auxiliary is not None else ()))
        self.reads = dict.fromkeys(read, (True, True)) if completes or observed else analysis.polarity.read_sides()
        if completes:  # nothing is read of the heads that it defines
            self.reads |= dict.fromkeys(formula.heads, (False, False))
        self.analysis = analysis
        self.modes = modes
        self.observed = observed
        self.targets = tuple(leaf for leaf in read if leaf not in formula.heads and any(modes[leaf]))
        columns: list[list[int]] = [[] for _ in formula.blocks]
        for index, neuron in enumerate(formula.neurons):
            if neuron.kind in (LEAF, "same") or index in observed:
                columns[neuron.block].append(index)
        if formula.auxiliary is not None:
            columns[0].append(AUXILIARY)
        self.blocks = tuple(ShapeBlock(tuple(dict.fromkeys(block))) for block in columns)
        self._arrested = Marks(np.bool_)
        self.members: list[int] = []  # their numbers in the grounding
        self.swept = 0  # rows of block 0 that a sweep has seen
        self.touched = True  # inner rows were added since the last sweep

    def append(
        self,
        block: int,
        columns: Mapping[int, Array | range],
        member: int,
        local: int,
        length: int,
        group: Array | None = None,
        virtual: Array | None = None,
        stranger: Array | None = None,
    ) -> range:
        """Add ``length`` rows of formula ``member``, there numbered from ``local`` (-1: not at all); returns their
        numbers here."""
        own = self.blocks[block]
        numbers = own.number(length, self.members.index(member), local)
        for column, growing in own.columns.items():
            growing.append(columns[column])
        if block > 0:
            assert group is not None and virtual is not None and stranger is not None
            own.group.append(group)
            own.virtual.append(virtual)
            own.stranger.append(stranger)
            parent = self.formula.blocks[block].parent
            own.outermost.append(group if parent == 0 else self.blocks[parent].outermost.values.take(group))
            self.touched = True
        return numbers

    @property
    def arrested(self) -> Array:
        """Which rows of block 0 are arrested."""
        return self._arrested.reach(len(self.blocks[0]))[: len(self.blocks[0])]

    def behind(self, rows: Array, leaf: int) -> Array:
        """The atom rows behind a leaf of the outermost block, in some of its rows."""
        return self.blocks[0].columns[leaf].values.take(rows)

    def alive(self, block: int) -> Tensor:
        """(n,) the rows of an inner block that are not retired."""
        return where_set(self.blocks[block].group.tensor >= 0)

    def groupings(self) -> tuple[list[Grouping | None], list[Tensor | None]]:
        """Every block's grouping over the rows that are alive, and those rows' numbers; block 0 has none."""
        groupings: list[Grouping | None] = [None]
        kept: list[Tensor | None] = [None]
        renumber: list[Tensor | None] = [None]
        for index, block in enumerate(self.formula.blocks):
            if index == 0:
                continue
            own = self.blocks[index]
            alive = self.alive(index)
            parent = renumber[block.parent]
            group = own.group.tensor.index_select(0, alive)
            if parent is not None:
                group = parent.index_select(0, group)
                alive, group = alive[group >= 0], group[group >= 0]
            numbers = torch.full((len(own),), -1)
            numbers[alive] = torch.arange(len(alive))
            above = kept[block.parent]
            groups = len(self.blocks[0]) if above is None else len(above)
            virtual = own.virtual.tensor.index_select(0, alive)
            grouping = groupings[block.parent]
            if grouping is not None:
                virtual = virtual | grouping.virtual.index_select(0, group)
            groupings.append(
                Grouping(
                    group,
                    groups,
                    own.outermost.tensor.index_select(0, alive),
                    virtual,
                    own.stranger.tensor.index_select(0, alive),
                )
            )
            kept.append(alive)
            renumber.append(numbers)
        return groupings, kept
