"""Crisp relations: truth as a function of the sign of ``d = left - right``.

A relation is the truths that it gives for ``d < 0``, ``d = 0`` and ``d > 0``; a Neural Status Register with hard bits
is one too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from lnnkit.flags import all_set
from lnnkit.numeric.interval import RELATIVE, Interval, same
from lnnkit.numeric.pieces import Pieces, crossed_with, hull
from lnnkit.numeric.relation import Learned, Sign

TOLERANCE = 1e-9  # between truths, as in ``semantics.md`` point 6


class Truths(NamedTuple):
    """What a relation gives where left is below, equal to and above right."""

    below: float
    equal: float
    above: float


SIGNS: Mapping[Sign, Truths] = {
    ">": Truths(0, 0, 1),
    ">=": Truths(0, 1, 1),
    "<": Truths(1, 0, 0),
    "<=": Truths(1, 1, 0),
    "=": Truths(0, 1, 0),
    "!=": Truths(1, 0, 1),
}


def hard(relation: Learned) -> Truths:
    """The truths that a status register gives with hard bits: its sign bit is -1, 0, 1, its zero bit -1, 1, -1."""
    plus, zero, bias = relation.weight_plus, relation.weight_zero, relation.bias
    return Truths(_sigmoid(bias - plus - zero), _sigmoid(bias + zero), _sigmoid(bias + plus - zero))


def image(truths: Truths, left: Pieces, right: Pieces) -> Interval:
    """The truths that values of two unions can have, as their hull; ``inf, -inf`` where one has no value."""
    (low, high), (least, most) = hull(left), hull(right)
    if left.point and right.point:
        truth = _at_points(truths, low, least)
        return Interval(truth, truth)
    possible = (
        (low < most) & ~same(low, most),
        _can_be_equal(left, right),
        (high > least) & ~same(high, least),
    )
    lower, upper = (torch.full_like(possible[0], end, dtype=torch.float64) for end in (math.inf, -math.inf))
    for can_be, truth in zip(possible, truths, strict=True):
        lower = torch.where(can_be & (lower > truth), truth, lower)
        upper = torch.where(can_be & (upper < truth), truth, upper)
    return Interval(lower, upper)


def _at_points(truths: Truths, left: Tensor, right: Tensor) -> Tensor:
    """The truths of single values."""
    gap = left - right
    above = gap > 0
    if not gap.numel() or float(torch.sub(gap.abs(), left.abs(), alpha=2 * RELATIVE).min()) > 0:  # none can be the same
        truth = above.double()
        return truth if truths[::2] == (0, 1) else truth.mul_(truths.above - truths.below).add_(truths.below)
    equal = same(left, right)
    if all(truth in (0, 1) for truth in truths):  # several times as fast as to choose between numbers
        true = equal.clone() if truths.equal else torch.zeros_like(equal)
        if truths.above:
            true |= above & ~equal
        if truths.below:
            true |= ~(above | equal)
        return true.to(torch.float64)
    beneath, level, over = torch.tensor(truths, dtype=torch.float64)
    return torch.where(equal, level, torch.where(above, over, beneath))


def preimage(truths: Truths, bounds: Interval) -> Pieces:
    """The closed differences that give a truth in ``bounds``."""
    lower, upper = bounds
    asks_lower, asks_upper = lower > TOLERANCE, upper < 1 - TOLERANCE
    below, equal, above = (
        ~(asks_lower & (truth < lower - TOLERANCE)) & ~(asks_upper & (truth > upper + TOLERANCE)) for truth in truths
    )
    nothing = torch.zeros_like(lower)
    least = torch.where(below, -math.inf, torch.where(equal | above, nothing, math.inf))
    most = torch.where(above, math.inf, torch.where(equal | below, nothing, -math.inf))
    return Pieces(least.unsqueeze(0), most.unsqueeze(0), whole=all_set(below | equal | above))


def _can_be_equal(left: Pieces, right: Pieces) -> Tensor:
    one, other = crossed_with(left, right)
    lower, upper = torch.maximum(one.lower, other.lower), torch.minimum(one.upper, other.upper)
    return ((lower <= upper) | same(lower, upper)).any(0)


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))
