"""A bar on standard error while seeds are run."""

from __future__ import annotations

import sys
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar


class Progress:
    """While entered, shows how much of ``cells`` cells is done; gone when the work is."""

    def __init__(self, cells: int, *, shown: bool) -> None:
        columns = (BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        text = TextColumn("{task.description}")
        self._bar = Bar(*columns, text, console=Console(file=sys.stderr), transient=True, disable=not shown)
        self._task = self._bar.add_task("", total=cells)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def reach(self, cells: float, work: str) -> None:
        """So many cells are done, in part or whole, and this one is being worked on."""
        self._bar.update(self._task, completed=cells, description=work)
