"""The sources of bounds: the event, fact or default on which an atom's bound rested at a tick, by the history of a
fixpoint."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.engine.inference_run import Run
from lnnkit.explain.proof.proof import GivenFact
from lnnkit.explain.provenance.fact_sources import FactSources
from lnnkit.explain.provenance.ground_text import Argument, GroundText
from lnnkit.logic.bounds import tolerance
from lnnkit.store.relations import RowNumbers
from lnnkit.trail.events import Completion, Events, Kind, Trail

END = 2**31 - 1  # a tick after all others


@dataclass(frozen=True, slots=True)
class Event:
    """``row``'s ``side`` (0 lower, 1 upper) got ``value``, proposed by ``instance`` of ``shape`` to ``leaf`` from
    bounds read before ``tick``."""

    number: int
    kind: Kind
    row: int
    side: int
    value: float
    tick: int
    shape: int
    leaf: int
    instance: int


class BoundHistory:
    """Events by row and side; sorted lazily."""

    def __init__(self, history: Trail, numbers: RowNumbers) -> None:
        events = history.events(numbers)
        self.completions: Sequence[Completion] = tuple(history.completions)
        self._row, self._value, self._instance = events.row, events.value, events.instance
        self._start: Sequence[int] = events.start.tolist()
        self._chunks = _chunks(events)
        sides = np.repeat(events.side, np.diff([*self._start, len(self._row)])) if len(self._row) else self._row
        self._sorted = [self._by_row(np.flatnonzero(sides == side)) for side in (0, 1)]

    def first_complete(self, strata: int) -> int:
        """The tick from which this many strata have been completed once; 0 if there are none."""
        return self.completions[strata - 1].stop if 0 < strata <= len(self.completions) else 0

    def at(self, row: int, side: int, tick: int = END) -> Event | None:
        """The last event before ``tick``."""
        numbers = self._numbers(row, side)
        limit = len(self._row)
        if tick != END:
            chunk = bisect_left(self._chunks, tick, key=lambda chunk: chunk[0])
            limit = self._start[chunk] if chunk < len(self._start) else limit
        place = int(np.searchsorted(numbers, limit))
        return self._event(int(numbers[place - 1])) if place else None

    def previous(self, event: Event) -> Event | None:
        """The event before ``event`` of the same bound."""
        numbers = self._numbers(event.row, event.side)
        place = int(np.searchsorted(numbers, event.number))
        return self._event(int(numbers[place - 1])) if place else None

    def restored(self, event: Event | None) -> Event | None:
        """The event whose bound a completion restored: the last before it began; None if there is none."""
        while event is not None and event.kind is Kind.RESTORED:
            while event is not None and event.kind is not Kind.RESTARTED:
                event = self.previous(event)
            event = None if event is None else self.previous(event)
        return event

    def rising(self, start: int, stop: int, least: float) -> np.ndarray:
        """The rows whose upper end rose above ``least`` from tick ``start`` to before ``stop``."""
        low, high = (bisect_left(self._chunks, tick, key=lambda chunk: chunk[0]) for tick in (start, stop))
        ends = [*self._start, len(self._row)]
        numbers = [np.arange(ends[c], ends[c + 1]) for c in range(low, high) if self._chunks[c][2] == 1]
        every = np.concatenate(numbers) if numbers else np.empty(0, np.int64)
        return np.unique(self._row[every[self._value[every] > least]])

    def _by_row(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = self._row[numbers]
        order = np.argsort(rows, kind="stable")
        return rows[order], numbers[order]

    def _numbers(self, row: int, side: int) -> np.ndarray:
        rows, numbers = self._sorted[side]
        # Another type would copy the whole array
        low, high = np.searchsorted(rows, np.array((row, row + 1), rows.dtype))
        return numbers[low:high]

    def _event(self, number: int) -> Event:
        chunk = bisect_right(self._start, number) - 1
        tick, kind, side, shape, leaf = self._chunks[chunk]
        row, value, instance = self._row[number], self._value[number], self._instance[number]
        return Event(number, Kind(kind), int(row), side, float(value), tick, shape, leaf, int(instance))


def _chunks(events: Events) -> list[tuple[int, int, int, int, int]]:
    columns = (events.tick, events.kind, events.side, events.shape, events.leaf)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@dataclass(frozen=True, slots=True)
class Sent:
    """The source is an event."""

    event: Event


@dataclass(frozen=True, slots=True)
class Listed:
    """The source is a fact."""

    row: int
    side: int


@dataclass(frozen=True, slots=True)
class Unlisted:
    """The source is the default of a table, for these arguments; of ``unnamed`` individuals what is stated of all."""

    table: str
    arguments: tuple[Argument, ...]
    side: int
    unnamed: bool = False


@dataclass(frozen=True, slots=True)
class Completed:
    """The source is the completion numbered ``completion``: no rule gives more for an atom of a closed predicate. With
    variables among the arguments this holds for any atom without a row."""

    table: str
    arguments: tuple[Argument, ...]
    completion: int
    value: float


BoundSource = Sent | Listed | Unlisted | Completed


@dataclass(frozen=True, slots=True)
class Reading:
    """A bound and its source; None if it is uninformative, or needs no reason."""

    value: float
    source: BoundSource | None


class BoundSources:
    """Looks bounds up by row, or by arguments for an atom without a row."""

    def __init__(self, run: Run, timeline: BoundHistory, origins: FactSources, wording: GroundText) -> None:
        self._run = run
        self._timeline = timeline
        self._origins = origins
        self._wording = wording
        self._eps = tolerance(run.state.dtype)
        self._given = wording.numbers.flags("given")
        self._facts: dict[int, list[GivenFact]] = {}

    def of(self, row: int, side: int, tick: int = END) -> Reading:
        """The bound of a row as read at ``tick``."""
        event = self._timeline.restored(self._timeline.at(row, side, tick))
        if event is not None:
            source = Listed(row, side) if event.kind is Kind.STATED else self._source(event)
            return self._read(event.value, side, source, self._wording.table(row))
        if self.is_given(row):
            return self._read(self.fact(row, side).end(side), side, Listed(row, side), self._wording.table(row))
        return self.unlisted(*self.about(row), side, tick)

    def unlisted(
        self, table: str, arguments: Sequence[Argument], side: int, tick: int = END, *, unnamed: bool = False
    ) -> Reading:
        """The bound of an atom that is not materialised, or of an atom with variables, which may be ``unnamed``."""
        atoms = self._run.grounding.atoms.tables[table]
        if unnamed and atoms.unnamed[side] != atoms.default[side]:
            return self._read(atoms.unnamed[side], side, Unlisted(table, tuple(arguments), side, unnamed=True), table)
        value = atoms.default[side]
        derived = table in self._run.plan.lifted.closed_derived
        if side == 1 and derived and not (arguments and self._run.grounding.domain.lacks(atoms.sorts, arguments)):
            for number in reversed(range(len(self._timeline.completions))):
                completion = self._timeline.completions[number]
                if table in completion.predicates and completion.stop <= tick:
                    return self._read(value, side, Completed(table, tuple(arguments), number, value), table)
        return self._read(value, side, Unlisted(table, tuple(arguments), side), table)

    def about(self, row: int) -> tuple[str, tuple[str, ...]]:
        """The table and the entities of a row."""
        table, entities = self._wording.table(row), self._wording.entities(row)
        return table, tuple(self._wording.names[entity] for entity in entities)

    def _source(self, event: Event) -> BoundSource:
        """An event, or, for the upper end of a completed atom, its completion: no single instance lowers it."""
        shapes = self._run.grounding.shapes
        completes = event.shape >= 0 and shapes[event.shape].completes
        if event.side == 1 and (completes or event.kind is Kind.RESTARTED):
            for number, completion in enumerate(self._timeline.completions):
                if completion.start <= event.tick < completion.stop:
                    return Completed(*self.about(event.row), number, event.value)
        return Sent(event)

    def crossed(self, row: int, side: int) -> Reading:
        """The bound of an arrested row that crossed its other bound."""
        event = self._timeline.at(row, side)
        while event is not None and event.kind is Kind.OPENED:
            event = self._timeline.previous(event)
        event = self._timeline.restored(event)
        if event is not None:
            return Reading(event.value, self._source(event))
        if self.is_given(row):
            return Reading(self.fact(row, side).end(side), Listed(row, side))
        return self.of(row, side, 0)

    def is_given(self, row: int) -> bool:
        """Whether facts give the row's atom bounds."""
        return bool(self._given[row])

    def fact(self, row: int, side: int) -> GivenFact:
        """The fact that gives a row its bound; the most trusted one, and of those the first."""
        if row not in self._facts:
            self._facts[row] = self._origins.of(*self.about(row))
        return max(self._facts[row], key=lambda fact: (-fact.upper if side else fact.lower, fact.trust))

    def _read(self, value: float, side: int, source: BoundSource, table: str) -> Reading:
        """A reading; bounds that neurons read as unknown need no source."""
        if self._wording.is_number(table):
            return Reading(value, None if math.isinf(value) else source)
        silent = value >= 1 - self._eps if side else value <= self._eps
        return Reading(value, None if silent else source)
