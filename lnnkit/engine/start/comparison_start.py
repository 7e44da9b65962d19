"""Initial truths of comparisons from their numbers, before completion and rounds, or as soon as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lnnkit.engine.delta import Delta, note
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.engine.round import Round
from lnnkit.engine.workspace import Workspace
from lnnkit.join.bindings import Bindings


def initialise_comparisons(space: Workspace) -> None:
    """Give comparisons their truth; bounds for their numbers, and contradictions with a given truth, wait for a
    round."""
    _begin(space, [(response, response.rule.assignments(Delta())) for response in space.comparisons])


def catch_up(space: Workspace, delta: Delta) -> None:
    """The same for comparisons that became needed by what has moved."""
    _begin(space, [(response, response.rule.demanded(delta)) for response in space.comparisons])


def _begin(space: Workspace, found: Sequence[tuple[RuleResponse, Iterator[Bindings]]]) -> None:
    now = Round(space.grounding.atoms, space.state, space.encoded)
    for response, assignments in found:
        for some in assignments:
            response.begin(some, now)
    if now.inbox:
        space.state.step()
        raised, lowered = (space.merge.settle(side, now.inbox.sides[side]) for side in (0, 1))
        note(raised, lowered, space.grounding.atoms, space.state, space.encoded)
