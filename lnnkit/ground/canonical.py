"""Rows of facts in an order that says nothing of where they came from: by ids, then by bounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Part = tuple[np.ndarray, ...]
"""Columns of one length: ids (int32) of entities, then lower and upper bounds (float64)."""

_BITS = 63


class Order:
    """The last order that keys were put in: tables about the same things often share it."""

    def __init__(self) -> None:
        self._key = self._order = np.empty(0, np.int64)

    def of(self, key: np.ndarray) -> np.ndarray:
        """The positions of ``key`` in ascending order."""
        if not np.array_equal(key, self._key):
            self._key, self._order = key, np.argsort(key)
        return self._order


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
    if bits * len(ids) > _BITS:
        order = np.lexsort((upper, lower, *reversed(ids)))
        return tuple(column.take(order) for column in columns)
    return _by_key(ids, lower, upper, bits, before)


def _by_key(ids: Sequence[np.ndarray], lower: np.ndarray, upper: np.ndarray, bits: int, before: Order) -> Part:
    """With a row's ids in one whole number."""
    key = ids[0].astype(np.int64)
    for column in ids[1:]:
        key <<= bits
        key |= column
    steps = key[1:] > key[:-1]
    if steps.all():
        return (*ids, lower, upper)
    if _one_value(lower) and _one_value(upper):  # crisp facts: there is nothing beside the ids to put in order
        if not (steps | (key[1:] == key[:-1])).all():
            key.sort()
            ids = _unpacked(key, len(ids), bits)
        return (*ids, lower, upper)
    order = before.of(key)
    key = key.take(order)
    lower, upper = lower.take(order), upper.take(order)
    same = key[1:] == key[:-1]
    if same.any():
        rows = np.flatnonzero(np.append(same, False) | np.append(False, same))
        resorted = rows.take(np.lexsort((upper.take(rows), lower.take(rows), key.take(rows))))
        lower[rows], upper[rows] = lower.take(resorted), upper.take(resorted)
    return (*_unpacked(key, len(ids), bits), lower, upper)


def _one_value(values: np.ndarray) -> bool:
    return bool((values == values[0]).all())


def _unpacked(key: np.ndarray, width: int, bits: int) -> list[np.ndarray]:
    mask = (1 << bits) - 1
    return [(key >> bits * (width - 1 - place) & mask).astype(np.int32) for place in range(width)]
