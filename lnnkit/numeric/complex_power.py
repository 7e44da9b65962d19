"""The NPU over intervals.

``y = exp(E) cos(P)`` with ``E = sum w_i l_i - v_i k_i`` and ``P = sum v_i l_i + w_i k_i``, where ``l_i = log(g_i |x_i|
+ 1 - g_i)`` is the logarithm of a size and ``k_i = pi g_i [x_i < 0]`` its turn (Heim et al. 2020, arXiv 2006.01681, as
in `lnnkit.numeric.npu`). For each choice of signs, ``y`` is the real part of ``exp`` of a complex-linear function of
the ``l_i``. Two of them with different directions ``w_i + i v_i`` leave no critical point in the interior, so the
extremes are on the edges of the box of ``l``: at their ends, or where ``tan P = w_i / v_i``. If the box is unbounded,
or there are so many operands that it has too many edges, ``exp(E)`` and ``cos(P)`` are enclosed separately.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from lnnkit.flags import all_set, any_set
from lnnkit.numeric.fixed_unit import boxes, told
from lnnkit.numeric.interval import Interval
from lnnkit.numeric.pieces import ROUNDING, Pieces, bounded, joined
from lnnkit.numeric.shaving import shaved

# With more operands than this the edges are not searched, whose number grows as 2^operands. Contraction of 200 rows
# with four operands to 0.98 of the width takes 0.35 s; with edges, to 0.97 of the width, 13.3 s
# (benchmarks/numeric_constants.py).
_EDGES = 3


class _Side(NamedTuple):
    """An operand restricted to one sign: the logarithm of its magnitude, its phase, and the rows in which it can have
    that sign. ``absent`` marks zero, which has no logarithm: there an exponent of 0 leaves the operand out."""

    low: Tensor
    high: Tensor
    turn: float
    valid: Tensor
    absent: bool = False


@dataclass(frozen=True)
class ComplexPower:
    """``powers`` w and ``imaginary`` v, not both zero, and ``gates`` g in (0, 1]; one of each for each operand."""

    powers: tuple[float, ...]
    imaginary: tuple[float, ...]
    gates: tuple[float, ...]

    @property
    def name(self) -> Literal["npu"]:
        return "npu"

    @property
    def attributes(self) -> Mapping[str, float | tuple[float, ...]]:
        return {"power": self.powers, "imaginary": self.imaginary, "gate": self.gates}

    def image(self, operands: Sequence[Pieces]) -> Pieces:
        """The image of the box. Exact for few operands if the box is bounded, otherwise an enclosure."""
        return self._image(boxes(operands))

    def left(self, value: Pieces, operands: Sequence[Pieces]) -> Sequence[Pieces]:
        return [
            Pieces(low.unsqueeze(0), high.unsqueeze(0), all_set(low <= high))
            for low, high in shaved(self._image, value, boxes(operands))
        ]

    def _image(self, operands: Sequence[Interval]) -> Pieces:
        parts: list[Pieces] = []
        for sides in itertools.product(*(self._sides(place, each) for place, each in enumerate(operands))):
            valid = torch.stack([side.valid for side in sides]).all(0)
            if any_set(valid):
                parts.append(self._part(sides, valid))
        if parts:
            return told(joined(parts))
        none = torch.full((1, len(operands[0].lower)), math.inf, dtype=torch.float64)
        return Pieces(none, -none, whole=False)

    def _sides(self, place: int, operand: Interval) -> Iterator[_Side]:
        low, high = operand
        power, gate = self.powers[place], self.gates[place]
        whole = gate == 1
        sizes = low.clamp(min=0.0), high.clamp(min=0.0)
        yield _side(sizes, 0.0, gate, (high > 0 if whole else high >= 0) & (low <= high))
        if any_set(low < 0):
            sizes = (-high).clamp(min=0.0), (-low).clamp(min=0.0)
            yield _side(sizes, math.pi * gate, gate, (low < 0) & (low <= high))
        zero = (low <= 0) & (high >= 0)
        if whole and power >= 0 and any_set(zero):
            ends = torch.full_like(low, -math.inf) if power > 0 else torch.zeros_like(low)
            yield _Side(ends, ends, 0.0, zero, absent=True)

    def _part(self, sides: Sequence[_Side], valid: Tensor) -> Pieces:
        """The values for one choice of signs."""
        grown = -sum(v * side.turn for v, side in zip(self.imaginary, sides, strict=True))
        turned = sum(w * side.turn for w, side in zip(self.powers, sides, strict=True))
        if any(side.absent and w > 0 for w, side in zip(self.powers, sides, strict=True)):
            zero = torch.zeros(1, len(valid), dtype=torch.float64)
            return bounded(zero, zero.clone(), ~valid.unsqueeze(0))
        present = [
            (w, v, side.low, side.high)
            for w, v, side in zip(self.powers, self.imaginary, sides, strict=True)
            if not side.absent
        ]
        rows = len(valid)
        sizes = _linear([(w, low, high) for w, _, low, high in present], grown, rows)
        phases = _linear([(v, low, high) for _, v, low, high in present], turned, rows)
        lower, upper = _apart(sizes, phases)
        if 0 < len(present) <= _EDGES:
            finite = torch.stack([_fades(*each) for each in present]).all(0)
            least, most = _along_edges(present, grown, turned)
            reach = torch.maximum(least.abs(), most.abs())
            room = ROUNDING * (2 + _size(sizes) + _size(phases)) * reach
            moves = torch.stack([low < high for _, _, low, high in present]).any(0)
            room = torch.where(moves, room, 0.0)
            lower = torch.where(finite, torch.maximum(lower, least - room), lower)
            upper = torch.where(finite, torch.minimum(upper, most + room), upper)
        return bounded(lower.unsqueeze(0), upper.unsqueeze(0), ~valid.unsqueeze(0))


def _side(sizes: tuple[Tensor, Tensor], turn: float, gate: float, valid: Tensor) -> _Side:
    low, high = ((gate * size + (1 - gate)).log() for size in sizes)
    return _Side(low, high, turn, valid)


def _linear(parts: Sequence[tuple[float, Tensor, Tensor]], start: float, rows: int) -> Interval:
    lower = torch.full((rows,), float(start), dtype=torch.float64)
    upper = lower.clone()
    for weight, low, high in parts:
        if weight:
            lower = lower + weight * (low if weight > 0 else high)
            upper = upper + weight * (high if weight > 0 else low)
    # Infinite ends of opposite sign give an indeterminate sum.
    return Interval(lower.nan_to_num(nan=-math.inf, neginf=-math.inf), upper.nan_to_num(nan=math.inf, posinf=math.inf))


def _apart(sizes: Interval, phases: Interval) -> tuple[Tensor, Tensor]:
    """The bounds of ``exp(E) cos(P)`` if ``E`` and ``P`` vary independently."""
    low, high = phases
    turns_low, turns_high = low / (2 * math.pi), high / (2 * math.pi)
    ends = low.cos(), high.cos()
    endless = ~(low.isfinite() & high.isfinite())
    peak = endless | (turns_low.ceil() <= turns_high.floor())
    trough = endless | ((turns_low + 0.5).ceil() <= (turns_high + 0.5).floor())
    least = torch.where(trough, -1.0, torch.minimum(*ends))
    most = torch.where(peak, 1.0, torch.maximum(*ends))
    small, great = (end.exp() for end in sizes)
    lower = torch.where(least < 0, great, small) * least
    upper = torch.where(most > 0, great, small) * most
    return lower.nan_to_num(nan=0.0, neginf=-math.inf), upper.nan_to_num(nan=0.0, posinf=math.inf)


def _along_edges(
    operands: Sequence[tuple[float, float, Tensor, Tensor]], grown: float, turned: float
) -> tuple[Tensor, Tensor]:
    """The least and the greatest value on the edges of boxes of logarithms that are bounded, or along whose unbounded
    edges the value vanishes; arbitrary for other boxes."""
    least = torch.full_like(operands[0][2], math.inf)
    most = torch.full_like(least, -math.inf)
    for free, (w, v, low, high) in enumerate(operands):
        others = [each for place, each in enumerate(operands) if place != free]
        for corner in itertools.product((0, 1), repeat=len(others)):
            at = [(ow, ov, (olow, ohigh)[end]) for (ow, ov, olow, ohigh), end in zip(others, corner, strict=True)]
            size = sum((ow * end for ow, _, end in at), torch.full_like(least, float(grown)))
            phase = sum((ov * end for _, ov, end in at), torch.full_like(least, float(turned)))
            points = [low, high, *_critical(w, v, low, high, phase)]
            for point in points:
                value = _real(size + w * point, phase + v * point)
                held = value.isfinite() & (low <= point) & (point <= high)
                least = torch.where(held, torch.minimum(least, value), least)
                most = torch.where(held, torch.maximum(most, value), most)
    return least, most


def _fades(w: float, v: float, low: Tensor, high: Tensor) -> Tensor:
    """Where the value is bounded, or vanishes, at both ends of an operand."""
    return (low.isfinite() | bool(w > 0)) & (high.isfinite() | bool(w < 0))


def _real(size: Tensor, phase: Tensor) -> Tensor:
    return torch.where(size == -math.inf, 0.0, size.exp() * phase.cos())


def _critical(w: float, v: float, low: Tensor, high: Tensor, phase: Tensor) -> Iterator[Tensor]:
    """The critical points of ``exp(w l) cos(v l + phase)`` nearest to each end: the value grows towards one of the
    ends."""
    if v == 0:
        return
    angle = math.atan2(w, v) if v > 0 else math.atan2(-w, -v)
    for end in (low, high):
        turn = ((v * end + phase - angle) / math.pi).floor()
        for more in (-1, 0, 1, 2):
            yield ((turn + more) * math.pi + angle - phase) / v


def _size(interval: Interval) -> Tensor:
    return torch.maximum(interval.lower.abs(), interval.upper.abs()).nan_to_num(posinf=0.0)
