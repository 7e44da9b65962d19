"""A run: a plan with facts, on its way to a fixpoint or there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, partial

import numpy as np

from lnnkit.engine.bounds_state import State
from lnnkit.engine.encoded_bounds import EncodedBounds
from lnnkit.engine.merge import Drift, Inbox, Merge
from lnnkit.engine.planning.inference_plan import Plan, PlannedRule
from lnnkit.engine.response.proposing import GroupResponse
from lnnkit.engine.response.respond import completing, on_device, respond
from lnnkit.engine.response.response_table import ResponseTable
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.join.instances.grounding import Grounding
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.store.row_arrays import Array
from lnnkit.time_limit import check_time
from lnnkit.trail.events import Arrested

_UNMEASURED = nullcontext()


class Status(Enum):
    """Why inference stopped; the value is the word that users see."""

    CONVERGED = "converged"
    CREEPING = "creeping"
    DRIFTING = "drifting"
    ROUND_LIMIT = "round_limit"
    INTERRUPTED = "interrupted"


@dataclass(slots=True, eq=False)
class Progress:
    """The progress of the rounds; ``rounds`` counts those that changed something."""

    rounds: int = 0
    status: Status = Status.CONVERGED
    instances: int = 0
    arrested: list[Arrested] = field(default_factory=list)
    creeping: set[int] = field(default_factory=set)  # members whose instances converge slowly


@dataclass(eq=False)
class Run:
    """``responses`` has one for each member of the grounding: ``inference`` are those of rounds, ``strata`` those that
    complete each stratum of closed derived predicates. A predicate is ``unfinished`` if its first completion was
    stopped: it is read as open."""

    plan: Plan
    grounding: Grounding
    state: State
    inference: Sequence[int]
    strata: Sequence[tuple[frozenset[str], Sequence[int]]]
    responses: Mapping[int, RuleResponse | GroupResponse]
    encoded: EncodedBounds
    merge: Merge
    progress: Progress = field(default_factory=Progress)
    drift: Drift = field(default_factory=Drift)
    unfinished: frozenset[str] = frozenset()
    waiting: set[str] = field(default_factory=set)  # shared neurons that wait for the first bounds of aggregates,
    begun: int = 0  # and the tick before which these were set

    def arrested(self, number: int) -> Array:
        """Which rows of a shape belong to an arrested instance, including the rows that it was given before, when it
        set a bound."""
        shape = self.grounding.shapes[number]
        flags = shape.arrested.copy()
        for member in shape.members:
            response = self.responses[member]
            if len(response.arrests):
                rows = np.flatnonzero(shape.blocks[0].member == shape.members.index(member))
                columns = partial(self.grounding.free_variables, number, response.rule, rows)
                behind = partial(shape.behind, rows)
                flags[rows] = response.arrests.holds(columns, len(rows), behind)
        return flags

    @property
    def consistent(self) -> bool:
        """Whether it has come to its end without a contradiction."""
        return self.progress.status is Status.CONVERGED and not (self.state.crossed or self.progress.arrested)

    @cached_property
    def demanded(self) -> tuple[RuleResponse, ...]:
        """The definitions of shared neurons that are worked out where they are needed: comparisons, then others,
        operands first."""
        every = (response for response in self.responses.values() if isinstance(response, RuleResponse))
        rules = {response.rule.formula.auxiliary: response for response in every if response.rule.on_demand}
        order = [name for name, response in rules.items() if response.rule.formula.compares]
        stack = [name for name in rules if name not in order]
        while stack:
            formula = rules[stack[-1]].rule.formula
            below = [formula.neurons[leaf].source for leaf in formula.leaves]
            new = [name for name in below if name in rules and name not in order]
            if new:
                stack += new
            elif (name := stack.pop()) not in order:
                order.append(name)
        return tuple(rules[name] for name in order)

    def measured(self, member: int, inbox: Inbox) -> AbstractContextManager[None]:
        """A context in which a member leaves proposals, recorded with the time that it takes if anything is."""
        recorder = self.grounding.recorder
        return _UNMEASURED if recorder is None else recorder.measured(member, inbox)

    def responding(self, members: Sequence[int]) -> dict[int, RuleResponse | GroupResponse]:
        """The responses of some members."""
        return {member: self.responses[member] for member in members}


def run_of(plan: Plan, grounding: Grounding, state: State) -> Run:
    """The run of a plan before its first round; its rules enter the grounding."""
    inference = [_enter(grounding, rule) for rule in plan.rules]
    strata = [(names, [_enter(grounding, rule) for rule in rules]) for names, rules in plan.strata]
    tables: dict[int, ResponseTable] = {}
    responses: dict[int, RuleResponse | GroupResponse] = {}
    for member, rule in enumerate(grounding.members):
        check_time()
        number = grounding.number(member)
        shape = grounding.shapes[number]
        if isinstance(rule, GroupRule):
            responses[member] = GroupResponse(number, shape, member, rule)
            continue
        if number not in tables:
            leaves = [leaf for leaf in shape.blocks[0].columns if not (shape.completes and leaf in shape.formula.heads)]
            evaluate = on_device(completing if shape.completes else respond, state.device)
            tables[number] = ResponseTable(shape, leaves, evaluate, state.dtype)
        responses[member] = RuleResponse(number, shape, member, rule, tables[number])
    return Run(plan, grounding, state, inference, strata, responses, EncodedBounds(grounding.atoms), Merge(state))


def _enter(grounding: Grounding, rule: PlannedRule) -> int:
    """Enter a rule; returns its number among the members."""
    grounding.add(*rule)
    return len(grounding.members) - 1
