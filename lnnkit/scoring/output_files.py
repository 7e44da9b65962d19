"""The files of scoring, moved into place in one step once complete: the answers, in Parquet, CSV or Arrow by the file
name, and the rows that were left out; and parts, the answers of each unit, in a file beside the output. An interrupted
run of the same program over the same rows and tables continues from its parts."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import json
import os
import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from lnnkit.answer_table import STATES
from lnnkit.data.arrow import view
from lnnkit.data.files import Unreadable, is_special, moved, naming
from lnnkit.data.table import FactTable
from lnnkit.rows.scorer import RowScorer, as_texts
from lnnkit.rows.strip_facts import KeyRange
from lnnkit.scoring.row_streams import in_bytes
from lnnkit.scoring.workers import OutputLock
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
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
def output_file(path: Path, folder: Path) -> Iterator[OutputFile]:
    """The answers at a path, written in a ``folder`` beside it until they are complete."""
    partial = folder / f"output.{secrets.token_hex(4)}.partial"
    with moved(path, partial, path, binary=True) as sink:
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
            shown = as_texts if text else lambda batch: batch
            schema = shown(pa.RecordBatch.from_pylist([], reader.schema)).schema
            if self._schema is None or (text and schema != self._schema):
                self._writer, self._schema = self._begun(schema), schema
            kinds = self._schema
            assert kinds is not None
            for place in range(reader.num_record_batches):
                try:
                    batch = shown(reader.get_batch(place)).rename_columns(kinds.names).cast(kinds)
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
    with moved(path, partial, target, binary=False) as file:
        rows = csv.writer(file)

        def write(bad: Sequence[Sequence[object]]) -> None:
            with naming(path):
                rows.writerows(bad)

        write([BadRow._fields])
        yield write


PARTS = "4"
"""The version of the parts' format: a run does not continue from parts of another version."""


@dataclass(slots=True)
class Summary:
    """What a part holds: how many ``rows`` in how many ``batches``, for each query how many have each state, the rows
    that were left out, and the ``keys`` of its rows."""

    rows: int = 0
    batches: int = 0
    states: dict[str, Counter[str]] = field(default_factory=dict)
    bad: list[BadRow] = field(default_factory=list)
    keys: KeyRange = field(default_factory=KeyRange)

    def count(self, batch: pa.RecordBatch) -> None:
        """Add the rows of a batch."""
        import numpy as np

        self.rows += batch.num_rows
        self.batches += 1
        self.keys = self.keys.then(KeyRange.of(batch.column(0)))
        for name in batch.schema.names:
            if name.endswith("_state"):
                counted = np.bincount(view(batch.column(name).indices, np.int32), minlength=len(STATES)).tolist()
                counts = self.states.setdefault(name.removesuffix("_state"), Counter())
                counts.update({state: count for state, count in zip(STATES, counted, strict=True) if count})

    def text(self) -> str:
        return json.dumps([self.rows, self.batches, self.states, self.bad, self.keys])

    @staticmethod
    def read(text: str) -> Summary:
        rows, batches, states, bad, keys = json.loads(text)
        counted = {name: Counter(counts) for name, counts in states.items()}
        return Summary(rows, batches, counted, [BadRow(*row) for row in bad], KeyRange(*keys))


@dataclass(frozen=True, slots=True)
class OutputParts:
    """The parts of one ``output``, Arrow files in a ``folder`` beside it. Each run has its own subfolder, named by its
    ``plan``, so that a worker that outlives a killed run cannot write into another run's parts."""

    output: Path
    plan: str = ""

    @property
    def folder(self) -> Path:
        return self.output.with_name(f".{self.output.name}.parts")

    @property
    def lock(self) -> OutputLock:
        """The lock that a run holds."""
        return OutputLock(self.output, self.folder / "lock")

    @property
    def _run_folder(self) -> Path:
        return self.folder / self.plan

    def prepared(self, plan: str | None) -> tuple[OutputParts, int]:
        """The parts of a run with this ``plan``, and their number; parts of other plans are removed. A run without a
        plan has none."""
        parts = OutputParts(self.output, plan or secrets.token_hex(16))
        parts._run_folder.mkdir(parents=True, exist_ok=True)
        for path in self.folder.iterdir():
            if path.is_dir() and path != parts._run_folder:
                shutil.rmtree(path, ignore_errors=True)
        for left in self.folder.rglob("*.partial"):
            left.unlink(missing_ok=True)
        return parts, sum(parts.has(int(part.stem)) for part in parts._run_folder.glob("*.part"))

    def path(self, number: int) -> Path:
        return self._run_folder / f"{number:08}.part"

    def has(self, number: int) -> bool:
        """Whether both the part and its summary exist: a run that was killed while removing them may leave either."""
        return self.path(number).exists() and self._summary(number).exists()

    def write(self, number: int, batches: Iterable[tuple[pa.RecordBatch, list[BadRow]]]) -> None:
        """Write the answers of a unit and its left-out rows atomically."""
        import pyarrow as pa

        partial = self._run_folder / f"{number:08}.{secrets.token_hex(4)}.partial"
        partial_summary = partial.with_suffix(".json.partial")
        try:
            summary = Summary()
            with contextlib.ExitStack() as stack:
                sink, writer = stack.enter_context(pa.OSFile(str(partial), "wb")), None
                for batch, wrong in batches:
                    writer = writer or stack.enter_context(pa.ipc.new_file(sink, batch.schema))
                    writer.write(batch)
                    summary.count(batch)
                    summary.bad += wrong
            partial_summary.write_text(summary.text(), encoding="utf-8")
            self.path(number).unlink(missing_ok=True)  # an earlier one does not belong to this summary
            os.replace(partial_summary, self._summary(number))
            os.replace(partial, self.path(number))
        except BaseException:
            partial.unlink(missing_ok=True)
            partial_summary.unlink(missing_ok=True)
            raise

    def summary(self, number: int) -> Summary:
        """The summary of a part."""
        return Summary.read(self._summary(number).read_text(encoding="utf-8"))

    def _summary(self, number: int) -> Path:
        return self._run_folder / f"{number:08}.json"

    def remove_empty(self) -> None:
        """Remove the folder if it holds no part."""
        if self.folder.exists() and not any(self.folder.glob("*/*.part")):
            self.remove()

    def remove(self) -> None:
        """Remove the folder, its lock last: another run may begin from then on."""
        with contextlib.suppress(OSError):
            for path in self.folder.iterdir():
                if path != self.lock.path:
                    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
            self.lock.path.unlink(missing_ok=True)
            self.folder.rmdir()


def plan_of(scorer: RowScorer, identity: str, *, lenient: bool) -> str:
    """A digest of all that the parts of a run depend on: the program, all its facts, the options, the version, and the
    stream of this ``identity``."""
    model = scorer.model
    digest = hashlib.sha256()
    texts = [statement.span.source.text for statement in (*model.program.assertions, *model.program.queries)]
    texts += [repr(model.program), repr(model.loads), repr((scorer.alpha, scorer.why)), identity, str(lenient)]
    texts += [PARTS, version("lnnkit")]
    for text in texts:
        digest.update(hashlib.sha256(text.encode()).digest())
    for table in (*model.program.tables, *model.sides):
        for content in _contents(table):
            digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


def _contents(table: FactTable) -> Iterator[bytes | pa.Buffer]:
    """All facts of a table: its text form shows the first of them alone."""
    import pyarrow as pa

    yield in_bytes([pa.record_batch({"name": table.names.arrow})])
    yield from (column.codes.tobytes() for column in table.columns)
    yield table.lower.tobytes()
    yield table.upper.tobytes()
