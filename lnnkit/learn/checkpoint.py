"""Fitting that goes on where it was killed: its state in a safetensors file, written whole before each inference."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor

from lnnkit.data.files import write_whole
from lnnkit.learn.parameters import Parameter

_VERSION = "1"


class OtherRun(Exception):
    """The file holds the state of another program or of other settings."""


@dataclass(frozen=True, slots=True)
class Saved:
    """Which restart was running, and the best values so far with their measure (None: none yet)."""

    restart: int
    best: Tensor | None
    best_measure: float


class Checkpoint:
    """The state of fitting at ``path``. ``key`` tells this run from others: settings, program and labels."""

    def __init__(self, path: Path, key: str, names: Sequence[str]) -> None:
        self._path = path
        self._key = key
        self._names = list(names)
        self._tensors: dict[str, Tensor] = {}
        self._meta: dict[str, str] = {}

    def read(self, parameters: Sequence[Parameter]) -> Saved | None:
        """What was saved, if there is a file. Raises `OtherRun`."""
        if not self._path.exists():
            return None
        with safe_open(self._path, framework="pt") as file:
            self._meta = dict(file.metadata() or {})
            self._tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
        if self._meta.get("key") != self._key or json.loads(self._meta["names"]) != [p.name for p in parameters]:
            raise OtherRun(str(self._path))
        place = json.loads(self._meta["place"])
        best = self._tensors.get("best")
        return Saved(place["restart"], best, place["measure"] if best is not None else 0.0)

    def restore(self, theta: Tensor, optimizer: torch.optim.Adam) -> tuple[int, int, int]:
        """Put values and the optimizer's state back; returns the epoch, the epochs between inferences, and those since
        the best."""
        place = json.loads(self._meta["place"])
        with torch.no_grad():
            theta.copy_(self._tensors["values"])
        if "step" in self._tensors:
            optimizer.state[theta] = {
                "step": self._tensors["step"],
                "exp_avg": self._tensors["mean"],
                "exp_avg_sq": self._tensors["square"],
            }
        return place["epoch"], place["gap"], place["since"]

    def write(
        self,
        restart: int,
        where: tuple[int, int, int],
        theta: Tensor,
        optimizer: torch.optim.Adam,
        best: tuple[float, Tensor] | None,
    ) -> None:
        tensors = {"values": theta.detach().clone()}
        state = optimizer.state.get(theta)
        if state:
            tensors |= {"step": state["step"], "mean": state["exp_avg"], "square": state["exp_avg_sq"]}
        if best is not None:
            tensors["best"] = best[1]
        epoch, gap, since = where
        place = {"restart": restart, "epoch": epoch, "gap": gap, "since": since, "measure": best[0] if best else None}
        meta = {"version": _VERSION, "key": self._key, "names": json.dumps(self._names), "place": json.dumps(place)}
        write_whole(self._path, save(tensors, metadata=meta))
