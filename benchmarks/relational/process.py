"""A process that is ended when it takes too long, too many CPU seconds, or what memory the machine has left."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

EVERY = 0.25  # seconds between two looks at its memory
SHARE = 0.85  # of the memory that is free when it starts


@dataclass(frozen=True)
class Ended:
    """``over`` names the limit that ended it; ``error`` is the last line that it wrote to stderr."""

    code: int
    over: str = ""
    error: str = ""


def run(command: Sequence[str], environment: Mapping[str, str], cpu: float, wall: float) -> Ended:
    """Run to its end or to a limit. The process itself sets its limit of CPU seconds, for the part that is timed."""
    allowed = SHARE * _free()
    end = time.monotonic() + wall
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"
    ) as process:
        while True:
            try:
                _, written = process.communicate(timeout=min(EVERY, wall))
            except subprocess.TimeoutExpired:
                over = "wall time" if time.monotonic() > end else "memory" if _held(process.pid) > allowed else ""
                if over:
                    process.kill()
                    process.communicate()
                    return Ended(-signal.SIGKILL, f"{wall:.0f} s of wall time" if over == "wall time" else over)
                continue
            lines = written.strip().splitlines()
            over = f"{cpu:.0f} CPU s" if process.returncode == -signal.SIGXCPU else ""
            return Ended(process.returncode, over, lines[-1] if lines else "")


def _free() -> float:
    """Bytes that can be had without swapping; no limit where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return float("inf")
    return next((1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), float("inf"))


def _held(process: int) -> float:
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError):
        return 0.0
    return float(pages * os.sysconf("SC_PAGE_SIZE"))
