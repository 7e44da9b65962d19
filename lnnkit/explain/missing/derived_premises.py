"""Follows missing premises of closed predicates through the rules that would derive them, down to premises that only a
fact can change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush

from lnnkit.explain.missing.verified_ways import effort
from lnnkit.explain.missing.why_not import Missing, Way

_FOLLOWED = 100  # atoms, a limit of work: 30 ms each in a chain of 50 rules

Deriving = Callable[[Missing], Sequence[Way]]


def followed(ways: Sequence[Way], atom: str, deriving: Deriving) -> Iterator[Way]:
    """The ways to ``atom``, nearest first, each once for every choice of the rules that derive its premises. Where none
    is followed to its end within the limit, those that are not."""
    known: dict[tuple[str, float], Sequence[Way]] = {}
    queue = [(effort(way), number, way) for number, way in enumerate(ways)]
    heapify(queue)
    made, ended, waiting = 0, False, list[Way]()
    while queue:
        _, _, way = heappop(queue)
        premise = next((each for each in way.lacking if each.underived), None)
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
    found = [way]
    for place, each in enumerate(way.missing):
        if each.through is not None:
            inner = [replace(each, through=one) for one in _through(each.through, premise, choices, path | {each.atom})]
        elif (each.atom, each.needed) == (premise.atom, premise.needed):
            ahead = path | {each.atom}
            fit = [one for one in choices if not any(other.atom in ahead for other in one.missing)]
            inner = [replace(each, through=one) for one in fit] or [replace(each, underived=False)]
        else:
            continue
        found = [
            replace(one, missing=[*one.missing[:place], made, *one.missing[place + 1 :]])
            for one in found
            for made in inner
        ]
    return found
