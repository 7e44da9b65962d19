"""``lnnkit score`` beside DuckDB's SQL of the same upward formulas, over the same Parquet file into a file.

    python -m benchmarks.rows                 10 million rows, two programs; a batch of 1,000; two workers
    python -m benchmarks.rows --rows 1000000 --work ten

Each run is a process of its own: its CPU seconds (without those of workers), its wall time and its peak memory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DEGREES = 10
MISSING = 0.1
CHUNK = 1 << 18

TEN = (
    "sort loan\n"
    + "".join(f'predicate D{i}(loan)\nload D{i} from "loans.parquet" (id, d{i})\n' for i in range(DEGREES))
    + """\
rule grant: D0(X) & D1(X) & D2(X) & D3(X) -> Grant(X)
rule review: D4(X) & D5(X) | D6(X) & D7(X) -> Review(X)
rule refuse: D8(X) & D9(X) -> ~Grant(X)
query Grant(X)
query Review(X)
"""
)

ELIGIBLE = """\
sort person
number income(person)
number debt(person)
number household(person)
number age(person)
load income from "people.parquet" (id, income)
load debt from "people.parquet" (id, debt)
load household from "people.parquet" (id, household)
load age from "people.parquet" (id, age)
rule (income(X) - debt(X)) / household(X) > 500 & age(X) >= 18 -> Eligible(X)
query Eligible(X)
"""

STATE = """case when {0}_lower > {0}_upper + 1e-9 then 'contradiction' when {0}_lower >= 1 - 1e-9 then 'true'
 when {0}_upper <= 1e-9 then 'false' when abs(({0}_lower + {0}_upper) / 2 - 0.5) <= 1e-9 then 'unknown'
 when ({0}_lower + {0}_upper) / 2 > 0.5 then 'likely_true' else 'likely_false' end as {0}_state"""

SQL = {
    "ten": f"""with bounds as (select id,
  greatest(0, d0 + d1 + d2 + d3 - 3) as Grant_lower, 1 - greatest(0, d8 + d9 - 1) as Grant_upper,
  least(1, greatest(0, d4 + d5 - 1) + greatest(0, d6 + d7 - 1)) as Review_lower, 1.0::double as Review_upper
  from 'loans.parquet')
  select id, Grant_lower, Grant_upper, {STATE.format("Grant")}, Review_lower, Review_upper, {STATE.format("Review")}
  from bounds""",
    "eligible": f"""with bounds as (select id,
  case when (income - debt) / household > 500 and age >= 18 then 1.0::double else 0.0::double end as Eligible_lower,
  1.0::double as Eligible_upper from 'people.parquet')
  select id, Eligible_lower, Eligible_upper, {STATE.format("Eligible")} from bounds""",
}
PROGRAMS = {"ten": ("loan", "loans.parquet", TEN), "eligible": ("person", "people.parquet", ELIGIBLE)}


def make(work: str, rows: int, folder: Path) -> None:
    """The table and the program."""
    _, name, text = PROGRAMS[work]
    (folder / f"{work}.lnn").write_text(text, encoding="utf-8")
    rng = np.random.default_rng(0)
    writer: pq.ParquetWriter | None = None
    for start in range(0, rows, CHUNK):
        count = min(CHUNK, rows - start)
        columns: dict[str, object] = {"id": np.arange(start, start + count)}
        if work == "ten":
            columns |= {f"d{i}": rng.uniform(0.6, 1, count) for i in range(DEGREES)}
        else:
            ranges = {"income": (500, 6000), "debt": (0, 3000), "household": (1, 7), "age": (1, 90)}
            for column, ends in ranges.items():
                values = rng.integers(*ends, count).astype(np.float64)
                columns[column] = pa.array(values, mask=rng.random(count) < MISSING)
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(folder / name, table.schema)
        writer.write_table(table, row_group_size=CHUNK)
    assert writer is not None
    writer.close()


def timed(command: list[str], folder: Path) -> dict[str, float]:
    """CPU seconds, without those of workers, and wall time of a process, and its peak memory in MB. Its messages go
    to a file: a pipe would be waited for until the server that forks workers has ended too."""
    code = (
        "import json,resource,subprocess,sys,tempfile,time\n"
        "told=tempfile.TemporaryFile('w+')\n"
        "began=time.monotonic()\n"
        "done=subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL,stderr=told)\n"
        "wall=time.monotonic()-began\n"
        "used=resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "told.seek(0)\n"
        "print(json.dumps([used.ru_utime+used.ru_stime,wall,used.ru_maxrss/1024,done.returncode,told.read()[-2000:]]))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    found = subprocess.run(
        [sys.executable, "-c", code, *command], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    cpu, wall, memory, status, told = json.loads(found.stdout)
    if status:
        raise RuntimeError(told)
    return {"cpu": cpu, "wall": wall, "memory": memory}


def ours(work: str, folder: Path, workers: int = 1) -> dict[str, float]:
    sort, name, _ = PROGRAMS[work]
    command = [sys.executable, "-m", "lnnkit", "score", f"{work}.lnn", "--rows", f"{sort}={name}"]
    return timed([*command, "-o", f"{work}.{workers}.out.parquet", "--workers", str(workers)], folder)


def duckdbs(work: str, folder: Path) -> dict[str, float]:
    query = f"copy ({SQL[work]}) to '{work}.duckdb.parquet' (format parquet)"
    code = "import duckdb,sys;duckdb.execute('set threads=1');duckdb.execute(sys.argv[1])"
    return timed([sys.executable, "-c", code, query], folder)


def agree(work: str, folder: Path) -> float:
    """The greatest difference between the bounds of both outputs."""
    import duckdb

    name = {"ten": ("Grant", "Review"), "eligible": ("Eligible",)}[work]
    ends = [f"{each}_{end}" for each in name for end in ("lower", "upper")]
    apart = ", ".join(f"max(abs(a.{each} - b.{each}))" for each in ends)
    source = f"'{work}.1.out.parquet' a positional join '{work}.duckdb.parquet' b"
    os.chdir(folder)
    found = duckdb.sql(f"select {apart} from {source}")
    assert found is not None
    return max(found.fetchall()[0])


REGIONS = 200
LINKED = """\
sort loan
sort region
predicate Late(loan)
predicate LivesIn(loan, region)
predicate Risky(region) closed
load Late from "linked.parquet" (id, d0)
load LivesIn from "linked.parquet" (id, region)
load Risky from "regions.csv"
rule LivesIn(X, R) & Risky(R) -> Review(X)
rule Late(X) -> ~Review(X)
query Review(X)
"""


def batch(work: str, folder: Path) -> float:
    """CPU milliseconds of 1,000 rows through a scorer."""
    import lnnkit

    rng = np.random.default_rng(1)
    (folder / "linked.lnn").write_text(LINKED, encoding="utf-8")
    regions = [f"r{place},{rng.random()}" for place in range(REGIONS)]
    (folder / "regions.csv").write_text("\n".join(["region,risk", *regions]) + "\n", encoding="utf-8")
    scorer = lnnkit.load(folder / f"{work}.lnn", streamed="loan").scorer("loan")
    columns = {"id": np.arange(1000), **{f"d{i}": rng.uniform(0.6, 1, 1000) for i in range(DEGREES)}}
    named = pa.array([f"r{place}" for place in rng.integers(0, REGIONS, 1000).tolist()])
    rows = pa.record_batch({**{name: pa.array(values) for name, values in columns.items()}, "region": named})
    scorer(rows)
    best = float("inf")
    for _ in range(20):
        began = time.process_time()
        scorer(rows)
        best = min(best, time.process_time() - began)
    return 1000 * best


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rows", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--work", choices=(*SQL, "all"), default="all")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        for work in SQL if arguments.work == "all" else (arguments.work,):
            make(work, arguments.rows, folder)
            one, theirs = ours(work, folder), duckdbs(work, folder)
            print(f"{work}, {arguments.rows:,} rows")
            for who, found in (("lnnkit score", one), ("DuckDB SQL", theirs)):
                print(f"  {who:14} {found['cpu']:7.2f} CPU s {found['wall']:7.2f} s {found['memory']:7.0f} MB")
            print(f"  ratio of CPU {one['cpu'] / theirs['cpu']:.2f}; largest difference {agree(work, folder):.1e}")
            if work == "ten":
                print(f"  a batch of 1,000 rows: {batch(work, folder):.2f} CPU ms")
                print(f"  one that looks up a reference table: {batch('linked', folder):.2f} CPU ms")
                several = ours(work, folder, arguments.workers)
                print(f"  {arguments.workers} workers: {one['wall'] / several['wall']:.2f} x one in wall time")


if __name__ == "__main__":
    main()
