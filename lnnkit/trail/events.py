"""Every change of a bound, in the order of rounds: what explanations are read from.

An instance reads the bounds as the rounds before have left them, so what it read of an atom is the atom's last event of
an earlier *tick*. A tick is a round, or a step between rounds that others read: a leap, or the first bounds of a shared
neuron.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import torch
from torch import Tensor

from lnnkit.join.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds
from lnnkit.store.growing import Pieces

NOBODY = -1  # the batch of what no instance has set
ROOT = -2  # the leaf of what is the root's value before the first round


class Kind(IntEnum):
    """How a bound came about."""

    SENT = 0  # by an instance
    CARRIED = 1  # by a leap: the limit, or many rounds, of what its last setter sends
    INITIAL = 2  # of a shared neuron, by its operands and its statements, before the first round
    RESTARTED = 3  # of a completed predicate, which starts from false
    RESTORED = 4  # as it was before a completion that came to less
    OPENED = 5  # unknown: arrested, or a completion that came to no end


@dataclass(frozen=True, slots=True)
class Events:
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


@dataclass(frozen=True, slots=True)
class Completion:
    """``predicates`` were completed between two ticks; what reads the result does so from ``stop`` on."""

    predicates: frozenset[str]
    start: int
    stop: int


class _Column:
    """One column of the events, chunk by chunk. A chunk that is a run (each number ``step`` more than the one before)
    is kept as its first number."""

    __slots__ = ("_dtype", "_first", "_plain", "_runs", "_step")

    def __init__(self, dtype: torch.dtype, step: int) -> None:
        self._dtype = dtype
        self._step = step
        self._plain = Pieces(dtype)
        self._runs = array("b")
        self._first = array("d")

    def add(self, values: Tensor | range | float) -> None:
        run = not isinstance(values, Tensor)
        self._runs.append(run)
        self._first.append((values.start if isinstance(values, range) else values) if run else 0)
        if not run:
            self._plain.append(values)

    @property
    def nbytes(self) -> int:
        return len(self._plain) * self._dtype.itemsize + len(self._runs) * (1 + self._first.itemsize)

    def expanded(self, lengths: Tensor, start: Tensor) -> Tensor:
        """All numbers."""
        runs = torch.tensor(self._runs, dtype=torch.bool).repeat_interleave(lengths)
        found = torch.tensor(self._first, dtype=torch.float64).to(self._dtype).repeat_interleave(lengths)
        if self._step:
            found += (torch.arange(len(found)) - start.repeat_interleave(lengths)).to(self._dtype)
        found[~runs] = self._plain.values
        return found


@dataclass(frozen=True, slots=True)
class Arrested:
    """Rows of a batch that have been arrested, and the bounds that their roots came to."""

    batch: int
    rows: Tensor
    roots: Bounds


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
        self._row = _Column(torch.int32, 1)
        self._value = _Column(dtype, 0)
        self._instance = _Column(torch.int32, 1)
        self._length = array("q")
        self._tick = array("i")
        self._kind = array("b")
        self._side = array("b")
        self._batch = array("i")
        self._leaf = array("i")

    def __len__(self) -> int:
        return sum(self._length)

    @property
    def nbytes(self) -> int:
        """The memory that the events take."""
        columns = (self._row, self._value, self._instance)
        chunks = (self._length, self._tick, self._kind, self._side, self._batch, self._leaf)
        return sum(column.nbytes for column in columns) + sum(len(each) * each.itemsize for each in chunks)

    @property
    def tellers(self) -> set[tuple[int, int]]:
        """The batches that have told anything, each with a leaf through which they have."""
        return set(zip(self._batch, self._leaf, strict=True))

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
        rows: Tensor | range,
        values: Tensor | float,
        batch: int = NOBODY,
        leaf: int = 0,
        instances: Tensor | range = range(1),
    ) -> None:
        """One side of ``rows`` (n,), each once, now has these ``values`` (n,), or all one; ``instances`` (n,) of a
        ``batch`` have set them through a ``leaf``. Nobody may write to them any more."""
        if not len(rows):
            return
        self._row.add(rows)
        self._value.add(values)
        self._instance.add(instances)
        self._length.append(len(rows))
        for column, entry in (
            (self._tick, self.tick),
            (self._kind, kind),
            (self._side, side),
            (self._batch, batch),
            (self._leaf, leaf),
        ):
            column.append(entry)

    def events(self) -> Events:
        """All that has been recorded."""
        lengths = torch.tensor(self._length, dtype=torch.int64)
        start = lengths.cumsum(0) - lengths
        return Events(
            self._row.expanded(lengths, start),
            self._value.expanded(lengths, start),
            self._instance.expanded(lengths, start),
            start,
            *(
                torch.tensor(each, dtype=torch.int64)
                for each in (self._tick, self._kind, self._side, self._batch, self._leaf)
            ),
        )
