"""When a neuron is classical at a threshold: a linear condition on its weights and bias, in each logic.

A neuron is *classical at alpha* (Riegel et al. 2020, arXiv 2006.13155, section 4) if it gives what classical logic
gives for operands that are true (at least ``alpha``) or false (at most ``1 - alpha``): a conjunction is true if all its
operands are, and false if one is, whatever the others; a disjunction, and ``x -> y`` as a disjunction of ``not x`` and
``y``, the mirror image. Zero weights leave an operand out, and then the neuron does not depend on it: that is not
classical, unless slack is allowed.

With ``a = alpha``, weights ``w_i`` and bias ``b``, for a conjunction (a disjunction has the same by De Morgan):

===========  ==============================  ======================================
logic        all true                        one false
===========  ==============================  ======================================
lukasiewicz  ``b - (1-a) sum w_i >= a``      ``b - a w_i <= 1 - a``
godel        ``b - (1-a) w_i >= a``          ``b - a w_i <= 1 - a``
product      ``b - 1 >= ln(1/a)(sum w - 1)`` ``b - 1 <= ln(1/(1-a)) (w_i - 1)``
===========  ==============================  ======================================

The product's second is ``w_i > 0`` at ``a = 1``. Implications of product and Goedel logic are residua:
``y^wy e^(1-b) >= x^wx`` and ``1 - wy (1-y) >= b - wx (1-x)`` make them 1.

- product: false for ``x >= a``, ``y <= 1-a`` if ``1 - b - ln(1/(1-a)) wy + ln(1/a) wx <= -ln(1/(1-a))``; true for a
  false ``x`` whatever ``y`` only at ``a = 1``; true for a true ``y`` if ``1 - b >= ln(1/a) (wy - 1)``
- Goedel: with ``b = 1``, false if ``wy a >= a`` and ``a wy > (1-a) wx``; true for a false ``x`` whatever ``y`` if
  ``wx a >= wy``; true for a true ``y`` if ``wy <= 1``
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

_LEAST = 1e-3  # the least value of a weight that must be positive


@dataclass(frozen=True, slots=True)
class Conditions:
    """Linear conditions ``matrix @ values <= limit`` on the values ``(w_1, ..., w_n, b)`` of one neuron. ``slackable``
    (m,) marks those that an omitted operand may violate."""

    matrix: Tensor
    limit: Tensor
    inside: Tensor
    slackable: Tensor

    def violation(self, values: Tensor) -> float:
        """The greatest violation, as a truth or as the logarithm of one."""
        return float((self.matrix @ values - self.limit).max().clamp(min=0.0))


def conditions(kind: str, logic: str, count: int, alpha: float) -> Conditions | None:
    """The conditions under which a neuron of ``count`` operands is classical at ``alpha`` (above one half, at most 1).
    None if there are none: for too many operands at that threshold, for an equivalence, and for an implication of
    product logic below 1."""
    if kind == "implies" and logic != "lukasiewicz":
        return _residuum(logic, alpha)
    if kind not in ("and", "or", "implies"):
        return None
    rows: list[tuple[list[float], float, bool]] = []
    least = [(_unit(count + 1, place, -1.0), 0.0, False) for place in range(count + 1)]
    if logic == "lukasiewicz":
        rows.append(([1 - alpha] * count + [-1.0], -alpha, False))
        rows += [(_pair(count, place, -alpha, 1.0), 1 - alpha, True) for place in range(count)]
        room = alpha - count * (1 - alpha)
        if room <= 0:
            return None
        weight = (2 * alpha - 1) / room
        inside = [weight] * count + [alpha + (1 - alpha) * count * weight]
    elif logic == "godel":
        rows += [(_pair(count, place, 1 - alpha, -1.0), -alpha, False) for place in range(count)]
        rows += [(_pair(count, place, -alpha, 1.0), 1 - alpha, True) for place in range(count)]
        inside = [1.0] * (count + 1)
    else:
        true, false = -math.log(alpha), math.inf if alpha == 1 else -math.log(1 - alpha)
        rows.append(([true] * count + [-1.0], true - 1.0, False))
        if alpha == 1:
            rows += [(_unit(count + 1, place, -1.0), -_LEAST, True) for place in range(count)]
            inside = [1.0] * (count + 1)
        else:
            rows += [(_pair(count, place, -false, 1.0), 1.0 - false, True) for place in range(count)]
            if false <= count * true:
                return None
            weight = (false - true) / (false - count * true)
            inside = [weight] * count + [1.0 + true * (count * weight - 1)]
    return _made([*rows, *least], inside)


def _residuum(logic: str, alpha: float) -> Conditions | None:
    """The conditions of a residuum, on values ``(wx, wy, b)``."""
    nonnegative = [(_unit(3, place, -1.0), 0.0, False) for place in range(3)]
    if logic == "product":
        if alpha < 1:
            return None
        rows = [([-1.0, 0.0, 0.0], -_LEAST, True), ([0.0, -1.0, 0.0], -_LEAST, True), ([0.0, 0.0, 1.0], 1.0, False)]
        return _made([*rows, *nonnegative], [1.0, 1.0, 1.0])
    rows = [
        ([0.0, 0.0, 1.0], 1.0, False),
        ([0.0, 0.0, -1.0], -1.0, False),
        ([0.0, -1.0, 0.0], -1.0, True),
        ([0.0, 1.0, 0.0], 1.0, False),
        ([-alpha, 1.0, 0.0], 0.0, True),
        ([1 - alpha, -alpha, 0.0], -_LEAST if alpha < 1 else 0.0, False),
    ]
    weight = 1.0 if alpha == 1 else (1 / alpha + (alpha - _LEAST) / (1 - alpha)) / 2
    if alpha < 1 and (1 - alpha) * (1 / alpha) > alpha - _LEAST:
        return None
    return _made([*rows, *nonnegative], [weight, 1.0, 1.0])


def _made(rows: Sequence[tuple[list[float], float, bool]], inside: list[float]) -> Conditions:
    def column(values: Sequence[float]) -> Tensor:
        return torch.tensor(values, dtype=torch.float64)

    matrix = torch.tensor([row for row, _, _ in rows], dtype=torch.float64)
    slackable = torch.tensor([slack for _, _, slack in rows])
    return Conditions(matrix, column([limit for _, limit, _ in rows]), column(inside), slackable)


def _unit(length: int, place: int, value: float) -> list[float]:
    row = [0.0] * length
    row[place] = value
    return row


def _pair(count: int, place: int, weight: float, bias: float) -> list[float]:
    row = _unit(count + 1, place, weight)
    row[-1] = bias
    return row
