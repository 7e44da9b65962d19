"""Checkpoints of fitting: its state in a safetensors file, replaced atomically before each inference."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from lnnkit.data.files import write_whole


class OtherRun(Exception):
    """The file holds the state of another program or of other settings."""


@dataclass(frozen=True, slots=True)
class Best:
    """The least loss so far: the quantity to minimise, the loss of the training labels, and the values."""

    measure: float
    total: float
    values: Tensor


@dataclass(frozen=True, slots=True)
class Saved:
    """The state of a run: the current restart, the least loss so far, and the optimiser's position."""

    restart: int
    best: Best
    place: tuple[int, int, int]
    tensors: Mapping[str, Tensor]

    def restore(self, theta: Tensor, optimizer: torch.optim.Adam) -> tuple[int, int, int]:
        """Put values and the optimizer's state back; returns the ``place``."""
        with torch.no_grad():
            theta.copy_(self.tensors["values"])
        if "step" in self.tensors:
            step, mean, square = (self.tensors[name].clone() for name in ("step", "mean", "square"))
            optimizer.state[theta] = {"step": step, "exp_avg": mean, "exp_avg_sq": square}
        return self.place


class Checkpoint:
    """The checkpoint at ``path``. ``key`` identifies the run: settings, program and labels."""

    def __init__(self, path: Path, key: str) -> None:
        self._path = path
        self._key = key

    def read(self) -> Saved | None:
        """The saved state, if the file exists. Raises `OtherRun`."""
        if not self._path.exists():
            return None
        try:
            with safe_open(self._path, framework="pt") as file:
                meta = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
        except SafetensorError:
            raise OtherRun(str(self._path)) from None
        if meta.get("key") != self._key:
            raise OtherRun(str(self._path))
        place = json.loads(meta["place"])
        where = place["epoch"], place["gap"], place["since"]
        measure, total = (float.fromhex(each) for each in place["least"])
        return Saved(place["restart"], Best(measure, total, tensors["best"]), where, tensors)

    def write(
        self,
        restart: int,
        where: tuple[int, int, int],
        theta: Tensor,
        optimizer: torch.optim.Adam,
        best: Best,
    ) -> None:
        """Save the state of a run: its epoch, the epochs between inferences, and those since the best."""
        tensors = {"values": theta.detach().clone(), "best": best.values}
        state = optimizer.state.get(theta)
        if state:
            tensors |= {"step": state["step"], "mean": state["exp_avg"], "square": state["exp_avg_sq"]}
        epoch, gap, since = where
        least = [best.measure.hex(), best.total.hex()]
        place = {"restart": restart, "epoch": epoch, "gap": gap, "since": since, "least": least}
        write_whole(self._path, save(tensors, metadata={"key": self._key, "place": json.dumps(place)}))
