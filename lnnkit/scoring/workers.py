"""Starts worker processes, and ends them with the process that started them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from multiprocessing.context import BaseContext


def prepared() -> BaseContext:
    """The context that starts workers: where possible, they are forked from a server that has imported lnnkit.
    Called early, so that the server imports it while the program is read."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lnnkit.scoring.scoring_run", "lnnkit.rows.row_model", "pyarrow.parquet"])
    from multiprocessing.forkserver import ensure_running

    ensure_running()
    return context


def begin() -> None:
    """Set up a worker: it ignores Ctrl-C, which its parent handles, and ends when its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, args=(os.getppid(),), daemon=True).start()


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
