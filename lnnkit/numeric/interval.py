"""Intervals of real numbers as tensors: what numbers and terms hold.

A row is one instance, so an interval is a pair of tensors ``[n]`` in float64. Its ends may be infinite, but infinity is
never a value: ``[-inf, inf]`` is any real number. So a lower end is never ``+inf``, an upper end never ``-inf``, and no
end is NaN; a lower end over the greatest float is that float.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from lnnkit.flags import any_set

GREATEST = torch.finfo(torch.float64).max
EXACT = 2.0**53  # up to here every integer is a float
NOISE = 1e-12  # a smaller gain, relative to magnitudes over 1, is rounding
RELATIVE = 1e-9  # numbers that differ by no more, relative to the greater one, are equal


class Interval(NamedTuple):
    """Lower and upper ends of the same shape; the same tensor twice if every row is known to be a point."""

    lower: Tensor
    upper: Tensor


class Contraction(NamedTuple):
    """The narrowed inputs. ``empty`` ``[n]`` marks rows without consistent values; there the inputs are returned
    unchanged."""

    inputs: tuple[Interval, ...]
    empty: Tensor


def point(values: Tensor) -> Interval:
    """Intervals of one value each; ``values`` are finite."""
    return Interval(values, values)


def unknown(count: int) -> Interval:
    """``count`` rows ``[-inf, inf]``."""
    return Interval(
        torch.full((count,), -math.inf, dtype=torch.float64), torch.full((count,), math.inf, dtype=torch.float64)
    )


def same(one: Tensor, other: Tensor) -> Tensor:
    """Whether two numbers count as equal: if both are integral and at most ``2^53``, exactly; otherwise within ``1e-9``
    of the larger magnitude."""
    equal = one == other
    size = torch.maximum(one.abs(), other.abs())
    close = ((one - other).abs() <= RELATIVE * size) & ~equal
    if not any_set(close):
        return equal
    exact = (one == one.floor()) & (other == other.floor()) & (size <= EXACT)
    return equal | (close & (size < math.inf) & ~exact)


def rises(old: Tensor, new: Tensor) -> Tensor:
    """Where lower ends have risen by more than rounding: 1e-12, relative for magnitudes above 1. For upper ends that
    fall, negate both arguments."""
    least = NOISE * new.abs().clamp(min=1.0)
    return (new > old) & (new - old > least)
