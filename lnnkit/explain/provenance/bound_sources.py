"""The sources of bounds: the event, fact or default on which an atom's bound rested at a tick."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lnnkit.engine.start.prepared import Prepared
from lnnkit.explain.proof.proof import Given
from lnnkit.explain.provenance.bound_history import END, BoundHistory, Event
from lnnkit.explain.provenance.fact_sources import FactSources
from lnnkit.explain.provenance.ground_text import Argument, GroundText
from lnnkit.logic.bounds import tolerance
from lnnkit.store.atoms import FALSE, TRUE, UNKNOWN
from lnnkit.trail.events import Kind


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
    """The source is the default of a table, for these arguments."""

    table: str
    arguments: tuple[Argument, ...]
    side: int


@dataclass(frozen=True, slots=True)
class Completed:
    """The source is the completion numbered ``completion``: no rule gives more for an atom of a closed predicate. With
    variables among the arguments this holds for any atom without a row."""

    table: str
    arguments: tuple[Argument, ...]
    completion: int
    value: float


Source = Sent | Listed | Unlisted | Completed


@dataclass(frozen=True, slots=True)
class Reading:
    """A bound and its source; None if it is uninformative, or needs no reason."""

    value: float
    source: Source | None


class BoundSources:
    """Looks bounds up by row, or by arguments for an atom without a row."""

    def __init__(self, prepared: Prepared, timeline: BoundHistory, origins: FactSources, wording: GroundText) -> None:
        self._prepared = prepared
        self._timeline = timeline
        self._origins = origins
        self._wording = wording
        self._eps = tolerance(prepared.state.dtype)
        self._given = prepared.grounding.atoms.flags("given")
        self._facts: dict[int, list[Given]] = {}

    def of(self, row: int, side: int, tick: int = END) -> Reading:
        """The bound of a row as read at ``tick``."""
        if row in (FALSE, TRUE, UNKNOWN):
            return Reading({FALSE: 0.0, TRUE: 1.0, UNKNOWN: float(side)}[row], None)
        event = self._timeline.at(row, side, tick)
        if event is not None:
            event = self._timeline.restored(event)
        if event is not None:
            source = Listed(row, side) if event.kind is Kind.STATED else self._source(event)
            return self._told(event.value, side, source, self._wording.table(row))
        if self.is_given(row):
            return self._told(self._bound(row, side), side, Listed(row, side), self._wording.table(row))
        return self.unlisted(*self.about(row), side, tick)

    def unlisted(self, table: str, arguments: Sequence[Argument], side: int, tick: int = END) -> Reading:
        """The bound of an atom that is not materialised, or of an atom with variables."""
        own = self._prepared.grounding.atoms.tables[table]
        value = own.default[side]
        derived = table in self._prepared.lifted.closed_derived
        if side == 1 and derived and not (arguments and self._prepared.grounding.domain.lacks(own.sorts, arguments)):
            for number in reversed(range(len(self._timeline.completions))):
                each = self._timeline.completions[number]
                if table in each.predicates and each.stop <= tick:
                    return self._told(value, side, Completed(table, tuple(arguments), number, value), table)
        return self._told(value, side, Unlisted(table, tuple(arguments), side), table)

    def about(self, row: int) -> tuple[str, tuple[str, ...]]:
        """The table and the entities of a row."""
        table, entities = self._wording.table(row), self._wording.entities(row)
        assert table is not None and entities is not None
        return table, tuple(self._wording.names[entity] for entity in entities)

    def _source(self, event: Event) -> Source:
        """An event, or, for the upper end of a completed atom, its completion: no single instance lowers it."""
        batches = self._prepared.grounding.batches
        completes = event.batch >= 0 and batches[event.batch].completes
        if event.side == 1 and (completes or event.kind is Kind.RESTARTED):
            for number, each in enumerate(self._timeline.completions):
                if each.start <= event.tick < each.stop:
                    return Completed(*self.about(event.row), number, event.value)
        return Sent(event)

    def crossed(self, row: int, side: int) -> Reading:
        """The bound of an arrested row that crossed its other bound."""
        event = self._timeline.at(row, side)
        while event is not None and event.kind is Kind.OPENED:
            event = self._timeline.previous(event)
        event = None if event is None else self._timeline.restored(event)
        if event is not None:
            return Reading(event.value, self._source(event))
        if self.is_given(row):
            return Reading(self._bound(row, side), Listed(row, side))
        return self.of(row, side, 0)

    def is_given(self, row: int) -> bool:
        """Whether facts give the row's atom bounds."""
        return row < len(self._given) and bool(self._given[row])

    def fact(self, row: int, side: int) -> Given:
        """The fact that gives a row its bound; the most trusted one, and of those the first."""
        value = self._bound(row, side)
        told = [fact for fact in self._facts[row] if (fact.upper if side else fact.lower) == value]
        return max(told, key=lambda fact: fact.trust)

    def _bound(self, row: int, side: int) -> float:
        if row not in self._facts:
            self._facts[row] = self._origins.of(*self.about(row))
        facts = self._facts[row]
        return min(fact.upper for fact in facts) if side else max(fact.lower for fact in facts)

    def _told(self, value: float, side: int, source: Source, table: str | None) -> Reading:
        """A reading; bounds that neurons read as unknown need no source."""
        if table is not None and self._wording.is_number(table):
            return Reading(value, None if math.isinf(value) else source)
        silent = value >= 1 - self._eps if side else value <= self._eps
        return Reading(value, None if silent else source)
