"""The NPU without an imaginary part over intervals, in both directions.

``y = prod r_i^w_i cos(pi sum w_i g_i [x_i < 0])`` with ``r_i = g_i |x_i| + 1 - g_i`` (Heim et al. 2020, arXiv
2006.01681, as in `lnnkit.numeric.NPU`). For each choice of signs this is a constant times a product of powers in which
each operand occurs once. So the image is exact, and so is the inverse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lnnkit.arrays import all_set, clamp
from lnnkit.numeric.arithmetic import add, factor, multiply, negate, not_negative, scale, subtract
from lnnkit.numeric.interval import GREATEST
from lnnkit.numeric.pieces import ROUNDING, Pieces, joined, points_if_equal, single, without_zero
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

    @property
    def name(self) -> Literal["realnpu"]:
        return "realnpu"

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
                left = factor(value, _turned(product, _sum(phase, power * gate * negative)))
                size = _opened(not_negative(root(not_negative(left), power)), gate)
                parts.append(negate(size) if negative else size)
        return joined(parts)

    def _products(self, operands: Sequence[Pieces], places: Sequence[int]) -> Products:
        products: dict[Phase, Pieces] = {0.0: single(1.0, 1.0, operands[0].lower)}
        for place in places:
            power, gate = self.power[place], self.gate[place]
            made: dict[Phase, list[Pieces]] = {}
            for negative in (False, True):
                operand = operands[place]
                size = without_zero(not_negative(negate(operand))) if negative else not_negative(operand)
                if all_set(size.lower > size.upper):
                    continue
                opened = size if gate == 1 else add(scale(size, gate), single(1 - gate, 1 - gate, size.lower))
                raised = raise_to(opened, power)
                for phase, product in products.items():
                    made.setdefault(_sum(phase, power * gate * negative), []).append(multiply(product, raised))
            if len(made) > _PHASES:
                made = {None: [product for parts in made.values() for product in parts]}
            if not made:
                return {0.0: single(math.inf, -math.inf, operands[0].lower)._replace(whole=False)}
            products = {phase: joined(parts) for phase, parts in made.items()}
        return products


def _opened(size: Pieces, gate: float) -> Pieces:
    """The ``|x|`` with ``g |x| + 1 - g`` in ``size``, widened by the rounding error of the difference."""
    if gate == 1:
        return size
    magnitude = scale(subtract(size, single(1 - gate, 1 - gate, size.lower)), 1 / gate)
    room = ROUNDING * (1 + clamp(abs(magnitude.lower), most=GREATEST)) / gate
    return not_negative(Pieces(magnitude.lower - room, magnitude.upper + room, magnitude.whole))


def _sum(phase: Phase, more: float) -> Phase:
    return None if phase is None else round((phase + more) % 2.0, 12) % 2.0


def _turned(product: Pieces, phase: Phase) -> Pieces:
    """The product times the cosine of its phase, which is exactly 0 for a quarter turn."""
    if phase is None:
        return multiply(product, single(-1.0, 1.0, product.lower))
    if phase in (0.0, 0.5, 1.0, 1.5):
        return scale(product, {0.0: 1.0, 1.0: -1.0}.get(phase, 0.0))
    return scale(product, math.cos(math.pi * phase))
