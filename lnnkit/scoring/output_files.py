"""The output of scoring: Parquet, CSV or Arrow, by the file name; moved into place in one step once complete."""

from __future__ import annotations

import contextlib
import csv
import os
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnnkit.data.files import is_special
from lnnkit.data.source import Unreadable
from lnnkit.scoring.bad_rows import BadRow
from lnnkit.scoring.parquet_joining import JoinedParquet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    import pyarrow as pa

SUFFIXES = (".parquet", ".pq", ".csv", ".arrow", ".feather")


def require_known(path: Path) -> None:
    """Raises `Unreadable` if the file name has no known suffix, or is that of a pipe or a device."""
    if path.suffix.lower() not in SUFFIXES:
        hint = f"its name ends in one of {' '.join(SUFFIXES)}"
        raise Unreadable("unknown-format", f'"{path.name}" cannot be written as a table', hint)
    if is_special(path):
        raise Unreadable("unwritable-file", f'"{path}" cannot be written: it is no regular file', "name another file")


def move(partial: Path, target: Path) -> None:
    """Replace a file in one step; the new one keeps its mode."""
    if target.exists():
        shutil.copymode(target, partial)
    os.replace(partial, target)


class OutputFile:
    """A file that is joined from parts in a ``folder`` beside its path, and moved to the path when it is complete.
    After an exception there is nothing at the path."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path = path
        self._partial = folder / f"output.{secrets.token_hex(4)}.partial"
        self._joined: Any = None  # what writes the ends of the file, where the format has any

    def __enter__(self) -> Self:
        self._sink = self._partial.open("wb")
        return self

    def append(self, part: Path, header: int = 0) -> None:
        """Append a part, a complete file of the same format. A CSV part that is not the first is appended without its
        ``header``, given as its number of bytes."""
        import pyarrow as pa

        match _format(self.path):
            case "parquet":
                self._joined = self._joined or JoinedParquet(self._sink)
                self._joined.append(part)
            case "csv":
                with part.open("rb") as source:
                    source.seek(header if self._sink.tell() else 0)
                    shutil.copyfileobj(source, self._sink, 1 << 22)
            case _:
                with pa.memory_map(str(part)) as source:
                    reader = pa.ipc.open_file(source)
                    self._joined = self._joined or pa.ipc.new_file(self._sink, reader.schema)
                    for place in range(reader.num_record_batches):
                        self._joined.write_batch(reader.get_batch(place))

    def __exit__(self, kind: object, problem: object, trace: object) -> None:
        try:
            if kind is None and self._joined is not None:
                self._joined.close()
            self._sink.close()
            if kind is None:
                move(self._partial, self.path)
        finally:
            self._partial.unlink(missing_ok=True)


def _format(path: Path) -> str:
    suffix = path.suffix.lower()
    return {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}.get(suffix, "arrow")


class PartWriter:
    """Writes batches into one part of an output, in the output's format."""

    def __init__(self, output: Path, sink: pa.NativeFile, schema: pa.Schema) -> None:
        import pyarrow as pa

        self._kind = _format(output)
        self.header = 0
        if self._kind == "csv":
            from pyarrow.csv import CSVWriter, WriteOptions

            self._schema = pa.schema(
                [pa.field(field.name, pa.string()) if pa.types.is_dictionary(field.type) else field for field in schema]
            )
            names = pa.BufferOutputStream()
            CSVWriter(names, self._schema).close()
            sink.write(head := names.getvalue())
            self.header = len(head)
            self._writer: Any = CSVWriter(sink, self._schema, write_options=WriteOptions(include_header=False))
        elif self._kind == "parquet":
            import pyarrow.parquet as pq

            coded = [field.name for field in schema if pa.types.is_dictionary(field.type)]
            codes: Any = coded  # pyarrow's stubs know a flag for all columns alone
            self._writer = pq.ParquetWriter(sink, schema, use_dictionary=codes, write_statistics=False)
        else:
            self._writer = pa.ipc.new_file(sink, schema)

    def write(self, batch: pa.RecordBatch) -> None:
        """Write some rows; states stay dictionary-encoded where the format allows it."""
        import pyarrow as pa

        if self._kind == "parquet":
            self._writer.write_table(pa.Table.from_batches([batch]))
        else:
            self._writer.write_batch(batch.cast(self._schema) if self._kind == "csv" else batch)

    def close(self) -> None:
        self._writer.close()


class BadRowsFile:
    """A CSV of the rows that were left out, moved into place once complete; a pipe or a device is written at once. An
    ``OSError`` names its ``path``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self._target = path if is_special(path) else Path(os.path.realpath(path))
        self._partial = path if is_special(path) else self._target.with_name(f".{path.name[:100]}.part")

    def __enter__(self) -> Self:
        with self._named():
            self._file = self._partial.open("w", encoding="utf-8", newline="")
        self._rows = csv.writer(self._file)
        self._rows.writerow(["file", "row", "code", "message"])
        return self

    def write(self, rows: list[BadRow]) -> None:
        self.count += len(rows)
        with self._named():
            self._rows.writerows(rows)

    def __exit__(self, kind: object, problem: object, trace: object) -> None:
        try:
            with self._named() if kind is None else contextlib.suppress(OSError):
                self._file.close()
            if kind is None and self._partial != self._target:
                with self._named():
                    move(self._partial, self._target)
        finally:
            if self._partial != self._target:
                self._partial.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise OSError(problem.errno, problem.strerror, str(self.path)) from None
