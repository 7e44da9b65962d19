"""How long learning may take, and what it is at."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Clock:
    """Wall-clock time for steps of growing cost: the next begins if as much time is left as the last one took."""

    seconds: float | None = None
    tell: Callable[[str], None] = lambda step: None
    _started: float = field(default_factory=time.monotonic)
    _last: float = field(default_factory=time.monotonic)

    def begins(self, step: str) -> bool:
        """Tell of the next step; whether there is time for it. There always is for the first."""
        now = time.monotonic()
        took, self._last = now - self._last, now
        if self.seconds is not None and now + took > self._started + self.seconds:
            return False
        self.tell(step)
        return True
