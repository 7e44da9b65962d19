"""The NALU and the iNALU over intervals: ``y = g a + (1 - g) m`` of a sum and a product of the same operands.

Each operand occurs in both, and in the gate of a NALU, so the enclosures are not exact. The box is divided into cells,
split at zero, and each part is enclosed separately in every cell. An iNALU with a closed gate is only a product in
which each operand occurs once: there the hull is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lnnkit import arrays
from lnnkit.arrays import Array, clamp, namespace, where_set
from lnnkit.elementwise import sigmoid
from lnnkit.numeric.interval import Interval, Pieces, bounded, boxes, crossed, linear, points_if_equal
from lnnkit.numeric.step import FixedUnit

# As in `lnnkit.numeric.units.gated_units`
NALU_EPSILON = 1e-7  # added to sizes before their logarithm
INALU_EPSILON = 1e-7  # the least size whose logarithm is taken
CEILING = 20.0  # the greatest exponent of an iNALU's product

# Mean widths and CPU ms are those of `python -m benchmarks.numeric_constants`, for one, two and three operands.
# Cells on each side of zero, by the number of operands. Widths 0.407, 1.69, 2.94 in 34, 16, 6 ms; with a quarter 0.428,
# 2.06, 3.88 in 6, 2, 2 ms; with twice as many 0.403, 1.61, 2.77 in 34, 70, 60 ms.
_CELLS = {1: 64, 2: 8, 3: 4}
# The same in shaving; half of them: as narrow to 1 % in 3/4 of the time, twice as many: to 1 % in twice the time
_COARSE = {1: 8, 2: 2}
_BOXES = 2**17  # cells evaluated at a time, a limit of memory; from 2 ** 13 on the time differs by noise

FixedWeights = tuple[float, ...]


class _Mixture(FixedUnit):
    """A unit that is enclosed cell by cell."""

    def image(self, operands: Sequence[Pieces]) -> Pieces:
        return self._image(boxes(operands), _CELLS)

    def enclosed(self, operands: Sequence[Interval]) -> Pieces:
        return self._image(operands, _COARSE)

    def hull(self, cells: Sequence[Interval]) -> Interval:
        """The hull over cells in which no operand changes its sign."""
        raise NotImplementedError

    def _image(self, operands: Sequence[Interval], cells: Mapping[int, int]) -> Pieces:
        """The hull over the cells of each box; for points, their values."""
        points = arrays.stack([low == high for low, high in operands]).all(0)
        lower, upper = (arrays.full_like(operands[0].lower, end) for end in (math.inf, -math.inf))
        for rows, per_side in ((points, 0), (~points, cells.get(len(operands), 1))):
            places, size = where_set(rows), max(_BOXES // (2 * per_side + 1) ** len(operands), 1)
            for at in (places[start : start + size] for start in range(0, len(places), size)):
                boxes = [Interval(low[at], high[at]) for low, high in operands]
                lower[at], upper[at] = self._hull_of_boxes(boxes, per_side)
        return points_if_equal(bounded(lower[None], upper[None], (lower > upper)[None]))

    def _hull_of_boxes(self, operands: Sequence[Interval], count: int) -> Interval:
        """The hull over ``count`` cells on each side of zero; with 0, over each box as one cell."""
        parts = [_cells(box, count) if count else Interval(*(end[None] for end in box)) for box in operands]
        cells = [Interval(low, high) for low, high, _ in crossed(*(Pieces(*part) for part in parts))]
        held = arrays.stack([low <= high for low, high in cells]).all(0)
        low, high = self.hull(cells)
        low, high = arrays.where(held, low, math.inf), arrays.where(held, high, -math.inf)
        return Interval(arrays.least(low, 0), arrays.most(high, 0))


@dataclass(frozen=True)
class GatedSum(_Mixture):
    """A NALU: ``sigmoid(G x) W x + (1 - sigmoid(G x)) prod (|x_i| + 1e-7)^W_i``."""

    weight: FixedWeights
    gate: FixedWeights
    name = "nalu"

    def hull(self, cells: Sequence[Interval]) -> Interval:
        added = _linear(self.weight, cells)
        size = _linear(self.weight, [_mapped(cell, lambda x: arrays.log(abs(x) + NALU_EPSILON)) for cell in cells])
        product = Interval(arrays.exp(size.lower), arrays.exp(size.upper))
        lower, upper = [], []
        for end in _linear(self.gate, cells):  # the mixture is linear in the gate: its extremes are at the gate's ends
            # A weight that rounds to 0 may stand for any tiny factor, so its product with infinity is unknown.
            gate, rest = sigmoid(end), sigmoid(-end)
            lower.append(arrays.nan_to_num(gate * added.lower + rest * product.lower, -math.inf))
            upper.append(arrays.nan_to_num(gate * added.upper + rest * product.upper, math.inf))
        return Interval(arrays.minimum(*lower), arrays.maximum(*upper))


@dataclass(frozen=True)
class SignedGatedSum(_Mixture):
    """An iNALU: ``g A x + (1 - g) s exp(min(M log max(|x|, 1e-7), 20))``, its sign
    ``s = prod (sign(x_i) |M_i| + 1 - |M_i|)``."""

    add: FixedWeights
    multiply: FixedWeights
    gate: float
    name = "inalu"

    def image(self, operands: Sequence[Pieces]) -> Pieces:
        return self._image(boxes(operands), _CELLS if self.gate else {})

    def hull(self, cells: Sequence[Interval]) -> Interval:
        logs = [_mapped(cell, lambda x: arrays.log(clamp(abs(x), least=INALU_EPSILON))) for cell in cells]
        low, high = (arrays.exp(clamp(end, most=CEILING)) for end in _linear(self.multiply, logs))
        sign = arrays.ones_like(low)
        for weight, (least, most) in zip(self.multiply, cells, strict=True):
            if weight:  # Each cell has one sign, that of its interior.
                sign = sign * (arrays.sign(arrays.sign(least) + arrays.sign(most)) * abs(weight) + 1 - abs(weight))
        product = _ordered(sign * low, sign * high)
        if not self.gate:
            return product
        ends = zip(_linear(self.add, cells), product, strict=True)
        return Interval(*(self.gate * a + (1 - self.gate) * m for a, m in ends))


def _cells(operand: Interval, count: int) -> Interval:
    """Zero, and the numbers above and below it in ``count`` cells each, ``[cells, n]``; ``inf, -inf`` for empty
    cells."""
    low, high = operand
    share = namespace(low).linspace(0, 1, count + 1, dtype=low.dtype)[:, None]
    zero = (low <= 0) & (high >= 0)
    lower, upper = [arrays.where(zero, 0.0, math.inf)[None]], [arrays.where(zero, 0.0, -math.inf)[None]]
    for least, most, above in ((low, high, True), (-high, -low, False)):
        filled = (most > 0) & (least <= most)
        cuts = _cuts(clamp(least, least=0.0), most, share)
        first, last = arrays.where(filled, cuts[:-1], math.inf), arrays.where(filled, cuts[1:], -math.inf)
        lower.append(first if above else -last)
        upper.append(last if above else -first)
    return Interval(arrays.concat(lower), arrays.concat(upper))


def _cuts(start: Array, stop: Array, share: Array) -> Array:
    """Numbers from ``start`` (not negative) to ``stop``, spaced more and more widely towards an infinite end."""
    inner = arrays.where(stop == math.inf, (start + 1) / (1 - share) - 1, start + (stop - start) * share)
    return arrays.where(share == 0, start, arrays.where(share == 1, stop, inner))


def _linear(weights: FixedWeights, operands: Sequence[Interval]) -> Interval:
    return linear(zip(weights, operands, strict=True), 0.0, operands[0].lower)


def _mapped(cell: Interval, size: Callable[[Array], Array]) -> Interval:
    """The image of a cell under a function of the size."""
    return _ordered(size(cell.lower), size(cell.upper))


def _ordered(one: Array, other: Array) -> Interval:
    return Interval(arrays.minimum(one, other), arrays.maximum(one, other))
