"""The units whose weights are ``tanh(sign) sigmoid(mask)``: the neural accumulator NAC and the neural arithmetic logic
unit NALU (Trask et al. 2018, arXiv 1808.00508), and the improved NALU with separate weights (Schlör, Ring and Hotho
2020, arXiv 2003.07629). And those that the language's arithmetic cannot express, with their weights as operands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from lnnkit.arrays import all_set
from lnnkit.numeric.fixed_units.gated_sum import CEILING, INALU_EPSILON, NALU_EPSILON
from lnnkit.numeric.interval import Interval, Pieces, bounded, boxes, closed, hull, points_if_equal
from lnnkit.numeric.step import FixedUnit, UnitName
from lnnkit.numeric.term import GRIDS, Term, Weight, apply, as_term, frozen, gated_product, linear, number
from lnnkit.numeric.units.clipped_units import npu
from lnnkit.numeric.units.unit import MATRIX, Unit, Weights, matrix, product

SATURATED = 800.0
"""From here on ``tanh`` and the sigmoid are exactly 1 in float64, and the sigmoid of the negative is exactly 0."""


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
    """A unit with weights ``W = tanh(sign) sigmoid(mask)``, which have a bias towards -1, 0 and 1."""

    sign: nn.Parameter
    mask: nn.Parameter
    factors: ClassVar[Mapping[str, tuple[str, str]]] = {"weight": ("sign", "mask")}
    """The parameters ``sign`` and ``mask`` of each W."""
    grids: ClassVar = GRIDS["nac"]
    ranges: ClassVar = {"weight": (-1.0, 1.0)}
    shapes: ClassVar = {"sign": MATRIX, "mask": MATRIX}

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        reach = spread(self.in_features, self.out_features)
        for values in self._factors("weight"):
            values.uniform_(-reach, reach, generator=generator)

    def _factors(self, key: str) -> list[nn.Parameter]:
        return [getattr(self, name) for name in self.factors[key]]

    def _gated(self, key: str) -> Tensor:
        sign, mask = self._factors(key)
        return torch.tanh(sign) * torch.sigmoid(mask)

    @property
    def weight(self) -> Tensor:
        return self._gated("weight")

    def attributes(self) -> dict[str, Tensor]:
        names = {name for pair in self.factors.values() for name in pair}
        others = {name: value for name, value in super().attributes().items() if name not in names}
        return {key: self._gated(key).detach() for key in self.factors} | others

    @torch.no_grad()
    def assign(self, attributes: Mapping[str, Tensor]) -> None:
        """Set all parameters that `attributes` returns, in place: W exactly at -1, 0 and 1, otherwise up to rounding.
        There each of its factors is the square root of the size, so that neither is saturated."""
        super().assign({key: value for key, value in attributes.items() if key not in self.factors})
        for key in self.factors:
            sign, mask = self._factors(key)
            root = attributes[key].abs().sqrt()
            inner = root.clamp(max=1 - 1e-16)
            sign.copy_(torch.where(root < 1, torch.atanh(inner), SATURATED).copysign(attributes[key]))
            mask.copy_(torch.where(root > 0, torch.where(root < 1, torch.logit(inner), SATURATED), 0.0))


class NAC(GatedWeight):
    """``y = W x``, ``W = tanh(sign) sigmoid(mask)``, both drawn from ``U(-r, r)``, see `spread`. The paper has no
    clipping and no penalty. Grid of W: {-1, 0, 1}. Attribute: ``weight``, the W of each operand, in [-1, 1]."""

    def forward(self, x: Tensor) -> Tensor:
        return self._checked(x) @ self.weight.mT

    @classmethod
    def given(cls, weight: Weights) -> Self:
        """The unit with these W. Raises ValueError where they leave [-1, 1]."""
        return cls._of({"weight": matrix(weight)})


def nalu(x: Tensor, weight: Tensor, gate: Tensor) -> Tensor:
    """``g a + (1 - g) m`` with ``a = W x``, ``m = exp(W log(|x| + 1e-7))``, ``g = sigmoid(G x)``:
    ``[..., in]``, twice ``[..., out, in] -> [..., out]``."""
    opened = torch.sigmoid(x @ gate.mT)
    return opened * (x @ weight.mT) + (1 - opened) * torch.exp((x.abs() + NALU_EPSILON).log() @ weight.mT)


class NALU(GatedWeight):
    """``y = g (W x) + (1 - g) exp(W log(|x| + 1e-7))``, ``W = tanh(sign) sigmoid(mask)`` shared by both halves, and the
    gate ``g = sigmoid(G x)`` chosen by the input, without a bias.

    ``sign`` and ``mask`` as in `NAC`, G Xavier-uniform. The paper has no clipping and no penalty. As published,
    products lose the signs of their factors and the gate rarely converges to the right half: prefer `NAU`, `NMU`
    and `NPU`. Grid of W: {-1, 0, 1}; G has none and stays as it is. Attributes: ``weight``, the W of each operand,
    in [-1, 1]; ``gate``, the G of each operand.
    """

    gate: nn.Parameter
    shapes: ClassVar = {"sign": MATRIX, "mask": MATRIX, "gate": MATRIX}

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        super().reset_parameters(generator)
        self._xavier(self.gate, generator)

    def forward(self, x: Tensor) -> Tensor:
        return nalu(self._checked(x), self.weight, self.gate)

    @classmethod
    def given(cls, weight: Weights, gate: Weights) -> Self:
        """The unit with these W and G. Raises ValueError where W leaves [-1, 1]."""
        return cls._of({"weight": matrix(weight), "gate": matrix(gate)})


FAR = 20.0
"""The magnitude of raw parameters beyond which the penalty is 0."""


def inalu(x: Tensor, add: Tensor, multiply: Tensor, gate: Tensor) -> Tensor:
    """``g a + (1 - g) m s`` with ``a = W_a x``, ``m = exp(min(W_m log max(|x|, 1e-7), 20))`` and the sign
    ``s_o = clip(prod_i (sign(x_i) |W_m,oi| + 1 - |W_m,oi|), -1, 1)``: ``[..., in]``, twice ``[..., out, in]`` and
    ``g`` in [0, 1] as ``[..., out] -> [..., out]``."""
    if x.dim() == 1:
        return inalu(x[None], add, multiply, gate)[..., 0, :]
    size = torch.exp((x.abs().clamp(min=INALU_EPSILON).log() @ multiply.mT).clamp(max=CEILING))
    share = multiply.abs()[..., None, :, :]
    sign = product(x.sign()[..., None, :] * share + 1 - share).clamp(-1.0, 1.0)
    opened = gate[..., None, :]
    return opened * (x @ add.mT) + (1 - opened) * size * sign


class INALU(GatedWeight):
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
    factors: ClassVar = {"add": ("add_sign", "add_mask"), "multiply": ("multiply_sign", "multiply_mask")}
    grids: ClassVar = GRIDS["inalu"]
    ranges: ClassVar = {"add": (-1.0, 1.0), "multiply": (-1.0, 1.0), "gate": (0.0, 1.0)}
    _weights: ClassVar = ("add_sign", "add_mask", "multiply_sign", "multiply_mask")
    shapes: ClassVar = {**dict.fromkeys(_weights, MATRIX), "gate": ("out_features",)}

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        for key in self.factors:
            for values, mean in zip(self._factors(key), (1.0, -1.0), strict=True):
                values.normal_(mean, 0.1, generator=generator)
        self.gate.normal_(0.0, 0.1, generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        return inalu(self._checked(x), self._gated("add"), self._gated("multiply"), torch.sigmoid(self.gate))

    def regulariser(self) -> Tensor:
        near = [(torch.minimum(-values, values) + FAR).clamp(min=0.0) for values in self.parameters()]
        return torch.stack([self._per_seed(penalty) for penalty in near]).sum(0) / FAR

    def attributes(self) -> dict[str, Tensor]:
        return {**super().attributes(), "gate": torch.sigmoid(self.gate).detach()}

    @torch.no_grad()
    def assign(self, attributes: Mapping[str, Tensor]) -> None:
        super().assign({**attributes, "gate": torch.logit(attributes["gate"]).clamp(-SATURATED, SATURATED)})

    @classmethod
    def given(cls, add: Weights, multiply: Weights, gate: Tensor | float | list[float]) -> Self:
        """The unit with these W and g. Raises ValueError where W leaves [-1, 1] or g leaves [0, 1]."""
        adding = matrix(add)
        opened = torch.as_tensor(gate, dtype=adding.dtype)
        return cls._of({"add": adding, "multiply": matrix(multiply), "gate": opened})


@dataclass(frozen=True)
class OpenedUnit(FixedUnit):
    """A unit whose operands are ``count`` numbers followed by its weights, which are points: those of each attribute of
    ``keys``, one for each number, but a single gate of an iNALU. Where the numbers are known, its value is that of the
    unit with the row's weights, and gradients pass. Otherwise it is the interval with the weights of the first row."""

    name: UnitName
    keys: tuple[str, ...]
    count: int

    @property
    def attributes(self) -> Mapping[str, float | tuple[float, ...]]:
        return {}

    def image(self, operands: Sequence[Pieces]) -> Pieces:
        all_boxes = boxes(operands)
        numbers, weights = all_boxes[: self.count], self._weights(all_boxes)
        known = torch.stack([low == high for low, high in numbers]).all(0)
        value = self._value(torch.stack([torch.where(known, low, 1.0) for low, _ in numbers], -1), weights)
        lower, upper, undefined = value, value, ~value.isfinite()
        if not all_set(known):
            (low, high), defined = self._frozen(weights).hull([box.mapped(Tensor.detach) for box in numbers])
            lower, upper = torch.where(known, value, low), torch.where(known, value, high)
            undefined = torch.where(known, undefined, ~defined)
        return points_if_equal(bounded(lower[None].clone(), upper[None].clone(), undefined[None]))

    def left(self, value: Pieces, operands: Sequence[Pieces]) -> Sequence[Pieces]:
        """No gradients pass."""
        all_boxes = boxes(operands)
        term, output = self._frozen(self._weights(all_boxes)), closed(hull(value)).mapped(Tensor.detach)
        inputs = term.contract([box.mapped(Tensor.detach) for box in all_boxes[: self.count]], output).inputs
        return [*(Pieces(low[None], high[None]) for low, high in inputs), *operands[self.count :]]

    def _weights(self, all_boxes: Sequence[Interval]) -> dict[str, Tensor]:
        """The weights of each attribute, ``[rows, weights]``."""
        rest = torch.stack([low for low, _ in all_boxes[self.count :]], -1)
        sizes = [1 if (self.name, key) == ("inalu", "gate") else self.count for key in self.keys]
        return dict(zip(self.keys, rest.split(sizes, -1), strict=True))

    def _value(self, x: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
        """``[rows, count] -> [rows]``"""
        rows = {key: values.unsqueeze(-2) for key, values in weights.items()}
        x = x.unsqueeze(-2)
        if self.name == "nalu":
            value = nalu(x, rows["weight"], rows["gate"])
        elif self.name == "inalu":
            value = inalu(x, rows["add"], rows["multiply"], weights["gate"])
        else:
            value = npu(x, rows["power"], rows.get("imaginary"), weights.get("gate"))
        return value.reshape(len(x))

    def _frozen(self, weights: Mapping[str, Tensor]) -> Term:
        given = {key: values[0].detach().tolist() for key, values in weights.items()}
        return frozen(self.name, given, [number(place) for place in range(self.count)])


def opened(unit: UnitName, weights: Mapping[str, Sequence[Weight]], operands: Sequence[Term]) -> Term:
    """The term for a unit with weights that are terms: arithmetic where it is a sum or a product, else an
    `OpenedUnit`."""
    match unit:
        case "nau" | "nac":
            return linear(weights["weight"], operands)
        case "nmu":
            return gated_product(weights["weight"], operands)
        case "npu" | "realnpu" if not any(weights.get("imaginary", ())):
            if all(gate in (0, 1) for gate in weights.get("gate", ())):
                powers = zip(operands, weights["power"], strict=True)
                return gated_product([1.0] * len(operands), [apply("power", x, as_term(power)) for x, power in powers])
    every = (as_term(weight) for some in weights.values() for weight in some)
    return apply(OpenedUnit(unit, tuple(weights), len(operands)), *operands, *every)
