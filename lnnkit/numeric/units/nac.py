"""NAC, the neural accumulator (Trask et al. 2018, arXiv 1808.00508)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from lnnkit.numeric.units.unit import Unit, Weights, matrix

SATURATED = 800.0
"""From here on ``tanh`` and the sigmoid are exactly 1 in float64, and the sigmoid of the negative is exactly 0."""


def nac(x: Tensor, weight: Tensor) -> Tensor:
    """``y_o = sum_i W_oi x_i`` for ``[..., in]`` and ``[..., out, in]``, giving ``[..., out]``; ``weight`` is a
    `gated_weight`."""
    return x @ weight.mT


def gated_weight(sign: Tensor, mask: Tensor) -> Tensor:
    """``W = tanh(sign) sigmoid(mask)``, which has a bias towards -1, 0 and 1."""
    return torch.tanh(sign) * torch.sigmoid(mask)


def assign_weight(sign: Tensor, mask: Tensor, weight: Tensor) -> None:
    """Set both parameters, in place, such that their `gated_weight` is ``weight``: exactly at -1, 0 and 1, otherwise up
    to rounding.

    For other values each factor is the square root of the size, so that neither is saturated.
    """
    root = weight.abs().sqrt()
    inner = root.clamp(max=1 - 1e-16)
    sign.copy_(torch.where(root < 1, torch.atanh(inner), SATURATED).copysign(weight))
    mask.copy_(torch.where(root > 0, torch.where(root < 1, torch.logit(inner), SATURATED), 0.0))


def spread(in_features: int, out_features: int) -> float:
    """The ``r`` for which parameters from ``U(-r, r)`` give W the variance ``2 / (in + out)`` (Madsen and Johansen
    2020, appendix), as far as possible: the variance of W never reaches ``1/2``, so small layers are treated as if they
    had five features."""
    wanted = 2.0 / max(in_features + out_features, 5)
    low, high = 1e-6, 1e3
    for _ in range(100):
        middle = (low + high) / 2
        variance = (1 - math.tanh(middle) / middle) * (middle - math.tanh(middle / 2)) / (2 * middle)
        low, high = (middle, high) if variance < wanted else (low, middle)
    return low


class GatedWeight(Unit):
    """A unit with ``W = tanh(sign) sigmoid(mask)``; ``sign`` and ``mask`` are drawn from ``U(-r, r)``, see `spread`."""

    sign: nn.Parameter
    mask: nn.Parameter
    grids: ClassVar = {"weight": (-1.0, 0.0, 1.0)}
    ranges: ClassVar = {"weight": (-1.0, 1.0)}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return dict.fromkeys(("sign", "mask"), (self.out_features, self.in_features))

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        reach = spread(self.in_features, self.out_features)
        self.sign.uniform_(-reach, reach, generator=generator)
        self.mask.uniform_(-reach, reach, generator=generator)

    @property
    def weight(self) -> Tensor:
        return gated_weight(self.sign, self.mask)

    def attributes(self) -> dict[str, Tensor]:
        return {"weight": self.weight.detach()}

    @torch.no_grad()
    def assign(self, attributes: Mapping[str, Tensor]) -> None:
        assign_weight(self.sign, self.mask, attributes["weight"])


class NAC(GatedWeight):
    """``y = W x`` with the W of a `GatedWeight`. The paper has no clipping and no penalty.

    Grid of W: {-1, 0, 1}. Attribute: ``weight``, the W of each operand, in [-1, 1].
    """

    def forward(self, x: Tensor) -> Tensor:
        return nac(self._checked(x), self.weight)

    @classmethod
    def given(cls, weight: Weights) -> Self:
        """The unit with these W. Raises ValueError where they leave [-1, 1]."""
        return cls._of({"weight": matrix(weight)})
