"""The units whose parameters are clipped to a range: the neural addition unit NAU and the neural multiplication unit
NMU (Madsen and Johansen 2020, arXiv 2001.05016), and NPU, the neural power unit, with and without an imaginary part
(Heim, Pevny and Smidl 2020, arXiv 2006.01681)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from lnnkit.numeric.term import GRIDS
from lnnkit.numeric.units.unit import MATRIX, Unit, Weights, matrix, product


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
    shapes: ClassVar = {"weight": MATRIX}
    clipped: ClassVar = ("weight",)

    @classmethod
    def given(cls, weight: Weights) -> Self:
        """The unit with these weights. Raises ValueError if one is outside of its range."""
        return cls._of({"weight": matrix(weight)})


class NAU(ClippedWeight):
    """``y = W x``, W clipped to [-1, 1], pulled towards -1, 0 and 1 by ``mean min(|W|, |1 - |W||)``. Initially
    ``U(-r, r)``, ``r = min(1/2, sqrt(3) sqrt(2 / (in + out)))``. Grid: {-1, 0, 1}. Attribute: ``weight``, one in
    [-1, 1] for each operand; `given` refuses others."""

    grids: ClassVar = GRIDS["nau"]
    ranges: ClassVar = {"weight": (-1.0, 1.0)}

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        self._xavier(self.weight, generator, most=0.5)

    def forward(self, x: Tensor) -> Tensor:
        return nau(self._checked(x), self.weight)

    def regulariser(self) -> Tensor:
        size = self.weight.abs()
        return self._per_seed(torch.minimum(size, (1 - size).abs()))


class NMU(ClippedWeight):
    """``y_o = prod_i (W_oi x_i + 1 - W_oi)``, W clipped to [0, 1], pulled to 0 and 1 by ``mean min(|W|, |1 - W|)``.
    Initially ``U(1/4, 3/4)``. Grid: {0, 1}. Attribute: ``weight``, one in [0, 1] for each operand; `given` refuses
    others."""

    grids: ClassVar = GRIDS["nmu"]
    ranges: ClassVar = {"weight": (0.0, 1.0)}

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        self.weight.uniform_(0.25, 0.75, generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        return nmu(self._checked(x), self.weight)

    def regulariser(self) -> Tensor:
        return self._per_seed(torch.minimum(self.weight.abs(), (1 - self.weight).abs()))


EPSILON = 2.0**-23
"""Added to magnitudes while training, so that 0 has a logarithm: the spacing of single precision at 1, as published."""


def npu(
    x: Tensor, power: Tensor, imaginary: Tensor | None = None, gate: Tensor | None = None, epsilon: Tensor | float = 0.0
) -> Tensor:
    """The real part of the complex power ``prod_i x_i^(W_oi + i V_oi)`` of the gated operands.

        ``y = exp(W log r - V k) cos(V log r + W k)``
        ``r = g (|x| + epsilon) + 1 - g``,  ``k = pi g [x < 0]``

    ``[..., in]``, ``power`` W and ``imaginary`` V ``[..., out, in]``, ``gate`` g in [0, 1] as ``[..., in]`` ->
    ``[..., out]``; without V it is 0, without a gate all operands pass. Where r is 0 an exponent of 0 gives 1, a
    positive one 0 and a negative one infinity (0 / 0 is NaN). An ``epsilon`` may be one number for each seed.
    """
    if x.dim() == 1:
        return npu(x[None], power, imaginary, gate, epsilon)[..., 0, :]
    if isinstance(epsilon, Tensor) and epsilon.dim():
        epsilon = epsilon[:, None, None]
    size = x.abs() + epsilon
    turned = (x < 0).to(x.dtype) * math.pi
    if gate is not None:
        opened = gate[..., None, :]
        size = opened * size + (1 - opened)
        turned = opened * turned
    absent = (size == 0).to(size.dtype)
    logs = torch.where(size == 0, 1.0, size).log()
    exponent, phase = logs @ power.mT, turned @ power.mT
    if imaginary is not None:
        exponent, phase = exponent - turned @ imaginary.mT, phase + logs @ imaginary.mT
    value = torch.exp(exponent) * torch.cos(phase)
    value = torch.where(absent @ (power > 0).to(absent.dtype).mT > 0, 0.0, value)
    infinite = torch.where(value == 0, math.nan, value.detach().sign() * math.inf)
    return torch.where(absent @ (power < 0).to(absent.dtype).mT > 0, infinite, value)


class NPU(Unit):
    """``y = exp(W log r - V k) cos(V log r + W k)``, see `npu`: products, quotients, roots, of either sign.

    The gate is one for each operand, shared by all outputs, and clamps to [0, 1] with the gradient of the identity, so
    that one outside still learns. Initially W is Xavier uniform, V 0 and g 1/2. Only the gate is clipped after steps.
    The penalty is the L1 norm of all parameters. While training ``epsilon`` is 2^-23; of a rounded unit and of one from
    `given` it is 0. Grid: W in {0, +-1/2, +-1, +-2}, V 0, g in {0, 1}. Attributes: ``power``, the W of each operand;
    ``imaginary``, its V (0 if absent); ``gate``, its g in [0, 1] (1 if absent).
    """

    power: nn.Parameter
    imaginary: nn.Parameter
    gate: nn.Parameter
    epsilon: Tensor
    shapes: ClassVar = {"power": MATRIX, "imaginary": MATRIX, "gate": ("in_features",)}
    constants: ClassVar = {"epsilon": EPSILON}
    grids: ClassVar = GRIDS["npu"]
    ranges: ClassVar = {"gate": (0.0, 1.0)}
    clipped: ClassVar = ("gate",)

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        self._xavier(self.power, generator)
        self.gate.fill_(0.5)
        if "imaginary" in self.shapes:
            self.imaginary.zero_()
        self.epsilon.fill_(EPSILON)

    def forward(self, x: Tensor) -> Tensor:
        imaginary = self.imaginary if "imaginary" in self.shapes else None
        gate = self.gate + (self.gate.clamp(0.0, 1.0) - self.gate).detach()
        return npu(self._checked(x), self.power, imaginary, gate, self.epsilon)

    def regulariser(self) -> Tensor:
        sizes = [values.abs().flatten(self._leading).sum(-1) for values in self.parameters()]
        return torch.stack(sizes).sum(0)

    @torch.no_grad()
    def assign(self, attributes: Mapping[str, Tensor]) -> None:
        super().assign(attributes)
        self.epsilon.zero_()

    @classmethod
    def given(cls, power: Weights, imaginary: Weights | None = None, gate: Tensor | list[float] | None = None) -> Self:
        """The unit with these parameters. Raises ValueError if a gate is outside [0, 1], or for an imaginary part that
        this variant does not have."""
        if imaginary is not None and "imaginary" not in cls.shapes:
            raise ValueError(f"{cls.__name__} has no imaginary part")
        powers = matrix(power)
        twisted = torch.zeros_like(powers) if imaginary is None else matrix(imaginary)
        passing = torch.ones_like(powers[..., 0, :]) if gate is None else torch.as_tensor(gate, dtype=powers.dtype)
        attributes = {"power": powers, "imaginary": twisted, "gate": passing}
        return cls._of({key: attributes[key] for key in cls.shapes})


class RealNPU(NPU):
    """The `NPU` without the imaginary part: ``y = exp(W log r) cos(W k)``."""

    shapes: ClassVar = {"power": MATRIX, "gate": ("in_features",)}
