"""Programs of the guard under both trees, in processes that take turns."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.guard.measured import ONE_THREAD, Measured

WALL = 900.0  # seconds of a process
ENOUGH = 60.0  # wall seconds of all runs of a program after which none is repeated


@dataclass(frozen=True)
class Refused:
    """lnnkit said no."""

    message: str


@dataclass(frozen=True)
class Failed:
    """The process ended with an error, or went on for too long."""

    message: str


Ended = Measured | Refused | Failed


@dataclass(frozen=True)
class Side:
    """A tree, and the interpreter that imports it."""

    name: str
    tree: Path
    python: Path


def race(
    program: str, size: int, sides: tuple[Side, ...], repeat: int, tell: Callable[[str], None]
) -> Mapping[str, Ended]:
    """The program at a size under each tree, by the tree's name: the least seconds and memory of its runs."""
    with tempfile.TemporaryDirectory(prefix="lnnkit-guard-") as held:
        folder = Path(held)
        tell(f"{program} {size:,}: data")
        made = _python(sides[-1], [program, str(size), str(folder)], folder)
        if made:
            return {side.name: Failed(made) for side in sides}
        found: dict[str, Ended] = {}
        started = time.monotonic()
        for turn in range(repeat):
            for side in sides if turn % 2 == 0 else sides[::-1]:
                if not isinstance(found.get(side.name), Refused | Failed):
                    tell(f"{program} {size:,}: {side.name}, run {turn + 1}")
                    found[side.name] = _better(found.get(side.name), _run(side, program, size, folder))
            if time.monotonic() - started > ENOUGH:
                break
        return found


def _run(side: Side, program: str, size: int, folder: Path) -> Ended:
    result = folder / "result.json"
    result.unlink(missing_ok=True)
    error = _python(side, [program, str(size), str(folder), str(result), str(side.tree)], folder)
    if error or not result.exists():
        return Failed(error or "it wrote no result")
    text = result.read_text(encoding="utf-8")
    refused = json.loads(text).get("refused")
    return Measured.from_json(text) if refused is None else Refused(refused)


def _python(side: Side, arguments: list[str], folder: Path) -> str:
    """What went wrong; empty if nothing did."""
    environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
    environment.pop("PYTHONPATH", None)
    command = [str(side.python), "-P", "-m", "benchmarks.guard.child", *arguments]
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=WALL)
    except subprocess.TimeoutExpired:
        return f"over {WALL:.0f} s"
    lines = done.stderr.strip().splitlines()
    return (lines[-1] if lines else f"exit code {done.returncode}") if done.returncode else ""


def _better(known: Ended | None, other: Ended) -> Ended:
    if not isinstance(known, Measured) or not isinstance(other, Measured):
        return other
    if known.checks != other.checks:
        return Failed(f"two runs have other answers: {known.checks}, {other.checks}")
    seconds = {
        part: min(known.seconds[part], each, key=lambda spent: spent.user) for part, each in other.seconds.items()
    }
    return replace(other, seconds=seconds, peak=min(known.peak, other.peak))
