"""Keys in order."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


def in_order(key: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """The positions of (n,) keys, all from 0 to below ``size``, in the order of the keys, equal ones in their own; and
    the keys in that order. A key and its position are sorted as one number where they fit: that is several times as
    fast as to sort positions by their keys."""
    bits = max(len(key) - 1, 0).bit_length()
    if not key.is_cpu or size.bit_length() + bits > 63:
        order = torch.argsort(key, stable=True)
        return order, key.index_select(0, order)
    packed = key.numpy().astype(np.int64)
    packed <<= bits
    packed |= np.arange(len(packed))
    packed.sort()
    order = (packed & ((1 << bits) - 1)).astype(np.int32)
    packed >>= bits
    return torch.from_numpy(order), torch.from_numpy(packed).to(key.dtype)
