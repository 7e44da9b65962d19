"""Rows that read alike: where bounds take few values, a sweep need only look once at each combination of them."""

from __future__ import annotations

import torch
from torch import Tensor

from lnnkit.ground.tuples import Growing
from lnnkit.infer.state import State

_CLASSES = 12  # with more distinct bounds than these there is nothing to gain
_CODES = 4096
_ROWS = 2048


class Classes:
    """For each atom row, which of a few pairs of bounds it reads as. ``useful`` is given up once there are too many."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._pairs: list[tuple[float, float]] = []
        self._codes = Growing(torch.int16)
        self.useful = True
        self.extend()

    def extend(self) -> None:
        """Classify the rows that the state has come to have."""
        start, stop = len(self._codes), len(self._state.lower)
        if self.useful and stop > start:
            self._codes.append(torch.empty(stop - start, dtype=torch.int16))
            self.update(torch.arange(start, stop))

    def update(self, rows: Tensor) -> None:
        """Classify rows whose bounds have changed."""
        if not self.useful:
            return
        lower, upper = self._state.read(rows)
        while len(rows):
            for number, (low, high) in enumerate(self._pairs):
                alike = (lower == low) & (upper == high)
                if bool(alike.any()):
                    self._codes.values[rows[alike]] = number
                    rows, lower, upper = rows[~alike], lower[~alike], upper[~alike]
            if not len(rows):
                return
            if len(self._pairs) == _CLASSES:
                self.useful = False
                return
            self._pairs.append((float(lower[0]), float(upper[0])))

    def condense(self, columns: list[Tensor]) -> tuple[Tensor, Tensor] | None:
        """For instances with these columns of atom rows: the positions of representatives, one for each combination of
        bounds, and each instance's representative. None where that saves nothing."""
        base = len(self._pairs)
        if not self.useful or not columns or len(columns[0]) < _ROWS or base ** len(columns) > _CODES:
            return None
        code = torch.zeros(len(columns[0]), dtype=torch.int16)
        for column in columns:
            code = code * base + self._codes.values.index_select(0, column)
        wide = code.long()
        first = torch.full((base ** len(columns),), -1)
        first[wide] = torch.arange(len(wide))
        present = (first >= 0).nonzero().squeeze(1)
        place = torch.empty(len(first), dtype=torch.int64)
        place[present] = torch.arange(len(present))
        return first.index_select(0, present), place.index_select(0, wide)
