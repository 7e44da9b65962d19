"""The worklist: the rules due in a round. In the round's first half they join the delta, respond, and leave their
proposals in the inbox."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lnnkit.engine.bounds_state import State
from lnnkit.engine.delta import Delta
from lnnkit.engine.merge import Inbox
from lnnkit.engine.response.group_response import GroupResponse
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.engine.round import Round
from lnnkit.engine.workspace import Workspace
from lnnkit.time_limit import check_time

Rule = RuleResponse | GroupResponse


class Worklist:
    """The rules of a schedule, which are due when they are new or read what moved in the last round: indexed by the
    tables and sides that they read."""

    def __init__(self, responses: Mapping[int, Rule]) -> None:
        self._responses = responses
        self._listening: dict[tuple[str, int], list[int]] = {}
        self._fresh = {member for member, each in responses.items() if each.rule.fresh}
        self._demanded = [member for member, each in responses.items() if each.rule.on_demand]
        self._due: dict[tuple[tuple[str, int], ...], list[Rule]] = {}  # by the tables and sides that moved
        for member, each in responses.items():
            for where in each.rule.triggers:
                self._listening.setdefault(where, []).append(member)

    @property
    def fresh(self) -> bool:
        """Whether a rule is due regardless of moves."""
        if not self._demanded:
            return bool(self._fresh)
        return bool(self._fresh) or any(self._responses[member].rule.fresh for member in self._demanded)

    def due(self, delta: Delta) -> list[Rule]:
        """The rules that are due, in canonical order."""
        if self.fresh:
            members = {member for where in delta.where for member in self._listening.get(where, ())} | self._fresh
            self._fresh = set()
            members.update(member for member in self._demanded if self._responses[member].rule.fresh)
            return [self._responses[member] for member in sorted(members)]
        where = tuple(delta.where)
        due = self._due.get(where)
        if due is None:
            members = {member for each in where for member in self._listening.get(each, ())}
            due = self._due[where] = [self._responses[member] for member in sorted(members)]
        return due


def gather(
    space: Workspace,
    worklist: Worklist,
    delta: Delta,
) -> Round:
    """The proposals of the rules that are due."""
    atoms = space.grounding.atoms
    space.state.step()
    now = Round(atoms, space.state, space.encoded, delta)
    for response in worklist.due(delta):
        check_time()
        for found in response.rule.assignments(delta):
            now.instances += found.length
            response.propose(found, now)
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
