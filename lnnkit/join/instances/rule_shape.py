"""The instances of formulas of one shape that set a bound or were arrested, in common arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lnnkit.analysis.supports import Analysis
from lnnkit.formula.unfolding import Formula, Modes
from lnnkit.store.row_arrays import Array, Chunks, Growing


class ShapeBlock:
    """The rows of one block: for each leaf, constant or observed neuron a column of atom rows; for an inner block each
    row's ``group``, a row of the block around it."""

    def __init__(self, columns: Sequence[int]) -> None:
        self.columns = {column: Chunks() for column in columns}
        self._member = Growing(np.int32)
        self._local = Growing(np.int32)
        self._length = 0
        self.group = Growing(np.int64)

    def __len__(self) -> int:
        return self._length

    @property
    def member(self) -> Array:
        """(n,) the member of the shape to which each row belongs."""
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
    """The instances of the formulas that share ``formula``'s shape, as far as they are stored. ``arrested`` marks rows
    of block 0; ``reads`` says for each leaf whether a move of its lower and of its upper end can matter to an
    instance."""

    def __init__(
        self, formula: Formula, analysis: Analysis, modes: Modes, observed: tuple[int, ...], *, completes: bool
    ) -> None:
        self.formula = formula
        self.completes = completes
        every = completes or observed
        self.reads = dict.fromkeys(formula.read, (True, True)) if every else analysis.polarity.read_sides()
        if completes:  # Heads that the formula defines are not read.
            self.reads |= dict.fromkeys(formula.heads, (False, False))
        self.analysis = analysis
        self.modes = modes
        self.observed = observed
        self.targets = tuple(leaf for leaf in formula.read if leaf not in formula.heads and any(modes[leaf]))
        columns: list[list[int]] = [[] for _ in formula.blocks]
        for index, number in formula.with_rows(observed):
            columns[number].append(index)
        self.blocks = tuple(map(ShapeBlock, columns))
        self._arrested = Growing(np.bool_)
        self.members: list[int] = []  # their numbers in the grounding

    def append(
        self,
        block: int,
        columns: Mapping[int, Array | range],
        member: int,
        local: int,
        length: int,
        group: Array | None = None,
    ) -> range:
        """Add ``length`` rows of formula ``member``, numbered there from ``local`` on (-1: not at all); returns their
        numbers in the block."""
        stored = self.blocks[block]
        numbers = stored.number(length, self.members.index(member), local)
        for column, growing in stored.columns.items():
            growing.append(columns[column])
        if block > 0:
            assert group is not None
            stored.group.append(group)
        return numbers

    @property
    def arrested(self) -> Array:
        """The arrested rows of block 0."""
        return self._arrested.reach(len(self.blocks[0]))[: len(self.blocks[0])]

    def behind(self, rows: Array, leaf: int) -> Array:
        """The atom rows of a leaf of the outermost block, in some of its rows."""
        return self.blocks[0].columns[leaf].values.take(rows)

    def tops(self, block: int, instances: Array) -> Array:
        """The rows of block 0 through which a leaf of a block was set."""
        tops = instances.astype(np.int64)
        for inner in reversed(self.formula.path(block)[1:]):
            tops = self.blocks[inner].group.values.take(tops)
        return tops
