"""Inference that ends with a time limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lnnkit.time_limit import Deadline, TimedOut

if TYPE_CHECKING:
    from lnnkit.engine.termination import RoundReport, Watch


class Timed:
    """A watch that continues until a deadline, and as long as another ``watch`` does. It has been ``late`` if the
    deadline came first. As a limit it passes once: what comes after inference is quick."""

    def __init__(self, watch: Watch | None, deadline: Deadline) -> None:
        self.late = False
        self._watch = watch
        self.deadline = deadline
        self._rounds = 0

    @property
    def note(self) -> str:
        """What is to be said where it was late."""
        return f"inference took all the time and was stopped after {self._rounds:,} rounds; these are its bounds"

    @property
    def passed(self) -> bool:
        """Whether the deadline has passed, for the first time that this is found."""
        first = not self.late and self.deadline.passed
        self.late = self.late or first
        return first

    def after_round(self, report: RoundReport, /) -> bool:
        if self._watch is not None and not self._watch.after_round(report):
            return False
        self._rounds = report.rounds
        self.late = self.late or self.deadline.passed
        return not self.late


class Raising:
    """A watch that raises `TimedOut` once the time of another is over."""

    def __init__(self, timed: Timed) -> None:
        self._timed = timed

    def after_round(self, _report: RoundReport, /) -> bool:
        if self._timed.deadline.passed:
            raise TimedOut
        return True
