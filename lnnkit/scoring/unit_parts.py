"""Parts: what each unit came to, a file each beside the output, written whole or not at all. They are what a run that
was ended goes on from."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    import pyarrow as pa

_PLAN = "plan.json"


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that was left out."""

    file: str
    row: int
    code: str
    message: str

    @staticmethod
    def of(finding: Diagnostic) -> BadRow:
        return BadRow(finding.file or "", finding.row or 0, finding.code, finding.message)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one output, in a ``folder`` beside it."""

    folder: Path

    @staticmethod
    def beside(output: Path) -> Parts:
        return Parts(output.with_name(f".{output.name}.parts"))

    def prepare(self, plan: str | None) -> int:
        """Make the folder ready for a run of this ``plan``: what another one has left is removed, and so is whatever
        is there if the plan is not known. Returns how many parts there are."""
        if self.folder.exists() and (plan is None or self._plan() != plan):
            shutil.rmtree(self.folder)
        self.folder.mkdir(exist_ok=True)
        (self.folder / _PLAN).write_text(json.dumps(plan), encoding="utf-8")
        for left in self.folder.glob("*.partial"):
            left.unlink()
        return len(list(self.folder.glob("*.arrow")))

    def _plan(self) -> object:
        try:
            return json.loads((self.folder / _PLAN).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def path(self, number: int) -> Path:
        return self.folder / f"{number:08}.arrow"

    def has(self, number: int) -> bool:
        return self.path(number).exists()

    def write(self, number: int, found: Iterable[tuple[pa.RecordBatch, list[BadRow]]]) -> None:
        """Write the answers of a unit, and which of its rows were left out, in one step."""
        import pyarrow as pa

        partial = self.folder / f"{number:08}.{secrets.token_hex(4)}.partial"
        try:
            bad: list[BadRow] = []
            with pa.OSFile(str(partial), "wb") as sink:
                writer: pa.ipc.RecordBatchFileWriter | None = None
                for batch, wrong in found:
                    if writer is None:
                        writer = pa.ipc.new_file(sink, batch.schema)
                    writer.write_batch(batch)
                    bad += wrong
                assert writer is not None
                writer.close()
            if bad:
                rows = [[each.file, each.row, each.code, each.message] for each in bad]
                self._bad(number).write_text(json.dumps(rows), encoding="utf-8")
            os.replace(partial, self.path(number))
        except BaseException:
            partial.unlink(missing_ok=True)
            raise

    def read(self, number: int) -> Iterator[pa.RecordBatch]:
        """The answers of a unit."""
        import pyarrow as pa

        with pa.memory_map(str(self.path(number))) as source:
            reader = pa.ipc.open_file(source)
            for place in range(reader.num_record_batches):
                yield reader.get_batch(place)

    def bad(self, number: int) -> list[BadRow]:
        """The rows of a unit that were left out."""
        path = self._bad(number)
        return [BadRow(*row) for row in json.loads(path.read_text(encoding="utf-8"))] if path.exists() else []

    def _bad(self, number: int) -> Path:
        return self.folder / f"{number:08}.bad.json"

    def remove_empty(self) -> None:
        """Remove the folder if it holds no part."""
        if self.folder.exists() and not any(self.folder.glob("*.arrow")):
            self.remove()

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
