"""Arrays of ids, flags, row numbers and bounds, and the tensors that share their memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from lnnkit.logic.bounds import Bounds

Array = np.ndarray

_REAL = {torch.float64: np.dtype(np.float64), torch.float32: np.dtype(np.float32)}


class Ends(NamedTuple):
    """Lower and upper ends, of one shape; one entry a row."""

    lower: Array
    upper: Array


def real(dtype: torch.dtype) -> np.dtype:
    """What bounds are kept as whose kernels take ``dtype``."""
    return _REAL[dtype]


def tensors(ends: Ends) -> Bounds:
    """The same ends for a kernel."""
    return Bounds(torch.from_numpy(ends.lower), torch.from_numpy(ends.upper))


def arrays(bounds: Bounds) -> Ends:
    """What a kernel has found; nothing is differentiated."""
    return Ends(bounds.lower.numpy(), bounds.upper.numpy())


def spelled_out(values: Array | range) -> Array:
    """Numbers, written down."""
    return np.arange(values.start, values.stop, dtype=np.int32) if isinstance(values, range) else values


def wide(rows: Array) -> Array:
    """What numpy writes by: with narrower numbers it is four times as slow."""
    return rows.astype(np.intp, copy=False)
