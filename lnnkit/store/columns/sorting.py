"""Keys in order."""

from __future__ import annotations

from functools import cache
from time import perf_counter

import numpy as np
import torch

from lnnkit.store.columns.arrays import Array

_MANY = 2**15  # of fewer whole numbers, numpy is always as fast


def in_order(key: Array, size: int) -> tuple[Array, Array]:
    """The positions of (n,) keys, all from 0 to below ``size``, in the order of the keys, equal ones in their own; and
    the keys in that order. Where they fit, keys and their positions are sorted as one number each: that is several
    times as fast as to sort positions by their keys."""
    bits = max(len(key) - 1, 0).bit_length()
    if size.bit_length() + bits > 63 or (len(key) >= _MANY and not _by_vectors()):
        narrow = key.astype(np.int32, copy=False) if size <= 2**31 else key
        ordered, places = torch.from_numpy(narrow).sort(stable=True)
        return places.numpy().astype(np.int32), ordered.numpy().astype(key.dtype, copy=False)
    packed = key.astype(np.int64)
    packed <<= bits
    packed |= np.arange(len(packed))
    packed.sort()
    order = packed.astype(np.int32)
    order &= np.int32((1 << min(bits, 31)) - 1)
    packed >>= bits
    return order, packed.astype(key.dtype, copy=False)


def first_places(keys: Array, size: int) -> Array | None:
    """Where each of (n,) keys, all from 0 to below ``size``, stands first, ascending; None where all differ."""
    order, ordered = in_order(keys, size)
    first = np.ones(len(keys), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    if first.all():
        return None
    flags = np.zeros_like(first)
    flags[order[first]] = True
    return np.flatnonzero(flags)


def ascending(keys: Array) -> Array:
    """(n,) whole numbers in order."""
    if len(keys) < _MANY or _by_vectors():
        return np.sort(keys)
    return torch.from_numpy(keys).sort()[0].numpy()


@cache
def _by_vectors() -> bool:
    """Whether numpy sorts many whole numbers faster than torch. It compares them by the processor's vectors, torch goes
    digit by digit: which takes a fifth of the other's time depends on the processor, so it is tried out, in 2 ms."""
    keys = (np.arange(_MANY, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(24)).astype(np.int64)
    there = torch.from_numpy(keys)
    by_vectors, by_digits = [], []
    for _ in range(3):
        start = perf_counter()
        np.sort(keys)
        between = perf_counter()
        there.sort()
        by_vectors.append(between - start)
        by_digits.append(perf_counter() - between)
    return min(by_vectors) < min(by_digits)
