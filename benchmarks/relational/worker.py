"""One engine on one workload, in a process of its own: ``python -m benchmarks.relational.worker ENGINE WORKLOAD ...``.

With ``--package`` the lnnkit of that folder is run. The workload is first run at a small size, so that imports and
caches are not measured; then columns are told or files are read, inference is timed (again and again where it is short:
the mean of CPU seconds, the median of wall time), and the answers are read. The kernel ends the process when inference
has used the limit of CPU seconds.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import statistics
import sys
import time
from pathlib import Path
from typing import TypedDict

from benchmarks.relational.data import Data
from benchmarks.relational.engines import ENGINES, Prepare
from benchmarks.relational.workloads import Checks

SHORT, MOST = 0.2, 9  # inference is repeated until so many CPU seconds, so often: clocks tick every few milliseconds
ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def resident() -> float:
    """Megabytes that the process holds now; its peak so far where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return peak()
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak() -> float:
    """Megabytes that the process has held at most. Linux's `getrusage` would count the process that started it too."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 2**10
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


def limit_cpu(seconds: float | None) -> None:
    """Be ended after so many more CPU seconds; None takes the limit away."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = hard if seconds is None else int(time.process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


class Measurement(TypedDict):
    """Seconds, megabytes, and what the answers amount to. ``whole`` is what a user waits for, in CPU seconds: the data
    told or read, inference, the answers."""

    whole: float
    cpu: float
    wall: float
    loading: float
    reading: float
    before: float
    peak: float
    checks: Checks


def measure(prepare: Prepare, data: Data, limit: float) -> Measurement:
    """Load the data, infer, read the answers; each of them timed by itself."""
    start = time.process_time()
    run = prepare(data)
    loaded = time.process_time()
    gc.collect()
    before = resident()
    limit_cpu(limit)
    wall, cpu = time.perf_counter(), time.process_time()
    run.infer()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    limit_cpu(None)
    most, inferred = peak(), time.process_time()
    checks: Checks = run.read()
    ended = time.process_time()
    return {
        "whole": loaded - start + cpu + ended - inferred,
        "cpu": cpu,
        "wall": wall,
        "loading": loaded - start,
        "reading": ended - inferred,
        "before": before,
        "peak": most,
        "checks": checks,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.relational.worker", description=__doc__)
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("workload")
    parser.add_argument("data", type=Path)
    parser.add_argument("--warm", type=Path, required=True, help="data of the small size")
    parser.add_argument("--result", type=Path, required=True, help="where the measurement is written, as JSON")
    parser.add_argument("--limit", type=float, default=60, help="CPU seconds of inference")
    parser.add_argument("--runs", type=int, default=1, help="of so many runs, the best counts")
    parser.add_argument("--package", type=Path, help="the checkout whose lnnkit is run, instead of this one")
    options = parser.parse_args()
    if options.package is not None:
        sys.path.insert(0, str(options.package.resolve()))
    prepare = ENGINES[options.engine].runs()[options.workload]
    imported = Path(str(sys.modules["lnnkit"].__file__)) if "lnnkit" in sys.modules else Path()
    if options.package is not None and not imported.is_relative_to(options.package.resolve()):
        raise SystemExit(f"{imported} was imported, not that of {options.package}")
    measure(prepare, Data(options.warm), options.limit)
    found = measure(prepare, Data(options.data), options.limit)
    seconds = [(found["cpu"], found["wall"])]
    while len(seconds) < MOST and sum(cpu for cpu, _ in seconds) < SHORT:
        again = measure(prepare, Data(options.data), options.limit)
        seconds.append((again["cpu"], again["wall"]))
        found["whole"] = min(found["whole"], again["whole"])
    if options.runs > 1:
        while len(seconds) < options.runs:
            again = measure(prepare, Data(options.data), options.limit)
            seconds.append((again["cpu"], again["wall"]))
            found["peak"] = again["peak"]
            found["whole"] = min(found["whole"], again["whole"])
        found["cpu"], found["wall"] = min(seconds)
    else:
        found["cpu"] = statistics.mean(cpu for cpu, _ in seconds)
        found["wall"] = statistics.median(wall for _, wall in seconds)
    options.result.write_text(json.dumps({**found, "runs": len(seconds)}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
