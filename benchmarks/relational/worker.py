"""One engine on one workload, in a process of its own: ``python -m benchmarks.relational.worker ENGINE WORKLOAD ...``.

The workload is first run at a small size, so that imports and caches are not measured; then data are loaded, inference
is timed, and the answers are read. The kernel ends the process when inference has used the limit of CPU seconds.
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

from benchmarks.relational.data import Data
from benchmarks.relational.engines import ENGINES, Prepare
from benchmarks.relational.workloads import Checks

ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def resident() -> float:
    """Megabytes that the process holds now; its peak so far where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return peak()
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak() -> float:
    """Megabytes that the process has held at most."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


def limit_cpu(seconds: float | None) -> None:
    """Be ended after so many more CPU seconds; None takes the limit away."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = hard if seconds is None else int(time.process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def measure(prepare: Prepare, data: Data, limit: float) -> dict[str, object]:
    """Seconds of CPU and wall, megabytes, and what the answers amount to."""
    start = time.process_time()
    run = prepare(data)
    gc.collect()
    before, loaded = resident(), time.process_time()
    limit_cpu(limit)
    wall, cpu = time.perf_counter(), time.process_time()
    run.infer()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    limit_cpu(None)
    most, inferred = peak(), time.process_time()
    checks: Checks = run.read()
    return {
        "cpu": cpu,
        "wall": wall,
        "loading": loaded - start,
        "reading": time.process_time() - inferred,
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
    parser.add_argument("--repeat", type=int, default=1, help="inferences in this process, the median of which counts")
    options = parser.parse_args()
    prepare = ENGINES[options.engine].runs()[options.workload]
    measure(prepare, Data(options.warm), options.limit)
    found = [measure(prepare, Data(options.data), options.limit) for _ in range(options.repeat)]
    last = found[-1]
    for name in ("cpu", "wall"):
        last[name] = statistics.median(float(str(one[name])) for one in found)
    options.result.write_text(json.dumps(last), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
