"""NAU, the neural addition unit (Madsen and Johansen 2020, arXiv 2001.05016)."""

from __future__ import annotations

import math
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from lnnkit.numeric.units.unit import Unit, Weights, matrix


def nau(x: Tensor, weight: Tensor) -> Tensor:
    """``y_o = sum_i clamp(W_oi, -1, 1) x_i``: ``[..., in]``, ``[..., out, in] -> [..., out]``."""
    return x @ weight.clamp(-1.0, 1.0).mT


class NAU(Unit):
    """``y = W x``, W clipped to [-1, 1], pulled towards -1, 0 and 1 by ``mean min(|W|, |1 - |W||)``.

    Initially ``U(-r, r)``, ``r = min(1/2, sqrt(3) sqrt(2 / (in + out)))``.
    Grid: {-1, 0, 1}. Attribute: ``weight``, one in [-1, 1] for each operand; `given` refuses others.
    """

    weight: nn.Parameter
    grids: ClassVar = {"weight": (-1.0, 0.0, 1.0)}
    ranges: ClassVar = {"weight": (-1.0, 1.0)}
    clipped: ClassVar = ("weight",)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": (self.out_features, self.in_features)}

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        reach = min(0.5, math.sqrt(6.0 / (self.in_features + self.out_features)))
        self.weight.uniform_(-reach, reach, generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        return nau(self._checked(x), self.weight)

    def regulariser(self) -> Tensor:
        size = self.weight.abs()
        return self._per_seed(torch.minimum(size, (1 - size).abs()))

    @classmethod
    def given(cls, weight: Weights) -> Self:
        """The unit with these weights. Raises ValueError where they leave [-1, 1]."""
        return cls._of({"weight": matrix(weight)})
