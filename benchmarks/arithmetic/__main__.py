"""The tables of the neural arithmetic papers: NALU, NAU and NMU, NPU, NSR.

    python -m benchmarks.arithmetic TASK [--op OP] [--mode paper|fast] [--seeds N] [--format table|json]

``fast`` is how lnnkit learns arithmetic; ``paper`` trains the papers' units by their recipes, for as many steps as
``--steps`` allows, and says where that was fewer than theirs. Seeds run in batches; what is done is kept in the
folder ``--store``, so that a run that was interrupted goes on where it stopped. Steps and samples are the median and
the 90th percentile of the seeds that were solved; rates have their 95 % Wilson interval.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

# Before torch is imported: the matrices are small, and CPU seconds of one thread can be compared.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks.arithmetic.batch import Batch
from benchmarks.arithmetic.equations import SECONDS
from benchmarks.arithmetic.jobs import TASKS, Job, jobs
from benchmarks.arithmetic.outcome import Outcome, Row, row
from benchmarks.arithmetic.progress import Progress
from benchmarks.arithmetic.report import table
from benchmarks.arithmetic.store import Store

SEEDS, FEW = 25, ("fsir", "counting")
"""How many without ``--seeds``, and tasks that have one then: each takes the better part of a minute."""
BATCH = 5
"""Seeds that are run as one program; the same first seed and number give the same outcomes."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    options.seeds = options.seeds or (1 if options.task in FEW else SEEDS)
    chosen = [job for job in jobs(options.task, options.mode, options.steps, options.seconds) if _wanted(job, options)]
    if not chosen:
        known = sorted({job.cell.op for job in jobs(options.task, options.mode, options.steps, options.seconds)})
        parser.error(f"no cell of {options.task} matches; its operations are {', '.join(known)}")
    store = Store(options.store, options.steps)
    rows: list[Row] = []
    with Progress(len(chosen), shown=sys.stderr.isatty()) as progress:
        for number, job in enumerate(chosen):

            def watch(seeds: float, before: int = number, name: str = job.cell.key) -> None:
                progress.reach(before + seeds / options.seeds, name)

            try:
                rows.append(row(job.cell, _outcomes(job, options.seeds, store, watch)))
            except FileNotFoundError as missing:
                print(f"no data: {missing.filename}; set LNNKIT_DATA to the folder that has it", file=sys.stderr)
                return 2
    print(json.dumps([each.as_object() for each in rows], indent=2) if options.format == "json" else table(rows))
    return 0


def _outcomes(job: Job, seeds: int, store: Store, watch: Callable[[float], None]) -> list[Outcome]:
    """Of the seeds in batches; ``watch`` is told how many are done."""
    found: list[Outcome] = []
    for first in range(0, seeds, BATCH):
        count = min(BATCH, seeds - first)

        def share(part: float, first: int = first, count: int = count) -> None:
            watch(first + part * count)

        share(0.0)
        done = store.get(job.cell, first, count)
        if done is None:
            done = job.solve(Batch(first, count, share, store.state(job.cell, first, count)))
            store.put(job.cell, first, done)
        found += done
    return found


def _wanted(job: Job, options: argparse.Namespace) -> bool:
    cell = job.cell
    chosen = ((options.op, cell.op), (options.setting, cell.setting), (options.model, cell.model))
    return all(wanted is None or wanted == met for wanted, met in chosen)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.arithmetic",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--op", help="this operation only")
    parser.add_argument("--setting", help="this setting only: a range, a number of operands, as the table names it")
    parser.add_argument("--model", help="this model only")
    parser.add_argument("--mode", choices=("paper", "fast"), default="fast")
    parser.add_argument("--seeds", type=_positive, help="how many (default: 25; of fsir and counting 1)")
    parser.add_argument("--steps", type=_positive, help="at most so many steps of gradient descent")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="CPU seconds for each formula of equations (default: 30)"
    )
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("--store", type=Path, help="a folder of outcomes to go on from and to add to (default: none)")
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


if __name__ == "__main__":
    sys.exit(main())
