"""Every change of a bound, in the order of rounds: what explanations are read from.

An instance reads the bounds as the rounds before have left them, so what it read of an atom is the atom's last event of
an earlier *tick*. A tick is a round, or a step between rounds that others read: the first bounds of shared neurons.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.store.columns.arrays import Array, Ends, real
from lnnkit.store.columns.growing import Chunks

NOBODY = -1  # the batch of what no instance has set
_WIDTH = 6  # numbers for each chunk
ROOT = -2  # the leaf of what is the root's value before the first round


class Kind(IntEnum):
    """How a bound came about."""

    SENT = 0  # by an instance
    INITIAL = 1  # of a shared neuron, by its operands and its statements, before the first round
    RESTARTED = 2  # of a completed predicate, which starts from false
    RESTORED = 3  # as it was before a completion that came to less
    OPENED = 4  # unknown: arrested, or a completion that came to no end
    STATED = 5  # by a fact that was added to a fixpoint


class Events(NamedTuple):
    """All events, in columns: ``row``, ``value`` and ``instance`` (n,), which follow one another in chunks; the chunk
    that begins at ``start`` (c,) has the other columns (c,)."""

    row: Tensor
    value: Tensor
    instance: Tensor
    start: Tensor
    tick: Tensor
    kind: Tensor
    side: Tensor
    batch: Tensor
    leaf: Tensor


class Completion(NamedTuple):
    """``predicates`` were completed between two ticks; what reads the result does so from ``stop`` on."""

    predicates: frozenset[str]
    start: int
    stop: int


class _Column:
    """One column of the events, chunk by chunk. A chunk that is a run (each number ``step`` more than the one before)
    is kept as its first number."""

    __slots__ = ("_dtype", "_first", "_plain", "_step")

    def __init__(self, dtype: np.dtype, step: int) -> None:
        self._dtype = dtype
        self._step = step
        self._plain = Chunks(dtype)
        self._first = array("d")  # nan where a chunk is no run

    def add(self, values: Array | range | float) -> None:
        if isinstance(values, Array):
            self._first.append(math.nan)
            self._plain.append(values)
        else:
            self._first.append(values.start if isinstance(values, range) else values)

    @property
    def nbytes(self) -> int:
        return len(self._plain) * self._dtype.itemsize + len(self._first) * self._first.itemsize

    def expanded(self, lengths: Array, start: Array) -> Array:
        """All numbers."""
        first = np.array(self._first)
        plain = np.isnan(first)
        found = np.where(plain, 0, first).astype(self._dtype).repeat(lengths)
        if self._step:
            found += (np.arange(len(found)) - start.repeat(lengths)).astype(self._dtype)
        found[plain.repeat(lengths)] = self._plain.values
        return found


class Arrested(NamedTuple):
    """Rows of a batch that have been arrested, and the bounds that their roots came to."""

    batch: int
    rows: Array
    roots: Ends


@dataclass(slots=True)
class Trace:
    """What it takes to work out every bound again, beside the events: the ``start`` (lower and upper ends of the atoms
    that were there before the first of them), the batches of shared neurons before the first round (``scratch``, by
    the number that events have for them, from -2 downward), and the instances that were arrested, with the ticks before
    which they read."""

    start: tuple[Tensor, Tensor] = field(default_factory=lambda: (torch.empty(0), torch.empty(0)))
    scratch: list[RuleShape] = field(default_factory=list)
    arrested: list[tuple[int, Arrested]] = field(default_factory=list)

    def adopt(self, batch: RuleShape) -> int:
        """The number of a batch that the grounding does not hold."""
        self.scratch.append(batch)
        return -1 - len(self.scratch)


class Trail:
    """Grows by the chunks of changes that a round makes. At scale an event takes 16 bytes or fewer."""

    def __init__(self, dtype: torch.dtype, trace: Trace | None = None) -> None:
        self.tick = 0
        self.completions: list[Completion] = []
        self.arrests: list[int] = []  # the tick of each entry among those of the arrested instances
        self.trace = trace
        self._row = _Column(np.dtype(np.int32), 1)
        self._value = _Column(real(dtype), 0)
        self._instance = _Column(np.dtype(np.int32), 1)
        self._chunks = array("i")  # the length of each, its tick, kind, side, batch and leaf

    def __len__(self) -> int:
        return sum(self._chunks[::_WIDTH])

    @property
    def nbytes(self) -> int:
        """The memory that the events take."""
        columns = (self._row, self._value, self._instance)
        return sum(column.nbytes for column in columns) + len(self._chunks) * self._chunks.itemsize

    @property
    def tellers(self) -> set[tuple[int, int]]:
        """The batches that have told anything, each with a leaf through which they have."""
        return set(zip(self._chunks[4::_WIDTH], self._chunks[5::_WIDTH], strict=True))

    def step(self) -> None:
        """What follows reads what has been recorded so far."""
        self.tick += 1

    def completed(self, predicates: frozenset[str], start: int) -> None:
        """A stratum that was restarted at ``start`` is complete."""
        self.step()
        self.completions.append(Completion(predicates, start, self.tick))

    def arrest(self, found: Sequence[Arrested]) -> None:
        """Instances cannot be satisfied by what they read before this tick."""
        self.arrests += [self.tick] * len(found)
        if self.trace is not None:
            self.trace.arrested += [(self.tick, each) for each in found]

    def record(
        self,
        kind: Kind,
        side: int,
        rows: Array | range,
        values: Array | float,
        batch: int = NOBODY,
        leaf: int = 0,
        instances: Array | range = range(1),
    ) -> None:
        """One side of ``rows`` (n,), each once, now has these ``values`` (n,), or all one; ``instances`` (n,) of a
        ``batch`` have set them through a ``leaf``. Nobody may write to them any more."""
        if not len(rows):
            return
        self._row.add(rows)
        self._value.add(values)
        self._instance.add(instances)
        self._chunks.extend((len(rows), self.tick, kind, side, batch, leaf))

    def events(self) -> Events:
        """All that has been recorded."""
        lengths, *chunks = np.array(self._chunks, np.int64).reshape(-1, _WIDTH).T.copy()
        start = lengths.cumsum() - lengths
        columns = [column.expanded(lengths, start) for column in (self._row, self._value, self._instance)]
        return Events(*map(torch.from_numpy, (*columns, start, *chunks)))
