"""What a program of the guard measures: seconds of its parts, and what its answers amount to."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_NUM_THREADS")


@dataclass(frozen=True)
class Seconds:
    """CPU seconds of this process, or of one that it started."""

    user: float
    system: float

    def __sub__(self, other: Seconds) -> Seconds:
        return Seconds(self.user - other.user, self.system - other.system)

    def __add__(self, other: Seconds) -> Seconds:
        return Seconds(self.user + other.user, self.system + other.system)

    @property
    def both(self) -> float:
        return self.user + self.system


@dataclass
class Measured:
    """``seconds`` of each part; ``checks`` must be equal under both trees; ``notes`` need not. ``peak`` in MB,
    filled in by the process that measures itself where the program has not."""

    seconds: dict[str, Seconds] = field(default_factory=dict[str, Seconds])
    checks: dict[str, float] = field(default_factory=dict[str, float])
    notes: dict[str, float] = field(default_factory=dict[str, float])
    peak: float = 0.0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Times what is done inside; of several times the least user time counts."""
        start = now()
        yield
        spent = now() - start
        known = self.seconds.get(name)
        if known is None or spent.user < known.user:
            self.seconds[name] = spent

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Measured:
        found = json.loads(text)
        return Measured(**{**found, "seconds": {name: Seconds(**each) for name, each in found["seconds"].items()}})


def now() -> Seconds:
    """Since the process started."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return Seconds(used.ru_utime, used.ru_stime)


def peak() -> float:
    """Megabytes that this process has held at most. `getrusage` would count the process that started it too."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) / 2**10 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def command(arguments: Sequence[str], folder: Path) -> tuple[Seconds, float]:
    """Seconds and peak memory of a process and its children. Raises `RuntimeError` with its last lines if it fails."""
    with (folder / "stderr.txt").open("w+", encoding="utf-8") as said:
        process = subprocess.Popen(arguments, cwd=folder, stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise RuntimeError(said.read()[-2000:])
    return Seconds(used.ru_utime, used.ru_stime), used.ru_maxrss / 2**10


Run = Callable[[int, Path], Measured]
Make = Callable[[int, Path], None]


@dataclass(frozen=True)
class Program:
    """``make`` writes the data for a size into a folder, once for both trees; ``run`` reads them and measures."""

    run: Run
    make: Make = lambda size, folder: None


Programs = Mapping[str, Program]
