"""Seeds that are run as one program, and what a long run leaves behind to go on from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """``count`` seeds from ``first`` on. ``watch`` is told, now and then, which share of them is done; ``state`` is
    where a long run keeps what it needs to go on after an interruption, if anywhere."""

    first: int
    count: int
    watch: Callable[[float], None] = lambda share: None
    state: Path | None = None


def keep(path: Path, state: dict[str, Tensor]) -> None:
    """Write all of it, or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        arrays: dict[str, Any] = {name: value.detach().numpy() for name, value in state.items()}
        np.savez(file, **arrays)
    partial.replace(path)


def kept(path: Path | None) -> dict[str, Tensor] | None:
    """What `keep` wrote there, if it did."""
    if path is None or not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as archive:
        return {name: torch.from_numpy(archive[name]) for name in archive.files}
