"""Truths from sums that are clamped to [0, 1]: a lower end is 1, and an upper end 0, only if rounding did not cause it.

A sum that is within rounding of the clamp may be on either side of it. It counts as clamped if all its truths and
weights are multiples of 1/1024 (terms of 0 aside), as with crisp truths: then nothing was rounded. Otherwise the end is
moved outward by the rounding error.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.flags import all_set, any_set, where_set
from lnnkit.logic.bounds import Bounds, rounding
from lnnkit.logic.logic import Weight
from lnnkit.logic.operands import plain_number

_GRID = 1024.0


def cut(
    sums: Bounds, ends: Sequence[Bounds], absent: Sequence[float], weights: Sequence[Weight], bias: Weight
) -> Bounds:
    """``sums`` (n,) clamped to [0, 1]. ``ends`` are the ends of the operands in either sum; ``absent`` are the truths
    at which an operand contributes nothing."""
    lower, upper = sums.lower.clamp(0.0, 1.0), sums.upper.clamp(0.0, 1.0)
    numbers, most = [plain_number(weight) for weight in weights], plain_number(bias)
    reach = rounding(lower.dtype) * (1.0 + most + sum(numbers))
    with torch.no_grad():
        near = (sums.lower >= 1.0) & (sums.lower < 1.0 + reach)
        full = _rounded(near, [each.lower for each in ends], absent, numbers, most)
        near = (sums.upper <= 0.0) & (sums.upper > -reach)
        none = _rounded(near, [each.upper for each in ends], absent, numbers, most)
    if full is not None:
        lower = torch.where(full, 1.0 - reach, lower)
    if none is not None:
        upper = torch.where(none, reach, upper)
    return Bounds(lower, upper)


def short(
    found: Tensor, side: int, ends: Sequence[Tensor], absent: Sequence[float], weights: Sequence[Weight], bias: Weight
) -> Tensor:
    """The ends (n,) that a sum leaves of one of its terms, lower (0) or upper (1), before clamping: as in `cut`, an end
    is 1 or 0 only if it was not rounded. ``ends`` are those of the sum and of its terms."""
    numbers, most = [plain_number(weight) for weight in weights], plain_number(bias)
    reach = rounding(found.dtype) * (1.0 + most + sum(numbers))
    limit, stop = (0.0, reach) if side else (1.0, 1.0 - reach)
    with torch.no_grad():
        rounded = _rounded((found - limit).abs() < reach, ends, absent, numbers, most)
    return found if rounded is None else torch.where(rounded, stop, found)


def _rounded(
    near: Tensor, ends: Sequence[Tensor], absent: Sequence[float], weights: Sequence[float], bias: float
) -> Tensor | None:
    """A mask (n,) of the sums ``near`` the clamp that may have been rounded; None if there are none."""
    if not any_set(near):
        return None
    rows = where_set(near)
    exact = torch.full((len(rows),), _on_grid(bias), dtype=torch.bool)
    for end, nothing, weight in zip(ends, absent, weights, strict=True):
        if not weight:
            continue
        own = end.index_select(0, rows)
        exact &= (own == nothing) | (own.mul(_GRID).frac() == 0) if _on_grid(weight) else own == nothing
    if all_set(exact):
        return None
    return torch.zeros_like(near).index_fill_(0, rows[~exact], True)


def _on_grid(number: float) -> bool:
    return number * _GRID % 1.0 == 0.0
