"""Deduplication of rows: if the columns that are read have few distinct values, a strip is reduced to one row for each
combination. Rows are independent, so all rows of a combination have the same answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.rows.dense.dense_state import Coded, Column, Strip
from lnnkit.store.columns.row_arrays import Array

# Measured by `python -m benchmarks.inference_constants`: 200,000 rows of 2,187 combinations take 56 CPU ms.
_MOST = 4096  # greatest number of combinations; 1024: 157 ms, since these are more and are not merged, 65,536: 62 ms
_LEAST = 4  # least mean number of rows of a combination; 1: 67 ms, 16: 55 ms, 64: 136 ms
_VALUES = 4  # greatest number of distinct values of a column; 2: 114 ms, since three are not merged, 16: 56 ms
_SAMPLE = 64  # rows sampled for distinct values; 4 miss some: 127 ms, 16: 58 ms, 1024: 54 ms


@dataclass(frozen=True, slots=True)
class Distinct:
    """A ``strip`` with one row for each combination, and the index of each row's combination in ``places``, int32
    (n,)."""

    strip: Strip
    places: Array


def distinct_rows(strip: Strip, names: Sequence[str]) -> Distinct | None:
    """The distinct combinations of the columns with these names; None if there are too many."""
    by_name: dict[str, tuple[Coded, Array | None]] = {}
    count = 1
    for name in names:
        column = strip.column(name)
        coded = _coded(column)
        if coded is None:
            return None
        given = column.given if column.given is not None and not bool(column.given.all()) else None
        count *= len(coded.lower) * (1 if given is None else 2)
        if count > min(_MOST, strip.length // _LEAST):
            return None
        by_name[name] = coded, given
    key = np.zeros(strip.length, np.uint8 if count <= 256 else np.int32)
    every, weight = np.arange(count), 1
    columns: dict[str, Column] = {}

    def digit(codes: Array, size: int) -> Array:
        """Adds a digit to the mixed-radix key; returns its value in each combination."""
        nonlocal key, weight
        if size == 1:
            return np.zeros(count, np.int64)
        key += codes.astype(key.dtype, copy=False) * key.dtype.type(weight)
        values = every // weight % size
        weight *= size
        return values

    for name, (coded, given) in by_name.items():
        before, places = strip.column(name), digit(coded.codes, len(coded.lower))
        lower = coded.lower.take(places)
        upper = lower if coded.upper is coded.lower else coded.upper.take(places)
        listed = None if before.given is None else np.ones(count, dtype=bool)
        if given is not None:
            listed = digit(given.view(np.uint8), 2) == 1
        columns[name] = Column(before.table, lower, upper, listed)
    return Distinct(Strip(count, columns), key.astype(np.int32))


def _coded(column: Column) -> Coded | None:
    """The column's bounds as codes, if they take few values and none is arrested."""
    if column.coded is not None:
        return column.coded
    if column.arrested is not None:
        return None
    one = _few(column.lower)
    if one is None:
        return None
    if column.upper is column.lower:
        ends = one[1]
        return Coded(one[0], ends, ends)
    other = _few(column.upper)
    if other is None:
        return None
    codes = one[0] + other[0] * np.uint8(len(one[1]))
    lower, upper = np.tile(one[1], len(other[1])), np.repeat(other[1], len(one[1]))
    return Coded(codes, lower, upper)


def _few(values: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The codes, uint8, and the distinct values; None if there are many."""
    kinds = np.unique(values[:: max(1, len(values) // _SAMPLE)])
    if not len(kinds) or len(kinds) > _VALUES:
        return None
    codes = np.zeros(len(values), np.uint8)
    seen = 0
    for code, value in enumerate(kinds.tolist()):
        here = values == value
        seen += int(np.count_nonzero(here))
        if code:
            codes += here.view(np.uint8) * np.uint8(code)
    return (codes, kinds) if seen == len(values) else None
