"""Arrays of ids, flags, row numbers and bounds, and the tensors that share their memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from lnnkit.logic.bounds import Bounds

Array = np.ndarray

_REAL = {torch.float64: np.dtype(np.float64), torch.float32: np.dtype(np.float32)}


class Ends(NamedTuple):
    """Lower and upper ends, of one shape; one entry for each row."""

    lower: Array
    upper: Array


def real(dtype: torch.dtype) -> np.dtype:
    """The numpy type of bounds whose kernels take ``dtype``."""
    return _REAL[dtype]


def tensors(ends: Ends) -> Bounds:
    """The ends as torch tensors in the same memory."""
    return Bounds(torch.from_numpy(ends.lower), torch.from_numpy(ends.upper))


def arrays(bounds: Bounds) -> Ends:
    """The bounds as numpy arrays in the same memory; detached from gradients."""
    return Ends(bounds.lower.numpy(), bounds.upper.numpy())


def spelled_out(values: Array | range) -> Array:
    """A range as an array; an array unchanged."""
    return np.arange(values.start, values.stop, dtype=np.int32) if isinstance(values, range) else values


def alike(one: Array, other: Array) -> bool:
    """Whether two arrays are equal. Arrays in the same memory are not compared: tables about the same entities often
    share columns."""
    if one.shape == other.shape and one.strides == other.strides and one.ctypes.data == other.ctypes.data:
        return one.dtype == other.dtype
    return np.array_equal(one, other)


def wide(rows: Array) -> Array:
    """Row numbers in numpy's index type: writing with narrower ones is four times as slow."""
    return rows.astype(np.intp, copy=False)
