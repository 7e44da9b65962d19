"""Every change of a bound, by round: the provenance that explanations read.

An instance reads the bounds that the rounds before it have left, so what it read of an atom is the atom's last
event of an earlier *tick*. A tick is a round, or a step between rounds whose results others read: the first bounds
of shared neurons.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from lnnkit.arrays import Array
from lnnkit.join.instances.grounding import Grounding
from lnnkit.logic.bounds import Bounds
from lnnkit.store.relations import RowNumbers
from lnnkit.store.row_arrays import Chunks

NOBODY = -1  # the shape of a bound that no instance has set
_WIDTH = 7  # numbers for each chunk
ROOT = -2  # the leaf of a root's value before the first round


class Kind(IntEnum):
    """The kind of change."""

    SENT = 0  # proposed by an instance
    INITIAL = 1  # a shared neuron, from its operands and its statements, before the first round
    RESTARTED = 2  # a completed predicate, which starts from false
    RESTORED = 3  # restored after a completion that derived less
    OPENED = 4  # unknown: arrested, or a completion that did not terminate
    STATED = 5  # given by a fact about a number, from which a completion starts
    RESET = 6  # what facts and the default give, after facts of a fixpoint have changed


class Events(NamedTuple):
    """All events, in columns: ``row`` (among all rows), ``value`` and ``instance`` (n,) have an entry for each event.
    Events are grouped into consecutive chunks, each of one relation; the other columns (c,) have an entry for each
    chunk, which begins at ``start`` (c,)."""

    row: Array
    value: Array
    instance: Array
    start: Array
    tick: Array
    kind: Array
    side: Array
    shape: Array
    leaf: Array


class Chunk(NamedTuple):
    """Consecutive events of one relation, by its number: its ``rows``, and the ``instances`` that set them."""

    kind: int
    side: int
    shape: int
    leaf: int
    table: int
    rows: Array | range
    instances: Array | range


class Completion(NamedTuple):
    """``predicates`` were completed between two ticks; events from ``stop`` on read the result. After changes of facts
    it was revised until ``last``."""

    predicates: frozenset[str]
    start: int
    stop: int
    last: int


class _EventColumn:
    """One column of the events, by chunks. A chunk of numbers in arithmetic progression (difference ``step``) is kept
    as its first number."""

    __slots__ = ("_dtype", "_first", "_plain", "_step")

    def __init__(self, dtype: np.dtype, step: int) -> None:
        self._dtype = dtype
        self._step = step
        self._plain = Chunks(dtype)
        self._first = array("d")  # nan where a chunk is no run

    def add(self, values: Array | range | float) -> None:
        if isinstance(values, np.ndarray):
            self._first.append(math.nan)
            self._plain.append(values)
        else:
            self._first.append(values.start if isinstance(values, range) else values)

    @property
    def nbytes(self) -> int:
        return len(self._plain) * self._dtype.itemsize + len(self._first) * self._first.itemsize

    def parts(self, lengths: array[int], skipped: int) -> Iterator[Array | range]:
        """The numbers of each chunk but for those ``skipped``, of all these lengths; read-only."""
        plain = self._plain.values
        start = int(np.array(lengths[:skipped])[np.isnan(self._first[:skipped])].sum())
        for first, length in zip(self._first[skipped:], lengths[skipped:], strict=True):
            if math.isnan(first):
                yield plain[start : start + length]
                start += length
            else:
                yield range(int(first), int(first) + length)

    def expanded(self, lengths: Array, start: Array) -> Array:
        """All numbers, expanded; read-only."""
        first = np.array(self._first)
        plain = np.isnan(first)
        if plain.all():
            return self._plain.values
        values = np.where(plain, 0, first).astype(self._dtype).repeat(lengths)
        if self._step:
            values += (np.arange(len(values)) - start.repeat(lengths)).astype(self._dtype)
        values[plain.repeat(lengths)] = self._plain.values
        return values


class Arrested(NamedTuple):
    """Rows of a shape that were arrested, and the bounds that their roots had."""

    shape: int
    rows: Array
    roots: Bounds


@dataclass(slots=True)
class Trace:
    """All that is needed besides the events to recompute every bound: the ``start`` (by relation, the bounds of the
    initial rows), the shapes of shared neurons before the first round (``scratch``, under the numbers that events use
    for them, from -2 downward), and the arrested instances, with the ticks before which they read."""

    start: list[Bounds] = field(default_factory=list)
    scratch: list[Grounding] = field(default_factory=list)
    arrested: list[tuple[int, Arrested]] = field(default_factory=list)

    def adopt(self, scratch: Grounding) -> int:
        """Register the one shape of another grounding; returns its number."""
        self.scratch.append(scratch)
        return -1 - len(self.scratch)


class Setters(NamedTuple):
    """By atom row, what set one of its ends last: the ``shape``, the ``leaf`` and the ``instance`` there. ``shape`` is
    `NOBODY` where no instance did."""

    shape: Array
    leaf: Array
    instance: Array

    def groups(self) -> Iterator[tuple[Array, int, int, Array]]:
        """The rows, the shape, the leaf and the instances, for each shape and leaf."""
        known = np.flatnonzero(self.shape != NOBODY)
        pairs = np.stack([self.shape.take(known), self.leaf.take(known)])
        for shape, leaf in np.unique(pairs, axis=1).T.tolist():
            rows = known[(pairs[0] == shape) & (pairs[1] == leaf)]
            yield rows, shape, leaf, self.instance.take(rows)


class Trail:
    """The growing record of events. At scale an event takes 16 bytes or fewer. Without the ``values`` of bounds it
    tells who set them, but not what was read."""

    def __init__(self, dtype: np.dtype, trace: Trace | None = None, *, values: bool = True) -> None:
        self.tick = 0
        self.has_values = values
        self.completions: list[Completion] = []
        self.arrests: list[int] = []  # the tick of each entry among the arrested instances
        self.trace = trace
        self._row = _EventColumn(np.dtype(np.int32), 1)
        self._value = _EventColumn(dtype, 0)
        self._instance = _EventColumn(np.dtype(np.int32), 1)
        self._chunks = array("i")  # for each chunk: length, tick, kind, side, shape, leaf and relation

    def __len__(self) -> int:
        return sum(self._chunks[::_WIDTH])

    @property
    def chunk_count(self) -> int:
        return len(self._chunks) // _WIDTH

    @property
    def nbytes(self) -> int:
        """The memory of the events, in bytes."""
        columns = (self._row, self._value, self._instance)
        return sum(column.nbytes for column in columns) + len(self._chunks) * self._chunks.itemsize

    @property
    def setting_leaves(self) -> set[tuple[int, int]]:
        """The shapes that set any bound, each with a leaf through which they did."""
        return set(zip(self._chunks[4::_WIDTH], self._chunks[5::_WIDTH], strict=True))

    def step(self) -> None:
        """Begin a new tick: later events read those recorded so far."""
        self.tick += 1

    def completed(self, predicates: frozenset[str], start: int) -> None:
        """Record that a stratum that was restarted at ``start`` is complete."""
        self.step()
        self.completions.append(Completion(predicates, start, self.tick, self.tick))

    def completed_again(self, number: int) -> None:
        """Record that a completion is revised, for facts that changed."""
        self.step()
        self.completions[number] = self.completions[number]._replace(last=self.tick)

    def arrest(self, arrested: Sequence[Arrested]) -> None:
        """Record that these instances cannot be satisfied by what they read before this tick."""
        self.arrests += [self.tick] * len(arrested)
        if self.trace is not None:
            self.trace.arrested += [(self.tick, entry) for entry in arrested]

    def record(
        self,
        kind: Kind,
        table: int,
        side: int,
        rows: Array | range,
        values: Array | float,
        shape: int = NOBODY,
        leaf: int = 0,
        instances: Array | range = range(1),
    ) -> None:
        """Record that one side of distinct ``rows`` (n,) of a relation, by its number, has new ``values`` (n,) or one
        common value, set by ``instances`` (n,) of a ``shape`` through a ``leaf``. The arrays must not be written to
        afterwards."""
        if not len(rows):
            return
        self._row.add(rows)
        self._value.add(values if self.has_values else 0.0)
        self._instance.add(instances)
        self._chunks.extend((len(rows), self.tick, kind, side, shape, leaf, table))

    def tables(self, start: int) -> set[int]:
        """The relations, by number, about which there are events from chunk ``start`` on."""
        return set(self._chunks[_WIDTH * start + 6 :: _WIDTH])

    def chunks(self, start: int = 0) -> Iterator[Chunk]:
        """The events in order, those of one proposal or step together, from chunk ``start`` on."""
        lengths = self._chunks[::_WIDTH]
        heads = (self._chunks[_WIDTH * start + place :: _WIDTH] for place in (2, 3, 4, 5, 6))
        yield from map(Chunk, *heads, self._row.parts(lengths, start), self._instance.parts(lengths, start))

    def setters(self, side: int, numbers: RowNumbers) -> Setters:
        """The last setters of the lower (0) or the upper (1) ends of all rows. Of what a completion restored it is what
        had set it."""
        events, count = self.events(numbers), numbers.count
        sets = (events.side == side) & np.isin(events.kind, (Kind.SENT, Kind.STATED, Kind.RESET))
        chunk = np.arange(len(sets)).repeat(np.diff(events.start, append=len(events.row)))
        places = np.flatnonzero(sets.take(chunk))
        last = np.full(count, -1, np.int64)
        last[events.row.take(places)] = places  # of equal rows the last is kept
        rows = np.flatnonzero(last >= 0)
        last = last.take(rows)
        setters = Setters(np.full(count, NOBODY, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64))
        chunk = chunk.take(last)
        for target, column in ((setters.shape, events.shape), (setters.leaf, events.leaf)):
            target[rows] = column.take(chunk)
        setters.instance[rows] = events.instance.take(last)
        return setters

    def events(self, numbers: RowNumbers) -> Events:
        """All events recorded so far, of ``numbers``' rows."""
        lengths, *chunks, tables = np.array(self._chunks, np.int64).reshape(-1, _WIDTH).T.copy()
        start = lengths.cumsum() - lengths
        row, *columns = (column.expanded(lengths, start) for column in (self._row, self._value, self._instance))
        row = (row + numbers.first(tables).repeat(lengths)).astype(np.int32)
        return Events(*map(np.asarray, (row, *columns, start, *chunks)))
