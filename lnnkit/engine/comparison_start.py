"""Comparisons take the truth that their numbers give them before anything is completed or inferred, or as soon as it is
asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lnnkit.engine.delta import Moves, note
from lnnkit.engine.response.rule_response import Visits
from lnnkit.engine.round import Round
from lnnkit.engine.workspace import Workspace
from lnnkit.join.bindings import Bindings


def initialise_comparisons(space: Workspace) -> None:
    """What a comparison says of its numbers, and what contradicts the truth that it is given, waits for a round."""
    _begin(space, [(visits, visits.visitor.visits(Moves())) for visits in space.comparisons])


def catch_up(space: Workspace, moves: Moves) -> None:
    """The same for comparisons that have come to be of use to somebody by what has moved."""
    _begin(space, [(visits, visits.visitor.demanded(moves)) for visits in space.comparisons])


def _begin(space: Workspace, found: Sequence[tuple[Visits, Iterator[Bindings]]]) -> None:
    now = Round(space.grounding.atoms, space.state, space.classes)
    for visits, assignments in found:
        for some in assignments:
            visits.begin(some, now)
    if now.queue:
        if space.state.history is not None:
            space.state.history.step()
        raised, lowered = (space.meeting.settle(side, now.queue.sides[side]) for side in (0, 1))
        note(raised, lowered, space.grounding.atoms, space.state, space.classes)
