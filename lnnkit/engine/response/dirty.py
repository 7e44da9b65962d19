"""Which atoms moved in the last round, side by side."""

from __future__ import annotations

import torch
from torch import Tensor

from lnnkit.store.growing import Growing


class Dirty:
    """A flag an atom row for its lower and for its upper bound. Marking takes the last marks away."""

    def __init__(self) -> None:
        self.flags = (Growing(torch.bool), Growing(torch.bool))
        self._marked = (torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.int64))

    def extend(self, length: int) -> None:
        """Have a flag for each of ``length`` rows."""
        for flags in self.flags:
            flags.append(torch.zeros(length - len(flags), dtype=torch.bool))

    def mark(self, lower: Tensor, upper: Tensor) -> None:
        for flags, old, new in zip(self.flags, self._marked, (lower, upper), strict=True):
            flags.values[old] = False
            flags.values[new] = True
        self._marked = (lower, upper)
