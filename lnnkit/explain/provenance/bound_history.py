"""The history of a fixpoint: what an atom's bound was at any tick."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.trail.events import Completion, Events, Kind, Trail

END = 2**31 - 1  # a tick after all others


@dataclass(frozen=True, slots=True)
class Event:
    """``row``'s ``side`` (0 lower, 1 upper) got ``value``, proposed by ``instance`` of ``batch`` to ``leaf`` from
    bounds read before ``tick``."""

    number: int
    kind: Kind
    row: int
    side: int
    value: float
    tick: int
    batch: int
    leaf: int
    instance: int


class BoundHistory:
    """Events by row and side; sorted lazily."""

    def __init__(self, history: Trail) -> None:
        events = history.events()
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
            chunk = bisect_left(self._chunks, tick, key=lambda each: each[0])
            limit = self._start[chunk] if chunk < len(self._start) else limit
        place = int(np.searchsorted(numbers, limit))
        return self._event(int(numbers[place - 1])) if place else None

    def previous(self, event: Event) -> Event | None:
        """The event before ``event`` of the same bound."""
        numbers = self._numbers(event.row, event.side)
        place = int(np.searchsorted(numbers, event.number))
        return self._event(int(numbers[place - 1])) if place else None

    def restored(self, event: Event) -> Event | None:
        """The event whose bound a completion restored: the last before it began; None if there is none."""
        found: Event | None = event
        while found is not None and found.kind is Kind.RESTORED:
            while found is not None and found.kind is not Kind.RESTARTED:
                found = self.previous(found)
            if found is not None:
                found = self.previous(found)
        return found

    def rising(self, start: int, stop: int, least: float) -> np.ndarray:
        """The rows whose upper end rose above ``least`` from tick ``start`` to before ``stop``."""
        low, high = (bisect_left(self._chunks, tick, key=lambda each: each[0]) for tick in (start, stop))
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
        tick, kind, side, batch, leaf = self._chunks[chunk]
        row, value, instance = self._row[number], self._value[number], self._instance[number]
        return Event(number, Kind(kind), int(row), side, float(value), tick, batch, leaf, int(instance))


def _chunks(events: Events) -> list[tuple[int, int, int, int, int]]:
    columns = (events.tick, events.kind, events.side, events.batch, events.leaf)
    return list(zip(*(column.tolist() for column in columns), strict=True))
