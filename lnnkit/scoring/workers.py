"""Starts worker processes, and ends them with the process that started them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from multiprocessing.context import BaseContext

from lnnkit.scoring.output_lock import OutputLock


def prepared() -> BaseContext:
    """The context that starts workers: where possible, they are forked from a server that has imported lnnkit.
    Called early, so that the server imports it while the program is read."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lnnkit.scoring.scoring_run", "lnnkit.rows.row_model", "pyarrow.parquet"])
    from multiprocessing import forkserver, resource_tracker

    with _without_warning():
        resource_tracker.ensure_running()  # first: it leaves interrupts unblocked
    with _without_interrupts():
        forkserver.ensure_running()
    return context


def begin(lock: OutputLock) -> None:
    """Set up a worker: it ignores Ctrl-C, which its parent handles, and ends when its parent is gone. It holds the
    ``lock`` of the run as long as it lives."""
    del lock  # its descriptor stays open
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    """Ends this process with the one that started it: that is not its parent process, which is the server."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """A context in which started processes ignore Ctrl-C, which a terminal sends to all its processes."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _without_warning() -> Iterator[None]:
    """A context in which the process that removes the semaphores of killed workers prints no warning."""
    option = "ignore:resource_tracker:UserWarning"
    sys.warnoptions.append(option)
    try:
        yield
    finally:
        sys.warnoptions.remove(option)
