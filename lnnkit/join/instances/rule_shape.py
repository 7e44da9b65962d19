"""Instances of formulas of one shape in common arrays, so that a sweep evaluates them together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lnnkit.analysis.supports import Analysis
from lnnkit.arrays import where_set
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.formula.shape import Modes
from lnnkit.formula.unfolding import AUXILIARY, LEAF, Formula
from lnnkit.store.columns.growing import Chunks, Growing
from lnnkit.store.columns.row_arrays import Array


class ShapeBlock:
    """The rows of one block: for each leaf, constant or observed neuron a column of atom rows; for an inner block each
    row's ``group``, which rows are virtual, and which of those are strangers. A row whose group is -1 is retired.

    A group is a row of the block around it; in a ``grouped`` block groups are numbered by themselves, and ``of``
    has the group of each row around it.
    """

    def __init__(self, columns: tuple[int, ...]) -> None:
        self.columns = {column: Chunks() for column in columns}
        self.of = Growing(np.int64)
        self.groups = 0
        self._member = Growing(np.int32)
        self._local = Growing(np.int32)
        self._length = 0
        self.group = Growing(np.int64)
        self.virtual = Growing(np.bool_)
        self.stranger = Growing(np.bool_)

    def __len__(self) -> int:
        return self._length

    @property
    def member(self) -> Array:
        """(n,) the member of the batch to which each row belongs."""
        return self._member.reach(self._length)[: self._length]

    @property
    def local(self) -> Array:
        """(n,) each row's number in its member, for members that number their rows."""
        return self._local.reach(self._length)[: self._length]

    def number(self, count: int, member: int, local: int) -> range:
        """Number ``count`` more rows of a member, from ``local`` on there (-1: not at all)."""
        start = self._length
        self._length += count
        if member:
            self.member[start:] = member
        if local >= 0:
            self.local[start:] = np.arange(local, local + count, dtype=np.int32)
        return range(start, start + count)


class RuleShape:
    """All instances of the formulas that share ``formula``'s shape. ``arrested`` marks rows of block 0; ``reads`` says
    for each leaf whether a move of its lower and of its upper end can matter to an instance."""

    def __init__(
        self, formula: Formula, analysis: Analysis, modes: Modes, observed: tuple[int, ...], *, completes: bool
    ) -> None:
        self.formula = formula
        self.completes = completes
        read = (*formula.leaves, *((AUXILIARY,) if formula.auxiliary is not None else ()))
        self.reads = dict.fromkeys(read, (True, True)) if completes or observed else analysis.polarity.read_sides()
        if completes:  # Heads that the formula defines are not read.
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
        self._arrested = Growing(np.bool_)
        self.members: list[int] = []  # their numbers in the grounding
        self.swept = [0] * len(self.blocks)  # rows of each block that a sweep has seen

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
        """Add ``length`` rows of formula ``member``, numbered there from ``local`` on (-1: not at all); returns their
        numbers in the block."""
        own = self.blocks[block]
        numbers = own.number(length, self.members.index(member), local)
        for column, growing in own.columns.items():
            growing.append(columns[column])
        if block > 0:
            assert group is not None and virtual is not None and stranger is not None
            own.group.append(group)
            own.virtual.append(virtual)
            own.stranger.append(stranger)
        return numbers

    @property
    def arrested(self) -> Array:
        """The arrested rows of block 0."""
        return self._arrested.reach(len(self.blocks[0]))[: len(self.blocks[0])]

    def behind(self, rows: Array, leaf: int) -> Array:
        """The atom rows of a leaf of the outermost block, in some of its rows."""
        return self.blocks[0].columns[leaf].values.take(rows)

    def alive(self, block: int) -> Array:
        """(n,) the rows of an inner block that are not retired."""
        return where_set(self.blocks[block].group.values >= 0)

    def belong(self, block: int, groups: Array) -> None:
        """Record the groups of rows that were added to the block enclosing a grouped one."""
        self.blocks[block].of.append(groups)

    def grow(self, block: int, count: int) -> range:
        """Number ``count`` more groups of a grouped block."""
        own = self.blocks[block]
        own.groups += count
        return range(own.groups - count, own.groups)

    def path(self, block: int, instances: Array) -> list[Array]:
        """The rows, one of each block from block 0 on, through which rows of a block were set. None on the way is
        grouped."""
        found = [instances.astype(np.int64)]
        for each in reversed(self.formula.path(block)[1:]):
            found.append(self.blocks[each].group.values.take(found[-1]))
        return found[::-1]

    def tops(self, block: int, instances: Array) -> Array:
        """The rows of block 0 through which a leaf of a block was set."""
        return self.path(block, instances)[0]

    def above(self, block: int, flags: Array) -> Array:
        """Which rows of block 0 have a flagged row of a block."""
        for each in reversed(self.formula.path(block)[1:]):
            own = self.blocks[each]
            parent = self.formula.blocks[each].parent
            grouped = self.formula.blocks[each].grouped
            hit = np.zeros(own.groups if grouped else len(self.blocks[parent]), dtype=bool)
            group = own.group.values[flags]
            hit[group[group >= 0]] = True
            flags = hit.take(own.of.values) if grouped else hit
        return flags

    def groupings(self, tops: Array | None = None) -> tuple[list[Grouping | None], list[Array | None]]:
        """The grouping of every block over its rows that are not retired, and the numbers of those rows; block 0 has
        none. With ``tops``, only these rows of block 0 and what is within them."""
        groupings: list[Grouping | None] = [None]
        kept: list[Array | None] = [tops]
        renumber: list[Array | None] = [None if tops is None else _numbered(tops, len(self.blocks[0]))]
        for index, block in enumerate(self.formula.blocks):
            if index == 0:
                continue
            own = self.blocks[index]
            alive = self.alive(index)
            parent, above = renumber[block.parent], kept[block.parent]
            group, of = own.group.values.take(alive), None
            if block.grouped:
                groups, of = own.groups, own.of.values if above is None else own.of.values.take(above)
                if above is not None:
                    wanted = np.zeros(groups, dtype=bool)
                    wanted[of] = True
                    some = wanted.take(group)
                    alive, group = alive[some], group[some]
            else:
                groups = len(self.blocks[0]) if above is None else len(above)
                if parent is not None:
                    group = parent.take(group)
                    alive, group = alive[group >= 0], group[group >= 0]
            virtual = own.virtual.values.take(alive)
            groupings.append(Grouping(group, groups, of, virtual, own.stranger.values.take(alive)))
            kept.append(alive)
            renumber.append(_numbered(alive, len(own)))
        return groupings, kept


def _numbered(rows: Array, count: int) -> Array:
    """(count,) the place of each row among ``rows``; -1 for the others."""
    numbers = np.full((count,), -1)
    numbers[rows] = np.arange(len(rows))
    return numbers
