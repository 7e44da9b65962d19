"""The steps of which terms are composed: inputs, constants, operations, and neural units with fixed weights.

Contraction inverts the images of units by shaving: slices at the ends of an interval are removed if their image misses
the required values. An interval is divided into slices with equally many floats, so that an infinite end costs no more
than a finite one; the first slice that cannot be refuted is divided again, until it is narrow (Lhomme 1993,
"Consistency techniques for numeric CSPs"). Sound for any enclosure; as tight as the enclosures are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from lnnkit import arrays
from lnnkit.arrays import Array, all_set, as_numpy, clamp, namespace, where_set
from lnnkit.numeric.interval import GREATEST, RELATIVE, Interval, Pieces, boxes, finite_size

FunctionName = Literal[
    "abs", "sqrt", "exp", "log", "sin", "cos", "floor", "ceil", "round", "least", "greatest",
    "years", "months", "timed_years", "timed_months",
]  # fmt: skip
Operation = Literal["add", "subtract", "multiply", "divide", "power", "negate", "unknown"] | FunctionName
UnitName = Literal["nalu", "inalu", "npu", "realnpu"]
Image = Callable[[Sequence[Interval]], Pieces]

# Slices of an interval. CPU ms of a NALU and an NPU (`python -m benchmarks.numeric_constants`): 89 and 822 with 4
# slices, 149 and 539 with 16, 453 and 740 with 64.
SLICES = 16
ROUNDS = 40  # the greatest number of subdivisions
NARROW = 2**14  # floats in a slice that is not divided further: about 1e-12 of its magnitude
_SLACK = 1e-12  # slack for the rounding of a value, relative to it


class FixedUnit:
    """A neural unit of one output with fixed weights, over intervals; equal objects are the same unit. ``name`` and
    ``attributes`` are those of the language. Units that are sums or products of their operands are no unit here but
    steps (`lnnkit.numeric.frozen`)."""

    name: UnitName

    @property
    def attributes(self) -> Mapping[str, float | tuple[float, ...]]:
        return dict(vars(self))

    def image(self, operands: Sequence[Pieces]) -> Pieces:
        """The values that the unit can take."""
        return self.enclosed(boxes(operands))

    def enclosed(self, operands: Sequence[Interval]) -> Pieces:
        """An enclosure of the image of boxes, for many of them: it may be wider than `image`."""
        raise NotImplementedError

    def left(self, value: Pieces, operands: Sequence[Pieces]) -> Sequence[Pieces]:
        """For each operand, the values that some values of the others complete to one of the unit's values."""
        return shaved(self.enclosed, value, boxes(operands))


@dataclass(frozen=True, slots=True)
class Input:
    """The input with this index."""

    index: int


class Constant(NamedTuple):
    """A fixed finite value; ``rounded`` if it is the result of an operation. ``unit`` is how it was written."""

    value: float
    rounded: bool = False
    unit: str | None = None


class Apply(NamedTuple):
    """An operation on the values of earlier steps, or a neural unit. ``add`` and ``multiply`` take one or more
    operands; ``unknown`` may have any value, whatever its operands are."""

    operation: Operation | FixedUnit
    operands: tuple[int, ...]


Step = Input | Constant | Apply


# --- shaving ----------------------------------------------------------------------------------------------------------


def shaved(image: Image, value: Pieces, operands: Sequence[Interval]) -> list[Pieces]:
    """The contracted bounds of each operand, given the original bounds of all others."""
    library = namespace(operands[0].lower)
    operands = [Interval(*map(as_numpy, box)) for box in operands]
    value = Pieces(as_numpy(value.lower), as_numpy(value.upper), value.whole)
    shaved = []
    for place in range(len(operands)):
        low, high = (end.copy() for end in operands[place])
        rows = where_set(low < high)
        boxes = [Interval(lower[rows], upper[rows]) for lower, upper in operands]
        shaver = _Shaver(image, _at(value, rows, len(low)), boxes, place)
        least, most = _order(low[rows]), _order(high[rows])
        first = shaver.first(least, most)
        last = -shaver.first(-most, -first, mirrored=True)
        low[rows] = arrays.where(first > last, math.inf, clamp(_float(first), most=GREATEST))
        high[rows] = arrays.where(first > last, -math.inf, clamp(_float(last), least=-GREATEST))
        shaved.append(Pieces(library.asarray(low)[None], library.asarray(high)[None], all_set(low <= high)))
    return shaved


class _Shaver(NamedTuple):
    """Searches in the operand at ``place`` for what a ``value`` leaves."""

    image: Image
    value: Pieces
    operands: Sequence[Interval]
    place: int

    def first(self, least: Array, most: Array, *, mirrored: bool = False) -> Array:
        """The start of the first slice of each row that is not refuted and narrow; over ``most`` where all are."""
        start, stop = least.copy(), arrays.minimum(least + NARROW, most)  # In most rows the end stays.
        open_ = np.ones(len(start), dtype=bool)
        for _ in range(ROUNDS):
            rows = where_set(open_)
            if not len(rows):
                break
            cuts = _cuts(start[rows], stop[rows])
            possible = self._possible(cuts, rows, mirrored)
            kept, place, across = possible.any(0), possible.argmax(0), np.arange(len(rows))
            begin, end = cuts[place, across], cuts[place + 1, across]  # of the first slice that is not refuted
            whole = stop[rows] == most[rows]
            start[rows] = arrays.where(kept, begin, arrays.where(whole, most[rows] + 1, stop[rows]))
            stop[rows] = arrays.where(kept, end, most[rows])
            open_[rows] = arrays.where(kept, end - begin > NARROW, ~whole)
        return start

    def _possible(self, cuts: Array, rows: Array, mirrored: bool) -> Array:
        """A mask ``[s, n]`` of the slices between ``cuts`` ``[s + 1, n]`` that may contain a solution."""
        lower, upper = (-cuts[1:], -cuts[:-1]) if mirrored else (cuts[:-1], cuts[1:])
        slices, count = lower.shape
        slice_ = Interval(_float(lower).flatten(), _float(upper).flatten())
        boxes = [
            slice_ if place == self.place else Interval(*(np.tile(end[rows], slices) for end in operand))
            for place, operand in enumerate(self.operands)
        ]
        image = self.image(boxes)
        value = _at(self.value, rows, len(self.operands[0].lower))
        possible = np.zeros((slices, count), dtype=bool)
        for low, high in zip(image.lower, image.upper, strict=True):
            low, high = (np.broadcast_to(end, slices * count).reshape(slices, count) for end in (low, high))
            room = _SLACK * arrays.maximum(finite_size(low), finite_size(high))
            near = arrays.where(low == high, RELATIVE * finite_size(low), room)  # within the tolerance of equality
            for least, most in zip(value.lower, value.upper, strict=True):
                possible |= (low <= high) & (low <= most + near) & (high >= least - near)
        return possible


def _cuts(start: Array, stop: Array) -> Array:
    """The bounds of slices, ``[SLICES + 1, n]``; computed by halves, since the difference of two positions may
    overflow."""
    half = stop // 2 - start // 2
    share = np.arange(SLICES + 1, dtype=np.int64)[:, None]
    inner = start + (half // SLICES) * 2 * share + (half % SLICES) * 2 * share // SLICES
    inner[-1] = stop
    return arrays.minimum(inner, stop)


def _order(values: Array) -> Array:
    """The position of a float among all floats: neighbours differ by one, and 0 is at 0."""
    bits = (values + 0.0).view(np.int64)
    return arrays.where(bits < 0, np.iinfo(np.int64).min - bits, bits)


def _float(places: Array) -> Array:
    """The float64 number at a position in the order of all floats."""
    return arrays.where(places < 0, np.iinfo(np.int64).min - places, places).view(np.float64)


def _at(union: Pieces, rows: Array, count: int) -> Pieces:
    lower, upper = (np.broadcast_to(end, (len(end), count))[:, rows] for end in (union.lower, union.upper))
    return Pieces(lower, upper, union.whole)
