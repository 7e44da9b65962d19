"""Comparisons take the truth that their numbers give them before anything is completed or inferred, or as soon as it is
asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lnnkit.engine.delta import Delta, note
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.engine.round import Round
from lnnkit.engine.workspace import Workspace
from lnnkit.join.bindings import Bindings


def initialise_comparisons(space: Workspace) -> None:
    """What a comparison says of its numbers, and what contradicts the truth that it is given, waits for a round."""
    _begin(space, [(response, response.rule.assignments(Delta())) for response in space.comparisons])


def catch_up(space: Workspace, delta: Delta) -> None:
    """The same for comparisons that have come to be of use to somebody by what has moved."""
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
