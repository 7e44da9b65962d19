"""Families of sets of elements, a disjunction of conjunctions: each set is one way in which something can be
derived.

A smaller set is a weaker condition, so a family may always be coarsened: by dropping elements from its sets, or by
omitting sets that contain another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

End = Literal["lower", "upper", "either"]

_PRODUCT = 256  # sets of a product; 16 and 1024 change no time: 358 to 377 ms, as in analysis/causes.py


class Element(NamedTuple):
    """An end of a leaf that differs from its table's default; or the lower end of an equality that holds."""

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
    """The disjunction of families."""
    return minimal(support for family in families for support in family)


def product(families: Sequence[Family]) -> Family:
    """The conjunction of families; if the product is too large, a coarser one from the most selective families only."""
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
    """As many of the families, fewest sets first, as have a product of bounded size."""
    chosen: list[Family] = []
    size = 1
    for family in sorted(families, key=len):
        if not chosen or size * len(family) <= _PRODUCT:
            chosen.append(family)
            size *= len(family)
    return chosen
