"""The neural addition unit NAU and the neural multiplication unit NMU (Madsen and Johansen 2020, arXiv 2001.05016)."""

from __future__ import annotations

import math
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from lnnkit.numeric.units.unit import Unit, Weights, matrix, product


def nau(x: Tensor, weight: Tensor) -> Tensor:
    """``y_o = sum_i clamp(W_oi, -1, 1) x_i``: ``[..., in]``, ``[..., out, in] -> [..., out]``."""
    return x @ weight.clamp(-1.0, 1.0).mT


def nmu(x: Tensor, weight: Tensor) -> Tensor:
    """``y_o = prod_i (W_oi x_i + 1 - W_oi)``: ``[..., in]``, ``[..., out, in] -> [..., out]``. Exact if all weights are
    0 or 1 and the product is exact. Gradients are those of `product`."""
    if x.dim() == 1:
        return nmu(x[None], weight)[..., 0, :]
    matrices = weight[..., None, :, :]
    return product(matrices * x[..., None, :] + (1 - matrices))


class ClippedWeight(Unit):
    """A unit of one weight for each operand and output, clipped to its range after each step."""

    weight: nn.Parameter
    clipped: ClassVar = ("weight",)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": (self.out_features, self.in_features)}

    @classmethod
    def given(cls, weight: Weights) -> Self:
        """The unit with these weights. Raises ValueError if one is outside of its range."""
        return cls._of({"weight": matrix(weight)})


class NAU(ClippedWeight):
    """``y = W x``, W clipped to [-1, 1], pulled towards -1, 0 and 1 by ``mean min(|W|, |1 - |W||)``. Initially
    ``U(-r, r)``, ``r = min(1/2, sqrt(3) sqrt(2 / (in + out)))``. Grid: {-1, 0, 1}. Attribute: ``weight``, one in
    [-1, 1] for each operand; `given` refuses others."""

    grids: ClassVar = {"weight": (-1.0, 0.0, 1.0)}
    ranges: ClassVar = {"weight": (-1.0, 1.0)}

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        reach = min(0.5, math.sqrt(6.0 / (self.in_features + self.out_features)))
        self.weight.uniform_(-reach, reach, generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        return nau(self._checked(x), self.weight)

    def regulariser(self) -> Tensor:
        size = self.weight.abs()
        return self._per_seed(torch.minimum(size, (1 - size).abs()))


class NMU(ClippedWeight):
    """``y_o = prod_i (W_oi x_i + 1 - W_oi)``, W clipped to [0, 1], pulled to 0 and 1 by ``mean min(|W|, |1 - W|)``.
    Initially ``U(1/4, 3/4)``. Grid: {0, 1}. Attribute: ``weight``, one in [0, 1] for each operand; `given` refuses
    others."""

    grids: ClassVar = {"weight": (0.0, 1.0)}
    ranges: ClassVar = {"weight": (0.0, 1.0)}

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        self.weight.uniform_(0.25, 0.75, generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        return nmu(self._checked(x), self.weight)

    def regulariser(self) -> Tensor:
        return self._per_seed(torch.minimum(self.weight.abs(), (1 - self.weight).abs()))
