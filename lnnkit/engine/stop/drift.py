"""Numbers that are narrowed without end: ``x = y + 1`` and ``x = y`` raise both by one, round after round.

An end of a number that has moved `MOST` times is left as it is: it holds, though it may be loose, and everything else
goes on to a fixpoint. A long chain without a cycle is not cut short: in each of its rounds some end comes to rest, and
each such round allows every end one more move.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lnnkit.engine.bounds_state import State
from lnnkit.engine.merge import Inbox, Proposals
from lnnkit.store.columns.growing import Growing
from lnnkit.store.columns.row_arrays import Array

MOST = 250
_TRACED = 100  # after this many moves of some end, the round of each end's last move is recorded
_LIMIT = 2**15 - 2


class Drift:
    """Counts how often the ends of numbers moved."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._moves = (Growing(np.int16), Growing(np.int16))
        self._last = (Growing(np.int32), Growing(np.int32))  # the round in which each moved last, once that is noted
        self._often = [0, 0]  # the greatest number of moves of an end
        self._round = 0
        self.met = False  # whether a proposal for such an end was suppressed

    def hold(self, inbox: Inbox) -> None:
        """Remove the proposals for ends that moved too often from a round's inbox."""
        self._round += 1
        for side, often in enumerate(self._often):
            if often >= MOST:
                most = min(MOST + self._resting(side), _LIMIT)
                if often >= most:
                    sides = inbox.sides[side]
                    sides[:] = [kept for proposal in sides for kept in self._heard(side, proposal, most)]

    def note(self, side: int, rows: Array) -> None:
        """Record that the ends of these rows moved."""
        numbers = self._state.numbers
        if numbers is None or not len(rows):
            return
        own = rows[numbers.take(rows)]
        if not len(own):
            return
        delta = self._moves[side].reach(len(self._state.lower))
        count = delta.take(own) + 1
        delta[own] = count
        self._often[side] = max(self._often[side], int(count.max()))
        if self._often[side] >= _TRACED:
            self._last[side].reach(len(self._state.lower))[own] = self._round

    def _resting(self, side: int) -> int:
        """The number of rounds so far in which an end moved for the last time, except the previous round."""
        last = self._last[side].reach(len(self._state.lower))
        rounds = np.bincount(last[last < self._round - 1])
        return int((rounds[1:] > 0).sum())

    def _heard(self, side: int, proposal: Proposals, most: int) -> list[Proposals]:
        rows = proposal.row
        hears = self._moves[side].reach(int(rows.max()) + 1).take(rows) < most
        if hears.all():
            return [proposal]
        self.met = True
        if not hears.any():
            return []
        rows, value, instances = rows[hears], proposal.values[hears], proposal.instance[hears]
        return [replace(proposal, rows=rows, value=value, instances=instances)]
