"""Reasons that hold for every entity that is not named elsewhere.

Beneath a quantifier, one row stands for every entity about which nothing more is known: each has some of its atoms
at their defaults, and more specific bounds for others, where these change nothing. A reason holds for all of them
only if it holds without any default that some of them may lack.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from lnnkit.explain.provenance.bound_sources import Completed, Unlisted
from lnnkit.explain.provenance.ground_text import Argument
from lnnkit.explain.provenance.instance_view import Read
from lnnkit.join.instances.grounding import Grounding

_ALL = 5  # with up to this many defaults all 32 subsets are tried, with more only pairs; 0 to 8 cost alike

Enough = Callable[[Sequence[Sequence[Read]]], Sequence[bool]]
_Blanket = tuple[int, str, tuple[Argument, ...]]  # a leaf, its table, and its arguments


def for_every_entity(grounding: Grounding, reads: Sequence[Read], enough: Enough) -> Enough:
    """As ``enough``, which tests several subsets of ``reads``, but true only if the reason holds for every entity to
    which the defaults among them apply."""
    blankets = sorted({each for each in map(_blanket, reads) if each and _excepts(grounding, each)}, key=repr)
    most = len(blankets) if len(blankets) <= _ALL else 2
    parts = [frozenset(some) for size in range(1, most + 1) for some in itertools.combinations(blankets, size)]
    if not parts:
        return enough
    bearable = enough([_without(reads, part) for part in parts])
    lost = [frozenset[_Blanket](), *(part for part, holds in zip(parts, bearable, strict=True) if holds)]

    def every(ways: Sequence[Sequence[Read]]) -> list[bool]:
        found = enough([_without(way, part) for way in ways for part in lost])
        return [all(found[start : start + len(lost)]) for start in range(0, len(found), len(lost))]

    return every


def _blanket(read: Read) -> _Blanket | None:
    match read.reading.source:
        case Unlisted(table, arguments) | Completed(table, arguments):
            return None if all(isinstance(each, str) for each in arguments) else (read.leaf, table, arguments)
        case _:
            return None


def _without(reads: Sequence[Read], lost: frozenset[_Blanket]) -> list[Read]:
    return [read for read in reads if _blanket(read) not in lost] if lost else list(reads)


def _excepts(grounding: Grounding, blanket: _Blanket) -> bool:
    """Whether the table has atoms that match the universal conclusion and may have tighter bounds."""
    _, table, arguments = blanket
    own = grounding.atoms.tables[table].tuples
    fits = np.ones(len(own), bool)
    for column, argument in zip(own.columns, arguments, strict=True):
        if isinstance(argument, str):
            fits &= column == grounding.domain.index[argument]
    return bool(fits.any())
