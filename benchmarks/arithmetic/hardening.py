"""Trained units rounded to the grid of their weights (`lnnkit.numeric.term.GRIDS`), where that does not raise a
loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn

from lnnkit.numeric.term import GRIDS
from lnnkit.numeric.units.gated_units import SATURATED
from lnnkit.numeric.units.nsr import NSR, READOUTS
from lnnkit.numeric.units.unit import Unit

_SIDES = ("first", "second")
UnitT = TypeVar("UnitT", bound=Unit)


@dataclass(frozen=True)
class Hardening:
    """The loss before rounding, that of the rounded unit, and whether the rounding was kept: ``[seeds]`` or ``[]``."""

    loss: Tensor
    rounded_loss: Tensor
    accepted: Tensor


def rounded(unit: Unit) -> dict[str, Tensor]:
    """The attributes of a unit moved to the nearest grid points; those without a grid unchanged. Every output of a
    register takes its heaviest channel, one operand on each side, hard bits, and the large weights of the relation that
    its readout shows."""
    values = unit.attributes()
    if isinstance(unit, NSR):
        return _crisp(values, unit.in_features)
    grids = GRIDS[type(unit).__name__.lower()]
    for key in values.keys() & grids.keys():
        points = values[key].new_tensor(grids[key])
        values[key] = points[(values[key][..., None] - points).abs().argmin(-1)]
    return values


def sparsity_error(unit: Unit) -> Tensor:
    """The largest distance of a weight from the grid, ``[seeds]`` or ``[]``: of a register that of its selections and
    of its scale, since a readout may be any multiple of its relation's."""
    after, leading = rounded(unit), 0 if unit.seeds is None else 1
    keys = (*_SIDES, "scale") if isinstance(unit, NSR) else (*after,)
    gaps = [(unit.attributes()[key] - after[key]).abs() for key in keys]
    return torch.stack([gap.reshape(*gap.shape[:leading], -1).amax(-1) for gap in gaps]).amax(0)


@torch.no_grad()
def harden(unit: UnitT, loss: Callable[[UnitT], Tensor], tolerance: float = 0.0) -> Hardening:
    """Round to the grid, in place, where that does not raise ``loss`` by more than ``tolerance``. ``loss`` evaluates
    the unit in its current state: ``[seeds]``, or ``[]`` without seeds. Each seed is decided for itself; a loss of nan
    refuses."""
    state = {**dict(unit.named_parameters()), **dict(unit.named_buffers())}
    kept = {name: value.detach().clone() for name, value in state.items()}
    before = loss(unit).detach().clone()
    expected = () if unit.seeds is None else (unit.seeds,)
    if before.shape != expected:
        raise ValueError(f"the loss has shape {tuple(before.shape)}, not {expected}: one number for each seed")
    unit.assign(rounded(unit))
    after = loss(unit).detach().clone()
    accepted = after <= before + tolerance
    for name, value in state.items():
        across = accepted.reshape(accepted.shape + (1,) * (value.dim() - accepted.dim()))
        value.copy_(torch.where(across, value, kept[name]))
    return Hardening(before, after, accepted)


def relation_of(readout: Tensor) -> list[str]:
    """The name in `READOUTS` for each row W+, W0, b of ``[n, 3]``: the relation that holds where the margin with hard
    bits is above 0."""
    shown = _margins(torch.tensor(list(READOUTS.values()), dtype=readout.dtype, device=readout.device))
    known = {tuple(row): name for name, row in zip(READOUTS, (shown > 0).tolist(), strict=True)}
    return [known[tuple(row)] for row in (_margins(readout) > 0).tolist()]


def _margins(readout: Tensor) -> Tensor:
    """The margins above, at and below 0 with hard bits: from ``[..., 3]`` (W+, W0, b) to ``[..., 3]``."""
    sign, zero, bias = readout.unbind(-1)
    return torch.stack([bias + sign - zero, bias + zero, bias - sign - zero], -1)


def _crisp(attributes: Mapping[str, Tensor], operands: int) -> dict[str, Tensor]:
    values = dict(attributes)
    heaviest = (values["sign"].abs() + values["zero"].abs()).argmax(-1, keepdim=True)
    only = torch.zeros_like(values["sign"]).scatter(-1, heaviest, 1.0)
    shown = [values["sign"].gather(-1, heaviest), values["zero"].gather(-1, heaviest), values["bias"][..., None]]
    names = relation_of(torch.cat(shown, -1).reshape(-1, 3))
    crisp = only.new_tensor([READOUTS[name] for name in names]).reshape(*values["bias"].shape, 3) * SATURATED
    for key in _SIDES:
        values[key] = nn.functional.one_hot(values[key].argmax(-1), operands).to(only.dtype)
    values["sign"], values["zero"] = only * crisp[..., :1], only * crisp[..., 1:2]
    values["bias"], values["scale"] = crisp[..., 2], torch.zeros_like(values["scale"])
    return values
