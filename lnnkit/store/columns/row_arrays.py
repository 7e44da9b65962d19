"""Arrays of ids, flags, row numbers and bounds."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


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
