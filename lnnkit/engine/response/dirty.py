"""Flags of the atoms that moved in the last round."""

from __future__ import annotations

import numpy as np

from lnnkit.store.columns.arrays import Array
from lnnkit.store.columns.growing import Growing


class Dirty:
    """A flag for each atom row's lower and upper bound. Marking clears the previous marks."""

    def __init__(self) -> None:
        self.flags = (Growing(np.bool_), Growing(np.bool_))
        self._marked = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))

    def extend(self, length: int) -> None:
        """Have a flag for each of ``length`` rows."""
        for flags in self.flags:
            flags.append(np.zeros(length - len(flags), dtype=bool))

    def mark(self, lower: Array, upper: Array) -> None:
        for flags, old, new in zip(self.flags, self._marked, (lower, upper), strict=True):
            flags.values[old] = False
            flags.values[new] = True
        self._marked = (lower, upper)
