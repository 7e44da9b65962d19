"""NMU, the neural multiplication unit (Madsen and Johansen 2020, arXiv 2001.05016)."""

from __future__ import annotations

from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from lnnkit.numeric.units.unit import Unit, Weights, matrix, product


def nmu(x: Tensor, weight: Tensor) -> Tensor:
    """``y_o = prod_i (W_oi x_i + 1 - W_oi)`` for ``[..., in]`` and ``[..., out, in]``, giving ``[..., out]``.

    Exact if all weights are 0 or 1 and the product is exact. The gradient is computed as the product of the other
    factors, never as the whole product divided by a factor.
    """
    single = x.dim() == 1
    rows = x[None] if single else x
    matrices = weight[..., None, :, :]
    found = product(matrices * rows[..., None, :] + (1 - matrices))
    return found[..., 0, :] if single else found


class NMU(Unit):
    """``y_o = prod_i (W_oi x_i + 1 - W_oi)``, W clipped to [0, 1], pulled to 0 and 1 by ``mean min(|W|, |1 - W|)``.

    Initially ``U(1/4, 3/4)``.
    Grid: {0, 1}. Attribute: ``weight``, one in [0, 1] for each operand; `given` refuses others.
    """

    weight: nn.Parameter
    grids: ClassVar = {"weight": (0.0, 1.0)}
    ranges: ClassVar = {"weight": (0.0, 1.0)}
    clipped: ClassVar = ("weight",)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": (self.out_features, self.in_features)}

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        self.weight.uniform_(0.25, 0.75, generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        return nmu(self._checked(x), self.weight)

    def regulariser(self) -> Tensor:
        return self._per_seed(torch.minimum(self.weight.abs(), (1 - self.weight).abs()))

    @classmethod
    def given(cls, weight: Weights) -> Self:
        """The unit with these weights. Raises ValueError if one is outside [0, 1]."""
        return cls._of({"weight": matrix(weight)})
