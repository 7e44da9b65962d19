"""NMU, the neural multiplication unit (Madsen and Johansen 2020, arXiv 2001.05016)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from lnnkit.numeric.units.schedule import Ramp
from lnnkit.numeric.units.unit import Unit, Weights, matrix, product, within

SCHEDULE = Ramp(10.0, 1e6, 2e6)
"""Weight of the penalty, for multiplications over 5e6 steps of Adam at 1e-3 (the paper's appendix C)."""


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

    Initially ``U(1/4, 3/4)``. ``SCHEDULE`` is the penalty's weight.
    Grid: {0, 1}. Attribute: ``weight``, one in [0, 1] for each operand; `given` refuses others.
    """

    weight: nn.Parameter
    grids: ClassVar = {"weight": (0.0, 1.0)}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": (self.out_features, self.in_features)}

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        self.weight.uniform_(0.25, 0.75, generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        return nmu(self._checked(x), self.weight)

    @torch.no_grad()
    def project(self) -> None:
        self.weight.clamp_(0.0, 1.0)

    def regulariser(self) -> Tensor:
        return self._per_seed(torch.minimum(self.weight.abs(), (1 - self.weight).abs()))

    def attributes(self) -> dict[str, Tensor]:
        return {"weight": self.weight.detach().clone()}

    @torch.no_grad()
    def assign(self, attributes: Mapping[str, Tensor]) -> None:
        self.weight.copy_(attributes["weight"])

    @classmethod
    def given(cls, weight: Weights) -> Self:
        """The unit with these weights. Raises ValueError if one is outside [0, 1]."""
        values = within(matrix(weight), 0.0, 1.0, "the weight of an NMU")
        return cls._of(values, {"weight": values})
