"""Arrays that hold the same: tables about the same things often share their columns."""

from __future__ import annotations

import numpy as np

from lnnkit.store.columns.arrays import Array


def alike(one: Array, other: Array) -> bool:
    """Whether two arrays hold the same. What stands in the same memory is not compared."""
    if one.shape == other.shape and one.strides == other.strides and one.ctypes.data == other.ctypes.data:
        return one.dtype == other.dtype
    return np.array_equal(one, other)
