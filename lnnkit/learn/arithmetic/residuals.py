"""Residuals of fits: their scale, and how much worse than the best fit the true model may fit by chance."""

from __future__ import annotations

import math

import torch
from torch import Tensor

EXACT = 1e-24
"""The mean square of relative residuals up to which a model counts as exact."""


def spread_of(target: Tensor) -> Tensor:
    """The scale of residuals: the magnitude of each target, at least the median one. Otherwise quotients by numbers
    near 0 would dominate the loss."""
    size = target.abs()
    return torch.maximum(size, size.median(-1, keepdim=True).values).clamp(min=1e-300)


def by_chance(samples: int, unknowns: int) -> float:
    """How far the mean square of the true model may exceed that of the best fit: a fit absorbs as many degrees of
    freedom of the noise as it has unknowns; the rest scatters, here by four standard deviations. 0 for a fit without
    residual degrees of freedom, which gives no estimate of the noise."""
    free = samples - unknowns
    if free <= 0:
        return 1.0
    return samples / free * (1 + 4 * math.sqrt(2 / free))
