"""Tensors that hold the same: tables about the same things often share their columns."""

from __future__ import annotations

import torch
from torch import Tensor


def alike(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors hold the same. What stands in the same memory is not compared."""
    if one.shape == other.shape and one.stride() == other.stride() and one.data_ptr() == other.data_ptr():
        return one.dtype == other.dtype
    return torch.equal(one, other)
