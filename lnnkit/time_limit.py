"""A time limit that long computations read between their steps."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class TimedOut(Exception):
    """The time is over."""


class Deadline:
    """A time limit: ``seconds`` from now; None: none."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def left(self) -> float | None:
        """The remaining seconds, at least 0."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    @property
    def passed(self) -> bool:
        return self.left == 0.0

    def capped(self, seconds: float) -> Deadline:
        """This limit, or ``seconds`` from now if that is earlier."""
        return Deadline(seconds if self.left is None else min(seconds, self.left))

    def share(self, parts: int) -> Deadline:
        """An equal part of the remaining time."""
        return Deadline(None if self.left is None else self.left / parts)


class Limit(Protocol):
    """What a computation has to keep."""

    @property
    def passed(self) -> bool:
        """Whether it has to stop."""
        ...


_limit: ContextVar[Limit | None] = ContextVar("limit", default=None)


@contextmanager
def limited_to(limit: Limit) -> Iterator[None]:
    """A context in which `check_time` raises `TimedOut` once the limit has passed."""
    token = _limit.set(limit)
    try:
        yield
    finally:
        _limit.reset(token)


def check_time() -> None:
    """Raises `TimedOut` if a time limit is set and the time is over. It is called for each statement of a program."""
    limit = _limit.get()
    if limit is not None and limit.passed:
        raise TimedOut
