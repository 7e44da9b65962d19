"""Reads Parquet: bytes to a sheet of typed columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lnnkit.data.frames import UNNAMED_INDEX
from lnnkit.data.grid import Grid, Sheet
from lnnkit.data.source import RawTable
from lnnkit.data.table_fault import Unreadable


def open_parquet(raw: RawTable) -> Sheet:
    """The sheet of a Parquet file; rows count from 1. An unnamed pandas index at its end is ignored."""
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(raw.data))
        names = list(file.schema_arrow.names)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Unreadable("unreadable-file", f'"{raw.path}" is not a Parquet file: {error}') from None
    while names and UNNAMED_INDEX.fullmatch(names[-1]):
        names.pop()

    def read(wanted: Sequence[int]) -> Grid:
        chosen = [names[position] for position in wanted]
        plain = len(set(file.schema_arrow.names)) == len(file.schema_arrow.names) and not any("." in n for n in chosen)
        try:
            table = file.read(columns=chosen if plain else None)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise Unreadable("unreadable-file", f'"{raw.path}" cannot be read: {error}') from None
        columns = {position: table.column(names[position] if plain else position) for position in wanted}
        return Grid(dict(columns), np.arange(1, file.metadata.num_rows + 1, dtype=np.int64))

    return Sheet(f'"{raw.path}"', tuple(names), True, read, raw.format)
