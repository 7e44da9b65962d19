"""The loss of a program: how far its bounds are from their labels, and how far bounds are crossed.

========================  ==============================================================================
``labels``, squared       mean over labels of ``(L - l)^2 + (U - u)^2``, halved
``labels``, log           mean of the cross entropies of ``L`` after ``l`` and of ``U`` after ``u``, halved
``contradictions``        sum of ``max(0, L - U)`` over arrested atoms and instances
``uncertainty``           mean over labels of ``max(0, (U - L) - (u - l))``
``decay``                 sum over weights and biases of ``(w - 1)^2``
========================  ==============================================================================

``l`` and ``u`` are the label's bounds. An end that nothing can tell stays as it is and moves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Distance = Literal["squared", "log"]

_LEAST = 1e-6  # a truth nearer to 0 or 1 costs no more in the log distance


@dataclass(frozen=True, slots=True)
class Objective:
    """What counts, and how much; the labels' distance counts 1."""

    distance: Distance = "squared"
    contradictions: float = 1.0
    uncertainty: float = 0.0
    decay: float = 0.0


def label_distance(
    lower: Tensor, upper: Tensor, label: tuple[Tensor, Tensor], weight: Tensor, distance: Distance
) -> Tensor:
    """The distance of bounds (n,) from label bounds; ``weight`` (n,) sums to 1."""
    measure = _squared if distance == "squared" else _cross_entropy
    return (weight * (measure(lower, label[0]) + measure(upper, label[1]))).sum() / 2


def _squared(truth: Tensor, label: Tensor) -> Tensor:
    return (truth - label) ** 2


def _cross_entropy(truth: Tensor, label: Tensor) -> Tensor:
    true, false = (_log(each) for each in (truth, 1 - truth))
    return -(label * true + (1 - label) * false)


def _log(truth: Tensor) -> Tensor:
    """``ln x``, and its tangent below the least truth: what is certainly wrong still learns."""
    low = truth < _LEAST
    above = torch.where(low, _LEAST, truth)
    return torch.where(low, (truth - _LEAST) / _LEAST, 0.0).clamp(min=-1.0) + torch.log(above)


def uncertainty(lower: Tensor, upper: Tensor, label: tuple[Tensor, Tensor], weight: Tensor) -> Tensor:
    """By how much bounds are wider than their labels'."""
    return (weight * ((upper - lower) - (label[1] - label[0])).clamp(min=0.0)).sum()


def crossing(lower: Tensor, upper: Tensor) -> Tensor:
    """By how much bounds are crossed."""
    return (lower - upper).clamp(min=0.0).sum()


def decay(values: Tensor, decays: Tensor) -> Tensor:
    """``decays`` marks the values that are drawn to 1."""
    return ((values - 1.0)[decays] ** 2).sum()


def class_weights(lower: Tensor, upper: Tensor, group: Tensor, balanced: bool) -> Tensor:
    """(n,) weights that sum to 1: alike, or, if ``balanced``, such that in each group true and false labels count the
    same. A label is true if its midpoint is above one half."""
    count = len(lower)
    if not balanced or not count:
        return torch.full((count,), 1.0 / max(1, count), dtype=torch.float64)
    code = group * 2 + (lower + upper > 1.0)
    counts = torch.bincount(code)
    classes = (counts > 0).sum()
    return 1.0 / (counts.double()[code] * classes)
