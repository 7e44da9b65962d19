"""pyarrow: what reading a CSV and encoding its columns costs, on one thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.csv as pv

from benchmarks.relational.data import Data
from benchmarks.relational.workloads import Checks


class Reading:
    def __init__(self, data: Data) -> None:
        pa.set_cpu_count(1)
        pa.set_io_thread_count(1)
        self.path = data.folder / "friends.csv"

    def infer(self) -> None:
        table = pv.read_csv(self.path, read_options=pv.ReadOptions(use_threads=False))
        self.columns = [table.column(name).dictionary_encode() for name in table.column_names]

    def read(self) -> Checks:
        names = ("person", "friend")
        pairs = pa.table(dict(zip(names, (column.cast(pa.string()) for column in self.columns), strict=True)))
        return {"distinct": pairs.group_by(list(names)).aggregate([]).num_rows}


RUNS: Mapping[str, Callable[[Data], Reading]] = {"csv": Reading}
