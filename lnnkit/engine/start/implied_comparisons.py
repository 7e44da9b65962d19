"""Implications between crisp comparisons of the same two terms, for a comparison in a query: the laws of order."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from lnnkit.graph.laws import EVERY
from lnnkit.graph.relatives import Kin
from lnnkit.logic.bounds import Bounds, tolerance
from lnnkit.store.atoms import Atoms


def met(value: Bounds, kin: Kin, known: Sequence[Bounds]) -> Bounds:
    """The query's bounds, met with those that its relatives imply; ``known`` has the bounds of each relative. A crisp
    comparison is true as soon as it is not false, and vice versa. Each relative is used alone, and several together by
    the signs that they exclude; one that is stated to a degree is neither true nor false, so it excludes none."""
    lower, upper = value
    others = EVERY - kin.signs
    possible = {sign: torch.ones_like(lower, dtype=torch.bool) for sign in EVERY}
    least = tolerance(lower.dtype)
    for relative, own in zip(kin.relatives, known, strict=True):
        true, false = own.lower > least, own.upper < 1 - least
        for says, unsaid, excluded in ((true, ~false, EVERY - relative.signs), (false, ~true, relative.signs)):
            if others <= excluded:
                lower = torch.where(says, 1.0, lower)
            if kin.signs <= excluded:
                upper = torch.where(says, 0.0, upper)
            for sign in excluded:
                possible[sign] = possible[sign] & ~(says & unsaid)
    may, may_not = (torch.stack([possible[sign] for sign in sorted(signs)]).any(0) for signs in (kin.signs, others))
    return Bounds(torch.where(may_not, lower, 1.0), torch.where(may, upper, 0.0))


def implied(defaults: set[tuple[float, float]], kin: Kin, atoms: Atoms) -> set[tuple[float, float]]:
    """The query's default bounds, tightened by those of its relatives."""
    known = [
        Bounds(*(torch.tensor(end, dtype=torch.float64) for end in atoms.tables[each.reference.node].default))
        for each in kin.relatives
    ]
    found: set[tuple[float, float]] = set()
    for low, high in defaults if known else ():
        lower, upper = met(Bounds(*(torch.tensor(end, dtype=torch.float64) for end in (low, high))), kin, known)
        found.add((float(lower), float(upper)))
    return found
