"""A progress line on the terminal, removed when the work is done."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lnnkit.cli import streams
from lnnkit.interrupt import Interruption, is_pythons_own

if TYPE_CHECKING:
    from typing import Self

    from lnnkit.engine.inference_run import RoundReport

PATIENCE = 0.5  # seconds before the line appears
REFRESHED = 8  # redraws a second
STOPPING = "stopping after this round; Ctrl-C again ends at once"
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


class ProgressLine:
    """A context that shows ``work`` and the round reports on standard error, if that is a terminal.

    Its own thread draws the line, so that it moves during long rounds too. That thread imports rich, when the line is
    first drawn.
    """

    def __init__(self, work: str, *, shown: bool) -> None:
        self._work = work
        self._report: RoundReport | None = None
        self._stopping = False
        self._ended = threading.Event()
        drawn = shown and streams.redraws(sys.stderr)
        self._thread = threading.Thread(target=self._draw, daemon=True) if drawn else None
        self._began = 0.0

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def after_round(self, report: RoundReport, /) -> bool:
        self._report = report
        return True

    def say(self, work: str) -> None:
        """Set the text of the line."""
        self._work, self._report = work, None

    def stop(self) -> bool:
        """Announce that the work is about to stop; returns whether anybody can see the line."""
        self._stopping = True
        return self._thread is not None

    def _draw(self) -> None:
        if self._ended.wait(PATIENCE):
            return
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn
        from rich.table import Column

        spinner = SpinnerColumn(style="cyan", table_column=Column(width=1))
        text = TextColumn("{task.description}", table_column=Column(ratio=1, no_wrap=True), markup=False)
        line = Progress(
            spinner, text, console=Console(stderr=True), refresh_per_second=REFRESHED, transient=True, expand=True,
            redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        with line:
            task = line.add_task("")
            while not self._ended.is_set():
                line.update(task, description=self.text(time.monotonic() - self._began))
                self._ended.wait(1 / REFRESHED)

    def text(self, seconds: float) -> str:
        """The text of the line after this many seconds of work."""
        parts, report = [self._work], self._report
        if report is not None:
            stage = "completing, round" if report.stage == "completion" else "round"
            pace = f"{_short(report.instances / seconds)} instances/s" if seconds else ""
            parts = [f"{stage} {report.rounds:,}", f"{report.atoms:,} atoms", f"{report.instances:,} instances", pace]
        parts.append(_elapsed(seconds))
        if self._stopping:
            parts.insert(0, STOPPING)
        return " · ".join(filter(None, parts))


@contextmanager
def interruptible(work: str, *, shown: bool, stopping: str = STOPPING) -> Iterator[tuple[ProgressLine, Interruption]]:
    """A context of ``work`` that the first Ctrl-C asks to stop, and the second one ends at once with the process. Where
    nobody can see the line, ``stopping`` is noted."""
    with ProgressLine(work, shown=shown) as line:

        def noted() -> None:
            if not line.stop():
                streams.note(stopping)

        with Interruption(line, noted, None if is_pythons_own() else streams.end_interrupted) as watch:
            yield line, watch


def _short(number: float) -> str:
    """Two to three digits and a unit: ``1.2 M``."""
    for size, unit in _UNITS:
        if number >= size:
            return f"{number / size:.3g} {unit}" if number < 1000 * size else f"{number / size:,.0f} {unit}"
    return f"{number:.0f}"


def _elapsed(seconds: float) -> str:
    """``12 s``, ``3:05 min``, ``1:02:03 h``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02} h"
    return f"{minutes}:{rest:02} min" if minutes else f"{rest} s"
