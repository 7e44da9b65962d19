"""Families of sets of elements: the ways in which something can come about, each a set that must be there.

Smaller sets are weaker conditions, so a family may always be coarsened: by dropping elements from its sets, or by
leaving out sets that contain another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

End = Literal["lower", "upper", "either"]

_PRODUCT = 256  # so many sets at most come of a product


class Element(NamedTuple):
    """An end of a leaf that differs from its table's default; or the lower end of an equality, where it holds."""

    leaf: int
    end: End


Support = frozenset[Element]
Family = tuple[Support, ...]

NEVER: Family = ()
ALWAYS: Family = (frozenset(),)


def minimal(supports: Iterable[Support]) -> Family:
    """The family without sets that contain another, in a canonical order."""
    kept: list[Support] = []
    distinct = set(supports)
    if len(distinct) < 2:
        return tuple(distinct)
    for support in sorted(distinct, key=lambda s: (len(s), sorted((each.leaf, each.end) for each in s))):
        if not any(other <= support for other in kept):
            kept.append(support)
    return tuple(kept)


def union(families: Iterable[Family]) -> Family:
    """Any of the families."""
    return minimal(support for family in families for support in family)


def product(families: Sequence[Family]) -> Family:
    """All of the families together; where that is too many sets, the most telling one alone."""
    if any(not family for family in families):
        return NEVER
    needed = [family for family in families if family != ALWAYS]
    if math.prod(map(len, needed)) > _PRODUCT:
        needed = _fitting(needed)
    result: list[Support] = [frozenset()]
    for family in needed:
        result = [one | other for one in result for other in family]
    return minimal(result)


def _fitting(families: Sequence[Family]) -> list[Family]:
    """As many of the families as make a product of bounded size, those with fewest sets first."""
    chosen: list[Family] = []
    size = 1
    for family in sorted(families, key=len):
        if not chosen or size * len(family) <= _PRODUCT:
            chosen.append(family)
            size *= len(family)
    return chosen
