"""Which visited members have something to look at in a round: the new ones, and those that listen to what moved."""

from __future__ import annotations

from collections.abc import Mapping

from lnnkit.infer.moves import Moves
from lnnkit.infer.visit import Visits


class Agenda:
    """The members of a schedule, by the tables and sides that they listen to."""

    def __init__(self, visits: Mapping[int, Visits]) -> None:
        self._visits = visits
        self._listening: dict[tuple[str, int], list[int]] = {}
        self._fresh = {member for member, each in visits.items() if each.visitor.fresh}
        for member, each in visits.items():
            for where in each.visitor.triggers:
                self._listening.setdefault(where, []).append(member)

    def due(self, moves: Moves) -> list[Visits]:
        """Those to visit, in their canonical order."""
        members = {member for where in moves.where for member in self._listening.get(where, ())} | self._fresh
        self._fresh = set()
        return [self._visits[member] for member in sorted(members)]
