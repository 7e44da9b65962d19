"""Weighted operands as one tensor: stacking, sums over all other operands, division by a weight."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import torch
from torch import Tensor

from lnnkit.logic.bounds import Bounds
from lnnkit.logic.logic import Weight

# Below this weight, division would magnify rounding to more than about 1e-12 of truth, so the quotient is given slack.
SMALL_WEIGHT = 1 / 64


def scalar(value: Weight, like: Tensor) -> Tensor:
    """A weight or bias as a 0-dim tensor of ``like``'s type; gradients pass through."""
    return torch.as_tensor(value, dtype=like.dtype, device=like.device)


def plain_number(value: Weight) -> float:
    """A weight or bias as a number, detached from gradients."""
    return float(value.detach()) if isinstance(value, Tensor) else float(value)


def stack(operands: Sequence[Bounds]) -> Bounds:
    """Operands of shape ``[n]`` as one box of shape ``[k, n]``."""
    return Bounds(torch.stack([box.lower for box in operands]), torch.stack([box.upper for box in operands]))


def unstack(boxes: Bounds) -> tuple[Bounds, ...]:
    """A box of shape ``[k, n]`` as ``k`` operands."""
    return tuple(Bounds(*ends) for ends in zip(boxes.lower.unbind(0), boxes.upper.unbind(0), strict=True))


def column(weights: Sequence[Weight], like: Tensor) -> Tensor:
    """Weights as a tensor of shape ``[k, 1]``, to multiply a stack ``like`` of shape ``[k, n]``."""
    if len(weights) != like.shape[0]:
        raise ValueError(f"{like.shape[0]} operands, but {len(weights)} weights")
    if any(isinstance(weight, Tensor) for weight in weights):
        flat = torch.stack([scalar(weight, like) for weight in weights])
    else:
        flat = torch.tensor(list(weights), dtype=like.dtype, device=like.device)
    return flat.reshape(-1, *[1] * (like.dim() - 1))


def sum_of_all(values: Tensor) -> Tensor:
    """The sum over the first dimension, in order: ``[k, n] -> [n]``. The order of ``Tensor.sum``, and so its last bit,
    depends on ``n``."""
    return reduce(torch.add, values.unbind(0))


def sum_of_others(values: Tensor) -> Tensor:
    """For each entry of the first dimension the sum of the others, computed without subtraction. ``[k, n] -> [k,
    n]``."""
    count = values.shape[0]
    if count == 1:
        return torch.zeros_like(values)
    if count == 2:
        return values.flip(0)
    nothing = torch.zeros_like(values[:1])
    before = torch.cat([nothing, values[:-1].cumsum(0)])
    after = torch.cat([values[1:].flip(0).cumsum(0).flip(0), nothing])
    return before + after


def unweigh(share: Bounds, weight: Tensor, magnitude: Tensor | float) -> Bounds:
    """``share / weight``, with slack for the rounding that a small weight magnifies.

    ``magnitude`` is the size of the numbers whose difference ``share`` is. If the weight is 0 the result is finite but
    meaningless.
    """
    slack = torch.where(weight < SMALL_WEIGHT, 8 * torch.finfo(weight.dtype).eps, 0.0) * magnitude
    divisor = torch.where(weight > 0, weight, 1.0)
    return Bounds((share.lower - slack) / divisor, (share.upper + slack) / divisor)


def sums_of_others(values: Sequence[Tensor], wanted: Sequence[bool]) -> tuple[list[Tensor], Tensor]:
    """For each value that is ``wanted`` the sum of the others (for others, any), computed without subtraction; and the
    sum of all. As `sum_of_others`, one operand at a time."""
    total = values[0]
    before: list[Tensor] = [torch.zeros_like(total)]
    for value in values[1:]:
        before.append(total)
        total = total + value
    others: list[Tensor] = [before[-1]]
    after = values[-1]
    for place in range(len(values) - 2, -1, -1):
        others.append(before[place] + after if place and wanted[place] else after)
        after = after + values[place] if any(wanted[:place]) else after
    return others[::-1], total


def unweighed(share: Tensor, weight: Weight, magnitude: Tensor) -> Tensor:
    """``share / weight``, with slack for the rounding that a small weight magnifies, in the direction of ``magnitude``:
    the size of the numbers whose difference ``share`` is. If the weight is 0 the result is finite but meaningless."""
    if isinstance(weight, Tensor):
        slack = torch.where(weight < SMALL_WEIGHT, 8 * torch.finfo(share.dtype).eps, 0.0) * magnitude
        return (share + slack) / torch.where(weight > 0, weight, 1.0)
    if weight < SMALL_WEIGHT:
        share = share + 8 * torch.finfo(share.dtype).eps * magnitude
    return share / weight if weight > 0 and weight != 1 else share
