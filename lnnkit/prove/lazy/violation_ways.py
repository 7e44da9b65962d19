"""The ways in which a statement can fail: conjunctions of literals. A search joins their positive literals."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lnnkit.prove.ground.parts import Part, Stated

_MOST = 64  # ways; a statement with more is searched as a whole


@dataclass(frozen=True)
class Way:
    """Atoms that are true if a statement fails in this way. ``variables`` (names and sorts) are those of the statement
    and of the quantifiers that need a row."""

    atoms: tuple[Part, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


def ways(stated: Stated) -> list[Way]:
    """The ways in which a statement can fail in a world where every atom is true or false. A statement that demands an
    intermediate truth fails everywhere."""
    never = stated.lower > 0 and stated.upper < 1
    found = [Way()] if never else _ways(stated.part, wanted=stated.lower <= 0)
    if len(found) > _MOST:
        found = [Way()]
    return [Way(each.atoms, (*stated.variables, *each.variables)) for each in dict.fromkeys(found)]


def _ways(part: Part, *, wanted: bool) -> list[Way]:
    """The ways in which a formula has the truth ``wanted``; if they are too many, more than `_MOST` of them."""
    match part.kind:
        case "true" | "false":
            return [Way()] if wanted == (part.kind == "true") else []
        case "atom":
            return [Way((part,) if wanted else ())]
        case "same" | "compare":
            return [Way()]
        case "not":
            return _ways(part.operands[0], wanted=not wanted)
        case "exists" | "forall":
            if wanted != (part.kind == "exists"):
                return [Way()]
            inner = _ways(part.operands[0], wanted=wanted)
            return [Way(each.atoms, (*each.variables, *part.bound)) for each in inner]
        case "and" | "or":
            options = [_ways(operand, wanted=wanted) for operand in part.operands]
            return _first(itertools.chain(*options)) if wanted == (part.kind == "or") else _together(*options)
        case "implies":
            sides = [_ways(operand, wanted=wanted == bool(place)) for place, operand in enumerate(part.operands)]
            return _first(itertools.chain(*sides)) if wanted else _together(*sides)
    one, other = ([_ways(operand, wanted=truth) for truth in (False, True)] for operand in part.operands)
    alike = wanted == (part.kind == "iff")
    return _first([*_together(one[False], other[not alike]), *_together(one[True], other[alike])])


def _together(*options: Sequence[Way]) -> list[Way]:
    """A way of each, in all combinations."""
    joined = itertools.chain.from_iterable
    chosen = itertools.product(*options)
    return _first(Way((*joined(w.atoms for w in each),), (*joined(w.variables for w in each),)) for each in chosen)


def _first(found: Iterable[Way]) -> list[Way]:
    return list(itertools.islice(found, _MOST + 1))
