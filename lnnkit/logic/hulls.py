"""Hulls of operands: intersects candidate bounds with the operands' boxes, and combines alternatives."""

from __future__ import annotations

from collections.abc import Sequence

from lnnkit.arrays import Array, clamp, namespace
from lnnkit.logic.bounds import Bounds, Inverse, below_one, ordered

# Candidate ends without information: they lie outside every box, and stay outside under ``1 - x``.
NO_LOWER = -1.0
NO_UPPER = 2.0


def candidate(lower: Array, upper: Array, where_lower: Array, where_upper: Array) -> Bounds:
    """Candidate ends where they carry information, otherwise ends outside of every box."""
    xp = namespace(where_lower)
    return Bounds(xp.where(where_lower, lower, NO_LOWER), xp.where(where_upper, upper, NO_UPPER))


def fit(hull: Bounds, box: Bounds, empty: Array) -> Bounds:
    """``hull`` intersected with ``box``; an end that rounding pushed out of the box is moved to it; ``box`` where
    ``empty``.

    Shapes ``[n]`` or ``[k, n]``, ``empty`` ``[n]``. Where both ends are equal, the gradient goes to ``hull``.
    """
    lower, upper = ordered(clamp(hull.lower, box.lower, box.upper), clamp(hull.upper, box.lower, box.upper))
    xp = namespace(empty)
    return Bounds(xp.where(empty, box.lower, lower), xp.where(empty, box.upper, upper))


def uncomplement(hull: Bounds, box: Bounds) -> Bounds:
    """The hull of ``x`` from that of ``1 - x``, within ``box``. An end that did not move is bitwise that of the box; a
    lower end is 1 only if ``1 - x`` is 0."""
    xp, lower = namespace(hull.upper), 1 - hull.upper
    lower = xp.where((lower == 1) & (hull.upper > 0), below_one(lower.dtype), lower)
    lower = xp.where(hull.upper == 1 - box.lower, box.lower, lower)
    upper = xp.where(hull.lower == 1 - box.upper, box.upper, 1 - hull.lower)
    return Bounds(clamp(lower, box.lower, box.upper), clamp(upper, box.lower, box.upper))


def union(branches: Sequence[Inverse]) -> Inverse:
    """The hull of the branches that are not empty; empty where all are (with the boxes of the first branch,
    unchanged)."""
    hull, xp = branches[0], namespace(branches[0].empty)
    for branch in branches[1:]:
        only_old, only_new = branch.empty, hull.empty & ~branch.empty
        operands = []
        for old, new in zip(hull.operands, branch.operands, strict=True):
            lower = xp.where(new.lower < old.lower, new.lower, old.lower)
            upper = xp.where(new.upper > old.upper, new.upper, old.upper)
            lower = xp.where(only_old, old.lower, xp.where(only_new, new.lower, lower))
            upper = xp.where(only_old, old.upper, xp.where(only_new, new.upper, upper))
            operands.append(Bounds(lower, upper))
        hull = Inverse(tuple(operands), hull.empty & branch.empty)
    return hull


def intersection(first: Inverse, second: Inverse, boxes: Sequence[Bounds]) -> Inverse:
    """Both conditions at once, for conditions whose hulls meet exactly; empty where either is."""
    empty, xp = first.empty | second.empty, namespace(first.empty)
    operands = []
    for one, other, box in zip(first.operands, second.operands, boxes, strict=True):
        lower = xp.where(other.lower > one.lower, other.lower, one.lower)
        upper = xp.where(other.upper < one.upper, other.upper, one.upper)
        operands.append(fit(Bounds(lower, upper), box, empty))
    return Inverse(tuple(operands), empty)


def choose(condition: Array, first: Inverse, second: Inverse) -> Inverse:
    """Row by row, ``first`` where the condition holds, otherwise ``second``."""
    xp = namespace(condition)
    operands = tuple(
        Bounds(xp.where(condition, one.lower, other.lower), xp.where(condition, one.upper, other.upper))
        for one, other in zip(first.operands, second.operands, strict=True)
    )
    return Inverse(operands, xp.where(condition, first.empty, second.empty))


def swapped(inverse: Inverse) -> Inverse:
    """The inverse of a binary neuron with its operands in the other order."""
    return Inverse(inverse.operands[::-1], inverse.empty)
