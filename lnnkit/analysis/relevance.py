"""Relevance: which sides of which tables can be derived at all, and which of those matter; computed before the
first round.

This is magic sets over the program with values ignored. A side is kept for ``ALL`` atoms of a table, for ``LISTED``
ones, or not at all; an instance that can propose nothing kept is never grounded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lnnkit.analysis.families import Element, End, Family, Support
from lnnkit.analysis.supports import Analysis
from lnnkit.formula.unfolding import AUXILIARY, Formula
from lnnkit.time_limit import check_time

LISTED, ALL = 1, 2
Side = tuple[str, str]  # a table's name, and "lower" or "upper"
SIDES = ("lower", "upper")


@dataclass(frozen=True, slots=True)
class AnalysedFormula:
    """One formula for the analysis of relevance; ``observed`` has the families under which queried neurons receive a
    bound from above."""

    formula: Formula
    analysis: Analysis
    observed: Mapping[int, Family] = field(default_factory=dict)

    def needs_nothing(self, leaf: int) -> bool:
        """Whether an end of the leaf may be present without any atom having moved: for heads and equalities."""
        return leaf in self.formula.heads or (leaf != AUXILIARY and self.formula.neurons[leaf].kind == "same")


def sides(end: End) -> tuple[str, ...]:
    return SIDES if end == "either" else (end,)


class Relevance(NamedTuple):
    """The result. ``produced``: sides on which some atom may differ from its default; ``derived``: those that an
    instance can propose; ``kept``: how far each side matters. Sides of shared neurons in ``foreign`` are stated or
    produced by other formulas than the neuron's definition: only those say something of its operands."""

    produced: frozenset[Side]
    derived: frozenset[Side]
    kept: Mapping[Side, int]
    foreign: frozenset[Side] = frozenset()
    supplied: frozenset[str] = frozenset()  # tables of which facts list atoms: only of these a head is read

    def available(self, reading: AnalysedFormula, support: Support) -> bool:
        """Whether each element can be present at all."""
        return reads_heads(reading, support, self.supplied) and all(
            reading.needs_nothing(element.leaf)
            or any(
                (reading.formula.table(element.leaf), side)
                in (self.foreign if _foreign(reading, element) else self.produced)
                for side in sides(element.end)
            )
            for element in support
        )

    def mode(self, table: str, side: str) -> int:
        return self.kept.get((table, side), 0)


def reads_heads(reading: AnalysedFormula, support: Support, supplied: Collection[str]) -> bool:
    """Whether facts may list the heads that a support reads: others are unknown to their own statement."""
    heads = [element.leaf for element in support if element.leaf in reading.formula.heads]
    return all(reading.formula.table(head) in supplied for head in heads)


@dataclass(slots=True)
class _Waiting:
    """A support of something that a formula can propose, with those of its elements that are not available yet."""

    reading: AnalysedFormula
    target: tuple[int, str]
    missing: set[Element]


def decide(
    readings: Sequence[AnalysedFormula],
    stated: Collection[Side],
    given: Collection[Side],
    supplied: Collection[str],
    listed: Iterable[str],
    asked: Iterable[str],
    heads: Iterable[Side],
) -> Relevance:
    """The closure of what can be produced from sides that are ``stated`` or otherwise ``given``, and of what matters
    to listed, asked and head atoms. ``supplied`` are the tables of which facts list atoms."""
    senders, produced, derived, foreign = _produced(readings, stated, given, supplied)
    relevance = Relevance(produced, derived, {}, foreign, frozenset(supplied))
    local = {reading.formula.table(AUXILIARY) for reading in readings if reading.formula.compares}
    local -= {name for name, _ in foreign}
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
    for reading in readings:  # Bounds that an observed neuron receives matter as much as an asked atom.
        for family in reading.observed.values():
            if any(relevance.available(reading, support) for support in family):
                _keep((Element(leaf, "either") for leaf in reading.formula.read), reading, keep)
    done: set[tuple[int, int, str]] = set()
    while queue:
        name, side = queue.pop()
        if kept[name, side] == ALL and name not in local:  # Whether an atom is arrested depends on both of its sides.
            keep((name, "upper" if side == "lower" else "lower"), ALL)
        for reading, leaf in senders.get((name, side), ()):
            if (id(reading), leaf, side) not in done:
                done.add((id(reading), leaf, side))
                _keep(reading.analysis.polarity.reads(leaf, side), reading, keep)
    return relevance._replace(kept=kept)


def _foreign(reading: AnalysedFormula, element: Element) -> bool:
    """Whether an element counts only if another formula than the shared neuron's definition produces it: the definition
    waits for its own truth, a law of order for those of its comparisons."""
    return reading.formula.is_law or element.leaf == AUXILIARY


def _keep(elements: Iterable[Element], reading: AnalysedFormula, keep: Callable[[Side, int], None]) -> None:
    for element in elements:
        for side in sides(element.end):
            keep((reading.formula.table(element.leaf), side), ALL)


def _produced(
    readings: Sequence[AnalysedFormula], stated: Collection[Side], given: Collection[Side], supplied: Collection[str]
) -> tuple[dict[Side, list[tuple[AnalysedFormula, int]]], frozenset[Side], frozenset[Side], frozenset[Side]]:
    """Which formulas can propose each side, the sides that can come to differ, those that some instance can set, and
    those of shared neurons that are stated or set by other formulas than their definitions."""
    # By side, and whether another formula must have produced it
    waiting: dict[tuple[Side, bool], list[tuple[_Waiting, Element]]] = {}
    senders: dict[Side, list[tuple[AnalysedFormula, int]]] = {}
    foreign: set[Side] = set(stated)
    produced: set[Side] = {*given, *stated}
    queue: list[tuple[Side, bool]] = [(side, False) for side in dict.fromkeys((*given, *stated))]
    queue += [(side, True) for side in dict.fromkeys(stated)]
    fired: set[tuple[int, int, str]] = set()

    def fire(reading: AnalysedFormula, leaf: int, name: str) -> None:
        if (id(reading), leaf, name) in fired:
            return
        fired.add((id(reading), leaf, name))
        side = (reading.formula.table(leaf), name)
        senders.setdefault(side, []).append((reading, leaf))
        for known, by_others in ((produced, False), (foreign, True)):
            if side not in known and not (by_others and leaf == AUXILIARY):
                known.add(side)
                queue.append((side, by_others))

    for reading in readings:
        check_time()
        for send in reading.analysis.sends:
            if send.leaf in reading.formula.heads:
                continue
            for support in send.supports:
                if not reads_heads(reading, support, supplied):
                    continue
                missing = {e for e in support if not reading.needs_nothing(e.leaf)}
                one = _Waiting(reading, (send.leaf, send.side), missing)
                for element in missing:
                    for name in sides(element.end):
                        key = (reading.formula.table(element.leaf), name), _foreign(reading, element)
                        waiting.setdefault(key, []).append((one, element))
                if not missing:
                    fire(reading, *one.target)
    done = 0
    while done < len(queue):
        for one, element in waiting.get(queue[done], ()):
            one.missing.discard(element)
            if not one.missing:
                fire(one.reading, *one.target)
        done += 1
    return senders, frozenset(produced), frozenset(senders), frozenset(foreign)
