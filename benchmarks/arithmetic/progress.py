"""A bar on standard error while seeds are run."""

from __future__ import annotations

import sys
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar


class Progress:
    """While entered, shows how many of ``total`` seeds are done; gone when the work is."""

    def __init__(self, total: int, *, shown: bool) -> None:
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        text = TextColumn("{task.description}")
        self._bar = Bar(*columns, text, console=Console(file=sys.stderr), transient=True, disable=not shown)
        self._task = self._bar.add_task("", total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def work(self, description: str) -> None:
        self._bar.update(self._task, description=description)

    def advance(self, count: int) -> None:
        self._bar.advance(self._task, count)
