"""Parts: the answers of each unit, in a file beside the output that is written whole or not at all. An interrupted run
of the same program over the same rows and tables continues from them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.answer_table import STATES
from lnnkit.data.arrow import view
from lnnkit.data.table import FactTable
from lnnkit.rows.strip_facts import KeyRange
from lnnkit.scoring.output_files import BadRow
from lnnkit.scoring.workers import OutputLock

if TYPE_CHECKING:
    import pyarrow as pa

    from lnnkit.rows.scorer import RowScorer

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
        states = {name: Counter(counts) for name, counts in states.items()}
        return Summary(rows, batches, states, [BadRow(*row) for row in bad], KeyRange(*keys))


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

    sink = pa.BufferOutputStream()
    names = pa.record_batch({"name": table.names.arrow})
    with pa.ipc.new_stream(sink, names.schema) as writer:
        writer.write_batch(names)
    yield sink.getvalue()
    yield from (column.codes.tobytes() for column in table.columns)
    yield table.lower.tobytes()
    yield table.upper.tobytes()
