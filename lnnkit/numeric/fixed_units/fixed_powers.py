"""The NPU over intervals, with an imaginary part and without one (Heim et al. 2020, arXiv 2006.01681, as in
`lnnkit.numeric.NPU`).

Without one, ``y = prod r_i^w_i cos(pi sum w_i g_i [x_i < 0])`` with ``r_i = g_i |x_i| + 1 - g_i``. For each choice of
signs this is a constant times a product of powers in which each operand occurs once. So the image is exact, and so is
the inverse.

With one, ``y = exp(E) cos(P)`` with ``E = sum w_i l_i - v_i k_i`` and ``P = sum v_i l_i + w_i k_i``, where ``l_i = log
r_i`` and ``k_i = pi g_i [x_i < 0]``. For each choice of signs, ``y`` is the real part of ``exp`` of a complex-linear
function of the ``l_i``. Two of them with different directions ``w_i + i v_i`` leave no critical point in the interior,
so the extremes are on the edges of the box of ``l``: at their ends, or where ``tan P = w_i / v_i``. If the box is
unbounded, or there are so many operands that it has too many edges, ``exp(E)`` and ``cos(P)`` are enclosed separately.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lnnkit import arrays
from lnnkit.arrays import Array, all_set, any_set, clamp
from lnnkit.numeric import interval
from lnnkit.numeric.arithmetic import add, factor, multiply, negate, not_negative, scale, subtract
from lnnkit.numeric.functions import FUNCTIONS, exponential
from lnnkit.numeric.interval import ROUNDING, Interval, Pieces, bounded, joined, linear, points_if_equal, single
from lnnkit.numeric.power import raise_to, root
from lnnkit.numeric.step import FixedUnit

# The most sums of phases that are kept apart; with more, the cosine may be anything. Four operands have 16: with 8
# hulls are 3.6 times as wide, with 128 the same in the same time (benchmarks/numeric_constants.py).
_PHASES = 32

Phase = float | None  # in half turns, in [0, 2); None: unknown
Products = Mapping[Phase, Pieces]  # products of magnitudes, by the phase that their signs give


@dataclass(frozen=True)
class RealPower(FixedUnit):
    """``power`` is nonzero, ``gate`` in (0, 1]; one of each for each operand."""

    power: tuple[float, ...]
    gate: tuple[float, ...]
    name = "realnpu"

    def image(self, operands: Sequence[Pieces]) -> Pieces:
        products = self._products(operands, range(len(operands)))
        return points_if_equal(joined([_turned(product, phase) for phase, product in products.items()]))

    def left(self, value: Pieces, operands: Sequence[Pieces]) -> Sequence[Pieces]:
        return [self._left(value, operands, place) for place in range(len(operands))]

    def _left(self, value: Pieces, operands: Sequence[Pieces], place: int) -> Pieces:
        power, gate = self.power[place], self.gate[place]
        others = self._products(operands, [other for other in range(len(operands)) if other != place])
        parts: list[Pieces] = []
        for phase, product in others.items():
            for negative in (False, True):
                left = factor(value, _turned(product, _phase_sum(phase, power * gate * negative)))
                size = _opened(not_negative(root(not_negative(left), power)), gate)
                parts.append(negate(size) if negative else size)
        return joined(parts)

    def _products(self, operands: Sequence[Pieces], places: Sequence[int]) -> Products:
        """The products of the powers of some operands, by the phase that their signs give it."""
        products: dict[Phase, Pieces] = {0.0: single(1.0, 1.0, operands[0].lower)}
        for place in places:
            power, gate = self.power[place], self.gate[place]
            made: dict[Phase, list[Pieces]] = {}
            for negative in (False, True):
                operand = operands[place]
                size = interval.without_zero(not_negative(negate(operand))) if negative else not_negative(operand)
                if all_set(size.lower > size.upper):
                    continue
                opened = size if gate == 1 else add(scale(size, gate), single(1 - gate, 1 - gate, size.lower))
                raised = raise_to(opened, power)
                for phase, product in products.items():
                    made.setdefault(_phase_sum(phase, power * gate * negative), []).append(multiply(product, raised))
            if len(made) > _PHASES:
                made = {None: [product for parts in made.values() for product in parts]}
            if not made:
                return {0.0: interval.nothing(1, operands[0].lower)}
            products = {phase: joined(parts) for phase, parts in made.items()}
        return products


def _opened(size: Pieces, gate: float) -> Pieces:
    """The ``|x|`` with ``g |x| + 1 - g`` in ``size``, widened by the rounding error of the difference."""
    if gate == 1:
        return size
    magnitude = scale(subtract(size, single(1 - gate, 1 - gate, size.lower)), 1 / gate)
    room = ROUNDING * (1 + clamp(abs(magnitude.lower), most=interval.GREATEST)) / gate
    return not_negative(Pieces(magnitude.lower - room, magnitude.upper + room, magnitude.whole))


def _phase_sum(phase: Phase, more: float) -> Phase:
    return None if phase is None else round((phase + more) % 2.0, 12) % 2.0


def _turned(product: Pieces, phase: Phase) -> Pieces:
    """The product times the cosine of its phase, which is exactly 0 for a quarter turn."""
    if phase is None:
        return multiply(product, single(-1.0, 1.0, product.lower))
    if phase in (0.0, 0.5, 1.0, 1.5):
        return scale(product, {0.0: 1.0, 1.0: -1.0}.get(phase, 0.0))
    return scale(product, math.cos(math.pi * phase))


# --- with an imaginary part -------------------------------------------------------------------------------------------

# With more operands than this the edges are not searched, whose number grows as 2^operands. Contraction of 200 rows
# with four operands to 0.98 of the width takes 0.35 s; with edges, to 0.97 of the width, 13.3 s
# (benchmarks/numeric_constants.py).
_EDGES = 3


class _SignedOperand(NamedTuple):
    """An operand restricted to one sign: the logarithm of its magnitude, its phase, and the rows in which it can have
    that sign. ``absent`` marks zero, which has no logarithm: there an exponent of 0 leaves the operand out, and any
    other makes the product 0."""

    low: Array
    high: Array
    turn: float
    valid: Array
    absent: bool = False


@dataclass(frozen=True)
class ComplexPower(FixedUnit):
    """``power`` w and ``imaginary`` v, not both zero, and ``gate`` g in (0, 1]; one of each for each operand."""

    power: tuple[float, ...]
    imaginary: tuple[float, ...]
    gate: tuple[float, ...]
    name = "npu"

    def enclosed(self, operands: Sequence[Interval]) -> Pieces:
        """The image of the box. Exact for few operands if the box is bounded, otherwise an enclosure."""
        choices = itertools.product(*(self._sides(place, operand) for place, operand in enumerate(operands)))
        valid = [(sides, arrays.stack([side.valid for side in sides]).all(0)) for sides in choices]
        parts = [self._part(*part) for part in valid if any_set(part[1])]
        like = operands[0].lower
        return points_if_equal(joined(parts)) if parts else interval.nothing(len(like), like)

    def _sides(self, place: int, operand: Interval) -> Iterator[_SignedOperand]:
        """The parts of an operand: positive, negative, and zero where its gate is 1 and so does not hide it."""
        low, high = operand
        power, gate = self.power[place], self.gate[place]
        open_ = gate == 1
        yield _side(low, high, 0.0, gate, (high > 0 if open_ else high >= 0) & (low <= high))
        if any_set(low < 0):
            yield _side(-high, -low, math.pi * gate, gate, (low < 0) & (low <= high))
        zero = (low <= 0) & (high >= 0)
        if open_ and power >= 0 and any_set(zero):
            yield _SignedOperand(low, low, 0.0, zero, absent=True)

    def _part(self, sides: Sequence[_SignedOperand], valid: Array) -> Pieces:
        """The values for one choice of signs."""
        grown = -sum(v * side.turn for v, side in zip(self.imaginary, sides, strict=True))
        turned = sum(w * side.turn for w, side in zip(self.power, sides, strict=True))
        if any(side.absent and w > 0 for w, side in zip(self.power, sides, strict=True)):
            zero = arrays.zeros_like(sides[0].low)[None]
            return bounded(zero, arrays.zeros_like(zero), ~valid[None])
        weighted = zip(self.power, self.imaginary, sides, strict=True)
        present = [(w, v, side.low, side.high) for w, v, side in weighted if not side.absent]
        like = sides[0].low
        sizes = linear([(w, Interval(low, high)) for w, _, low, high in present], grown, like)
        phases = linear([(v, Interval(low, high)) for _, v, low, high in present], turned, like)
        lower, upper = _apart(sizes, phases)
        if 0 < len(present) <= _EDGES:
            # Where the value is bounded, or vanishes, at both ends of each operand
            fades = [
                (arrays.isfinite(low) | bool(w > 0)) & (arrays.isfinite(high) | bool(w < 0))
                for w, _, low, high in present
            ]
            finite = arrays.stack(fades).all(0)
            least, most = _along_edges(present, grown, turned)
            reach = arrays.maximum(abs(least), abs(most))
            sizes_at, phases_at = (interval.finite_size(arrays.maximum(*map(abs, ends))) for ends in (sizes, phases))
            room = ROUNDING * (2 + sizes_at + phases_at) * reach
            moves = arrays.stack([low < high for _, _, low, high in present]).any(0)
            room = arrays.where(moves, room, 0.0)
            lower = arrays.where(finite, arrays.maximum(lower, least - room), lower)
            upper = arrays.where(finite, arrays.minimum(upper, most + room), upper)
        return bounded(lower[None], upper[None], ~valid[None])


def _side(least: Array, most: Array, turn: float, gate: float, valid: Array) -> _SignedOperand:
    low, high = (arrays.log(gate * clamp(size, least=0.0) + (1 - gate)) for size in (least, most))
    return _SignedOperand(low, high, turn, valid)


def _apart(sizes: Interval, phases: Interval) -> Interval:
    """The bounds of ``exp(E) cos(P)`` if ``E`` and ``P`` vary independently."""
    size, turn = (Pieces(low[None], high[None]) for low, high in (sizes, phases))
    return interval.closed(interval.hull(multiply(exponential(size), FUNCTIONS["cos"].image([turn]))))


def _along_edges(
    operands: Sequence[tuple[float, float, Array, Array]], grown: float, turned: float
) -> tuple[Array, Array]:
    """The least and the greatest value on the edges of boxes of logarithms that are bounded, or along whose unbounded
    edges the value vanishes; arbitrary for other boxes."""
    least = arrays.full_like(operands[0][2], math.inf)
    most = arrays.full_like(least, -math.inf)
    for free, (w, v, low, high) in enumerate(operands):
        others = [operand for place, operand in enumerate(operands) if place != free]
        for corner in itertools.product((0, 1), repeat=len(others)):
            at = [(ow, ov, (olow, ohigh)[end]) for (ow, ov, olow, ohigh), end in zip(others, corner, strict=True)]
            size = sum((ow * end for ow, _, end in at), arrays.full_like(least, float(grown)))
            phase = sum((ov * end for _, ov, end in at), arrays.full_like(least, float(turned)))
            for point in (low, high, *_critical(w, v, low, high, phase)):
                exponent = size + w * point
                value = arrays.exp(exponent) * arrays.cos(phase + v * point)
                value = arrays.where(exponent == -math.inf, 0.0, value)
                held = arrays.isfinite(value) & (low <= point) & (point <= high)
                least = arrays.where(held, arrays.minimum(least, value), least)
                most = arrays.where(held, arrays.maximum(most, value), most)
    return least, most


def _critical(w: float, v: float, low: Array, high: Array, phase: Array) -> Iterator[Array]:
    """The critical points of ``exp(w l) cos(v l + phase)`` nearest to each end: the value grows towards one of the
    ends."""
    if v == 0:
        return
    angle = math.atan2(w, v) if v > 0 else math.atan2(-w, -v)
    for end in (low, high):
        turn = arrays.floor((v * end + phase - angle) / math.pi)
        for more in (-1, 0, 1, 2):
            yield ((turn + more) * math.pi + angle - phase) / v
