"""Ctrl-C during inference: the first one ends it after the current round, in a consistent state."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self

    from lnnkit.engine.inference_run import RoundReport, Watch

Handler = Callable[[int, FrameType | None], Any]


class Interruption:
    """While entered, the first Ctrl-C is noted (``asked``; ``noted`` is called), and any further one handled as before.

    As a watch it continues until then, and reports every round to ``watch``. In a thread other than the main one, which
    no signal reaches, and where SIGINT has no handler in Python, it only passes rounds on.

    Python handles a signal between two of its own instructions, which may be seconds apart. ``at_once`` is called by
    a thread of its own as soon as Ctrl-C comes for the second time: what ends the process.
    """

    def __init__(
        self,
        watch: Watch | None = None,
        noted: Callable[[], None] | None = None,
        at_once: Callable[[], None] | None = None,
    ) -> None:
        self.asked = False
        self._watch = watch
        self._noted = noted
        self._at_once = at_once
        self._before: Handler | None = None
        self._wakeup = (-1, -1)  # the pipe that a signal is written to, and the descriptor that had this office before
        self._listener: threading.Thread | None = None

    def after_round(self, report: RoundReport, /) -> bool:
        go_on = self._watch is None or self._watch.after_round(report)
        return go_on and not self.asked

    def __enter__(self) -> Self:
        handler = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is threading.main_thread() and callable(handler):
            if self._at_once is not None:
                self._listen(self._at_once)
            self._before = handler
            signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            return
        signal.signal(signal.SIGINT, self._before)
        self._before = None
        if self._listener is not None:
            writing, former = self._wakeup
            signal.set_wakeup_fd(former)
            os.close(writing)
            self._listener.join()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.asked and self._before is not None:
            self._before(number, frame)
        self._note()

    def _note(self) -> None:
        first, self.asked = not self.asked, True
        if first and self._noted is not None:
            self._noted()

    def _listen(self, at_once: Callable[[], None]) -> None:
        reading, writing = os.pipe()
        os.set_blocking(writing, False)

        def listen() -> None:
            presses = 0
            while signals := os.read(reading, 64):
                presses += signals.count(signal.SIGINT)
                if presses > 1:
                    at_once()
            os.close(reading)

        self._wakeup = writing, signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        self._listener = threading.Thread(target=listen, daemon=True)
        self._listener.start()


def has_pythons_handler() -> bool:
    """Whether SIGINT has Python's default handler, which raises ``KeyboardInterrupt``."""
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler
