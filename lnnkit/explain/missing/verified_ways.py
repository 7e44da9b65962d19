"""Selects the ways to show and verifies each: its premises are added to the facts, and the program is inferred
again."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace

from lnnkit.explain.missing.why_not import Missing, Way

_LISTED = 10  # ways shown, what a screen holds
_NEARLY = 1e-6  # the precision to which the improvement of premises is searched


@dataclass(frozen=True, slots=True)
class Came:
    """The atom's bounds after some premises were added, and a contradiction that is new."""

    lower: float
    upper: float
    meets: str | None = None

    def reaches(self, way: Way, side: int) -> bool:
        """Whether these are the bounds that the way promises, without a new contradiction."""
        short = self.upper - way.gives if side else way.gives - self.lower
        return short <= _NEARLY and not self.contradicts

    @property
    def contradicts(self) -> bool:
        return self.meets is not None or self.lower > self.upper + _NEARLY


Added = Callable[[Way], "Came | None"]  # None if inference would exceed its budget


def chosen(found: Sequence[Way], side: int, bound: float, added: Added, seconds: int) -> tuple[list[Way], int]:
    """The nearest way of each statement, then the nearest of the others, at most ``seconds``, and the number of those
    left out. If a statement's nearest way is ruled out, its nearest one that is not takes its place."""
    ordered = _unique(sorted(found, key=lambda way: (effort(way), way.depth)))
    every = len(ordered)
    ordered = _once(ordered)
    first = _one_each(ordered)
    excluded = {id(way.statement) for way in first if _excluded(way)}
    open_ = _one_each([way for way in ordered if id(way.statement) in excluded and not _excluded(way)])
    some = first[:_LISTED]
    others = [way for way in (*open_, *ordered) if way not in first]
    rest = _unique(others)[: min(seconds, _LISTED - len(some))]
    tried = [[_tried(way, side, bound, added) for way in part] for part in (some, rest)]
    shown = [way for part in tried for way in sorted(part, key=effort)]
    return shown, every - len(shown)


def effort(way: Way) -> tuple[object, ...]:
    """The sort key: the number of missing premises, then the number that known bounds deny, by default or by facts."""
    lacking = way.lacking
    denied = sum(each.against is not None or each.contradictory for each in lacking)
    unlisted = sum(each.unlisted for each in lacking)
    lack = sum(each.lack for each in lacking)
    gap = sum(each.gap for each in lacking)
    return (len(lacking), denied, unlisted, not way.concludes, lack, gap, way.blocked, way.statement.span.start)


def _excluded(way: Way) -> bool:
    return any(each.excluded for each in way.lacking)


def _unique(ways: Sequence[Way]) -> list[Way]:
    """Without ways that repeat the statement and the premises of another."""
    found: dict[object, Way] = {}
    for way in ways:
        key = id(way.statement), frozenset(map(_atom, way.lacking))
        found.setdefault(key, way)
    return list(found.values())


def _once(ways: Sequence[Way]) -> list[Way]:
    """Without ways of a statement that lack all that a nearer one lacks, or are ruled out by all that rules a nearer
    one out; through rules that derive premises, only the nearest that lacks atoms of some predicates."""
    kept: list[tuple[Way, Set[object]]] = []
    for way in ways:
        lacks = {_atom(each) for each in way.lacking}
        alike = {(each.predicate or each.atom, each.side) for each in way.lacking} if way.depth else set()
        if not any(one.statement is way.statement and core <= lacks | alike for one, core in kept):
            kept.append((way, {_atom(each) for each in way.lacking if each.excluded} or alike or lacks))
    return [way for way, _ in kept]


def _atom(missing: Missing) -> object:
    return missing.atom, missing.side, missing.needed


def _one_each(ways: Sequence[Way]) -> list[Way]:
    found: dict[int, Way] = {}
    for way in ways:
        found.setdefault(id(way.statement), way)
    return list(found.values())


def _tried(way: Way, side: int, bound: float, added: Added) -> Way:
    """The way with the bounds that inference gives."""
    if any(each.contradictory for each in way.lacking):
        return replace(way, blocked=True)
    came = added(way)
    if came is None or came.reaches(way, side):
        return way
    if came.contradicts:
        return replace(way, blocked=True, meets=None if _excluded(way) else came.meets)
    got = came.upper if side else came.lower
    gain = bound - got if side else got - bound
    return replace(way, gives=got) if gain > _NEARLY else replace(way, blocked=True)
