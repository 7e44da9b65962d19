"""NSR, the neural status register (Faber and Wattenhofer 2020, arXiv 2004.07085; ICML 2023)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Self, get_args

import torch
from torch import Tensor, nn

from lnnkit.numeric.units.gated_units import SATURATED
from lnnkit.numeric.units.unit import Unit

RelationName = Literal[">", "<", ">=", "<=", "=", "!="]
RELATIONS: tuple[RelationName, ...] = get_args(RelationName)

_SIDES = ("first", "second")
_NEVER = 1000.0  # a logit this far below the greatest has a softmax of 0
READOUTS: dict[str, tuple[float, float, float]] = {
    ">": (2.0, -1.0, -1.0),
    "<": (-2.0, -1.0, -1.0),
    ">=": (2.0, 1.0, 1.0),
    "<=": (-2.0, 1.0, 1.0),
    "=": (0.0, 2.0, 0.0),
    "!=": (0.0, -2.0, 0.0),
    "true": (0.0, 0.0, 2.0),
    "false": (0.0, 0.0, -2.0),
}
"""``W+, W0, b`` that give the margin 2 with hard bits where the relation holds, and -2 where it does not."""


def hard_margins(readout: Tensor) -> Tensor:
    """The margins above, at and below 0 with hard bits: from ``[..., 3]`` (W+, W0, b) to ``[..., 3]``."""
    sign, zero, bias = readout.unbind(-1)
    return torch.stack([bias + sign - zero, bias + zero, bias - sign - zero], -1)


def relation_of(readout: Tensor) -> list[str]:
    """The name in `READOUTS` for each row W+, W0, b of ``[n, 3]``: the relation that holds where the hard margin is
    above 0."""
    shown = hard_margins(torch.tensor(list(READOUTS.values()), dtype=readout.dtype, device=readout.device))
    known = {tuple(row): name for name, row in zip(READOUTS, (shown > 0).tolist(), strict=True)}
    return [known[tuple(row)] for row in (hard_margins(readout) > 0).tolist()]


class NSR(Unit):
    """Truths of relations between operands. Each output reads, for each of ``channels``, the difference of two soft
    selections of operands: its sign bit and its zero bit, as in a processor's status register.

        ``x_r = softmax(first_r) . s - softmax(second_r) . s``
        ``y = sigmoid(b + sum_r (W+_r tanh(l x_r) + W0_r (1 - 2 tanh(l x_r)^2)))``

    ``l`` is the sharpness: ``l`` times the least difference that counts should be above 1. Where it is infinite the
    bits are hard: -1, 0 and 1. With hard bits and large weights, as `relation` has them, truths are 0 and 1, and
    integers are compared exactly up to 2^53.

    As published ``first``, ``second`` and W are Xavier-normal, b is 0, l is 1, without clipping or penalty. That traps
    some seeds of ``=`` and ``!=``: where the two selections coincide the zero bit is constant. `start_undecided` starts
    where no seed is trapped; let l rise while it learns.
    Rounded: every output takes its heaviest channel, one operand on each side, hard bits, and the large weights of the
    relation that its readout shows (see `relation_of`).
    Attributes: ``first`` and ``second``, ``[out, channels, in]``, the selections after their softmax; ``sign`` and
    ``zero``, ``[out, channels]``, the W+ and W0; ``bias``, ``[out]``; ``scale``, 1/l, which is 0 for hard bits. In
    ``(a <?> b){scale: s, weight: [W+, W0, b]}`` there is one channel and the selections are the two sides.
    """

    first: nn.Parameter
    second: nn.Parameter
    sign: nn.Parameter
    zero: nn.Parameter
    bias: nn.Parameter
    sharpness: Tensor
    shapes: ClassVar = {
        **dict.fromkeys(_SIDES, ("out_features", "channels", "in_features")),
        **dict.fromkeys(("sign", "zero"), ("out_features", "channels")),
        "bias": ("out_features",),
    }
    constants: ClassVar = {"sharpness": 1.0}

    def __init__(
        self,
        in_features: int,
        out_features: int = 1,
        channels: int = 1,
        *,
        seeds: int | None = None,
        generator: torch.Generator | None = None,
        dtype: torch.dtype = torch.float64,
        device: torch.device | str | None = None,
    ) -> None:
        self.channels = channels
        super().__init__(in_features, out_features, seeds=seeds, generator=generator, dtype=dtype, device=device)

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        for values in (self.first, self.second):
            values.normal_(0.0, math.sqrt(2.0 / (self.in_features + self.channels)), generator=generator)
        for values in (self.sign, self.zero):
            values.normal_(0.0, math.sqrt(2.0 / (self.channels + 1)), generator=generator)
        self.bias.zero_()
        self.sharpness.fill_(1.0)

    @torch.no_grad()
    def start_undecided(self, pairs: Tensor, generator: torch.Generator | None = None) -> None:
        """Initialise, in place, with each channel near a pair of operands and with a readout of 0, where the first
        gradient of W0 has the right sign, whatever the relation. ``pairs``, ``[..., channels, 2]``, are the operands on
        the left and on the right, shared by all seeds and outputs or given for each."""
        for values, operands in ((self.first, pairs[..., 0]), (self.second, pairs[..., 1])):
            chosen = nn.functional.one_hot(operands, self.in_features).to(values.dtype)
            values.normal_(0.0, 0.1, generator=generator).add_(3.0 * chosen)
        for values in (self.sign, self.zero, self.bias):
            values.zero_()
        self.sharpness.fill_(1.0)

    def margins(self, x: Tensor) -> Tensor:
        """``z``, the log-odds, ``[..., out]``; train on these."""
        gap = torch.softmax(self.first, -1) - torch.softmax(self.second, -1)
        seen = (self._checked(x) @ gap.flatten(-3, -2).mT).unflatten(-1, (self.out_features, self.channels))
        sign, zero, bias, sharpness = self.sign, self.zero, self.bias, self.sharpness
        if self.seeds is not None:  # the batch stands after the seeds
            leading = (self.seeds, *(1,) * (seen.dim() - 3))
            sign, zero, bias = (values.reshape(*leading, *values.shape[1:]) for values in (sign, zero, bias))
            sharpness = sharpness.reshape(*leading, 1, 1)
        crisp = sharpness.isinf()
        bit = torch.where(crisp, seen.sign(), torch.tanh(torch.where(crisp, 1.0, sharpness) * seen))
        return bias + (sign * bit + zero * (1 - 2 * bit.square())).sum(-1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.sigmoid(self.margins(x))

    def attributes(self) -> dict[str, Tensor]:
        values = super().attributes()
        return {**values, **{key: torch.softmax(values[key], -1) for key in _SIDES}, "scale": 1 / self.sharpness}

    @torch.no_grad()
    def assign(self, attributes: Mapping[str, Tensor]) -> None:
        values = {key: value for key, value in attributes.items() if key != "scale"}
        # The logarithm of a share of 0 is kept finite; its softmax is exactly 0 nevertheless.
        super().assign(values | {key: values[key].log().clamp(min=-_NEVER) for key in _SIDES})
        self.sharpness.copy_(1 / attributes["scale"])

    def rounded(self) -> dict[str, Tensor]:
        values = self.attributes()
        heaviest = (values["sign"].abs() + values["zero"].abs()).argmax(-1, keepdim=True)
        only = torch.zeros_like(values["sign"]).scatter(-1, heaviest, 1.0)
        shown = [values["sign"].gather(-1, heaviest), values["zero"].gather(-1, heaviest), values["bias"][..., None]]
        names = relation_of(torch.cat(shown, -1).reshape(-1, 3))
        crisp = only.new_tensor([READOUTS[name] for name in names]).reshape(*values["bias"].shape, 3) * SATURATED
        for key in _SIDES:
            values[key] = nn.functional.one_hot(values[key].argmax(-1), self.in_features).to(only.dtype)
        values["sign"], values["zero"] = only * crisp[..., :1], only * crisp[..., 1:2]
        values["bias"], values["scale"] = crisp[..., 2], torch.zeros_like(values["scale"])
        return values

    def gaps(self) -> dict[str, Tensor]:
        """Distances of the selections and the scale: a readout may be any multiple of its relation's."""
        return {key: gap for key, gap in super().gaps().items() if key in (*_SIDES, "scale")}

    @classmethod
    def given(cls, weight: Sequence[float], scale: float = 0.0) -> Self:
        """The unit ``(a <?> b){scale: scale, weight: [W+, W0, b]}`` over two operands, the left one first."""
        unit = cls(2, generator=torch.Generator())
        readout = torch.tensor(weight, dtype=torch.float64)
        if readout.shape != (3,) or scale < 0:
            raise ValueError("a status register has three weights, W+, W0 and b, and a scale that is not below 0")
        sides = torch.eye(2, dtype=torch.float64)[:, None, None]
        sign, zero, bias = readout.unbind()
        values = {"sign": sign, "zero": zero, "bias": bias, "scale": torch.tensor(scale, dtype=torch.float64)}
        unit.assign({"first": sides[0], "second": sides[1], **values})
        return unit

    @classmethod
    def relation(cls, name: RelationName) -> Self:
        """The unit for ``a > b`` or one of the five other relations; its truths are 0 and 1."""
        return cls.given([SATURATED * weight for weight in READOUTS[name]])
