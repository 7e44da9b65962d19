"""NALU, the neural arithmetic logic unit (Trask et al. 2018, arXiv 1808.00508)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor, nn

from lnnkit.numeric.fixed_units.gated_sum import NALU_EPSILON
from lnnkit.numeric.units.nac import GatedWeight, nac
from lnnkit.numeric.units.unit import Weights, matrix


def nalu(x: Tensor, weight: Tensor, gate: Tensor) -> Tensor:
    """``g a + (1 - g) m`` with ``a = W x``, ``m = exp(W log(|x| + 1e-7))``, ``g = sigmoid(G x)``:
    ``[..., in]``, twice ``[..., out, in] -> [..., out]``."""
    opened = torch.sigmoid(x @ gate.mT)
    return opened * nac(x, weight) + (1 - opened) * torch.exp((x.abs() + NALU_EPSILON).log() @ weight.mT)


class NALU(GatedWeight):
    """``y = g (W x) + (1 - g) exp(W log(|x| + 1e-7))``, ``W = tanh(sign) sigmoid(mask)`` shared by both halves, and the
    gate ``g = sigmoid(G x)`` chosen by the input, without a bias.

    ``sign`` and ``mask`` as in `NAC`, G Xavier-uniform. The paper has no clipping and no penalty. As published,
    products lose the signs of their factors and the gate rarely converges to the right half: prefer `NAU`, `NMU`
    and `NPU`. Grid of W: {-1, 0, 1}; G has none and stays as it is. Attributes: ``weight``, the W of each operand,
    in [-1, 1]; ``gate``, the G of each operand.
    """

    gate: nn.Parameter

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {**super().shapes(), "gate": (self.out_features, self.in_features)}

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        super().reset_parameters(generator)
        xavier = math.sqrt(6.0 / (self.in_features + self.out_features))
        self.gate.uniform_(-xavier, xavier, generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        return nalu(self._checked(x), self.weight, self.gate)

    def attributes(self) -> dict[str, Tensor]:
        return {**super().attributes(), "gate": self.gate.detach().clone()}

    @torch.no_grad()
    def assign(self, attributes: Mapping[str, Tensor]) -> None:
        super().assign(attributes)
        self.gate.copy_(attributes["gate"])

    @classmethod
    def given(cls, weight: Weights, gate: Weights) -> Self:
        """The unit with these W and G. Raises ValueError where W leaves [-1, 1]."""
        return cls._of({"weight": matrix(weight), "gate": matrix(gate)})
