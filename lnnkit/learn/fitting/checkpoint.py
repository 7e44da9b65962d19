"""Checkpoints of fitting: its state in a safetensors file, replaced atomically before each inference."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from lnnkit.data.files import write_whole
from lnnkit.data.model_file import tensor_bytes

_STATE = {"step": "step", "mean": "exp_avg", "square": "exp_avg_sq"}  # names in the file, and those of Adam


class OtherRun(Exception):
    """The file holds the state of another program or of other settings."""


@dataclass(frozen=True, slots=True)
class Best:
    """The least loss so far: the quantity to minimise, the loss of the training labels, and the values."""

    measure: float
    total: float
    values: Tensor


class Place(NamedTuple):
    """Where a run is: its restart and epoch, the epochs between two inferences, and those since the least loss."""

    restart: int
    epoch: int
    gap: int
    since: int


@dataclass(frozen=True, slots=True)
class Saved:
    """The state of a run, with its values and those of its optimiser."""

    place: Place
    best: Best
    tensors: Mapping[str, Tensor]

    def restore(self, theta: Tensor, optimizer: torch.optim.Adam) -> None:
        """Put values and the optimizer's state back."""
        with torch.no_grad():
            theta.copy_(self.tensors["values"])
        if "step" in self.tensors:
            optimizer.state[theta] = {name: self.tensors[mine].clone() for mine, name in _STATE.items()}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The checkpoint at ``path``. ``key`` identifies the run: settings, program and labels."""

    path: Path
    key: str

    def read(self) -> Saved | None:
        """The saved state, if the file exists. Raises `OtherRun`."""
        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                meta = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
        except SafetensorError:
            raise OtherRun(str(self.path)) from None
        if meta.get("key") != self.key:
            raise OtherRun(str(self.path))
        place = json.loads(meta["place"])
        measure, total = map(float.fromhex, place.pop("least"))
        return Saved(Place(**place), Best(measure, total, tensors["best"]), tensors)

    def write(self, place: Place, theta: Tensor, optimizer: torch.optim.Adam, best: Best) -> None:
        """Save the state of a run."""
        state = optimizer.state.get(theta) or {}
        tensors = {"values": theta.detach(), "best": best.values}
        tensors |= {mine: state[name] for mine, name in _STATE.items() if name in state}
        text = json.dumps({**place._asdict(), "least": [best.measure.hex(), best.total.hex()]})
        arrays = {name: each.numpy() for name, each in tensors.items()}
        write_whole(self.path, tensor_bytes(arrays, {"key": self.key, "place": text}))
