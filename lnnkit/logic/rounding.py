"""Ends that rounding must not decide: truths from sums that are clamped to [0, 1], and those of steep kernels.

A sum that is within rounding of the clamp may be on either side of it: a lower end is 1, and an upper end 0, only if
rounding did not cause it. It counts as clamped if all its truths and weights are multiples of 1/1024 (terms of 0
aside), as with crisp truths: then nothing was rounded. Otherwise the end is moved outward by the rounding error.

A truth that is neither 0 nor 1 is known up to `rounding`, so a small one has a large relative error, which quotients
and roots magnify: such ends are computed again from boxes widened by rounding, and used where the result differs.
"""

from __future__ import annotations

from collections.abc import Sequence

from lnnkit.arrays import Array, all_set, any_set, clamp, detached, namespace, replaced, set_at, take, where_set
from lnnkit.logic.bounds import Bounds, noise, rounding
from lnnkit.logic.logic import Weight
from lnnkit.logic.operands import plain_number, scalar

_GRID = 1024.0


def cut(
    sums: Bounds, ends: Sequence[Bounds], absent: Sequence[float], weights: Sequence[Weight], bias: Weight
) -> Bounds:
    """``sums`` (n,) clamped to [0, 1]. ``ends`` are the ends of the operands in either sum; ``absent`` are the truths
    at which an operand contributes nothing."""
    lower, upper = clamp(sums.lower, 0.0, 1.0), clamp(sums.upper, 0.0, 1.0)
    xp = namespace(lower)
    numbers, most = [plain_number(weight) for weight in weights], plain_number(bias)
    reach = rounding(lower.dtype) * (1.0 + most + sum(numbers))
    near = (sums.lower >= 1.0) & (sums.lower < 1.0 + reach)
    full = _rounded(near, [box.lower for box in ends], absent, numbers, most)
    near = (sums.upper <= 0.0) & (sums.upper > -reach)
    none = _rounded(near, [box.upper for box in ends], absent, numbers, most)
    if full is not None:
        lower = xp.where(full, 1.0 - reach, lower)
    if none is not None:
        upper = xp.where(none, reach, upper)
    return Bounds(lower, upper)


def short(
    end: Array, side: int, ends: Sequence[Array], absent: Sequence[float], weights: Sequence[Weight], bias: Weight
) -> Array:
    """The ends (n,) that a sum leaves of one of its terms, lower (0) or upper (1), before clamping: as in `cut`, an end
    is 1 or 0 only if it was not rounded. ``ends`` are those of the sum and of its terms."""
    numbers, most = [plain_number(weight) for weight in weights], plain_number(bias)
    reach = rounding(end.dtype) * (1.0 + most + sum(numbers))
    limit, stop = (0.0, reach) if side else (1.0, 1.0 - reach)
    rounded = _rounded(abs(end - limit) < reach, ends, absent, numbers, most)
    return end if rounded is None else namespace(end).where(rounded, stop, end)


def _rounded(
    near: Array, ends: Sequence[Array], absent: Sequence[float], weights: Sequence[float], bias: float
) -> Array | None:
    """A mask (n,) of the sums ``near`` the clamp that may have been rounded; None if there are none."""
    if not any_set(near):
        return None
    rows = where_set(near)
    xp = namespace(near)
    exact = xp.full((len(rows),), _on_grid(bias), dtype=xp.bool)
    for end, nothing, weight in zip(ends, absent, weights, strict=True):
        if not weight:
            continue
        values = take(detached(end), rows)
        exact &= (values == nothing) | (values * _GRID % 1.0 == 0) if _on_grid(weight) else values == nothing
    if all_set(exact):
        return None
    return set_at(len(near), rows[~exact])


def _on_grid(number: float) -> bool:
    return number * _GRID % 1.0 == 0.0


# --- steep kernels ----------------------------------------------------------------------------------------------------


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
