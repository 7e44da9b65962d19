"""Quantifiers: the minimum and the maximum over a group of rows, in every logic.

``rows`` holds the instances, shape ``[n]``; ``group`` ``[n]`` is the index of the quantifier instance to which each row
belongs, in any order. Downward, every row of a true ``forall`` is true; if a ``forall`` is false and only one row can
be false, that row is. ``exists`` is the mirror image, by negation rather than ``1 - x``, so that nothing is rounded.
"""

from __future__ import annotations

import numpy as np

from lnnkit.arrays import Array, matching, namespace
from lnnkit.logic.bounds import Bounds, Inverse, asks, negative, tolerance
from lnnkit.logic.hulls import candidate, fit


def forall(rows: Bounds, group: Array, groups: int) -> Bounds:
    """The minimum of each group, shape ``[groups]``; a group without rows is true."""
    return _least(rows, group, groups, 1.0)


def exists(rows: Bounds, group: Array, groups: int) -> Bounds:
    """The maximum of each group, shape ``[groups]``; a group without rows is false."""
    return negative(_least(negative(rows), group, groups, -0.0))


def forall_inverse(node: Bounds, rows: Bounds, group: Array, groups: int) -> Inverse:
    """One operand, the rows ``[n]``; ``empty`` is per group, ``[groups]``."""
    asks_lower, asks_upper = asks(node)
    last, empty = _least_inverse(node, (asks_lower, asks_upper), rows, group, groups, 1.0)
    hull = candidate(node.lower[group], node.upper[group], asks_lower[group], last)
    return Inverse((fit(hull, rows, empty[group]),), empty)


def exists_inverse(node: Bounds, rows: Bounds, group: Array, groups: int) -> Inverse:
    """One operand, the rows ``[n]``; ``empty`` is per group, ``[groups]``."""
    asks_lower, asks_upper = asks(node)
    last, empty = _least_inverse(negative(node), (asks_upper, asks_lower), negative(rows), group, groups, -0.0)
    hull = candidate(node.lower[group], node.upper[group], last, asks_upper[group])
    return Inverse((fit(hull, rows, empty[group]),), empty)


def _least(rows: Bounds, group: Array, groups: int, without_rows: float) -> Bounds:
    return Bounds(*(_least_end(end, group, groups, without_rows) for end in rows))


def _least_end(end: Array, group: Array, groups: int, without_rows: float) -> Array:
    xp = namespace(end)
    start = xp.full((groups,), without_rows, dtype=end.dtype, device=end.device)
    if not isinstance(end, np.ndarray):
        return start.scatter_reduce(0, matching(group, end).long(), end, "amin", include_self=True)
    np.minimum.at(start, group, end)
    return start


def _least_inverse(
    node: Bounds, sides: tuple[Array, Array], rows: Bounds, group: Array, groups: int, without_rows: float
) -> tuple[Array, Array]:
    """A mask ``[n]`` of rows that must be the minimum of their group since no other row can be, where the upper end
    counts; and a mask of the groups in which none can be."""
    tol = tolerance(node.lower.dtype)
    image = _least(rows, group, groups, without_rows)
    empty = (sides[0] & (image.upper < node.lower - tol)) | (sides[1] & (image.lower > node.upper + tol))
    can_be_least = rows.lower <= node.upper[group] + tol
    group = matching(group, can_be_least)
    count = namespace(group).bincount(group[can_be_least], minlength=groups)
    return sides[1][group] & can_be_least & (count[group] == 1), empty
