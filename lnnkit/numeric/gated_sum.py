"""The NALU and the iNALU over intervals: ``y = g a + (1 - g) m`` of a sum and a product of the same operands.

Each operand occurs in both, and in the gate of a NALU, so the enclosures are not exact. The box is divided into cells,
split at zero, and each part is enclosed separately in every cell. An iNALU with a closed gate is only a product in
which each operand occurs once: there the hull is exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol

import torch
from torch import Tensor

from lnnkit.elementwise import sigmoid
from lnnkit.flags import all_set, where_set
from lnnkit.numeric.fixed_unit import boxes, told
from lnnkit.numeric.interval import Interval
from lnnkit.numeric.pieces import Pieces, bounded
from lnnkit.numeric.shaving import shaved

NALU_EPSILON = 1e-7
"""Added to sizes before their logarithm, as in `lnnkit.numeric.nalu`."""
INALU_EPSILON = 1e-7
"""The least size whose logarithm is taken, as in `lnnkit.numeric.inalu`."""
CEILING = 20.0
"""Upper bound of the exponent of an iNALU's product."""

# Mean widths and CPU ms are those of `python -m benchmarks.numeric_constants`, for one, two and three operands.
# Cells on each side of zero, by the number of operands. Widths 0.407, 1.69, 2.94 in 34, 16, 6 ms; with a quarter 0.428,
# 2.06, 3.88 in 6, 2, 2 ms; with twice as many 0.403, 1.61, 2.77 in 34, 70, 60 ms.
_CELLS = {1: 64, 2: 8, 3: 4}
_COARSE = {
    1: 8,
    2: 2,
}  # the same in shaving; half: as narrow to 1 % in 3/4 of the time, twice: to 1 % in twice the time
_BOXES = 2**17  # cells evaluated at a time, a limit of memory; from 2 ** 13 on the time differs by noise

Weights = tuple[float, ...]


class _Curve(Protocol):
    """The hull of a unit over cells in which no operand changes its sign."""

    def __call__(self, cells: Sequence[Interval]) -> Interval: ...


@dataclass(frozen=True)
class GatedSum:
    """A NALU: ``sigmoid(G x) W x + (1 - sigmoid(G x)) prod (|x_i| + 1e-7)^W_i``."""

    weights: Weights
    gate: Weights

    @property
    def name(self) -> Literal["nalu"]:
        return "nalu"

    @property
    def attributes(self) -> Mapping[str, float | Weights]:
        return {"weight": self.weights, "gate": self.gate}

    def image(self, operands: Sequence[Pieces]) -> Pieces:
        return _image(self._hull, boxes(operands), _CELLS)

    def left(self, value: Pieces, operands: Sequence[Pieces]) -> Sequence[Pieces]:
        return _left(self._hull, value, operands)

    def _hull(self, cells: Sequence[Interval]) -> Interval:
        added = _linear(self.weights, cells)
        size = _linear(self.weights, [_mapped(cell, lambda x: (x.abs() + NALU_EPSILON).log()) for cell in cells])
        opened = _linear(self.gate, cells)
        return _mixed(added, Interval(size.lower.exp(), size.upper.exp()), opened)


@dataclass(frozen=True)
class SignedGatedSum:
    """An iNALU: ``g A x + (1 - g) s exp(min(M log max(|x|, 1e-7), 20))``, its sign
    ``s = prod (sign(x_i) |M_i| + 1 - |M_i|)``."""

    adding: Weights
    multiplying: Weights
    gate: float

    @property
    def name(self) -> Literal["inalu"]:
        return "inalu"

    @property
    def attributes(self) -> Mapping[str, float | Weights]:
        return {"add": self.adding, "multiply": self.multiplying, "gate": self.gate}

    def image(self, operands: Sequence[Pieces]) -> Pieces:
        return _image(self._hull, boxes(operands), _CELLS if self.gate else {})

    def left(self, value: Pieces, operands: Sequence[Pieces]) -> Sequence[Pieces]:
        return _left(self._hull, value, operands)

    def _hull(self, cells: Sequence[Interval]) -> Interval:
        logs = [_mapped(cell, lambda x: x.abs().clamp(min=INALU_EPSILON).log()) for cell in cells]
        low, high = (end.clamp(max=CEILING).exp() for end in _linear(self.multiplying, logs))
        sign = torch.ones_like(low)
        for weight, (least, most) in zip(self.multiplying, cells, strict=True):
            if weight:  # Each cell has one sign, that of its interior.
                sign = sign * ((torch.sign(least) + torch.sign(most)).sign() * abs(weight) + 1 - abs(weight))
        ends = sign * low, sign * high
        product = Interval(torch.minimum(*ends), torch.maximum(*ends))
        if not self.gate:
            return product
        added = _linear(self.adding, cells)
        return Interval(
            *(self.gate * a + (1 - self.gate) * m for a, m in zip(added, product, strict=True))  # The gate is fixed.
        )


def _image(curve: _Curve, operands: Sequence[Interval], cells: Mapping[int, int]) -> Pieces:
    """The hull over the cells of each box; for points, their values."""
    points = torch.stack([low == high for low, high in operands]).all(0)
    lower, upper = (torch.full(points.shape, end, dtype=torch.float64) for end in (math.inf, -math.inf))
    count = cells.get(len(operands), 1)
    for rows, some in ((points, 0), (~points, count)):
        for at in where_set(rows).split(max(_BOXES // (2 * some + 1) ** len(operands), 1)):
            lower[at], upper[at] = _hull(curve, [Interval(*(end[at] for end in each)) for each in operands], some)
    return told(bounded(lower.unsqueeze(0), upper.unsqueeze(0), (lower > upper).unsqueeze(0)))


def _hull(curve: _Curve, operands: Sequence[Interval], count: int) -> Interval:
    """The hull over ``count`` cells on each side of zero; with 0, over the box as one cell."""
    parts = [_cells(each, count) if count else Interval(*(end.unsqueeze(0) for end in each)) for each in operands]
    chosen = torch.cartesian_prod(*(torch.arange(len(part.lower)) for part in parts)).view(-1, len(parts))
    boxes = [Interval(*(end[chosen[:, place]] for end in part)) for place, part in enumerate(parts)]
    held = torch.stack([low <= high for low, high in boxes]).all(0)
    low, high = curve(boxes)
    return Interval(torch.where(held, low, math.inf).amin(0), torch.where(held, high, -math.inf).amax(0))


def _cells(operand: Interval, count: int) -> Interval:
    """Zero, and the numbers above and below it in ``count`` cells each, ``[cells, n]``; ``inf, -inf`` for empty
    cells."""
    low, high = operand
    share = torch.linspace(0, 1, count + 1, dtype=torch.float64).unsqueeze(1)
    zero = (low <= 0) & (high >= 0)
    lower, upper = [torch.where(zero, 0.0, math.inf).unsqueeze(0)], [torch.where(zero, 0.0, -math.inf).unsqueeze(0)]
    for least, most, above in ((low, high, True), (-high, -low, False)):
        some = (most > 0) & (least <= most)
        cuts = _cuts(least.clamp(min=0.0), most, share)
        first, last = torch.where(some, cuts[:-1], math.inf), torch.where(some, cuts[1:], -math.inf)
        lower.append(first if above else -last)
        upper.append(last if above else -first)
    return Interval(torch.cat(lower), torch.cat(upper))


def _cuts(start: Tensor, stop: Tensor, share: Tensor) -> Tensor:
    """Numbers from ``start`` (not negative) to ``stop``, spaced more and more widely towards an infinite end."""
    inner = torch.where(stop == math.inf, (start + 1) / (1 - share) - 1, start + (stop - start) * share)
    return torch.where(share == 0, start, torch.where(share == 1, stop, inner))


def _left(curve: _Curve, value: Pieces, operands: Sequence[Pieces]) -> Sequence[Pieces]:
    found = shaved(partial(_image, curve, cells=_COARSE), value, boxes(operands))
    return [Pieces(low.unsqueeze(0), high.unsqueeze(0), all_set(low <= high)) for low, high in found]


def _linear(weights: Weights, operands: Sequence[Interval]) -> Interval:
    lower = torch.zeros_like(operands[0].lower)
    upper = lower.clone()
    for weight, (low, high) in zip(weights, operands, strict=True):
        if weight:
            lower = lower + weight * (low if weight > 0 else high)
            upper = upper + weight * (high if weight > 0 else low)
    return Interval(lower.nan_to_num(nan=-math.inf, neginf=-math.inf), upper.nan_to_num(nan=math.inf, posinf=math.inf))


def _mapped(cell: Interval, size: _Monotone) -> Interval:
    """The image of a cell under a function of the size."""
    one, other = size(cell.lower), size(cell.upper)
    return Interval(torch.minimum(one, other), torch.maximum(one, other))


class _Monotone(Protocol):
    def __call__(self, x: Tensor, /) -> Tensor: ...


def _mixed(added: Interval, product: Interval, opened: Interval) -> Interval:
    """``sigmoid(z) a + sigmoid(-z) m``: linear in the gate, so its extremes are at the ends of the gate."""
    lower, upper = [], []
    for end in opened:
        # A weight that rounds to 0 may stand for any tiny factor, so its product with infinity is unknown.
        gate, rest = sigmoid(end), sigmoid(-end)
        lower.append(_sum(gate * added.lower, rest * product.lower, -math.inf))
        upper.append(_sum(gate * added.upper, rest * product.upper, math.inf))
    return Interval(torch.minimum(*lower), torch.maximum(*upper))


def _sum(one: Tensor, other: Tensor, end: float) -> Tensor:
    return (one + other).nan_to_num(nan=end, posinf=math.inf, neginf=-math.inf)
