"""The worklist: the rules due in a round, which are new or read what moved in the last round."""

from __future__ import annotations

from collections.abc import Mapping

from lnnkit.engine.delta import Delta
from lnnkit.engine.response.rule_response import RuleResponse


class Worklist:
    """The rules of a schedule, indexed by the tables and sides that they read."""

    def __init__(self, responses: Mapping[int, RuleResponse]) -> None:
        self._responses = responses
        self._listening: dict[tuple[str, int], list[int]] = {}
        self._fresh = {member for member, each in responses.items() if each.rule.fresh}
        self._comparisons = [member for member, each in responses.items() if each.rule.formula.compares]
        self._due: dict[tuple[tuple[str, int], ...], list[RuleResponse]] = {}  # by the tables and sides that moved
        for member, each in responses.items():
            for where in each.rule.triggers:
                self._listening.setdefault(where, []).append(member)

    @property
    def fresh(self) -> bool:
        """Whether a rule is due regardless of moves."""
        if not self._comparisons:
            return bool(self._fresh)
        return bool(self._fresh) or any(self._responses[member].rule.fresh for member in self._comparisons)

    def due(self, delta: Delta) -> list[RuleResponse]:
        """The rules that are due, in canonical order."""
        if self.fresh:
            members = {member for where in delta.where for member in self._listening.get(where, ())} | self._fresh
            self._fresh = set()
            members.update(member for member in self._comparisons if self._responses[member].rule.fresh)
            return [self._responses[member] for member in sorted(members)]
        where = tuple(delta.where)
        due = self._due.get(where)
        if due is None:
            members = {member for each in where for member in self._listening.get(each, ())}
            due = self._due[where] = [self._responses[member] for member in sorted(members)]
        return due
