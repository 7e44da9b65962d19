"""``lnnkit score`` as processes that are killed at random moments: what is finished, and what is left over."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lnnkit.scoring.row_streams import BATCH
from tests.scoring.loans import LOANS

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")

UNITS = 8
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with its table, and the finished output of a run that nothing disturbed."""
    found = tmp_path_factory.mktemp("killed")
    rows = UNITS * BATCH
    random_numbers = np.random.default_rng(0)
    risk = random_numbers.random(rows).round(1)
    risk[::100_003] = 7.0
    income = random_numbers.integers(0, 2000, rows).astype(float)
    loans = pa.table({"id": pa.array(range(rows)), "risk": pa.array(risk), "income": pa.array(income)})
    pq.write_table(loans, found / "loans.parquet", row_group_size=BATCH)
    (found / "p.lnn").write_text(LOANS)
    assert started(found, "whole", 1).wait() == 0
    return found


def started(folder: Path, name: str, workers: int) -> subprocess.Popen[bytes]:
    """A run in a session of its own, so that a signal reaches each of its processes, as Ctrl-C does."""
    command = [sys.executable, "-m", "lnnkit", "score", "p.lnn", "--rows", "loan=loans.parquet"]
    command += ["-o", f"{name}.parquet", "--bad-rows", f"{name}.csv", "--workers", str(workers)]
    with (folder / f"{name}.err").open("ab") as told:
        return subprocess.Popen(command, cwd=folder, start_new_session=True, stderr=told)


def alive(session: int) -> Iterator[int]:
    """The processes of a session, but for those that have ended."""
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                fields = (each / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] not in "ZX":
                yield int(each.name)


def require_nobody_left(session: int) -> None:
    ends = time.monotonic() + 30  # for a machine with much to do: they take less than a second of their own
    while left := list(alive(session)):
        assert time.monotonic() < ends, left
        time.sleep(0.02)


def require_same(folder: Path, name: str) -> None:
    for suffix in (".parquet", ".csv"):
        assert (folder / f"{name}{suffix}").read_bytes() == (folder / f"whole{suffix}").read_bytes()
    assert list(folder.glob(f".{name}*")) == []


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("kills", [pytest.param(6, marks=pytest.mark.slow), pytest.param(100, marks=pytest.mark.long)])
def test_runs_that_are_killed_at_random_moments_end_in_the_same_file(folder: Path, workers: int, kills: int) -> None:
    name = f"killed{workers}_{kills}"
    chance = random.Random(workers)
    met = finished = 0
    began = time.monotonic()
    assert started(folder, name, workers).wait() == 0
    longest = time.monotonic() - began
    (folder / f"{name}.parquet").unlink()
    for number in range(kills):
        run = started(folder, name, workers)
        time.sleep(chance.random() * longest)
        how = SIGNALS[number % len(SIGNALS)]
        if how == signal.SIGINT:
            os.killpg(run.pid, how)
        else:
            run.send_signal(how)
        code = run.wait()
        met += code != 0
        if code == 0:
            finished += 1
            require_same(folder, name)
        elif number % 5 == 0:  # else the next run begins at once
            require_nobody_left(run.pid)
    run = started(folder, name, workers)
    assert run.wait() == 0
    require_same(folder, name)
    require_nobody_left(run.pid)
    said = (folder / f"{name}.err").read_text()
    assert "multiprocessing" not in said
    assert "error[" not in said
    assert met > kills // 4
    if kills == 100:
        assert "went on from" in said
    print(f"{workers} workers: {met} of {kills} killed, {finished} finished")
