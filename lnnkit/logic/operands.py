"""Weighted operands as one array: stacking, sums over all other operands, division by a weight."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

from lnnkit.arrays import Array, detached, namespace
from lnnkit.logic.bounds import Bounds, epsilon
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
