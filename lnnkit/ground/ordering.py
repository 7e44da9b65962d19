"""Keys in order."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lnnkit.flags import all_set, chosen, where_set

_BY_DIGITS = 2**15  # so many whole numbers torch sorts digit by digit: several times as fast as by comparing them


def in_order(key: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """The positions of (n,) keys, all from 0 to below ``size``, in the order of the keys, equal ones in their own; and
    the keys in that order. A few keys and their positions are sorted as one number each where they fit: that too is
    several times as fast as to sort positions by their keys."""
    bits = max(len(key) - 1, 0).bit_length()
    if not key.is_cpu or len(key) >= _BY_DIGITS or size.bit_length() + bits > 63:
        narrow = key.int() if size <= 2**31 else key
        ordered, order = narrow.sort(stable=True)
        return order.int(), ordered.to(key.dtype)
    packed = key.numpy().astype(np.int64)
    packed <<= bits
    packed |= np.arange(len(packed))
    packed.sort()
    order = (packed & ((1 << bits) - 1)).astype(np.int32)
    packed >>= bits
    return torch.from_numpy(order), torch.from_numpy(packed).to(key.dtype)


def first_places(keys: Tensor, size: int) -> Tensor | None:
    """Where each of (n,) keys, all from 0 to below ``size``, stands first, ascending; None where all differ."""
    order, ordered = in_order(keys, size)
    first = torch.ones(len(keys), dtype=torch.bool)
    torch.ne(ordered[1:], ordered[:-1], out=first[1:])
    if all_set(first):
        return None
    return where_set(torch.zeros_like(first).index_fill_(0, chosen(first, order).long(), True))


def ascending(keys: np.ndarray) -> np.ndarray:
    """(n,) whole numbers in order."""
    return np.sort(keys) if len(keys) < _BY_DIGITS else torch.from_numpy(keys).sort()[0].numpy()
