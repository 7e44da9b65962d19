"""Facts in a canonical order that does not depend on their source: by ids, then by bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lnnkit.store.columns.row_arrays import alike
from lnnkit.store.columns.sorting import BITS, in_order, packed

Part = tuple[np.ndarray, ...]
"""Columns of one length: entity ids (int32), then lower and upper bounds (float64)."""

_BLOCK = 2**16  # keys decoded at a time, a limit of memory; 2 ** 12 to 2 ** 20 differ by noise (inference_constants.py)


class Order:
    """Caches the last columns of ids that were sorted: tables about the same entities often share them."""

    def __init__(self) -> None:
        self._ids: Sequence[np.ndarray] = ()
        self._sorted = _Sorted((), None, np.empty(0, np.int64))

    def of(self, ids: Sequence[np.ndarray], bits: int) -> _Sorted:
        """The columns of ids, each of ``bits`` bits, sorted."""
        if len(ids) != len(self._ids) or not all(map(alike, ids, self._ids)):
            self._ids, self._sorted = ids, _in_order(ids, bits)
        return self._sorted


class _Sorted(NamedTuple):
    """Columns of ``ids`` in ascending order, and the permutation ``order`` of their rows (None: the identity). ``tied``
    are the positions of repeated rows."""

    ids: Sequence[np.ndarray]
    order: np.ndarray | None
    tied: np.ndarray


def merged(parts: Sequence[Part], entities: int, before: Order) -> Part:
    """The rows of all parts, sorted by their columns from the left. Ids are below ``entities``."""
    columns = parts[0] if len(parts) == 1 else tuple(np.concatenate(each) for each in zip(*parts, strict=True))
    *ids, lower, upper = columns
    if not len(lower):
        return columns
    if not ids:
        order = np.lexsort((upper, lower))
        return (lower.take(order), upper.take(order))
    bits = max(entities - 1, 1).bit_length()
    if bits * len(ids) > BITS:
        order = np.lexsort((upper, lower, *reversed(ids)))
        return tuple(column.take(order) for column in columns)
    return _by_key(ids, lower, upper, bits, before)


def _by_key(ids: Sequence[np.ndarray], lower: np.ndarray, upper: np.ndarray, bits: int, before: Order) -> Part:
    """The rows, sorted with the ids of a row packed into one integer."""
    if _one_value(lower) and _one_value(upper):  # crisp facts: rows with equal ids are equal
        key = packed(ids, [bits] * len(ids))
        if not (key[1:] >= key[:-1]).all():
            ids = _unpacked(np.sort(key), len(ids), bits)
        return (*ids, lower, upper)
    found = before.of(ids, bits)
    if found.order is not None:
        lower, upper = lower.take(found.order), upper.take(found.order)
    rows = found.tied
    if len(rows):
        if found.order is None:
            lower, upper = lower.copy(), upper.copy()
        group = packed([column.take(rows) for column in found.ids], [bits] * len(ids))
        resorted = rows.take(np.lexsort((upper.take(rows), lower.take(rows), group)))
        lower[rows], upper[rows] = lower.take(resorted), upper.take(resorted)
    return (*found.ids, lower, upper)


def _in_order(ids: Sequence[np.ndarray], bits: int) -> _Sorted:
    key, order = packed(ids, [bits] * len(ids)), None
    if not (key[1:] >= key[:-1]).all():
        order, key = in_order(key, 1 << bits * len(ids))
        ids = _unpacked(key, len(ids), bits)
    same = key[1:] == key[:-1]
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same)) if same.any() else np.empty(0, np.int64)
    return _Sorted(ids, order, tied)


def _one_value(values: np.ndarray) -> bool:
    return values.strides == (0,) or (values[-1] == values[0] and bool((values == values[0]).all()))


def _unpacked(key: np.ndarray, width: int, bits: int) -> list[np.ndarray]:
    mask = (1 << bits) - 1
    columns = [np.empty(len(key), np.int32) for _ in range(width)]
    for start in range(0, len(key), _BLOCK):
        block = slice(start, start + _BLOCK)
        for place, column in enumerate(columns):
            column[block] = key[block] >> bits * (width - 1 - place) & mask
    return columns
