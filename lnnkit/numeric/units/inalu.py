"""iNALU, the improved NALU (Schlör, Ring and Hotho 2020, arXiv 2003.07629): the variant with separate weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from lnnkit.numeric.fixed_units.gated_sum import CEILING, INALU_EPSILON
from lnnkit.numeric.units.nac import SATURATED, assign_weight, gated_weight, nac
from lnnkit.numeric.units.unit import Unit, Weights, matrix, product

FAR = 20.0
"""The magnitude of raw parameters beyond which the penalty is 0."""


def inalu(x: Tensor, add: Tensor, multiply: Tensor, gate: Tensor) -> Tensor:
    """``g a + (1 - g) m s`` with ``a = W_a x``, ``m = exp(min(W_m log max(|x|, 1e-7), 20))`` and the sign
    ``s_o = clip(prod_i (sign(x_i) |W_m,oi| + 1 - |W_m,oi|), -1, 1)``.

    ``[..., in]``, twice ``[..., out, in]`` and ``g`` in [0, 1] as ``[..., out] -> [..., out]``.
    """
    single = x.dim() == 1
    rows = x[None] if single else x
    size = torch.exp((rows.abs().clamp(min=INALU_EPSILON).log() @ multiply.mT).clamp(max=CEILING))
    share = multiply.abs()[..., None, :, :]
    sign = product(rows.sign()[..., None, :] * share + 1 - share).clamp(-1.0, 1.0)
    opened = gate[..., None, :]
    found = opened * nac(rows, add) + (1 - opened) * size * sign
    return found[..., 0, :] if single else found


class INALU(Unit):
    """``y = g (W_a x) + (1 - g) m s``: the sum, and the product with its sign, of weights of their own; the gate
    ``g = sigmoid(G)`` does not see the input. See `inalu`.

    ``W = tanh(sign) sigmoid(mask)`` for both. Initially ``sign ~ N(1, 0.1)``, ``mask ~ N(-1, 0.1)``, ``G ~ N(0,
    0.1)`` (the best of the paper's grid). Nothing is clipped after steps. The penalty, ``mean max(min(-p, p) + 20,
    0) / 20`` summed over the five raw parameters, drives them away from 0. Grid: W in {-1, 0, 1}, g in {0, 1}.
    Attributes: ``add`` and ``multiply``, the W of each operand, in [-1, 1]; ``gate``, the one number g in [0, 1]: 1
    adds, 0 multiplies.
    """

    add_sign: nn.Parameter
    add_mask: nn.Parameter
    multiply_sign: nn.Parameter
    multiply_mask: nn.Parameter
    gate: nn.Parameter
    grids: ClassVar = {"add": (-1.0, 0.0, 1.0), "multiply": (-1.0, 0.0, 1.0), "gate": (0.0, 1.0)}
    ranges: ClassVar = {"add": (-1.0, 1.0), "multiply": (-1.0, 1.0), "gate": (0.0, 1.0)}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        weights = ("add_sign", "add_mask", "multiply_sign", "multiply_mask")
        return {**dict.fromkeys(weights, (self.out_features, self.in_features)), "gate": (self.out_features,)}

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        for sign, mask in ((self.add_sign, self.add_mask), (self.multiply_sign, self.multiply_mask)):
            sign.normal_(1.0, 0.1, generator=generator)
            mask.normal_(-1.0, 0.1, generator=generator)
        self.gate.normal_(0.0, 0.1, generator=generator)

    @property
    def add(self) -> Tensor:
        return gated_weight(self.add_sign, self.add_mask)

    @property
    def multiply(self) -> Tensor:
        return gated_weight(self.multiply_sign, self.multiply_mask)

    def forward(self, x: Tensor) -> Tensor:
        return inalu(self._checked(x), self.add, self.multiply, torch.sigmoid(self.gate))

    def regulariser(self) -> Tensor:
        near = [(torch.minimum(-values, values) + FAR).clamp(min=0.0) for values in self.parameters()]
        return torch.stack([self._per_seed(each) for each in near]).sum(0) / FAR

    def attributes(self) -> dict[str, Tensor]:
        return {
            "add": self.add.detach(),
            "multiply": self.multiply.detach(),
            "gate": torch.sigmoid(self.gate).detach(),
        }

    @torch.no_grad()
    def assign(self, attributes: Mapping[str, Tensor]) -> None:
        assign_weight(self.add_sign, self.add_mask, attributes["add"])
        assign_weight(self.multiply_sign, self.multiply_mask, attributes["multiply"])
        self.gate.copy_(torch.logit(attributes["gate"]).clamp(-SATURATED, SATURATED))

    @classmethod
    def given(cls, add: Weights, multiply: Weights, gate: Tensor | float | list[float]) -> Self:
        """The unit with these W and g. Raises ValueError where W leaves [-1, 1] or g leaves [0, 1]."""
        adding = matrix(add)
        opened = torch.as_tensor(gate, dtype=adding.dtype)
        return cls._of({"add": adding, "multiply": matrix(multiply), "gate": opened})
