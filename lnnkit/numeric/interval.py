"""Intervals of real numbers as arrays: what numbers and terms hold.

A row is one instance, so an interval is a pair of arrays ``[n]`` in float64. Its ends may be infinite, but infinity is
never a value: no lower end is ``+inf``, no upper end ``-inf``, and no end is NaN; a lower end over the greatest float
is that float.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from lnnkit import arrays
from lnnkit.arrays import Array, any_set, clamp, quietly

GREATEST = sys.float_info.max
EXACT = 2.0**53  # up to here every integer is a float
NOISE = 1e-12  # a smaller gain, relative to magnitudes over 1, is rounding
RELATIVE = 1e-9  # numbers that differ by no more, relative to the greater one, are equal


class Interval(NamedTuple):
    """Lower and upper ends of the same shape; the same array twice if every row is known to be a point."""

    lower: Array
    upper: Array

    def over(self, rows: int) -> Interval:
        """The interval in each of so many rows, where it is one for all."""
        if len(self.lower) == rows:
            return self
        lower = arrays.broadcast_to(self.lower, (rows,))
        return Interval(lower, lower if self.lower is self.upper else arrays.broadcast_to(self.upper, (rows,)))


class Contraction(NamedTuple):
    """The narrowed inputs; unchanged in the rows ``empty`` ``[n]``, which have no consistent values."""

    inputs: tuple[Interval, ...]
    empty: Array


def point(values: Array) -> Interval:
    """Intervals of one value each; ``values`` are finite."""
    return Interval(values, values)


def unknown(count: int) -> Interval:
    """``count`` rows ``[-inf, inf]``."""
    return Interval(np.full(count, -math.inf), np.full(count, math.inf))


def linear(parts: Iterable[tuple[float, Interval]], start: float, like: Array) -> Interval:
    """``start`` plus the intervals, each times its weight; operands of weight 0 are left out."""
    lower = upper = arrays.full_like(like, float(start))
    for weight, (low, high) in parts:
        if weight:
            lower = lower + weight * (low if weight > 0 else high)
            upper = upper + weight * (high if weight > 0 else low)
    # Infinite ends of opposite sign give an indeterminate sum.
    return Interval(arrays.nan_to_num(lower, -math.inf), arrays.nan_to_num(upper, math.inf))


def finite_size(ends: Array) -> Array:
    """Magnitudes; infinite ends count as 0, since they are not rounded."""
    size = abs(ends)
    return arrays.where(size < math.inf, size, 0.0)


@quietly
def same(one: Array, other: Array) -> Array:
    """Whether two numbers count as equal: if both are integral and at most ``2^53``, exactly; otherwise within ``1e-9``
    of the larger magnitude."""
    equal = one == other
    size = arrays.maximum(abs(one), abs(other))
    close = (abs(one - other) <= RELATIVE * size) & ~equal
    if not any_set(close):
        return equal
    exact = (one == arrays.floor(one)) & (other == arrays.floor(other)) & (size <= EXACT)
    return equal | (close & (size < math.inf) & ~exact)


@quietly
def rises(old: Array, new: Array) -> Array:
    """Where lower ends have risen by more than rounding: 1e-12, relative for magnitudes above 1. For upper ends that
    fall, negate both arguments."""
    return (new > old) & (new - old > NOISE * clamp(abs(new), least=1.0))
