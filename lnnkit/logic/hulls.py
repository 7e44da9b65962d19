"""Hulls of operands: intersects candidate bounds with the operands' boxes, and combines alternatives."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.logic.bounds import Bounds, Inverse, below_one, ordered

# Candidate ends without information: they lie outside every box, and stay outside under ``1 - x``.
NO_LOWER = -1.0
NO_UPPER = 2.0


def candidate(lower: Tensor, upper: Tensor, where_lower: Tensor, where_upper: Tensor) -> Bounds:
    """Candidate ends where they carry information, otherwise ends outside of every box."""
    return Bounds(torch.where(where_lower, lower, NO_LOWER), torch.where(where_upper, upper, NO_UPPER))


def fit(found: Bounds, box: Bounds, empty: Tensor) -> Bounds:
    """``found`` intersected with ``box``; an end that rounding pushed out of the box is moved to it; ``box`` where
    ``empty``.

    Shapes ``[n]`` or ``[k, n]``, ``empty`` ``[n]``. Where both ends are equal, the gradient goes to ``found``.
    """
    lower, upper = ordered(found.lower.clamp(box.lower, box.upper), found.upper.clamp(box.lower, box.upper))
    return Bounds(torch.where(empty, box.lower, lower), torch.where(empty, box.upper, upper))


def uncomplement(hull: Bounds, box: Bounds) -> Bounds:
    """The hull of ``x`` from that of ``1 - x``, within ``box``. An end that did not move is bitwise that of the box; a
    lower end is 1 only if ``1 - x`` is 0."""
    lower = 1 - hull.upper
    lower = torch.where((lower == 1) & (hull.upper > 0), below_one(lower.dtype), lower)
    lower = torch.where(hull.upper == 1 - box.lower, box.lower, lower)
    upper = torch.where(hull.lower == 1 - box.upper, box.upper, 1 - hull.lower)
    return Bounds(lower.clamp(box.lower, box.upper), upper.clamp(box.lower, box.upper))


def union(branches: Sequence[Inverse]) -> Inverse:
    """The hull of the branches that are not empty; empty where all are (with the boxes of the first branch,
    unchanged)."""
    result = branches[0]
    for branch in branches[1:]:
        only_old, only_new = branch.empty, result.empty & ~branch.empty
        operands = []
        for old, new in zip(result.operands, branch.operands, strict=True):
            lower = torch.where(new.lower < old.lower, new.lower, old.lower)
            upper = torch.where(new.upper > old.upper, new.upper, old.upper)
            lower = torch.where(only_old, old.lower, torch.where(only_new, new.lower, lower))
            upper = torch.where(only_old, old.upper, torch.where(only_new, new.upper, upper))
            operands.append(Bounds(lower, upper))
        result = Inverse(tuple(operands), result.empty & branch.empty)
    return result


def intersection(first: Inverse, second: Inverse, boxes: Sequence[Bounds]) -> Inverse:
    """Both conditions at once, for conditions whose hulls meet exactly; empty where either is."""
    empty = first.empty | second.empty
    operands = []
    for one, other, box in zip(first.operands, second.operands, boxes, strict=True):
        lower = torch.where(other.lower > one.lower, other.lower, one.lower)
        upper = torch.where(other.upper < one.upper, other.upper, one.upper)
        operands.append(fit(Bounds(lower, upper), box, empty))
    return Inverse(tuple(operands), empty)


def choose(condition: Tensor, first: Inverse, second: Inverse) -> Inverse:
    """Row by row, ``first`` where the condition holds, otherwise ``second``."""
    operands = tuple(
        Bounds(torch.where(condition, one.lower, other.lower), torch.where(condition, one.upper, other.upper))
        for one, other in zip(first.operands, second.operands, strict=True)
    )
    return Inverse(operands, torch.where(condition, first.empty, second.empty))


def swapped(inverse: Inverse) -> Inverse:
    """The inverse of a binary neuron with its operands in the other order."""
    return Inverse(inverse.operands[::-1], inverse.empty)
