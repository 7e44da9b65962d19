"""What inference computes with: the precision of bounds, the device that holds them, and the threads of a command."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lnnkit.errors import Error
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    import numpy as np


PRECISIONS = ("single", "double")
_DEVICE = re.compile(r"cpu|cuda(:\d+)?")
_DIGITS = 7  # decimal digits that single precision distinguishes in [0, 1]


def is_device(name: object) -> bool:
    """Whether ``name`` has the form of a device name, present or not: ``cpu``, ``cuda``, ``cuda:1``."""
    return isinstance(name, str) and _DEVICE.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Computing:
    """``precision`` is double or single, ``device`` cpu, cuda or cuda:N."""

    precision: str = "double"
    device: str = "cpu"

    @property
    def dtype(self) -> np.dtype:
        import numpy as np

        return np.dtype(np.float64 if self.precision == "double" else np.float32)

    @property
    def tolerance(self) -> float:
        """The distance below which two truth values are equal."""
        from lnnkit.logic.bounds import tolerance

        return tolerance(self.dtype)

    def numbers(self, bounds: np.ndarray) -> np.ndarray:
        """Bounds as float64, rounded to the digits that their precision has."""
        return bounds if self.precision == "double" else bounds.astype("float64").round(_DIGITS)


def computing(precision: str, device: str) -> Computing:
    """The settings that a user asks for. Raises `Error` for an unknown precision, or a device that is not available."""
    if precision not in PRECISIONS:
        message = f"there is no precision {precision!r}"
        raise Error([Diagnostic("unknown-precision", message, "ask for 'single' or 'double'")])
    if not is_device(device):
        message = f"there is no device {device!r}"
        raise Error([Diagnostic("unknown-device", message, "ask for 'cpu', 'cuda' or 'cuda:1'")])
    if device != "cpu":
        _look_for(device)
    return Computing(precision, device)


def _look_for(device: str) -> None:
    """Raise `Error` unless torch can compute on this CUDA device."""
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    number = int(device.partition(":")[2] or 0)
    if number < count:
        return
    if not count:
        built = torch.version.cuda is not None
        message = f"the device {device!r} is not available: " + (
            "torch finds no CUDA device" if built else f"torch {torch.__version__} is built without CUDA"
        )
        hint = "compute on the CPU" + ("" if built else ", or install a build of torch with CUDA")
    else:
        message = f"the device {device!r} is not available: torch finds {count} CUDA device{'' if count == 1 else 's'}"
        hint = f"name one from cuda:0 to cuda:{count - 1}"
    raise Error([Diagnostic("missing-device", message, hint)])


def use_threads(count: int) -> None:
    """Let torch use ``count`` threads. It reads the number when it is imported, which only training and devices do."""
    os.environ["OMP_NUM_THREADS"] = str(count)
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(count)
