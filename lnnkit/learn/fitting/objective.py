"""The loss of a program: how far its bounds are from their labels, and how far bounds are crossed.

    ========================  ==============================================================================
    ``labels``, squared       mean over labels of ``(L - l)^2 + (U - u)^2``, halved
    ``labels``, log           mean of the cross entropies of ``L`` after ``l`` and of ``U`` after ``u``, halved
    ``contradictions``        sum of ``max(0, L - U)`` over arrested atoms and instances
    ``uncertainty``           mean over labels of ``max(0, (U - L) - (u - l))``
    ``decay``                 sum over weights and biases of ``(w - 1)^2``
    ``slack``                 sum over left-out operands of the violations of conditions of classical neurons
    ========================  ==============================================================================

``l`` and ``u`` are the label's bounds. An end that no rule bounds is constant and has no gradient. For a number, an end
whose error is ``d`` standard deviations of all its labels counts ``d^2 / (1 + d^2)`` instead of the square, under
either distance (Geman and McClure 1987); an unknown end counts 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

Distance = Literal["squared", "log"]

_LEAST = 1e-6  # below this truth, or within it of 1, the logarithm continues as its tangent


@dataclass(frozen=True, slots=True)
class Objective:
    """The terms of the loss with their weights; distance from labels has weight 1. ``slack`` None: none is
    permitted."""

    distance: Distance = "squared"
    contradictions: float = 1.0
    uncertainty: float = 0.0
    decay: float = 0.0
    slack: float | None = None

    def __post_init__(self) -> None:
        """Raises ``ValueError`` for an unknown distance, or a negative weight."""
        if self.distance not in get_args(Distance):
            raise ValueError(f"loss must be one of {', '.join(map(repr, get_args(Distance)))}; got {self.distance!r}")
        weights = {"contradictions": self.contradictions, "uncertainty": self.uncertainty, "decay": self.decay}
        for name, weight in {**weights, "slack": self.slack}.items():
            if weight is not None and not 0 <= weight < math.inf:
                raise ValueError(f"{name} must be a number of at least 0; got {weight}")


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets of ``n`` labels: ``ends`` (2n,) are their lower, then their upper bounds, ``weight`` (2n,) their
    weights, which sum to 1. ``spread`` (2n,) is positive for numbers only; None: there are none. With ``points`` both
    ends of a label are one value, with one target: ``ends`` and ``weight`` are (n,)."""

    ends: Tensor
    weight: Tensor
    spread: Tensor | None = None
    points: bool = False

    def __len__(self) -> int:
        return len(self.ends) if self.points else len(self.ends) // 2

    def as_points(self) -> Targets | None:
        """The same distance for bounds whose two ends are equal; None if the two targets of a label differ."""
        count = len(self)
        if self.spread is not None or not torch.equal(self.ends[:count], self.ends[count:]):
            return None
        return Targets(self.ends[:count], self.weight[:count] + self.weight[count:], points=True)

    def distance(self, ends: Tensor, distance: Distance) -> Tensor:
        """The distance of bounds (2n,), lower then upper ones, or of ``points`` (n,) from the targets."""
        if self.spread is not None:
            numeric = self.spread > 0
            far = (self.weight * _off(ends, self.ends, self.spread).square())[numeric].sum()
            rest = Targets(torch.where(numeric, 0.0, self.ends), torch.where(numeric, 0.0, self.weight))
            return far + rest.distance(torch.where(numeric, 0.0, ends), distance)
        if distance == "squared":
            loss = _Squared.apply(ends, self.ends, self.weight)
            assert isinstance(loss, Tensor)
            return loss
        true, false = _log(ends), _log(1 - ends)
        return -(self.weight * (self.ends * true + (1 - self.ends) * false)).sum()

    def uncertainty(self, ends: Tensor) -> Tensor:
        """How much wider bounds (2n,) are than the targets."""
        if self.points:
            return torch.zeros((), dtype=ends.dtype)
        count = len(self)
        if self.spread is not None:
            ends = torch.where(self.spread > 0, self.ends, ends)
        width, wanted = ends[count:] - ends[:count], (self.ends[count:] - self.ends[:count]).nan_to_num()
        return 2 * (self.weight[:count] * (width - wanted).clamp(min=0.0)).sum()


def _off(ends: Tensor, wanted: Tensor, spread: Tensor) -> Tensor:
    """``d / sqrt(1 + d^2)``, ``d = (ends - wanted) / spread``: 0 for infinite targets, -1 or 1 for infinite ends."""
    unknown = ends.isinf()
    gap = (torch.where(unknown, 0.0, ends) - wanted) / torch.where(spread > 0, spread, 1.0)
    gap = torch.where(wanted.isinf(), 0.0, gap)
    off = gap * torch.rsqrt(1 + gap.square())
    return torch.where(unknown & ~wanted.isinf(), ends.sign(), off)


class _Squared(torch.autograd.Function):
    """``sum weight (x - wanted)^2``, with a fused backward pass."""

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, ends: Tensor, wanted: Tensor, weight: Tensor) -> Tensor:
        gap = ends - wanted
        pull = gap * weight
        ctx.save_for_backward(pull)
        return torch.dot(gap, pull)

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (pull,) = ctx.saved_tensors  # pyright: ignore[reportAttributeAccessIssue]
        return pull * (2 * gradients[0]), None, None


def _log(truth: Tensor) -> Tensor:
    """``ln x``, continued by its tangent below the least truth, so that certainly wrong answers still learn."""
    low = truth < _LEAST
    return torch.where(low, (truth - _LEAST) / _LEAST, 0.0) + torch.log(torch.where(low, _LEAST, truth))


def crossing(lower: Tensor, upper: Tensor) -> Tensor:
    """The amount by which the bounds cross."""
    return (lower - upper).clamp(min=0.0).sum()


def class_weights(true: Tensor, group: Tensor, *, balanced: bool) -> Tensor:
    """(n,) weights that sum to 1: equal, or such that both classes of each group weigh the same in total."""
    code = group * 2 + true if balanced else torch.zeros_like(group)
    counts = torch.bincount(code)
    return 1.0 / (counts.double()[code] * (counts > 0).sum())
