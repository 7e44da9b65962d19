"""Before anything is completed or inferred, comparisons take the truth that their numbers give them."""

from __future__ import annotations

from lnnkit.infer.moves import Moves, note
from lnnkit.infer.visit import Round
from lnnkit.infer.workspace import Workspace


def initialise_comparisons(space: Workspace) -> None:
    """What a comparison says of its numbers, and what contradicts the truth that it is given, waits for a round."""
    atoms, state = space.grounding.atoms, space.state
    now = Round(atoms, state, space.classes)
    for visits in space.visits.values():
        if visits.visitor.formula.compares:
            for found in visits.visitor.visits(Moves()):
                visits.begin(found, now)
    raised, lowered = (space.meeting.settle(side, now.queue.sides[side]) for side in (0, 1))
    note(raised, lowered, atoms, state, space.classes)
