"""The first half of a round: everybody who has something new to read looks, and leaves messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lnnkit.engine.bounds_state import State
from lnnkit.engine.delta import Moves
from lnnkit.engine.merge import Queue
from lnnkit.engine.response.dirty import Dirty
from lnnkit.engine.round import Round
from lnnkit.engine.worklist import Agenda
from lnnkit.engine.workspace import Workspace

Sweep = Callable[[int, Workspace, Dirty, Round], None]  # looks at the kept instances of one batch


def gather(
    space: Workspace,
    members: Sequence[int],
    kept: Sequence[int],
    agenda: Agenda,
    moves: Moves,
    dirty: Dirty,
    sweep: Sweep,
) -> Round:
    """What the visited among ``members`` leave, by the ``moves``, and those in the ``kept`` batches, by ``dirty``
    rows."""
    atoms = space.grounding.atoms
    if space.state.history is not None:
        space.state.history.step()
    now = Round(atoms, space.state, space.classes, moves)
    for visits in agenda.due(moves):
        for found in visits.visitor.visits(moves):
            now.visited += found.length
            visits.send(found, now)
    if kept:
        space.grounding.extend(members)
        space.state.extend(atoms)
        space.classes.extend()
        dirty.extend(len(atoms))
        for number in kept:
            sweep(number, space, dirty, now)
    space.progress.visited += now.visited
    return now


def largest_gain(state: State, queue: Queue) -> float:
    """The most that any bound is about to move."""
    most = 0.0
    for side in (0, 1):
        for message in queue.sides[side]:
            gains = (message.value - state.ends(side).values.index_select(0, message.row)).abs()
            most = max(most, float(gains.max()))
    return most
