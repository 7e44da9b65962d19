"""Initial truths of shared neurons that are worked out only where a reader needs them, before completion and rounds, or
as soon as they are needed: of comparisons from their numbers, of others from their operands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lnnkit.engine.moves import Delta, Round, note
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.engine.workspace import Workspace
from lnnkit.join.bindings import Bindings


def initialise_comparisons(space: Workspace) -> None:
    """Give comparisons their truth; bounds for their numbers, and contradictions with a given truth, wait for a
    round."""
    compared = [response for response in space.demanded if response.rule.formula.compares]
    _begin(space, [(response, response.rule.assignments(Delta())) for response in compared])


def initialise_neuron(space: Workspace, name: str) -> None:
    """The same for another shared neuron."""
    for response in space.demanded:
        if response.rule.formula.auxiliary == name:
            _begin(space, [(response, response.rule.assignments(Delta()))])


def catch_up(space: Workspace, delta: Delta) -> None:
    """The same for shared neurons that became needed by what has moved."""
    compared = [response for response in space.demanded if response.rule.formula.compares]
    _begin(space, [(response, response.rule.demanded(delta)) for response in compared])
    for response in space.demanded[len(compared) :]:
        _begin(space, [(response, response.rule.demanded(delta))])


def _begin(space: Workspace, found: Sequence[tuple[RuleResponse, Iterator[Bindings]]]) -> None:
    now = Round(space.grounding.atoms, space.state, space.encoded)
    for response, assignments in found:
        for some in assignments:
            response.begin(some, now)
    if now.inbox:
        space.state.step()
        raised, lowered = (space.merge.settle(side, now.inbox.sides[side]) for side in (0, 1))
        note(raised, lowered, space.grounding.atoms, space.state, space.encoded)
