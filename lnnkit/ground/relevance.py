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
    return ("upper",) if element.end == "lower" else ("lower",)


def rests(conflict: Conflict, reads: Iterable[Element]) -> Iterable[tuple[Element, frozenset[Element]]]:
    """Each element that the conflict can tighten, with the elements that must be there for it.

    That is the rest of the conflict for its own elements. Others it tightens where it stands as a whole, with values
    too mild to violate the constraint alone.
    """
    for element in reads:
        yield element, conflict.elements - {element}


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
class _Waiting:
    """A conflict, and those of its elements that cannot be there yet."""

    reading: Reading
    direction: Direction
    conflict: Conflict
    missing: set[Element]
    fired: set[Element] = field(default_factory=set)

    def possible(self) -> Iterable[Element]:
        """The elements that an instance may tighten now, each named once."""
        if len(self.missing) > 1:
            return
        reads = self.missing if self.missing else self.reading.reads[self.direction]
        for element in list(reads):
            if element not in self.fired and element.leaf not in self.reading.formula.heads:
                self.fired.add(element)
                yield element


def decide(
    readings: Sequence[Reading],
    given: Iterable[Side],
    listed: Iterable[str],
    asked: Iterable[str],
    heads: Iterable[Side],
) -> Relevance:
    """The closure of what can be produced from ``given`` sides, and of what matters to listed, asked and head atoms."""
    senders, produced, derived = _produced(readings, given)
    relevance = Relevance(produced, derived, {})
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
    targets_seen: dict[tuple[int, Direction], set[Element]] = {}
    while queue:
        name, side = queue.pop()
        if kept[name, side] == ALL:  # whether an atom is arrested depends on both of its sides
            keep((name, "upper" if side == "lower" else "lower"), ALL)
        for reading, direction, target in senders.get((name, side), ()):
            seen = targets_seen.setdefault((id(reading), direction), set())
            if target in seen or len(seen) > 1:  # two targets together have had all that is read kept
                continue
            seen.add(target)
            _keep_reads(reading, direction, target, keep)
    return Relevance(produced, derived, kept)


def _produced(
    readings: Sequence[Reading], given: Iterable[Side]
) -> tuple[dict[Side, list[tuple[Reading, Direction, Element]]], frozenset[Side], frozenset[Side]]:
    """Who can send each side at all, the sides that can come to differ, and those that some instance can set."""
    waiting: dict[Side, list[tuple[_Waiting, Element]]] = {}
    senders: dict[Side, list[tuple[Reading, Direction, Element]]] = {}
    queue: list[Side] = list(dict.fromkeys(given))
    produced: set[Side] = set(queue)

    def fire(one: _Waiting) -> None:
        for element in one.possible():
            for name in targets(element):
                side = (one.reading.table(element.leaf), name)
                senders.setdefault(side, []).append((one.reading, one.direction, element))
                if side not in produced:
                    produced.add(side)
                    queue.append(side)

    for reading in readings:
        for direction in DIRECTIONS:
            for conflict in reading.conflicts[direction]:
                missing = {e for e in conflict.elements if e.leaf not in reading.formula.heads}
                one = _Waiting(reading, direction, conflict, missing)
                for element in missing:
                    for name in sides(element.end):
                        waiting.setdefault((reading.table(element.leaf), name), []).append((one, element))
                fire(one)
    done = 0
    while done < len(queue):
        for one, element in waiting.get(queue[done], ()):
            one.missing.discard(element)
            fire(one)
        done += 1
    return senders, frozenset(produced), frozenset(senders)


def _keep_reads(
    reading: Reading, direction: Direction, target: Element | None, keep: Callable[[Side, int], None]
) -> None:
    """Keep every side that an instance reads to send to ``target``."""
    for element in reading.reads[direction]:
        if element != target:
            for side in sides(element.end):
                keep((reading.table(element.leaf), side), ALL)
