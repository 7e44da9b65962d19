"""Every engine over the sizes of a workload, smallest first, until one takes longer than the limit."""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from benchmarks.relational import process, workloads
from benchmarks.relational.engines import Engine
from benchmarks.relational.worker import ONE_THREAD
from benchmarks.relational.workloads import Checks, Workload

ROOT = Path(__file__).resolve().parents[2]
SHORT = 3.0  # CPU seconds up to which a run is repeated where the number of repeats is left open
REPEATS = 3

State = Literal["done", "over the limit", "not tried", "not installed", "failed"]


@dataclass(frozen=True)
class Result:
    """One engine at one size. The measurements are of a run that is ``done``; ``note`` says why one failed."""

    workload: str
    size: int
    engine: str
    state: State
    cpu: float = 0.0
    wall: float = 0.0
    whole: float = 0.0
    loading: float = 0.0
    reading: float = 0.0
    before: float = 0.0
    peak: float = 0.0
    runs: int = 1
    checks: Checks = field(default_factory=dict[str, float])
    note: str = ""


@dataclass(frozen=True)
class Limits:
    """CPU seconds of an inference; wall seconds of a process; ``repeat`` None repeats the short runs. ``against`` is
    the checkout of an earlier lnnkit: then both run twice in a process, and the better run counts."""

    cpu: float = 60.0
    wall: float = 600.0
    repeat: int | None = None
    against: Path | None = None


def race(
    workload: Workload,
    sizes: Sequence[int],
    engines: Sequence[Engine],
    limits: Limits,
    folder: Path,
    tell: Callable[[str], None] = lambda _: None,
) -> list[Result]:
    """Every size, every engine that has the workload; an engine that went over the limit is tried no further."""
    results: list[Result] = []
    stopped: dict[str, State] = {}
    taking_part = [engine for engine in engines if engine.covers(workload.key)]
    installed = [engine for engine in taking_part if engine.version() is not None]
    warm = _written(workload, workload.warm, folder) if installed else folder
    for size in sizes:
        if any(engine.name not in stopped for engine in installed):
            tell(f"{workload.key} {size:,}: data")
            _written(workload, size, folder)
        for engine in taking_part:
            if engine not in installed:
                result = Result(workload.key, size, engine.name, "not installed")
            elif engine.name in stopped:
                result = Result(workload.key, size, engine.name, "not tried")
            else:
                tell(f"{workload.key} {size:,}: {engine.name}")
                data = folder / f"{workload.key}-{size}"
                result = _repeated(workload, size, engine, data, warm, limits)
                if result.state != "done":
                    stopped[engine.name] = result.state
            results.append(result)
    return results


def _written(workload: Workload, size: int, folder: Path) -> Path:
    data = folder / f"{workload.key}-{size}"
    if not data.exists():
        workloads.write(workload, size, data)
    return data


def _repeated(workload: Workload, size: int, engine: Engine, data: Path, warm: Path, limits: Limits) -> Result:
    """The median of its runs, each in a process of its own; the greatest of their memory."""
    runs = [_run(workload, size, engine, data, warm, limits)]
    again = limits.repeat or (REPEATS if runs[0].cpu < SHORT else 1)
    while len(runs) < again and runs[-1].state == "done":
        runs.append(_run(workload, size, engine, data, warm, limits))
    if runs[-1].state != "done":
        return runs[-1]
    middle = sorted(runs, key=lambda run: run.cpu)[len(runs) // 2]
    values = {**vars(middle), "peak": max(run.peak for run in runs), "wall": statistics.median(r.wall for r in runs)}
    return Result(**values)


def _run(workload: Workload, size: int, engine: Engine, data: Path, warm: Path, limits: Limits) -> Result:
    answer = data / "result.json"
    answer.unlink(missing_ok=True)
    command = [sys.executable, "-m", "benchmarks.relational.worker", engine.name, workload.key, str(data)]
    command += ["--warm", str(warm), "--result", str(answer), "--limit", str(limits.cpu)]
    compared = limits.against is not None and engine.distribution == "lnnkit"
    command += ["--runs", str(max(workload.runs, 2) if compared else workload.runs)]
    if engine.name == "before":
        command += ["--package", str(limits.against)]
    ended = process.run(command, _environment(), limits.cpu, limits.wall)
    if ended.over:
        return Result(workload.key, size, engine.name, "over the limit", note=ended.over)
    if ended.code != 0 or not answer.exists():
        note = ended.error or f"exit code {ended.code}"
        return Result(workload.key, size, engine.name, "failed", note=note)
    found = json.loads(answer.read_text(encoding="utf-8"))
    return Result(workload.key, size, engine.name, "done", **found)


def _environment() -> dict[str, str]:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, **dict.fromkeys(ONE_THREAD, "1"), "PYTHONPATH": os.pathsep.join(paths)}
