"""Reads frames and columns of other libraries through the Arrow interfaces, without importing any of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import Column, without_views
from lnnkit.data.grid import Grid, Sheet
from lnnkit.data.source import Unreadable

UNNAMED_INDEX = re.compile(r"__index_level_\d+__")


def arrow_sheet(table: Any, source: str) -> Sheet:
    """The sheet of any object with an Arrow interface; rows count from 1. A named pandas index becomes the first
    columns, as ``reset_index`` does; an unnamed one is ignored."""
    kind = type(table).__name__
    try:
        held = _table(table)
    except Exception as error:  # the object's own code runs here: whatever it raises, it is no table
        raise Unreadable("wrong-table", f"a {kind} cannot be read as a table: {error}") from None
    order = _columns(held, type(table).__module__.startswith("pandas"))
    names = tuple(held.column_names[place] for place in order)
    rows = np.arange(1, held.num_rows + 1, dtype=np.int64)

    def read(wanted: Sequence[int]) -> Grid:
        columns: dict[int, Column] = {place: without_views(held.column(order[place])) for place in wanted}
        return Grid(columns, rows)

    assert isinstance(held, pa.Table)
    return Sheet(source, names, True, read)


def _table(table: Any) -> pa.Table:
    if isinstance(table, pa.Table):
        return table
    if hasattr(table, "__arrow_c_stream__"):
        try:
            reader = pa.RecordBatchReader.from_stream(table)
        except pa.ArrowInvalid:  # a stream of one column: a Series
            return pa.table([pa.chunked_array(table)], ["1"])
        return reader.read_all()
    if hasattr(table, "__arrow_c_array__"):
        if isinstance(table, pa.Array):
            return pa.table([table], ["1"])
        return pa.Table.from_batches([pa.record_batch(table)])
    from pyarrow.interchange import from_dataframe

    return from_dataframe(table)


def _columns(table: pa.Table, pandas: bool) -> list[int]:
    """The positions of the columns, in the order that the user sees."""
    names = table.column_names
    order = list(range(len(names)))
    while order and UNNAMED_INDEX.fullmatch(names[order[-1]]):
        order.pop()
    metadata = (table.schema.metadata or {}).get(b"pandas")
    if pandas and metadata:
        index = [name for name in json.loads(metadata)["index_columns"] if isinstance(name, str)]
        front = [place for place in order if place >= len(names) - len(index) and names[place] in index]
        order = front + [place for place in order if place not in front]
    return order


def column_of(values: Any, title: str) -> Column:
    """One column: an Arrow array if the values are one or a numeric array, otherwise a list."""
    problem: object = f"it is a {type(values).__name__}"
    try:
        if isinstance(values, (pa.Array, pa.ChunkedArray)):
            return without_views(values)
        if hasattr(values, "__arrow_c_stream__"):
            return without_views(pa.chunked_array(values))
        if hasattr(values, "__arrow_c_array__"):
            return without_views(pa.array(values))
        if hasattr(values, "__array__"):
            return _from_array(values)
        if isinstance(values, Iterable) and not isinstance(values, (str, bytes, Mapping)):
            return list(values)
    except Exception as error:  # as above: the object's own code
        problem = error
    hint = 'a mapping is read as columns: {"person": ["anna", "bob"], "age": [34, 27]}'
    raise Unreadable("wrong-table", f"{title} is not a sequence of values: {problem}", hint)


def _from_array(values: Any) -> Column:
    if isinstance(values, np.ma.MaskedArray) and values.ndim == 1:
        return values.tolist()  # what is masked is None
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"it has {array.ndim} dimensions")
    if array.dtype.kind == "f":
        array = array.astype(np.float64, copy=False)
    if array.dtype.kind not in "fiu":
        return array.tolist()
    held = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    return pa.Array.from_buffers(pa.from_numpy_dtype(held.dtype), len(held), [None, pa.py_buffer(held)])
