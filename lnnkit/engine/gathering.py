"""The first half of a round: each rule that is due joins the delta, responds, and leaves its proposals in the inbox."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lnnkit.engine.bounds_state import State
from lnnkit.engine.delta import Delta
from lnnkit.engine.merge import Inbox
from lnnkit.engine.response.dirty import Dirty
from lnnkit.engine.round import Round
from lnnkit.engine.worklist import Worklist
from lnnkit.engine.workspace import Workspace
from lnnkit.time_limit import check_time

Sweep = Callable[[int, Workspace, Dirty, Round], None]  # evaluates the kept instances of one batch


def gather(
    space: Workspace,
    members: Sequence[int],
    kept: Sequence[int],
    worklist: Worklist,
    delta: Delta,
    dirty: Dirty,
    sweep: Sweep,
) -> Round:
    """The proposals of ``members``: rules without kept instances join the ``delta``, the ``kept`` batches evaluate the
    rows that are ``dirty``."""
    atoms = space.grounding.atoms
    space.state.step()
    now = Round(atoms, space.state, space.encoded, delta)
    for response in worklist.due(delta):
        check_time()
        for found in response.rule.assignments(delta):
            now.instances += found.length
            response.propose(found, now)
    if kept:
        space.grounding.extend(members)
        space.state.extend(atoms)
        space.encoded.extend()
        dirty.extend(len(atoms))
        for number in kept:
            sweep(number, space, dirty, now)
    space.progress.instances += now.instances
    return now


def largest_gain(state: State, inbox: Inbox) -> float:
    """The greatest gain of any bound from the inbox."""
    most = 0.0
    for side in (0, 1):
        for proposal in inbox.sides[side]:
            gains = np.abs(proposal.values - state.ends(side).values.take(proposal.row))
            most = max(most, float(gains.max()))
    return most
