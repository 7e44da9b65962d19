"""The ways in which a statement can fail: conjunctions of literals. A search joins their positive literals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from lnnkit.prove.ground.parts import Part, Stated

_MOST = 64  # ways; a statement with more is searched as a whole


@dataclass(frozen=True)
class Way:
    """Atoms that are true if a statement fails in this way. ``variables`` (names and sorts) are those of the statement
    and of the quantifiers that need a row."""

    atoms: tuple[Part, ...]
    variables: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Literals:
    atoms: tuple[Part, ...] = ()
    bound: tuple[tuple[str, str], ...] = ()

    def with_(self, other: _Literals) -> _Literals:
        return _Literals((*self.atoms, *other.atoms), (*self.bound, *other.bound))


class _TooMany(Exception):
    pass


def ways(stated: Stated) -> list[Way]:
    """The ways in which a statement can fail in a world where every atom is true or false. A statement that demands an
    intermediate truth fails everywhere."""
    try:
        never = stated.lower > 0 and stated.upper < 1
        found = [_Literals()] if never else _ways(stated.part, wanted=stated.lower <= 0)
    except _TooMany:
        found = [_Literals()]
    return [Way(each.atoms, (*stated.variables, *each.bound)) for each in dict.fromkeys(found)]


def _ways(part: Part, *, wanted: bool) -> list[_Literals]:
    match part.kind:
        case "true" | "false":
            return [_Literals()] if wanted == (part.kind == "true") else []
        case "atom":
            return [_Literals((part,) if wanted else ())]
        case "same" | "compare":
            return [_Literals()]
        case "not":
            return _ways(part.operands[0], wanted=not wanted)
        case "exists" | "forall":
            if wanted != (part.kind == "exists"):
                return [_Literals()]
            inner = _ways(part.operands[0], wanted=wanted)
            return [each.with_(_Literals(bound=part.bound)) for each in inner]
        case "and" | "or":
            if wanted == (part.kind == "or"):
                return _checked([each for operand in part.operands for each in _ways(operand, wanted=wanted)])
            return _products([_ways(operand, wanted=wanted) for operand in part.operands])
        case "implies":
            one, other = part.operands
            if wanted:
                return _checked([*_ways(one, wanted=False), *_ways(other, wanted=True)])
            return _products([_ways(one, wanted=True), _ways(other, wanted=False)])
    one, other = part.operands
    alike = wanted == (part.kind == "iff")
    sides = [[_ways(one, wanted=truth), _ways(other, wanted=truth == alike)] for truth in (False, True)]
    return _checked([each for both in sides for each in _products(both)])


def _products(options: Sequence[Sequence[_Literals]]) -> list[_Literals]:
    count = 1
    for each in options:
        count *= len(each)
        if count > _MOST:
            raise _TooMany
    found: list[_Literals] = []
    for chosen in itertools.product(*options):
        joined = _Literals()
        for each in chosen:
            joined = joined.with_(each)
        found.append(joined)
    return found


def _checked(found: list[_Literals]) -> list[_Literals]:
    if len(found) > _MOST:
        raise _TooMany
    return found
