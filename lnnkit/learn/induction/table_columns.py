"""Reads tables of any kind as columns of numbers and categories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from lnnkit.learn.induction.table_literals import TableColumn, missing

_MICROSECONDS = 86_400_000_000  # microseconds of a day
_KINDS: dict[Literal["truth", "number", "date", "duration"], tuple[type, ...]] = {
    "truth": (bool, np.bool_),
    "number": (int, float, np.number),
    "date": (date, np.datetime64),
    "duration": (timedelta, np.timedelta64),
}
"""The types of the cells of a column of objects, by the kind of their numbers; those of a category are any others."""


def columns_of(table: Any) -> list[TableColumn]:
    """The columns of a data frame or an Arrow table, by name, or of a two-dimensional array (``x0``, ``x1``, ...).
    Dates and durations are converted to days. A column that holds neither numbers nor truth values is a category, by
    its text."""
    if hasattr(table, "__arrow_c_stream__") and not hasattr(table, "iloc"):  # Arrow, polars, DuckDB
        arrow = pa.table(table)
        return [_column(name, _cells(cells)) for name, cells in zip(arrow.column_names, arrow.columns, strict=True)]
    if hasattr(table, "columns"):
        return [_column(str(name), table[name]) for name in table.columns]
    array = np.asarray(table)
    return [_column(f"x{place}", array[:, place]) for place in range(array.shape[1])]


def _cells(column: pa.ChunkedArray) -> np.ndarray:
    kind = column.type
    if pa.types.is_dictionary(kind):  # to_numpy loses gaps, and not all kinds can be cast
        parts = [
            np.array([*chunk.dictionary.to_pylist(), None], object)[
                chunk.indices.cast(pa.int64()).fill_null(-1).to_numpy()
            ]
            for chunk in column.chunks
        ]
        return np.concatenate([np.zeros(0, object), *parts])
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    return column.to_numpy()


def _column(name: str, values: Any) -> TableColumn:
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    if kind == "b":
        return TableColumn(name, np.asarray(values, dtype=np.float64), "truth")
    if kind in "fiu":
        return TableColumn(name, np.asarray(values, dtype=np.float64))
    if kind in "mM":
        return _days(name, values, "date" if kind == "M" else "duration")
    cells = [None if value is None or value != value or str(value) == "<NA>" else value for value in values]
    known = [value for value in cells if value is not None]
    kinds = (kind for kind, types in _KINDS.items() if known and all(isinstance(value, types) for value in known))
    kind = next(kinds, None)
    if kind in ("truth", "number"):
        return TableColumn(name, np.array([np.nan if value is None else float(value) for value in cells]), kind)
    if kind == "date" or kind == "duration":
        return _days(name, cells, kind)
    return TableColumn(name, np.array([None if value is None else str(value) for value in cells], object))


def _days(name: str, values: Any, kind: Literal["date", "duration"]) -> TableColumn:
    """Dates as days since 1970-01-01, durations as days; those with a time zone by universal time."""
    if kind == "date" and getattr(getattr(values, "dt", None), "tz", None) is not None:
        values = values.dt.tz_convert(None)
    if isinstance(values, list):
        values = [_universal(value) for value in values]
    times = np.asarray(values).astype("datetime64[us]" if kind == "date" else "timedelta64[us]")
    numbers = times.astype(np.int64) / _MICROSECONDS
    numbers[np.isnat(times)] = np.nan
    return TableColumn(name, numbers, kind)


def _universal(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


def as_fitted(column: TableColumn, fitted: TableColumn) -> TableColumn:
    """A column for prediction, converted to the kind of ``fitted`` in training. Raises ``ValueError`` if it cannot."""
    gaps = missing(column)
    if (column.numeric, column.kind) == (fitted.numeric, fitted.kind):
        return column
    if gaps.all():
        return fitted.of(np.full(len(gaps), np.nan) if fitted.numeric else np.full(len(gaps), None, object))
    kinds = (column.kind, fitted.kind) if column.numeric and fitted.numeric else None
    truths = kinds == ("number", "truth") and set(np.unique(column.values[~gaps])) <= {0.0, 1.0}
    if truths or kinds == ("truth", "number"):
        return fitted.of(column.values)
    if not fitted.numeric and column.kind == "number":
        texts = [
            None if gap else str(int(value) if value.is_integer() else value)
            for value, gap in zip(column.values.tolist(), gaps, strict=True)
        ]
        return fitted.of(np.array(texts, object))
    raise ValueError(f"column {column.name!r} held {_said(fitted)} in fit, and holds {_said(column)} here")


def _said(column: TableColumn) -> str:
    words = {"number": "numbers", "truth": "truth values", "date": "dates", "duration": "durations"}
    return words[column.kind] if column.numeric else "texts"


def in_order(
    columns: Sequence[TableColumn], codes: np.ndarray, weight: np.ndarray
) -> tuple[list[TableColumn], np.ndarray, np.ndarray]:
    """The rows in a canonical order that does not depend on their source; rows of integral weight are repeated, other
    weights scaled to a mean of 1, rows of weight 0 dropped."""
    times = np.ones(len(codes), dtype=int) if (weight % 1).any() else weight.astype(int)
    keys = [codes]
    for column in columns:
        values = column.values
        if not column.numeric:
            values = np.array(["" if value is None else f"={value}" for value in values.tolist()])
        keys.append(values)
    order = np.lexsort(keys)
    order = np.repeat(order, times[order])
    order = order[weight[order] > 0]
    shares = weight[order] / weight[order].mean() if (weight % 1).any() else np.ones(len(order))
    return [column.of(column.values[order]) for column in columns], codes[order], shares


def without_rows(column: TableColumn) -> TableColumn:
    """The column without its rows; a category keeps its values."""
    if column.numeric:
        return column.of(np.zeros(0))
    return column.of(np.array(sorted({text for text in column.values.tolist() if text is not None}), object))
