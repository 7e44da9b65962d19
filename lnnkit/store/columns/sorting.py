"""Sorting of integer keys, and of rows of ids by keys into which they are packed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lnnkit.store.columns.row_arrays import Array

BITS = 63  # of a key


def packed(columns: Sequence[Array], bits: Sequence[int]) -> Array:
    """(n,) the numbers of each row in one int64, the leftmost highest; a column has numbers of so many ``bits``. A
    single column is returned as it is."""
    if len(columns) == 1:
        return columns[0]
    key = columns[0].astype(np.int64)
    for column, width in zip(columns[1:], bits[1:], strict=True):
        key <<= width
        key |= column
    return key


def arranged(columns: Sequence[Array]) -> Array | None:
    """The stable permutation that sorts rows by their columns of ids from the left; None if they are sorted."""
    if not columns or not len(columns[0]):
        return None
    sizes = [int(column.max()).bit_length() for column in columns]
    if sum(sizes) > BITS:
        return np.lexsort(columns[::-1])
    key = packed(columns, sizes)
    if (key[1:] >= key[:-1]).all():
        return None
    size = 1 << sum(sizes)
    if size <= 4 * len(key):  # a slot for each key, if no two are equal: a million take 8 ms, sorted 75
        slots = np.full(size, -1, np.int32)
        slots[key] = np.arange(len(key), dtype=np.int32)
        order = slots[slots >= 0]
        if len(order) == len(key):
            return order
    return in_order(key, size)[0]


def in_order(key: Array, size: int) -> tuple[Array, Array]:
    """The permutation that sorts (n,) keys, each at least 0 and below ``size``, stably; and the sorted keys. If a key
    and its position fit into one integer, these are sorted, which is several times as fast as an argsort."""
    bits = max(len(key) - 1, 0).bit_length()
    if size.bit_length() + bits > 63:
        order = np.argsort(key, kind="stable").astype(np.int32)
        return order, key.take(order)
    placed = key.astype(np.int64)
    placed <<= bits
    placed |= np.arange(len(placed))
    placed.sort()
    order = placed.astype(np.int32)
    order &= np.int32((1 << min(bits, 31)) - 1)
    placed >>= bits
    return order, placed.astype(key.dtype, copy=False)


def distinct_values(values: Array) -> Array:
    """The distinct values, ascending: 0.9 ms for 200,000, where numpy's own function hashes them and takes 40 ms."""
    ordered = np.sort(values)
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered if first.all() else ordered[first]


def first_places(keys: Array, size: int) -> Array | None:
    """The ascending positions at which each of (n,) keys, from 0 to below ``size``, first occurs; None if all are
    distinct."""
    if size <= 4 * len(keys):  # a slot for each key: 200,000 take 2 ms, sorted 16
        slots, places = np.empty(size, np.int32), np.arange(len(keys), dtype=np.int32)
        slots[keys[::-1]] = places[::-1]
        first = slots.take(keys) == places
        return None if first.all() else np.flatnonzero(first)
    order, ordered = in_order(keys, size)
    first = np.ones(len(keys), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    if first.all():
        return None
    flags = np.zeros_like(first)
    flags[order[first]] = True
    return np.flatnonzero(flags)


def first_rows(columns: Sequence[Array], length: int) -> Array | None:
    """The ascending positions at which each row of ids first occurs; None if all are distinct."""
    if length < 2:
        return None
    if not columns:
        return np.zeros(1, np.int64)
    sizes = [int(column.max()).bit_length() for column in columns]
    if sum(sizes) <= BITS:
        return first_places(packed(columns, sizes), 1 << sum(sizes))
    order = np.lexsort(columns[::-1])
    ordered = np.stack(columns).take(order, axis=1)
    first = np.ones(length, bool)
    first[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(0)
    return None if first.all() else np.sort(order[first])


def matches(left: Sequence[Array], right: Sequence[Array]) -> tuple[Array, Array]:
    """The pairs of a row on the left and a row on the right with equal ids: their positions, by those on the right."""
    count = len(left[0])
    both = [np.concatenate(pair) for pair in zip(left, right, strict=True)]
    sizes = [int(column.max(initial=0)).bit_length() for column in both]
    if sum(sizes) > BITS:
        key = np.unique(np.stack(both), axis=1, return_inverse=True)[1].reshape(-1)
    else:
        key = packed(both, sizes)
    order, ordered = in_order(key[:count], int(key.max(initial=0)) + 1)
    low, high = (np.searchsorted(ordered, key[count:], side) for side in ("left", "right"))
    counts = high - low
    at = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(at)) - np.repeat(counts.cumsum() - counts, counts)
    return order.take(low.take(at) + within), at
