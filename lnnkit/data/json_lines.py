"""Reads JSON lines, an object in each line: bytes to a sheet of typed columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lnnkit.data.grid import Grid, Sheet
from lnnkit.data.source import RawTable
from lnnkit.data.table_fault import Unreadable


def open_json_lines(raw: RawTable) -> Sheet:
    """The sheet of a file of JSON lines; rows count as the lines do. The columns are the keys of all objects, a key
    that an object lacks is a missing cell, and dates stay text."""
    from pyarrow import json

    def parsed(schema: pa.Schema | None) -> pa.Table:
        reading = json.ReadOptions(use_threads=False, block_size=min(len(raw.data) + 1, 2**31 - 1))
        parsing = json.ParseOptions(explicit_schema=schema)
        return json.read_json(pa.BufferReader(raw.data.removeprefix(b"\xef\xbb\xbf")), reading, parsing)

    try:
        table = parsed(None)
        dated = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
        if dated:
            table = parsed(pa.schema([(name, pa.string()) for name in dated]))
    except (pa.ArrowException, OSError, ValueError) as error:
        hint = "each line is one object, whose values under one key are of one type"
        raise Unreadable("unreadable-file", f'"{raw.path}" cannot be read as JSON lines: {error}', hint) from None
    lines = [number for number, line in enumerate(raw.data.split(b"\n"), start=1) if line.strip()]
    rows = np.array(lines if len(lines) == table.num_rows else range(1, table.num_rows + 1), np.int64)

    def read(wanted: Sequence[int]) -> Grid:
        return Grid({position: table.column(position) for position in wanted}, rows)

    return Sheet(f'"{raw.path}"', tuple(table.column_names), True, read, raw.format)
