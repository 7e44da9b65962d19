"""How workers are started, and how they end."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from multiprocessing.context import BaseContext


def prepared() -> BaseContext:
    """What starts workers: where the system can, they come from a process that has read lnnkit once for all of them.
    Called early, that is done beside what else has to be done before the first row."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lnnkit.scoring.scoring_run", "lnnkit.rows.row_model", "pyarrow.parquet"])
    from multiprocessing.forkserver import ensure_running

    ensure_running()
    return context


def begin() -> None:
    """In each worker: Ctrl-C is for the process that started it, and without that it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, args=(os.getppid(),), daemon=True).start()


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
