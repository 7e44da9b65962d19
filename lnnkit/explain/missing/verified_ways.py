"""Selects the ways to show, and verifies each: its premises are added to the facts, and the program is inferred again.
Missing premises of closed predicates are followed through rules, down to premises that only a fact can change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

from lnnkit.explain.missing.why_not import Missing, Way

_LISTED = 10  # ways shown, what a screen holds
_FOLLOWED = 100  # atoms, a limit of work: 30 ms each in a chain of 50 rules
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


Deriving = Callable[[Missing], Sequence[Way]]
Added = Callable[[Way], "Came | None"]  # None if inference would exceed its budget


def chosen(ways: Sequence[Way], side: int, bound: float, added: Added, seconds: int) -> tuple[list[Way], int]:
    """The nearest way of each statement, then the nearest of the others, at most ``seconds``, and the number of those
    left out. If a statement's nearest way is ruled out, its nearest one that is not takes its place."""
    every = _first(sorted(ways, key=lambda way: (effort(way), way.depth)), _premises)
    ordered = _once(every)
    first = _first(ordered, lambda way: id(way.statement))
    open_ = _first([way for way in ordered if not _excluded(way)], lambda way: id(way.statement))
    some = first[:_LISTED]
    others = _first([way for way in (*open_, *ordered) if way not in first], _premises)
    parts = some, others[: min(seconds, _LISTED - len(some))]
    tried = [[_tried(way, side, bound, added) for way in part] for part in parts]
    shown = [way for part in tried for way in sorted(part, key=effort)]
    return shown, len(every) - len(shown)


def effort(way: Way) -> tuple[object, ...]:
    """The sort key: the number of missing premises, then the number that known bounds deny, by default or by facts."""
    lacking = way.lacking
    denied = sum(premise.against is not None or premise.contradictory for premise in lacking)
    unlisted = sum(premise.unlisted for premise in lacking)
    lack = sum(premise.lack for premise in lacking)
    gap = sum(premise.gap for premise in lacking)
    return (len(lacking), denied, unlisted, not way.concludes, lack, gap, way.blocked, way.statement.span.start)


def _excluded(way: Way) -> bool:
    return any(premise.excluded for premise in way.lacking)


def _premises(way: Way) -> object:
    return id(way.statement), frozenset(map(_atom, way.lacking))


def _once(ways: Sequence[Way]) -> list[Way]:
    """Without ways of a statement that lack all that a nearer one lacks, or are ruled out by all that rules a nearer
    one out; through rules that derive premises, only the nearest that lacks atoms of some predicates."""
    kept: list[tuple[Way, Set[object]]] = []
    for way in ways:
        lacks = {_atom(premise) for premise in way.lacking}
        alike = {(premise.predicate or premise.atom, premise.side) for premise in way.lacking} if way.depth else set()
        if not any(one.statement is way.statement and core <= lacks | alike for one, core in kept):
            kept.append((way, {_atom(premise) for premise in way.lacking if premise.excluded} or alike or lacks))
    return [way for way, _ in kept]


def _atom(missing: Missing) -> object:
    return missing.atom, missing.side, missing.needed


def _first(ways: Sequence[Way], key: Callable[[Way], object]) -> list[Way]:
    """The first way of each key."""
    first: dict[object, Way] = {}
    for way in ways:
        first.setdefault(key(way), way)
    return list(first.values())


def _tried(way: Way, side: int, bound: float, added: Added) -> Way:
    """The way with the bounds that inference gives."""
    if any(premise.contradictory for premise in way.lacking):
        return replace(way, blocked=True)
    came = added(way)
    if came is None or came.reaches(way, side):
        return way
    if came.contradicts:
        return replace(way, blocked=True, meets=None if _excluded(way) else came.meets)
    got = came.upper if side else came.lower
    gain = bound - got if side else got - bound
    return replace(way, gives=got) if gain > _NEARLY else replace(way, blocked=True)


def followed(ways: Sequence[Way], atom: str, deriving: Deriving) -> Iterator[Way]:
    """The ways to ``atom``, nearest first, each once for every choice of the rules that derive its premises. Where none
    is followed to its end within the limit, those that are not."""
    known: dict[tuple[str, float], Sequence[Way]] = {}
    queue = [(effort(way), number, way) for number, way in enumerate(ways)]
    heapify(queue)
    made, ended, waiting = 0, False, list[Way]()
    while queue:
        _, _, way = heappop(queue)
        premise = next((need for need in way.lacking if need.underived), None)
        if premise is None:
            ended = True
            yield way
            continue
        key = premise.atom, premise.needed
        if key not in known:
            if len(known) == _FOLLOWED:
                waiting.append(way)
                continue
            known[key] = deriving(premise)
        for one in _through(way, premise, known[key], frozenset({atom})):
            made -= 1  # of equally near ones the last first: down to an end, before others are begun
            heappush(queue, (effort(one), made, one))
    yield from () if ended else waiting


def _through(way: Way, premise: Missing, choices: Sequence[Way], path: frozenset[str]) -> list[Way]:
    """The way with each of the choices for a premise, wherever it occurs, that needs no atom on the ``path`` to it; if
    there is none, a fact must supply the premise."""
    ways = [way]
    for place, need in enumerate(way.missing):
        if need.through is not None:
            inner = [replace(need, through=one) for one in _through(need.through, premise, choices, path | {need.atom})]
        elif (need.atom, need.needed) == (premise.atom, premise.needed):
            ahead = path | {need.atom}
            fit = [one for one in choices if not any(other.atom in ahead for other in one.missing)]
            inner = [replace(need, through=one) for one in fit] or [replace(need, underived=False)]
        else:
            continue
        ways = [
            replace(one, missing=[*one.missing[:place], made, *one.missing[place + 1 :]])
            for one in ways
            for made in inner
        ]
    return ways
