"""Weighted Lukasiewicz logic (Riegel et al. 2020, arXiv 2006.13155; IBM/LNN ``neural/methods/lukasiewicz.py``).

========  ==========================================================
``and``   ``clamp(b - sum w_i (1 - x_i))``
``or``    ``clamp(1 - b + sum w_i x_i)``
``->``    ``clamp(1 - b + w_x (1 - x) + w_y y)``
``<->``   ``min(x -> y, y -> x)``
========  ==========================================================

All but ``<->`` are one neuron, the clamped sum ``clamp(1 - b + sum w_i t_i)`` with ``t = x`` or ``1 - x``. Its inverse
leaves ``w_i t_i`` between ``L + b - 1`` less the most and ``U + b - 1`` less the least that the other terms can give;
the clamp makes ``L = 0`` and ``U = 1`` say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.logic.bounds import Bounds, Inverse, asks, complement, ordered, tolerance
from lnnkit.logic.hulls import candidate, fit, swapped, uncomplement, union
from lnnkit.logic.logic import Weight
from lnnkit.logic.operands import column, scalar, stack, sum_of_others, unstack, unweigh


@dataclass(frozen=True)
class Lukasiewicz:
    """The default logic."""

    name: str = "lukasiewicz"

    def conjunction(self, operands: Sequence[Bounds], weights: Sequence[Weight], bias: Weight) -> Bounds:
        return complement(_sum([complement(box) for box in operands], weights, bias))

    def conjunction_inverse(
        self, node: Bounds, operands: Sequence[Bounds], weights: Sequence[Weight], bias: Weight
    ) -> Inverse:
        boxes = stack(operands)
        weight, offset = column(weights, boxes.lower), scalar(bias, boxes.lower)
        hull, empty = _sum_inverse(complement(node), complement(boxes), weight, offset)
        return Inverse(unstack(uncomplement(hull, boxes)), empty)

    def disjunction(self, operands: Sequence[Bounds], weights: Sequence[Weight], bias: Weight) -> Bounds:
        return _sum(operands, weights, bias)

    def disjunction_inverse(
        self, node: Bounds, operands: Sequence[Bounds], weights: Sequence[Weight], bias: Weight
    ) -> Inverse:
        boxes = stack(operands)
        hull, empty = _sum_inverse(node, boxes, column(weights, boxes.lower), scalar(bias, boxes.lower))
        return Inverse(unstack(hull), empty)

    def implication(
        self, antecedent: Bounds, consequent: Bounds, weights: tuple[Weight, Weight], bias: Weight
    ) -> Bounds:
        return self.disjunction((complement(antecedent), consequent), weights, bias)

    def implication_inverse(
        self, node: Bounds, antecedent: Bounds, consequent: Bounds, weights: tuple[Weight, Weight], bias: Weight
    ) -> Inverse:
        found = self.disjunction_inverse(node, (complement(antecedent), consequent), weights, bias)
        return Inverse((uncomplement(found.operands[0], antecedent), found.operands[1]), found.empty)

    def equivalence(self, left: Bounds, right: Bounds, weights: tuple[Weight, Weight], bias: Weight) -> Bounds:
        """With ``f`` and ``g`` the two implications before the clamp, ``f + g = C = 2 - 2 b + w_x + w_y``, so
        ``min(f, g)`` is at most ``C / 2``, where both are equal.
        """
        forth = self.implication(left, right, weights, bias)
        back = self.implication(right, left, (weights[1], weights[0]), bias)
        most = (_sum_of_both(weights, bias, left.lower) / 2).clamp(0.0, 1.0)
        upper = torch.minimum(forth.upper, back.upper)
        return Bounds(torch.minimum(forth.lower, back.lower), torch.where(most < upper, most, upper))

    def equivalence_inverse(
        self, node: Bounds, left: Bounds, right: Bounds, weights: tuple[Weight, Weight], bias: Weight
    ) -> Inverse:
        """The hull of two bands: ``f`` in ``[L, min(U, C - L)]``, and the same for ``g`` (``semantics.md`` point 4)."""
        asks_lower, asks_upper = asks(node)
        both = _sum_of_both(weights, bias, node.lower)
        mirror = both - node.lower
        high = torch.where(asks_lower & (~asks_upper | (mirror < node.upper)), mirror, node.upper)
        band, sides = ordered(node.lower, high), (asks_lower, asks_lower | asks_upper)
        too_high = asks_lower & (node.lower > both / 2 + tolerance(node.lower.dtype))

        def forth(x: Bounds, y: Bounds, pair: tuple[Weight, Weight]) -> Inverse:
            terms, excess = stack((complement(x), y)), scalar(bias, node.lower) - 1
            hull, empty = _band(band, sides, terms, column(pair, terms.lower), excess)
            first, second = unstack(hull)
            return Inverse((uncomplement(first, x), second), empty | too_high)

        return union([forth(left, right, weights), swapped(forth(right, left, (weights[1], weights[0])))])


def _sum_of_both(weights: tuple[Weight, Weight], bias: Weight, like: Tensor) -> Tensor:
    """``C``: what both implications of an equivalence add up to, before the clamp."""
    return 2 - 2 * scalar(bias, like) + scalar(weights[0], like) + scalar(weights[1], like)


def _sum(terms: Sequence[Bounds], weights: Sequence[Weight], bias: Weight) -> Bounds:
    """``clamp(1 - b + sum w_i t_i)``, row by row: the terms are added in their order."""
    if len(weights) != len(terms):
        raise ValueError(f"{len(terms)} operands, but {len(weights)} weights")
    start = 1 - scalar(bias, terms[0].lower)
    lower, upper = terms[0].lower * weights[0], terms[0].upper * weights[0]
    for term, weight in zip(terms[1:], weights[1:], strict=True):
        lower, upper = _plus(lower, weight, term.lower), _plus(upper, weight, term.upper)
    return Bounds((start + lower).clamp(0.0, 1.0), (start + upper).clamp(0.0, 1.0))


def _plus(total: Tensor, weight: Weight, term: Tensor) -> Tensor:
    return total + weight * term if isinstance(weight, Tensor) else total.add_(term, alpha=weight)


def _sum_inverse(node: Bounds, terms: Bounds, weight: Tensor, bias: Tensor) -> tuple[Bounds, Tensor]:
    """The terms that the clamped sum leaves, ``[k, n]``, and where there are none, ``[n]``."""
    return _band(node, asks(node), terms, weight, bias - 1)


def _band(
    node: Bounds, sides: tuple[Tensor, Tensor], terms: Bounds, weight: Tensor, excess: Tensor
) -> tuple[Bounds, Tensor]:
    """The same for the sum before the clamp; ``sides`` says where each end of ``node`` counts."""
    tol = tolerance(node.lower.dtype)
    low, high = node.lower + excess, node.upper + excess
    shares = Bounds(weight * terms.lower, weight * terms.upper)
    empty = sides[0] & (shares.upper.sum(0) < low - tol)
    empty = empty | (sides[1] & (shares.lower.sum(0) > high + tol))
    left_over = Bounds(low - sum_of_others(shares.upper), high - sum_of_others(shares.lower))
    found = unweigh(left_over, weight, 1 + high.abs())
    found = candidate(*found, sides[0] & (weight > 0), sides[1] & (weight > 0))
    return fit(found, terms, empty), empty
