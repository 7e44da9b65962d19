"""A unit as a recurrent cell: the state after each step is computed from its input and the previous state."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lnnkit.numeric.units.unit import Unit


class Recurrent(nn.Module):
    """``h_t = cell([x_t, h_(t-1)])`` for ``t = 1 .. T``; the last state, ``h_T``.

    ``cell`` is a `Unit`, or a chain of them, that takes the numbers of a step and then the ``states`` numbers of the
    state, and gives the next state. ``start`` is each number of ``h_0``: 0 for what is added up, 1 for what is
    multiplied. Whether or not units have seeds, steps are the dimension before the last:
    ``[..., steps, in] -> [..., states]``, where ``in`` is what the cell takes beside the state.

    `project` and `regulariser` delegate to all units of the cell.
    """

    def __init__(self, cell: Unit | nn.Sequential, states: int, *, start: float = 0.0) -> None:
        super().__init__()
        self.cell = cell
        self.states = states
        self.start = start
        first = self.units[0]
        if not 0 < states < first.in_features or self.units[-1].out_features != states:
            raise ValueError(
                f"a cell of {first.in_features} to {self.units[-1].out_features} features cannot keep {states} states"
            )

    @property
    def units(self) -> list[Unit]:
        """The units of the cell, from the input on."""
        return [module for module in self.cell.modules() if isinstance(module, Unit)]

    def forward(self, x: Tensor, state: Tensor | None = None) -> Tensor:
        """The last state. ``state``, ``[..., states]``, replaces the start. Raises ValueError if shapes do not fit."""
        if x.dim() < 2:
            raise ValueError(f"the input has shape {tuple(x.shape)}, but a sequence is [..., steps, features]")
        first = self.units[0]
        leading = x.shape[:-2]
        if first.seeds is not None and len(leading) < 2:
            leading = (first.seeds, *leading)
        begun = torch.full((*leading, self.states), self.start, dtype=x.dtype, device=x.device)
        last = begun if state is None else state
        for number in range(x.shape[-2]):
            now = x[..., number, :].expand(*last.shape[:-1], -1)
            last = self.cell(torch.cat([now, last], -1))
        return last

    def project(self) -> None:
        """Put the parameters of all units back into their boxes, in place, after an optimiser step."""
        for unit in self.units:
            unit.project()

    def regulariser(self) -> Tensor:
        """The sum of the penalties of the units, ``[seeds]`` or ``[]``."""
        return torch.stack([unit.regulariser() for unit in self.units]).sum(0)
