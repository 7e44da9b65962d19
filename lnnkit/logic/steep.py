"""Steep kernels: ends are computed again from boxes widened by rounding, and used where the result differs.

A truth that is neither 0 nor 1 is known up to `rounding`, so a small one has a large relative error, which quotients
and roots magnify.
"""

from __future__ import annotations

from collections.abc import Sequence

from lnnkit.arrays import Array, any_set, clamp, detached, namespace, replaced, take, where_set
from lnnkit.logic.bounds import Bounds, noise, rounding
from lnnkit.logic.logic import Weight
from lnnkit.logic.operands import scalar


def steep_rows(boxes: Sequence[Bounds], weights: Sequence[Weight]) -> Array | None:
    """The indices ``[m]`` of rows of boxes ``[n]`` or ``[k, n]`` with an end so small that powers and roots with these
    weights make its rounding visible; None if there are none."""
    first = boxes[0].lower
    xp = namespace(first)
    flat = xp.concat([scalar(detached(weight), first).reshape(-1) for weight in weights])
    present = flat[flat > 0]
    if not len(present):
        return None
    small = rounding(first.dtype) / noise(first.dtype) * max(float(present.max()), 1.0)
    small /= min(float(present.min()), 1.0)
    steep = xp.zeros(first.shape[-1], dtype=xp.bool)
    for end in (end for box in boxes for end in box):
        near = (end > 0) & (end < small)
        steep |= near if near.ndim == 1 else near.any(0)
    return where_set(steep) if any_set(steep) else None


def loosened(box: Bounds, rows: Array) -> Bounds:
    """Some rows of a box, widened by rounding, except that a lower end of 1 and an upper end of 0 are exact."""
    lower, upper = (take(end, rows) for end in box)
    xp = namespace(lower)
    slack = rounding(lower.dtype)
    return Bounds(
        xp.where(lower < 1, clamp(lower - slack, least=0.0), lower),
        xp.where(upper > 0, clamp(upper + slack, most=1.0), upper),
    )


def steadied(exact: Bounds, looser: Bounds, rows: Array) -> Bounds:
    """``exact``, with the ends of ``looser`` at ``rows`` where the two differ by more than rounding."""
    least, xp = noise(exact.lower.dtype), namespace(exact.lower)
    ends = []
    for end, loose in zip(exact, looser, strict=True):
        values = take(end, rows)
        ends.append(replaced(end, rows, xp.where(abs(values - loose) > least, loose, values)))
    return Bounds(*ends)
