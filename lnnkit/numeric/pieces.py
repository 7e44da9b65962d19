"""Unions of intervals: the values that a step of a term can take.

Division by an interval around zero gives two intervals, and so does the root of an even power. A union holds them as
pieces, tensors ``[p, n]``: in each row ``p`` intervals in any order, where an empty one has the ends ``inf, -inf``. A
row whose pieces are all empty has no value. ``[p, 1]`` stands for the same pieces in every row.

Pieces are closed. A quotient, however, approaches zero as its divisor grows without reaching it. Such an end is
represented by a number next to zero (`BESIDE_ZERO`), so that ``1 / x > 0`` is known for ``x >= 1``. Roots and products
keep such an end; division by it, and `hull`, treat it as zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from lnnkit.flags import all_set, any_set
from lnnkit.numeric.interval import EXACT, GREATEST, Interval, same

MOST = 8  # the most pieces that are kept apart; 2 to 16 give the same hulls of NPUs (benchmarks/numeric_constants.py)
BESIDE_ZERO = 1e-300  # Beside zero: an end above zero that is not reached. Every end of at most `ZERO` means this.
ZERO = 1e-100
TINY = torch.finfo(torch.float64).tiny  # Floats nearer to zero have lost digits.
ROUNDING = 16 * torch.finfo(torch.float64).eps  # The rounding error of a few operations, relative to their operands.


class Pieces(NamedTuple):
    """A union of intervals, ``[p, n]`` or ``[p, 1]``. ``whole`` means that no piece is empty in any row. If both ends
    are the same tensor, every row is a point."""

    lower: Tensor
    upper: Tensor
    whole: bool = True

    @property
    def point(self) -> bool:
        return self.lower is self.upper


def entered(interval: Interval) -> Pieces:
    """An interval as a union; ends that cross (within the tolerance) are swapped."""
    lower, upper = interval
    if lower is upper:
        return points(lower.unsqueeze(0))
    if any_set(lower > upper):
        lower, upper = torch.minimum(lower, upper), torch.maximum(lower, upper)
    return Pieces(lower.unsqueeze(0), upper.unsqueeze(0))


def points(values: Tensor) -> Pieces:
    """One point for each row."""
    return Pieces(values, values)


def single(lower: float, upper: float) -> Pieces:
    """The same interval in every row."""
    low = torch.tensor([[lower]], dtype=torch.float64)
    return points(low) if lower == upper else Pieces(low, torch.tensor([[upper]], dtype=torch.float64))


def finite(values: Tensor) -> bool:
    """Whether all values are certainly finite (their sum is)."""
    return math.isfinite(float(values.detach().sum()))


def empty(union: Pieces) -> Tensor:
    """Which pieces hold nothing, ``[p, n]``."""
    return union.lower > union.upper


def bounded(lower: Tensor, upper: Tensor, gone: Tensor | None = None) -> Pieces:
    """A union of the given ends, which may be modified: infinity is not a value, and pieces marked ``gone`` are
    empty."""
    if lower.requires_grad or upper.requires_grad:  # The backward pass may still read the original ends.
        lower, upper = lower.clamp(max=GREATEST), upper.clamp(min=-GREATEST)
    else:
        lower.clamp_(max=GREATEST)
        upper.clamp_(min=-GREATEST)
    if gone is None or not any_set(gone):
        return Pieces(lower, upper)
    return Pieces(torch.where(gone, math.inf, lower), torch.where(gone, -math.inf, upper), whole=False)


def differentiable(operation: Callable[[Tensor, Tensor], Tensor], one: Tensor, other: Tensor) -> Tensor:
    """``operation`` on ends, with gradients blocked where an end is infinite, since they would be nan there."""
    if not (one.requires_grad or other.requires_grad):
        return operation(one, other)
    found = operation(one.detach(), other.detach())
    passing = found.isfinite() & one.isfinite() & other.isfinite()
    return torch.where(passing, operation(torch.where(passing, one, 1.0), torch.where(passing, other, 1.0)), found)


def lost(values: Tensor, *operands: Tensor) -> bool:
    """Whether a product of nonzero operands may have come so close to zero that it is inaccurate."""
    small = values.detach().abs() < TINY
    if not any_set(small):
        return False
    for each in operands:
        small = small & (each != 0)
    return any_set(small)


def regained(values: Tensor, *operands: Tensor) -> Tensor:
    """Products of operands; those that underflowed near zero are put beside zero."""
    if not lost(values, *operands):
        return values
    small, sign = values.abs() < TINY, torch.ones_like(values)
    for each in operands:
        sign = sign * each.sign()
    return torch.where(small, BESIDE_ZERO * sign, values)


def gone(*unions: Pieces) -> Tensor | None:
    """A mask of where a piece of any of the unions is empty; their shapes broadcast."""
    flags: Tensor | None = None
    for union in unions:
        if not union.whole:
            flags = empty(union) if flags is None else flags | empty(union)
    return flags


def crossed_with(one: Pieces, other: Pieces) -> tuple[Pieces, Pieces]:
    """Two unions aligned such that each piece of one is paired with each piece of the other."""
    if len(one.lower) == 1 or len(other.lower) == 1:
        return one, other
    p, q = len(one.lower), len(other.lower)
    first = Pieces(one.lower.repeat_interleave(q, 0), one.upper.repeat_interleave(q, 0), one.whole)
    return first, Pieces(other.lower.repeat(p, 1), other.upper.repeat(p, 1), other.whole)


def joined(unions: Sequence[Pieces]) -> Pieces:
    """The union of unions, in as few pieces as `tidied` leaves."""
    if len(unions) == 1:
        return unions[0]
    rows = next((len(union.lower[0]) for union in unions if len(union.lower[0]) != 1), 1)  # There may be none.
    return tidied(
        Pieces(
            torch.cat([union.lower.expand(-1, rows) for union in unions]),
            torch.cat([union.upper.expand(-1, rows) for union in unions]),
            all(union.whole for union in unions),
        )
    )


def tidied(union: Pieces) -> Pieces:
    """The same values in fewer pieces: overlapping or adjacent ones are merged. If more than `MOST` remain, the
    uppermost are replaced by their hull."""
    if len(union.lower) == 1:
        return union
    lower, order = union.lower.sort(0)
    upper = union.upper.gather(0, order).cummax(0).values
    starts = torch.ones_like(lower, dtype=torch.bool)
    starts[1:] = lower[1:] > upper[:-1]
    starts &= lower < math.inf
    group = (starts.cumsum(0) - 1).clamp_(0, MOST - 1)
    count = int(group[-1].max()) + 1
    shape = (count, lower.shape[1])
    least = torch.full(shape, math.inf, dtype=lower.dtype).scatter_reduce_(0, group, lower, "amin")
    own = torch.where(lower < math.inf, upper, -math.inf)
    most = torch.full(shape, -math.inf, dtype=lower.dtype).scatter_reduce_(0, group, own, "amax")
    return Pieces(least, most, not any_set(least > most))


def intersection(one: Pieces, other: Pieces, *sources: Pieces) -> Pieces:
    """The intersection of two unions. Pieces that miss each other by no more than the tolerance, or the rounding error
    of the ``sources`` of ``other``, count as touching: there ``one`` keeps its end."""
    if one.point and other.point and torch.equal(*torch.broadcast_tensors(one.lower, other.lower)):
        return one
    first, second = crossed_with(one, other)
    lower, upper = torch.maximum(first.lower, second.lower), torch.minimum(first.upper, second.upper)
    apart = lower > upper
    if not any_set(apart):
        return tidied(Pieces(lower, upper))
    near = same(lower, upper)
    beside = (upper > 0) & (lower <= ZERO) | (lower < 0) & (upper >= -ZERO)  # Both are next to zero, on the same side.
    for source in sources:
        near |= lower - upper <= ROUNDING * size(source)
    # The exact zero, not an end that is not reached.
    tiny = torch.maximum(first.lower.abs(), first.upper.abs()) <= ZERO
    near &= tiny | (torch.maximum(lower.abs(), upper.abs()) > ZERO)
    near |= beside & apart
    touch = torch.where(second.lower > first.upper, first.upper, first.lower)
    lower = torch.where(apart, torch.where(near, touch, math.inf), lower)
    upper = torch.where(apart, torch.where(near, touch, -math.inf), upper)
    return tidied(Pieces(lower, upper, whole=not any_set(lower > upper)))


def unless_noise(old: Pieces, new: Pieces, *sources: Pieces) -> Pieces:
    """The narrowed bounds of an operand of a sum, without moves that are no greater than the rounding error of the
    ``sources``: otherwise a small operand beside a large one would be narrowed again in every round. Integers are
    exact."""
    if len(old.lower) != 1 or len(new.lower) != 1:
        return new
    moved = (new.lower > old.lower) | (new.upper < old.upper)
    if not any_set(moved):
        return new
    noise = ROUNDING * torch.stack(torch.broadcast_tensors(*(size(source) for source in sources))).amax(0)
    low, high = new.lower - old.lower <= noise, old.upper - new.upper <= noise
    some = moved & (low | high)
    if not any_set(some):
        return new
    exact = torch.stack(torch.broadcast_tensors(*(whole_numbers(each) for each in (old, *sources)))).all(0)
    some &= ~exact & (new.lower <= new.upper)
    return Pieces(
        torch.where(some & low, torch.minimum(old.lower, new.lower), new.lower),
        torch.where(some & high, torch.maximum(old.upper, new.upper), new.upper),
        new.whole,
    )


def whole_numbers(union: Pieces) -> Tensor:
    """A mask of rows in which all ends are infinite, or whole numbers that floats represent exactly."""
    ends = torch.stack((union.lower, union.upper))
    return ((ends == ends.floor()) & ((ends.abs() <= EXACT) | ends.isinf())).all(0).all(0)


def unrounded(*unions: Pieces) -> Tensor:
    """A mask of rows in which sums and products of the unions' ends are exact: whole numbers, or multiples of 2^-10 so
    small that the product of two has at most 53 digits."""
    whole = torch.stack(torch.broadcast_tensors(*(whole_numbers(each) for each in unions))).all(0)
    if all_set(whole):
        return whole
    grid = [
        (end * 1024 == (end * 1024).floor()) & (end.abs() <= 2.0**32) | end.isinf() for u in unions for end in u[:2]
    ]
    return whole | torch.stack(torch.broadcast_tensors(*(each.all(0) for each in grid))).all(0)


def size(union: Pieces) -> Tensor:
    """The largest finite magnitude of a union's ends in each row."""
    ends = torch.stack((union.lower, union.upper)).abs()
    return torch.where(ends < math.inf, ends, 0.0).amax((0, 1))


def hull(union: Pieces) -> Interval:
    """The smallest interval around a union; ``inf, -inf`` if it is empty."""
    if len(union.lower) == 1:
        lower = union.lower.squeeze(0)
        return Interval(lower, lower if union.point else union.upper.squeeze(0))
    return Interval(union.lower.amin(0), union.upper.amax(0))


def closed(interval: Interval) -> Interval:
    """An interval with ends beside zero moved to zero."""
    lower, upper = interval
    if lower is upper:
        return interval
    return Interval(
        torch.where((lower > 0) & (lower <= ZERO), 0.0, lower), torch.where((upper < 0) & (upper >= -ZERO), 0.0, upper)
    )


def beside_zero(union: Pieces) -> bool:
    """Masks of lower ends that are beside zero and above it, and of upper ends that are beside zero and below it."""
    if union.point:
        return any_set((union.lower.detach().abs() <= ZERO) & (union.lower != 0))
    for end, sign in ((union.lower, 1.0), (union.upper, -1.0)):
        near = end.detach().abs() <= ZERO
        if any_set(near) and any_set(near & (sign * end > 0)):
            return True
    return False


def from_zero(ends: Tensor) -> Tensor:
    """Ends as those of values from zero on; an end beside zero becomes zero."""
    return torch.where(ends > ZERO, ends, 0.0)


def without_zero(union: Pieces) -> Pieces:
    """The union without pieces that consist of zero alone."""
    zero = (union.lower == 0) & (union.upper == 0)
    if union.point or not any_set(zero):
        return union
    return Pieces(torch.where(zero, math.inf, union.lower), torch.where(zero, -math.inf, union.upper), whole=False)
