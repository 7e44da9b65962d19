"""Starts worker processes, and ends them with the process that started them; and allows one run at a time to write an
output: a file lock that the run and all its workers hold."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import reduction
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnnkit.errors import Error
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from typing import Self

PATIENCE = 10.0  # seconds; workers of a run that was killed end within one
_PAUSE = 0.05


def prepared() -> BaseContext:
    """The context that starts workers: where possible, they are forked from a server that has imported lnnkit.
    Called early, so that the server imports it while the program is read."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lnnkit.scoring.scoring_run", "pyarrow.parquet"])
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


class OutputLock:
    """The lock of an ``output``, on the file at ``path``. It is released when the run has left the context and the last
    worker that received it has ended. Without file locks (Windows, some network drives) it excludes nobody."""

    def __init__(self, output: Path, path: Path, handle: int | None = None) -> None:
        self.output = output
        self.path = path
        self._handle = handle

    def __enter__(self) -> Self:
        """Take the lock. Raises `Error` if another run holds it for `PATIENCE` seconds, and ``OSError`` if the file
        cannot be created."""
        ends = time.monotonic() + PATIENCE
        while not self._taken():
            if time.monotonic() > ends:
                message = f'another run is writing "{self.output}"'
                raise Error([Diagnostic("output-in-use", message, "wait until it has ended, or write to another file")])
            time.sleep(_PAUSE)
        return self

    def _taken(self) -> bool:
        """Whether the file is locked now, and is still the one at its path: the run before may have removed it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
        except FileNotFoundError:  # the run before has removed the folder
            return False
        try:
            if _locked(handle) and os.path.samestat(os.fstat(handle), self.path.stat()):
                self._handle, handle = handle, -1
                return True
            return False
        except FileNotFoundError:
            return False
        finally:
            if handle >= 0:
                os.close(handle)

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled for a worker, it refers to the same open file."""
        handle = None if self._handle is None or os.name == "nt" else reduction.DupFd(self._handle)
        return _handed_on, (self.output, self.path, handle)


def _handed_on(output: Path, path: Path, handle: Any) -> OutputLock:
    return OutputLock(output, path, None if handle is None else handle.detach())


def _locked(handle: int) -> bool:
    """Whether the open file is locked by this process now, or cannot be locked at all."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
