"""Which sides of which tables can be produced at all, and which of those matter: decided before the first round.

This is magic sets over the program with values ignored. A side is kept for ``ALL`` atoms of a table, for ``LISTED``
ones, or not at all; an instance that can send nothing kept is never grounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lnnkit.ground.formula import Formula
from lnnkit.ground.supports import AUXILIARY, Conflict, Direction, Element, End

LISTED, ALL = 1, 2
Side = tuple[str, str]  # a table's name, and "lower" or "upper"
SIDES = ("lower", "upper")
DIRECTIONS: tuple[Direction, Direction] = ("least", "most")


@dataclass(frozen=True, slots=True)
class Reading:
    """One formula as relevance sees it: the conflicts of each direction and every end that the direction reads."""

    formula: Formula
    conflicts: Mapping[Direction, Sequence[Conflict]]
    reads: Mapping[Direction, Sequence[Element]]
    observed: Mapping[tuple[int, Direction], Sequence[Conflict]] = field(default_factory=dict)

    def table(self, leaf: int) -> str:
        if leaf == AUXILIARY:
            assert self.formula.auxiliary is not None
            return self.formula.auxiliary
        return self.formula.neurons[leaf].source


def sides(end: End) -> tuple[str, ...]:
    return ("lower", "upper") if end == "either" else (end,)


def targets(element: Element) -> tuple[str, ...]:
    """The sides that a conflict can tighten at one of its elements: the opposite of what it reads there."""
    return {"lower": ("upper",), "upper": ("lower",), "either": ("lower", "upper")}[element.end]


def rests(conflict: Conflict, reads: Iterable[Element]) -> Iterable[tuple[Element, frozenset[Element]]]:
    """Each element that the conflict can tighten, with the elements that must be there for it.

    That is the rest of the conflict for its own elements. Others it tightens where it stands as a whole, with values
    too mild to violate the constraint alone.
    """
    for element in reads:
        if element in conflict.elements:
            yield element, conflict.elements - {element}
        if element not in conflict.elements or element.end == "either":  # what it can be need not be one interval
            yield element, conflict.elements


@dataclass(frozen=True, slots=True)
class Relevance:
    """``produced``: sides on which some atom may differ from its default; ``derived``: those that an instance can
    send; ``kept``: how far each side matters."""

    produced: frozenset[Side]
    derived: frozenset[Side]
    kept: Mapping[Side, int]

    def available(self, reading: Reading, elements: Iterable[Element]) -> bool:
        """Whether each element can be there at all."""
        return all(
            element.leaf in reading.formula.heads
            or any((reading.table(element.leaf), side) in self.produced for side in sides(element.end))
            for element in elements
        )

    def mode(self, table: str, side: str) -> int:
        return self.kept.get((table, side), 0)


@dataclass(slots=True)
class _Send:
    """What one conflict lets an instance send to one of its elements, once all of ``rest`` is there."""

    reading: Reading
    direction: Direction
    element: Element
    rest: frozenset[Element]
    missing: int = 0

    @property
    def sides(self) -> Iterable[Side]:
        name = self.reading.table(self.element.leaf)
        return ((name, side) for side in targets(self.element))


def decide(
    readings: Sequence[Reading],
    given: Iterable[Side],
    listed: Iterable[str],
    asked: Iterable[str],
    heads: Iterable[Side],
) -> Relevance:
    """The closure of what can be produced from ``given`` sides, and of what matters to listed, asked and head atoms."""
    possible, produced, derived = _produced(readings, given)
    relevance = Relevance(produced, derived, {})
    by_target: dict[Side, list[_Send]] = {}
    for send in possible:
        for side in send.sides:
            by_target.setdefault(side, []).append(send)
    kept: dict[Side, int] = {}
    queue: list[Side] = []

    def keep(side: Side, mode: int) -> None:
        if side in derived and kept.get(side, 0) < mode:
            kept[side] = mode
            queue.append(side)

    for name in listed:
        for side in SIDES:
            keep((name, side), LISTED)
    for name in asked:
        for side in SIDES:
            keep((name, side), ALL)
    for side in heads:
        keep(side, ALL)
    for reading in readings:  # what an observed neuron hears matters as much as an asked atom
        for (_, direction), conflicts in reading.observed.items():
            if any(relevance.available(reading, conflict.elements) for conflict in conflicts):
                _keep_reads(reading, direction, None, keep)
    seen: set[tuple[int, Direction, Element]] = set()
    while queue:
        name, side = queue.pop()
        if kept[name, side] == ALL:  # whether an atom is arrested depends on both of its sides
            keep((name, "upper" if side == "lower" else "lower"), ALL)
        for send in by_target.get((name, side), ()):
            key = (id(send.reading), send.direction, send.element)
            if key not in seen:
                seen.add(key)
                _keep_reads(send.reading, send.direction, send.element, keep)
    return Relevance(produced, derived, kept)


def _produced(
    readings: Sequence[Reading], given: Iterable[Side]
) -> tuple[list[_Send], frozenset[Side], frozenset[Side]]:
    """The sends that are possible at all, the sides that can come to differ, and those that some send can set."""
    waiting: dict[Side, list[tuple[_Send, Element]]] = {}
    possible: list[_Send] = []
    derived: set[Side] = set()
    queue: list[Side] = list(dict.fromkeys(given))
    produced: set[Side] = set(queue)

    def fire(send: _Send) -> None:
        possible.append(send)
        for side in send.sides:
            derived.add(side)
            if side not in produced:
                produced.add(side)
                queue.append(side)

    for reading in readings:
        for direction in DIRECTIONS:
            for conflict in reading.conflicts[direction]:
                for element, rest in rests(conflict, reading.reads[direction]):
                    if element.leaf in reading.formula.heads:
                        continue
                    needed = [e for e in rest if e.leaf not in reading.formula.heads]
                    send = _Send(reading, direction, element, rest, len(needed))
                    for other in needed:
                        for side in sides(other.end):
                            waiting.setdefault((reading.table(other.leaf), side), []).append((send, other))
                    if not needed:
                        fire(send)
    met: set[tuple[int, Element]] = set()
    while queue:
        for send, element in waiting.get(queue.pop(), ()):
            if (id(send), element) not in met:
                met.add((id(send), element))
                send.missing -= 1
                if send.missing == 0:
                    fire(send)
    return possible, frozenset(produced), frozenset(derived)


def _keep_reads(
    reading: Reading, direction: Direction, target: Element | None, keep: Callable[[Side, int], None]
) -> None:
    """Keep every side that an instance reads to send to ``target``."""
    for element in reading.reads[direction]:
        if element != target or element.end == "either":
            for side in sides(element.end):
                keep((reading.table(element.leaf), side), ALL)
