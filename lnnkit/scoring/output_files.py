"""The files of scoring, moved into place in one step once complete: the answers, in Parquet, CSV or Arrow by the file
name, and the rows that were left out."""

from __future__ import annotations

import contextlib
import csv
import os
import secrets
import shutil
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from lnnkit.data.files import Unreadable, is_special
from lnnkit.rows.scorer import without_codes
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

SUFFIXES = (".parquet", ".pq", ".csv", ".arrow", ".feather")


def require_known(path: Path) -> None:
    """Raises `Unreadable` if the file name has no known suffix, or is that of a pipe or a device."""
    if path.suffix.lower() not in SUFFIXES:
        hint = f"its name ends in one of {' '.join(SUFFIXES)}"
        raise Unreadable("unknown-format", f'"{path.name}" cannot be written as a table', hint)
    if is_special(path):
        raise Unreadable("unwritable-file", f'"{path}" cannot be written: it is no regular file', "name another file")


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """An ``OSError`` within names the path."""
    try:
        yield
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(path)) from None


@contextlib.contextmanager
def _moved(path: Path, partial: Path, target: Path, *, binary: bool) -> Iterator[IO[Any]]:
    """A file that replaces the ``target`` in one step once complete, and keeps its mode; after an exception it is
    removed. If both are one path, it is written in place. An ``OSError`` names the ``path``."""
    try:
        with _named(path):
            file = partial.open("wb") if binary else partial.open("w", encoding="utf-8", newline="")
        try:
            yield file
        except BaseException:
            with contextlib.suppress(OSError):
                file.close()
            raise
        with _named(path):
            file.close()
            if partial != target:
                if target.exists():
                    shutil.copymode(target, partial)
                os.replace(partial, target)
    finally:
        if partial != target:
            partial.unlink(missing_ok=True)


@contextlib.contextmanager
def output_file(path: Path, folder: Path) -> Iterator[OutputFile]:
    """The answers at a path, written in a ``folder`` beside it until they are complete."""
    partial = folder / f"output.{secrets.token_hex(4)}.partial"
    with _moved(path, partial, path, binary=True) as sink:
        output = OutputFile(path, sink)
        try:
            yield output
        except BaseException:
            with contextlib.suppress(OSError):
                output.close()
            raise
        output.close()


class OutputFile:
    """Answers that are written to a ``sink`` in the format of their ``path``."""

    def __init__(self, path: Path, sink: IO[bytes]) -> None:
        self.path = path
        self._sink = sink
        self._schema: pa.Schema | None = None  # of the rows before; a stream of several files may have several
        self._writer: Any = None

    def close(self) -> None:
        """Write the end of the file; while the sink is open, or the writer would complain later."""
        if self._writer is not None:
            self._writer.close()

    def append(self, part: Path) -> None:
        """Append the batches of a part, an Arrow file; states stay dictionary-encoded where the format allows it.
        Raises `Unreadable` if the keys are of another type than before, and the format holds one type."""
        import pyarrow as pa

        with pa.OSFile(str(part)) as source:
            reader = pa.ipc.open_file(source)
            text = self.path.suffix.lower() == ".csv"
            schema = without_codes(reader.schema) if text else reader.schema
            if self._schema is None or (text and schema != self._schema):
                self._writer, self._schema = self._begun(schema), schema
            kinds = self._schema
            assert kinds is not None
            for place in range(reader.num_record_batches):
                try:
                    batch = reader.get_batch(place).rename_columns(kinds.names).cast(kinds)
                except pa.ArrowInvalid as error:
                    message = f"the column that names the rows has two types: {error}"
                    raise Unreadable("bad-column", message, "write a CSV, or give it one type in all files") from None
                self._writer.write(batch)

    def _begun(self, schema: pa.Schema) -> Any:
        """A writer of batches; a CSV has one header, whatever follows."""
        import pyarrow as pa

        match self.path.suffix.lower():
            case ".csv":
                from pyarrow.csv import CSVWriter, WriteOptions

                return CSVWriter(self._sink, schema, write_options=WriteOptions(include_header=self._writer is None))
            case ".parquet" | ".pq":
                import pyarrow.parquet as pq

                coded = [field.name for field in schema if pa.types.is_dictionary(field.type)]
                codes: Any = coded  # pyarrow's stubs know a flag for all columns alone
                return pq.ParquetWriter(self._sink, schema, use_dictionary=codes, write_statistics=False)
            case _:
                return pa.ipc.new_file(self._sink, schema)


class BadRow(NamedTuple):
    """A row that was left out."""

    file: str
    row: int
    code: str
    message: str

    @staticmethod
    def of(finding: Diagnostic) -> BadRow:
        return BadRow(finding.file or "", finding.row or 0, finding.code, finding.message)


@contextlib.contextmanager
def bad_rows_file(path: Path) -> Iterator[Callable[[list[BadRow]], None]]:
    """A CSV of the rows that were left out, moved into place once complete; a pipe or a device is written at once.
    Gives what writes rows."""
    target = path if is_special(path) else Path(os.path.realpath(path))
    partial = path if is_special(path) else target.with_name(f".{path.name[:100]}.part")
    with _moved(path, partial, target, binary=False) as file:
        rows = csv.writer(file)

        def write(bad: Sequence[Sequence[object]]) -> None:
            with _named(path):
                rows.writerows(bad)

        write([BadRow._fields])
        yield write
