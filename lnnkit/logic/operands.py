"""Weighted operands as one array: stacking, sums over all other operands, division by a weight; and ends that rounding
must not decide: truths from sums that are clamped to [0, 1], and those of steep kernels.

A sum that is within rounding of the clamp may be on either side of it: a lower end is 1, and an upper end 0, only if
rounding did not cause it. It counts as clamped if all its truths and weights are multiples of 1/1024 (terms of 0
aside), as with crisp truths: then nothing was rounded. Otherwise the end is moved outward by the rounding error.

A truth that is neither 0 nor 1 is known up to `rounding`, so a small one has a large relative error, which quotients
and roots magnify: such ends are computed again from boxes widened by rounding, and used where the result differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

from lnnkit.arrays import Array, all_set, any_set, clamp, detached, namespace, replaced, set_at, take, where_set
from lnnkit.logic.bounds import Bounds, epsilon, noise, rounding
from lnnkit.logic.logic import Weight

# Below this weight, division would magnify rounding to more than about 1e-12 of truth, so the quotient is given slack.
SMALL_WEIGHT = 1 / 64


def scalar(value: Weight, like: Array) -> Array:
    """A weight or bias as a 0-dim array of ``like``'s type; gradients pass through."""
    if not isinstance(value, float | int) and hasattr(value, "requires_grad"):
        return value.to(like.device, like.dtype)
    return namespace(like).asarray(value, dtype=like.dtype, device=like.device)


def plain_number(value: Weight) -> float:
    """A weight or bias as a number, detached from gradients."""
    return float(detached(value))


def stack(operands: Sequence[Bounds]) -> Bounds:
    """Operands of shape ``[n]`` as one box of shape ``[k, n]``."""
    xp = namespace(operands[0].lower)
    return Bounds(xp.stack([box.lower for box in operands]), xp.stack([box.upper for box in operands]))


def unstack(boxes: Bounds) -> tuple[Bounds, ...]:
    """A box of shape ``[k, n]`` as ``k`` operands."""
    return tuple(Bounds(*ends) for ends in zip(boxes.lower, boxes.upper, strict=True))


def column(weights: Sequence[Weight], like: Array) -> Array:
    """Weights as an array of shape ``[k, 1]``, to multiply a stack ``like`` of shape ``[k, n]``."""
    if len(weights) != like.shape[0]:
        raise ValueError(f"{like.shape[0]} operands, but {len(weights)} weights")
    flat = namespace(like).stack([scalar(weight, like) for weight in weights])
    return flat.reshape(-1, *[1] * (like.ndim - 1))


def sum_of_all(values: Array) -> Array:
    """The sum over the first dimension, in order: ``[k, n] -> [n]``. The order of a library's sum, and so its last bit,
    depends on ``n``."""
    return reduce(add, values)


def sum_of_others(values: Array) -> Array:
    """For each entry of the first dimension the sum of the others, computed without subtraction. ``[k, n] -> [k,
    n]``."""
    xp, count = namespace(values), values.shape[0]
    if count == 1:
        return xp.zeros_like(values)
    if count == 2:
        return xp.flip(values, axis=0)
    nothing = xp.zeros_like(values[:1])
    before = xp.concat([nothing, xp.cumulative_sum(values[:-1], axis=0)])
    after = xp.concat([xp.flip(xp.cumulative_sum(xp.flip(values[1:], axis=0), axis=0), axis=0), nothing])
    return before + after


def unweigh(share: Bounds, weight: Array, magnitude: Array | float) -> Bounds:
    """``share / weight``, with slack for the rounding that a small weight magnifies.

    ``magnitude`` is the size of the numbers whose difference ``share`` is. If the weight is 0 the result is finite but
    meaningless.
    """
    xp = namespace(weight)
    slack = xp.where(weight < SMALL_WEIGHT, 8 * epsilon(weight.dtype), 0.0) * magnitude
    divisor = xp.where(weight > 0, weight, 1.0)
    return Bounds((share.lower - slack) / divisor, (share.upper + slack) / divisor)


def sums_of_others(values: Sequence[Array], wanted: Sequence[bool]) -> tuple[list[Array], Array]:
    """For each value that is ``wanted`` the sum of the others (for others, any), computed without subtraction; and the
    sum of all. As `sum_of_others`, one operand at a time."""
    total = values[0]
    before: list[Array] = [namespace(total).zeros_like(total)]
    for value in values[1:]:
        before.append(total)
        total = total + value
    others: list[Array] = [before[-1]]
    after = values[-1]
    for place in range(len(values) - 2, -1, -1):
        others.append(before[place] + after if place and wanted[place] else after)
        after = after + values[place] if any(wanted[:place]) else after
    return others[::-1], total


def unweighed(share: Array, weight: Weight, magnitude: Array) -> Array:
    """``share / weight``, with slack for the rounding that a small weight magnifies, in the direction of ``magnitude``:
    the size of the numbers whose difference ``share`` is. If the weight is 0 the result is finite but meaningless."""
    if not isinstance(weight, float | int):
        xp = namespace(weight)
        slack = xp.where(weight < SMALL_WEIGHT, 8 * epsilon(share.dtype), 0.0) * magnitude
        return (share + slack) / xp.where(weight > 0, weight, 1.0)
    if weight < SMALL_WEIGHT:
        share = share + 8 * epsilon(share.dtype) * magnitude
    return share / weight if weight > 0 and weight != 1 else share


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
