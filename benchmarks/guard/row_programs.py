"""The guard's programs about rows one by one: ``lnnkit score``, and a scorer in a process."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.guard.measured import Measured, Program, Programs, command

BATCH = 1000


def score(work: str) -> Program:
    """``lnnkit score`` from Parquet to Parquet, in a process of its own."""

    def make(size: int, folder: Path) -> None:
        from benchmarks import rows

        rows.make(work, size, folder)

    def run(size: int, folder: Path) -> Measured:
        from benchmarks.rows import PROGRAMS

        sort, name, _ = PROGRAMS[work]
        out = folder / "out.parquet"
        out.unlink(missing_ok=True)
        arguments = ["-m", "lnnkit", "score", f"{work}.lnn", "--rows", f"{sort}={name}", "-o", out.name]
        seconds, peak = command([sys.executable, "-P", *arguments], folder)
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        table = pq.read_table(out)
        ends = [column for column in table.column_names if column.endswith(("_lower", "_upper"))]
        checks = {column: pc.sum(table[column]).as_py() for column in ends}
        return Measured({"run": seconds}, {"rows": table.num_rows, **checks}, peak=peak)

    return Program(run, make)


def _make_batch(size: int, folder: Path) -> None:
    from benchmarks import rows

    for work in ("ten", "eligible"):
        rows.make(work, BATCH, folder)


def batch(size: int, folder: Path) -> Measured:
    """So many batches of 1,000 rows through a scorer of ten degrees."""
    import numpy as np
    import pyarrow as pa

    import lnnkit

    rng = np.random.default_rng(1)
    scorer = lnnkit.load(folder / "ten.lnn", streamed="loan").scorer("loan")
    columns = {"id": np.arange(BATCH), **{f"d{i}": rng.uniform(0.6, 1, BATCH) for i in range(10)}}
    rows = pa.record_batch({name: pa.array(values) for name, values in columns.items()})
    found = scorer(rows)
    measured = Measured()
    for _ in range(3):
        with measured.part("batches"):
            for _ in range(size):
                found = scorer(rows)
    measured.checks = {"rows": found.num_rows}
    return measured


ROW_PROGRAMS: Programs = {
    "score-ten": score("ten"),
    "score-eligible": score("eligible"),
    "batch": Program(batch, _make_batch),
}
