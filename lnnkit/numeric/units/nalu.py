"""NALU, the neural arithmetic logic unit (Trask et al. 2018, arXiv 1808.00508)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from lnnkit.numeric.units.nac import assign_weight, gated_weight, nac, spread
from lnnkit.numeric.units.unit import Unit, Weights, matrix, within

EPSILON = 1e-7
"""Added to magnitudes before their logarithm."""


def nalu(x: Tensor, weight: Tensor, gate: Tensor) -> Tensor:
    """``g a + (1 - g) m`` with ``a = W x``, ``m = exp(W log(|x| + 1e-7))``, ``g = sigmoid(G x)``:
    ``[..., in]``, twice ``[..., out, in] -> [..., out]``."""
    opened = torch.sigmoid(x @ gate.mT)
    return opened * nac(x, weight) + (1 - opened) * power_of_sizes(x, weight)


def power_of_sizes(x: Tensor, weight: Tensor) -> Tensor:
    """``exp(W log(|x| + 1e-7))``: the multiplicative part, which loses all signs."""
    return torch.exp((x.abs() + EPSILON).log() @ weight.mT)


class NALU(Unit):
    """``y = g (W x) + (1 - g) exp(W log(|x| + 1e-7))``, ``W = tanh(sign) sigmoid(mask)`` shared by both halves, and the
    gate ``g = sigmoid(G x)`` chosen by the input, without a bias.

    ``sign`` and ``mask`` as in `NAC`, G Xavier-uniform. The paper has no clipping and no penalty. As published,
    products lose the signs of their factors and the gate rarely converges to the right half: prefer `NAU`, `NMU`
    and `NPU`. Grid of W: {-1, 0, 1}; G has none and stays as it is. Attributes: ``weight``, the W of each operand,
    in [-1, 1]; ``gate``, the G of each operand.
    """

    sign: nn.Parameter
    mask: nn.Parameter
    gate: nn.Parameter
    grids: ClassVar = {"weight": (-1.0, 0.0, 1.0)}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return dict.fromkeys(("sign", "mask", "gate"), (self.out_features, self.in_features))

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        reach = spread(self.in_features, self.out_features)
        self.sign.uniform_(-reach, reach, generator=generator)
        self.mask.uniform_(-reach, reach, generator=generator)
        xavier = math.sqrt(6.0 / (self.in_features + self.out_features))
        self.gate.uniform_(-xavier, xavier, generator=generator)

    @property
    def weight(self) -> Tensor:
        return gated_weight(self.sign, self.mask)

    def forward(self, x: Tensor) -> Tensor:
        return nalu(self._checked(x), self.weight, self.gate)

    def attributes(self) -> dict[str, Tensor]:
        return {"weight": self.weight.detach(), "gate": self.gate.detach().clone()}

    @torch.no_grad()
    def assign(self, attributes: Mapping[str, Tensor]) -> None:
        assign_weight(self.sign, self.mask, attributes["weight"])
        self.gate.copy_(attributes["gate"])

    @classmethod
    def given(cls, weight: Weights, gate: Weights) -> Self:
        """The unit with these W and G. Raises ValueError where W leaves [-1, 1]."""
        values = within(matrix(weight), -1.0, 1.0, "the weight of a NALU")
        return cls._of(values, {"weight": values, "gate": matrix(gate)})
