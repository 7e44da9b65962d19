"""Numbers that are narrowed for ever: ``x = y + 1`` and ``x = y`` raise both by one, round after round.

An end of a number that has moved `MOST` times is let be: what it says holds, though it may be loose, and everything
else goes on to a fixpoint. A chain that moves each of many numbers once is not cut short.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from lnnkit.flags import all_set, any_set
from lnnkit.ground.growing import Marks
from lnnkit.infer.messages import Messages, Queue
from lnnkit.infer.state import State

MOST = 250


class Drift:
    """How often the ends of numbers have moved."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._moves = (Marks(torch.int16), Marks(torch.int16))
        self._tired = [False, False]  # whether any end has moved that often
        self.met = False  # whether one of those was told more

    def hold(self, queue: Queue) -> None:
        """Take the messages to ends that have moved too often out of a round's."""
        for side in (0, 1):
            if self._tired[side]:
                queue.sides[side][:] = [kept for message in queue.sides[side] for kept in self._heard(side, message)]

    def note(self, side: int, rows: Tensor) -> None:
        """The ends of these rows have moved."""
        numbers = self._state.numbers
        if numbers is None or not rows.numel():
            return
        own = rows[numbers.index_select(0, rows)].long()
        if not own.numel():
            return
        moves = self._moves[side].reach(len(self._state.lower))
        count = moves.index_select(0, own) + 1
        moves.index_copy_(0, own, count)
        self._tired[side] |= int(count.max()) >= MOST

    def _heard(self, side: int, message: Messages) -> list[Messages]:
        moves = self._moves[side].reach(len(self._state.lower))
        hears = moves.index_select(0, message.row) < MOST
        if all_set(hears):
            return [message]
        self.met = True
        if not any_set(hears):
            return []
        row, value, instance = message.row[hears], message.value[hears], message.instance[hears]
        return [replace(message, row=row, value=value, instance=instance)]
