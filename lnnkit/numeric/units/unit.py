"""The base class of arithmetic units: shapes, seeds, projection, penalty, rounding to a grid; and units as recurrent
cells."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from lnnkit.arrays import all_set


@dataclass(frozen=True)
class Hardening:
    """The loss before rounding, that of the rounded unit, and whether the rounding was kept: ``[seeds]`` or ``[]``."""

    loss: Tensor
    rounded_loss: Tensor
    accepted: Tensor


MATRIX = ("out_features", "in_features")


class Unit(nn.Module, ABC):
    """An arithmetic layer ``[..., in_features] -> [..., out_features]``.

    With ``seeds`` it is that many independent layers in one module: every parameter has a leading dimension, inputs are
    ``[in]``, ``[batch, in]`` (the same for all) or ``[seeds, batch, in]``, outputs ``[seeds, (batch,) out]``.

    Each unit has the initialisation, clipping and penalty of its paper. `attributes` are the parameters as the language
    writes them, ``nau(a, b){weight: [1, -1]}``; the class method ``given`` of each unit makes a unit from them.
    ``generator`` draws the initial weights; without one the default generator of torch does.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        seeds: int | None = None,
        generator: torch.Generator | None = None,
        dtype: torch.dtype = torch.float64,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        if in_features < 1 or out_features < 1 or (seeds is not None and seeds < 1):
            raise ValueError(f"a unit needs features and seeds, not {in_features}, {out_features}, {seeds}")
        self.in_features = in_features
        self.out_features = out_features
        self.seeds = seeds
        leading = () if seeds is None else (seeds,)
        for name, dimensions in self.shapes.items():
            shape = (*leading, *(getattr(self, dimension) for dimension in dimensions))
            self.register_parameter(name, nn.Parameter(torch.empty(shape, dtype=dtype, device=device)))
        for name, value in self.constants.items():
            self.register_buffer(name, torch.full(leading, value, dtype=dtype, device=device))
        self.reset_parameters(generator)

    shapes: ClassVar[Mapping[str, Sequence[str]]] = {}
    """The parameters, each with the attributes that hold its dimensions; that of seeds comes before them."""
    constants: ClassVar[Mapping[str, float]] = {}
    """Numbers that are not parameters but change with rounding, one for each seed, and their initial values."""
    grids: ClassVar[Mapping[str, tuple[float, ...]]] = {}
    """The values that the attributes are rounded to; those without any stay as they are."""
    ranges: ClassVar[Mapping[str, tuple[float, float]]] = {}
    """The least and the greatest value of attributes; those without are unbounded."""
    clipped: ClassVar[tuple[str, ...]] = ()
    """The parameters that `project` clips to their ranges."""

    @abstractmethod
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the initial weights of the unit's paper."""

    def _xavier(self, values: Tensor, generator: torch.Generator | None, most: float = math.inf) -> None:
        reach = min(most, math.sqrt(6.0 / (self.in_features + self.out_features)))
        values.uniform_(-reach, reach, generator=generator)

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor: ...

    def attributes(self) -> dict[str, Tensor]:
        """The parameters by their keys in the language."""
        values = {name: values.detach().clone() for name, values in self.named_parameters()}
        return values | {name: values[name].clamp(*self.ranges[name]) for name in self.clipped}

    @torch.no_grad()
    def assign(self, attributes: Mapping[str, Tensor]) -> None:
        """Set all parameters that `attributes` returns, in place."""
        for key, values in attributes.items():
            self.get_parameter(key).copy_(values)

    @torch.no_grad()
    def project(self) -> None:
        """Clip the parameters to their ranges, in place, after an optimiser step."""
        for name in self.clipped:
            self.get_parameter(name).clamp_(*self.ranges[name])

    def regulariser(self) -> Tensor:
        """The penalty of the unit's paper, ``[seeds]`` or ``[]``, unweighted; 0 where the paper has none."""
        return torch.zeros_like(next(self.parameters()).flatten(self._leading)[..., 0])

    def rounded(self) -> dict[str, Tensor]:
        """`attributes` moved to the nearest grid points; those without a grid unchanged."""
        rounded = self.attributes()
        for key in rounded.keys() & self.grids.keys():
            points = rounded[key].new_tensor(self.grids[key])
            rounded[key] = points[(rounded[key][..., None] - points).abs().argmin(-1)]
        return rounded

    def gaps(self) -> dict[str, Tensor]:
        """The distances of the attributes from the grid."""
        rounded = self.rounded()
        return {key: (values - rounded[key]).abs() for key, values in self.attributes().items()}

    def sparsity_error(self) -> Tensor:
        """The largest distance of a weight from the grid, ``[seeds]`` or ``[]``."""
        largest = [gap.reshape(*gap.shape[: self._leading], -1).amax(-1) for gap in self.gaps().values()]
        return torch.stack(largest).amax(0)

    @torch.no_grad()
    def harden(self, loss: Callable[[Self], Tensor], tolerance: float = 0.0) -> Hardening:
        """Round to the grid, in place, where that does not raise ``loss`` by more than ``tolerance``. ``loss``
        evaluates the unit in its current state: ``[seeds]``, or ``[]`` without seeds. Each seed is decided for itself;
        a loss of nan refuses."""
        state = {**dict(self.named_parameters()), **dict(self.named_buffers())}
        kept = {name: value.detach().clone() for name, value in state.items()}
        before = loss(self).detach().clone()
        expected = () if self.seeds is None else (self.seeds,)
        if before.shape != expected:
            raise ValueError(f"the loss has shape {tuple(before.shape)}, not {expected}: one number for each seed")
        self.assign(self.rounded())
        after = loss(self).detach().clone()
        accepted = after <= before + tolerance
        for name, value in state.items():
            across = accepted.reshape(accepted.shape + (1,) * (value.dim() - accepted.dim()))
            value.copy_(torch.where(across, value, kept[name]))
        return Hardening(before, after, accepted)

    @classmethod
    def _of(cls, attributes: Mapping[str, Tensor]) -> Self:
        """A unit of the shape of the first attribute, ``[out, in]`` or ``[seeds, out, in]``. Raises ValueError where
        one leaves its range."""
        for key, (low, high) in cls.ranges.items():
            if not all_set((attributes[key] >= low) & (attributes[key] <= high)):
                raise ValueError(f"the {key} of {cls.__name__} must be in [{low:g}, {high:g}]")
        weight = next(iter(attributes.values()))
        *seeds, out_features, in_features = weight.shape
        unused = torch.Generator(weight.device)  # the start is overwritten; torch's own generator stays as it is
        like = {"generator": unused, "dtype": weight.dtype, "device": weight.device}
        unit = cls(in_features, out_features, seeds=seeds[0] if seeds else None, **like)
        unit.assign(attributes)
        return unit

    @property
    def _leading(self) -> int:
        return 0 if self.seeds is None else 1

    def _per_seed(self, values: Tensor) -> Tensor:
        """The mean over all dimensions except seeds."""
        return values.flatten(self._leading).mean(-1)

    def _checked(self, x: Tensor) -> Tensor:
        """``x`` unchanged. Raises ValueError if its shape does not fit."""
        if x.dim() == 0 or x.shape[-1] != self.in_features:
            raise ValueError(f"the input has shape {tuple(x.shape)}, but the unit takes {self.in_features} features")
        if self.seeds is not None and (x.dim() > 3 or (x.dim() == 3 and x.shape[0] not in (1, self.seeds))):
            wanted = f"[batch, {self.in_features}] or [{self.seeds}, batch, {self.in_features}]"
            raise ValueError(f"the input has shape {tuple(x.shape)}, but {self.seeds} seeds take {wanted}")
        return x


class Recurrent(nn.Module):
    """The last state of ``h_t = cell([x_t, h_(t-1)])``, ``t = 1 .. T``: ``[..., steps, in] -> [..., states]``.

    ``cell`` is a `Unit`, or a chain of them, that takes the ``in`` numbers of a step and then the ``states`` numbers of
    the state, and gives the next state. ``start`` is each number of ``h_0``: 0 for what is added up, 1 for what is
    multiplied. `project` and `regulariser` delegate to all units of the cell.
    """

    def __init__(self, cell: Unit | nn.Sequential, states: int, *, start: float = 0.0) -> None:
        super().__init__()
        self.cell = cell
        self.states = states
        self.start = start
        first = self.units[0]
        if not 0 < states < first.in_features or self.units[-1].out_features != states:
            sizes = f"{first.in_features} to {self.units[-1].out_features}"
            raise ValueError(f"a cell of {sizes} features cannot keep {states} states")

    @property
    def units(self) -> list[Unit]:
        """The units of the cell, from the input on."""
        return [module for module in self.cell.modules() if isinstance(module, Unit)]

    def forward(self, x: Tensor, state: Tensor | None = None) -> Tensor:
        """The last state. ``state``, ``[..., states]``, replaces the start. Raises ValueError if shapes do not fit."""
        if x.dim() < 2:
            raise ValueError(f"the input has shape {tuple(x.shape)}, but a sequence is [..., steps, features]")
        seeds, leading = self.units[0].seeds, x.shape[:-2]
        if seeds is not None and len(leading) < 2:
            leading = (seeds, *leading)
        begun = torch.full((*leading, self.states), self.start, dtype=x.dtype, device=x.device)
        last = begun if state is None else state
        for now in x.unbind(-2):
            last = self.cell(torch.cat([now.expand(*last.shape[:-1], -1), last], -1))
        return last

    def project(self) -> None:
        """Put the parameters of all units back into their boxes, in place, after an optimiser step."""
        for unit in self.units:
            unit.project()

    def regulariser(self) -> Tensor:
        """The sum of the penalties of the units, ``[seeds]`` or ``[]``."""
        return torch.stack([unit.regulariser() for unit in self.units]).sum(0)


Weights = Tensor | Sequence[float] | Sequence[Sequence[float]]


def matrix(values: Weights) -> Tensor:
    """Weights as ``[out, in]`` in float64; a list becomes the only row. Raises ValueError for other shapes."""
    weights = torch.as_tensor(values, dtype=None if isinstance(values, Tensor) else torch.float64)
    weights = weights[None] if weights.dim() == 1 else weights
    if weights.dim() not in (2, 3):
        raise ValueError(f"weights are [in], [out, in] or [seeds, out, in], not {tuple(weights.shape)}")
    return weights


def product(factors: Tensor) -> Tensor:
    """The product over the last dimension, ``[..., n] -> [...]``; 1 if it is empty. Factors are multiplied pairwise, so
    that the gradient of each is the product of the others: ``torch.prod`` divides the whole product by the factor,
    which fails at zeros and loses precision for tiny factors."""
    while factors.shape[-1] > 1:
        half = factors.shape[-1] // 2
        pairs = factors[..., :half] * factors[..., half : 2 * half]
        factors = torch.cat([pairs, factors[..., -1:]], -1) if factors.shape[-1] % 2 else pairs
    return factors.prod(-1)
