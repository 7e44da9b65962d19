"""What crisp comparisons of the same two terms make of one that a query asks for: the laws of order."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from lnnkit.graph.laws import EVERY
from lnnkit.graph.relatives import Kin
from lnnkit.ground.atoms import Atoms
from lnnkit.logic.bounds import Bounds, tolerance


def met(value: Bounds, kin: Kin, known: Sequence[Bounds]) -> Bounds:
    """The query's bounds, met with what its relatives say between them: what is ``known`` of each. A crisp comparison
    is true as soon as it is not false, and the other way around."""
    lower, upper = value
    possible = {sign: torch.ones_like(lower, dtype=torch.bool) for sign in EVERY}
    least = tolerance(lower.dtype)
    for relative, own in zip(kin.relatives, known, strict=True):
        for sign in EVERY:
            excluded = own.upper < 1 - least if sign in relative.signs else own.lower > least
            possible[sign] = possible[sign] & ~excluded
    true, false = (
        torch.stack([possible[sign] for sign in sorted(signs)]).any(0) for signs in (kin.signs, EVERY - kin.signs)
    )
    return Bounds(torch.where(false, lower, 1.0), torch.where(true, upper, 0.0))


def implied(defaults: set[tuple[float, float]], kin: Kin, atoms: Atoms) -> set[tuple[float, float]]:
    """The query's default values where those of its relatives say more."""
    known = [
        Bounds(*(torch.tensor(end, dtype=torch.float64) for end in atoms.tables[each.reference.node].default))
        for each in kin.relatives
    ]
    found: set[tuple[float, float]] = set()
    for low, high in defaults if known else ():
        lower, upper = met(Bounds(*(torch.tensor(end, dtype=torch.float64) for end in (low, high))), kin, known)
        found.add((float(lower), float(upper)))
    return found
