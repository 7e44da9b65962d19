"""The output of scoring, by its name: Parquet, CSV or an Arrow file, put at its place in one step when it is whole."""

from __future__ import annotations

import csv
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnnkit.data.table_fault import Unreadable
from lnnkit.scoring.unit_parts import BadRow

if TYPE_CHECKING:
    from typing import Self

    import pyarrow as pa

SUFFIXES = (".parquet", ".pq", ".csv", ".arrow", ".feather")


def require_known(path: Path) -> None:
    """Raises `Unreadable` for a name that says no format."""
    if path.suffix.lower() not in SUFFIXES:
        hint = f"its name ends in one of {' '.join(SUFFIXES)}"
        raise Unreadable("unknown-format", f'"{path.name}" cannot be written as a table', hint)


class OutputFile:
    """A file that is written batch by batch, in a ``folder`` beside its place until it is whole. Left by an exception,
    nothing is at its place."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path = path
        self._partial = folder / f"output.{secrets.token_hex(4)}.partial"
        self._writer: Any = None
        self._sink: Any = None

    def __enter__(self) -> Self:
        return self

    def write(self, batch: pa.RecordBatch) -> None:
        """Some rows; texts of states stay coded where the format can hold that."""
        import pyarrow as pa

        suffix = self.path.suffix.lower()
        if suffix == ".csv":
            fields = [
                pa.field(each.name, pa.string()) if pa.types.is_dictionary(each.type) else each for each in batch.schema
            ]
            batch = batch.cast(pa.schema(fields))
        if self._writer is None:
            self._writer = self._open(batch.schema, suffix)
        if suffix in (".parquet", ".pq"):
            self._writer.write_table(pa.Table.from_batches([batch]))
        else:
            self._writer.write_batch(batch)

    def _open(self, schema: pa.Schema, suffix: str) -> Any:
        import pyarrow as pa

        if suffix == ".csv":
            from pyarrow.csv import CSVWriter

            return CSVWriter(str(self._partial), schema)
        if suffix in (".parquet", ".pq"):
            import pyarrow.parquet as pq

            coded = [each.name for each in schema if pa.types.is_dictionary(each.type)]
            codes: Any = coded  # pyarrow's stubs know a flag for all columns alone
            return pq.ParquetWriter(self._partial, schema, use_dictionary=codes, write_statistics=False)
        self._sink = pa.OSFile(str(self._partial), "wb")
        return pa.ipc.new_file(self._sink, schema)

    def __exit__(self, kind: object, problem: object, trace: object) -> None:
        try:
            if self._writer is not None:
                self._writer.close()
            if self._sink is not None:
                self._sink.close()
            if kind is None and self._writer is not None:
                os.replace(self._partial, self.path)
        finally:
            self._partial.unlink(missing_ok=True)


class BadRowsFile:
    """A CSV of the rows that were left out, put at its place when it is whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self._partial = path.with_name(f".{path.name[:100]}.part")

    def __enter__(self) -> Self:
        self._file = self._partial.open("w", encoding="utf-8", newline="")
        self._rows = csv.writer(self._file)
        self._rows.writerow(["file", "row", "code", "message"])
        return self

    def write(self, rows: list[BadRow]) -> None:
        self.count += len(rows)
        self._rows.writerows([each.file, each.row, each.code, each.message] for each in rows)

    def __exit__(self, kind: object, problem: object, trace: object) -> None:
        try:
            self._file.close()
            if kind is None:
                os.replace(self._partial, self.path)
        finally:
            self._partial.unlink(missing_ok=True)
