"""A unit as a recurrent cell: the state after each step is computed from its input and the previous state."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lnnkit.numeric.units.unit import Unit


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
