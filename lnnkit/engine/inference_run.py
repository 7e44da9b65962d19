"""A run: a plan with facts, on its way to a fixpoint or there; and when it ends: a watch that is told of each round,
and slow convergence.

A round is *slow* if it adds no atoms, arrests nothing, moves only bounds that have moved before, and each of them by
less than ``_STEP``. What goes down a chain moves each bound once; only a cycle moves the same bounds again and again.
Bounds are sound after every round, so giving up loses tightness only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, partial
from typing import Literal, Protocol

import numpy as np

from lnnkit.engine.bounds_state import State, no_rows
from lnnkit.engine.encoded_bounds import EncodedBounds
from lnnkit.engine.merge import Drift, Inbox, Merge, Rows
from lnnkit.engine.planning.inference_plan import Plan, PlannedRule
from lnnkit.engine.response.proposing import GroupResponse
from lnnkit.engine.response.respond import completing, on_device, respond
from lnnkit.engine.response.response_table import ResponseTable
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.join.instances.assembled import Assembler
from lnnkit.join.instances.grounding import Grounding
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.logic.bounds import Bounds
from lnnkit.store.relations import Relation, RowNumbers
from lnnkit.store.row_arrays import Array, Growing, spelled_out
from lnnkit.time_limit import check_time
from lnnkit.trail.events import Arrested

Stage = Literal["completion", "inference"]


@dataclass(frozen=True, slots=True)
class RoundReport:
    """The progress after a round: the rounds of its ``stage`` so far (of one stratum, in completion), the number of
    materialised atoms, and of evaluated instances."""

    stage: Stage
    rounds: int
    atoms: int
    instances: int


class Watch(Protocol):
    """Is called after every round, while the state is consistent."""

    def after_round(self, report: RoundReport, /) -> bool:
        """Whether to continue. If not, inference ends as interrupted, with sound bounds."""
        ...


def goes_on(watch: Watch | None, run: Run, stage: Stage, rounds: int) -> bool:
    """Report a round and return whether to continue; without a watch, nothing is counted."""
    if watch is None:
        return True
    return watch.after_round(RoundReport(stage, rounds, len(run.grounding.atoms), run.progress.instances))


_STEP = 1e-2  # a round that moves a bound further makes progress: each bound can be moved so far 100 times at most
# Gains are compared over so many rounds: a multiple of the lengths of most short cycles, so in the same phase. Those
# that halve (a ratio of 0.9904 a round, or less) fall from _STEP to rounding (1e-12) in 2,400 rounds: then bounds are
# within 2e-10 of their limit.
_WINDOW = 72
# Where gains halve more slowly, it stops below this one. The rest of the patience would move a bound by 3e-4 at most.
_GAIN = 1e-7
# So many slow rounds at most: enough for the 2,400. A program of a few rules makes 500 to 2,000 rounds a second.
_PATIENCE = 2500


class Pace:
    """The gains of consecutive rounds."""

    def __init__(self) -> None:
        self._gains: deque[float] = deque(maxlen=_WINDOW + 1)  # the gains of the slow rounds since the last other one
        self._slow_rounds = 0
        self._known = _MovedRows()
        self._unmarked: list[Sequence[Rows]] = []  # rows that moved in rounds that could not be slow
        self._slow = _MovedRows()

    def note(self, gain: float, moved: Sequence[Rows], *, settled: bool) -> None:
        """A round ``moved`` rows on their lower and upper sides, some bound by ``gain`` and none by more; ``settled``
        if no atoms were added and none contradicted."""
        self._unmarked.append(moved)
        if settled and gain < _STEP and self._moved_before():
            self._gains.append(gain)
            self._slow_rounds += 1
            self._slow.mark(moved)
        elif self._slow_rounds:
            self._gains.clear()
            self._slow_rounds = 0
            self._slow = _MovedRows()

    def _moved_before(self) -> bool:
        """Whether all rows of the last round have moved before. Rows that moved since the last call are marked, so a
        chain of a thousand rounds, none of which can be slow, is marked once."""
        *before, last = self._unmarked
        for moved in before:
            self._known.mark(moved)
        self._unmarked.clear()
        return self._known.mark(last)

    @property
    def creeps(self) -> bool:
        """Whether convergence is too slow to continue."""
        gains = self._gains
        hopeless = len(gains) > _WINDOW and gains[-1] < _GAIN and gains[-1] > gains[0] / 2
        return hopeless or self._slow_rounds >= _PATIENCE

    @property
    def slow(self) -> list[tuple[Relation, int, Array]]:
        """The rows that slow rounds have moved since the last round that was not slow, by relation and side."""
        return [(table, side, np.flatnonzero(flags.values)) for (table, side), flags in self._slow.flags.items()]


class _MovedRows:
    """Rows that moved, by relation and side."""

    def __init__(self) -> None:
        self.flags: dict[tuple[Relation, int], Growing] = {}

    def mark(self, moved: Sequence[Rows]) -> bool:
        """Mark rows that moved on their lower and upper sides; returns whether all were marked before."""
        known = True
        for side, by_relation in enumerate(moved):
            for table, rows in by_relation.items():
                flags = self.flags.setdefault((table, side), Growing(np.bool_)).reach(len(table))
                at = spelled_out(rows)
                known &= bool(flags.take(at).all())
                flags[at] = True
        return known


def on_cycles(run: Run, rows: Sequence[tuple[Relation, int, Array]]) -> set[int]:
    """The formulas whose instances set the bounds of ``rows`` (by relation and side) last and that are on a cycle:
    they read, directly or through others of these, what they set. All of these formulas if there is no cycle."""
    import networkx as nx  # 60 CPU milliseconds, so only for programs that creep

    graph: nx.DiGraph[object] = nx.DiGraph()
    members: set[int] = set()
    for member, target, read in _setters(run, rows):
        members.add(member)
        graph.add_edge(member, target)
        graph.add_edges_from((end, member) for end in read)
    cycles = (part for part in nx.strongly_connected_components(graph) if len(part) > 1)
    return members.intersection(*[set().union(*cycles)]) or members


End = tuple[str, int]  # the lower (0) or upper (1) ends of a table


def _setters(run: Run, rows: Sequence[tuple[Relation, int, Array]]) -> Iterator[tuple[int, End, list[End]]]:
    """Formulas that have set these bounds, each with the ends that it set and the ends that it read."""
    grounding = run.grounding
    numbers = RowNumbers(grounding.atoms)
    for side in (0, 1):
        setters = run.state.trail.setters(side, numbers)
        moved = [numbers.of(table, local) for table, end, local in rows if end == side]
        columns = np.stack([column.take(np.concatenate([no_rows(), *moved])) for column in setters])
        for number, leaf in np.unique(columns[:2], axis=1).T.tolist():
            shape = grounding.shapes[number]
            if number < 0 or leaf in shape.observed:  # a given bound, or one of a neuron that a query observes
                continue
            block = shape.formula.block_of(leaf)
            instances = columns[2, (columns[0] == number) & (columns[1] == leaf)]
            body = [other for other in shape.formula.leaves if other not in shape.formula.heads]
            for place in np.unique(shape.blocks[block].member.take(instances)).tolist():
                member = shape.members[place]
                formula = grounding.members[member].formula
                reads = [(other, (0, 1)) for other in body] if shape.completes else grounding.reads(number, leaf, side)
                read = [(formula.table(other), end) for other, ends in reads for end in ends]
                yield member, (formula.table(leaf), side), read


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
    creeping: set[int] = field(default_factory=set)  # members on cycles that were stopped


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
    exact_strata: set[int] = field(default_factory=set)  # the strata in which both ends rose as one
    stated: dict[Relation, tuple[Array, Bounds]] = field(default_factory=dict)  # facts about derived numbers
    waiting: set[str] = field(default_factory=set)  # shared neurons that wait for the first bounds of aggregates,
    begun: int = 0  # and the tick before which these were set
    assemblers: dict[str, Assembler] = field(default_factory=dict)  # of shared neurons, once facts have changed
    revised_chunks: int = 0  # the number of chunks of events in revisions of its fixpoint

    def arrested(self, number: int) -> Array:
        """Which rows of a shape belong to an arrested instance, including the rows that it was given before, when it
        set a bound."""
        shape = self.grounding.shapes[number]
        flags = shape.arrested.copy()
        for member in shape.members:
            response = self.responses[member]
            if response.arrests:
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

    def completed_from(self, position: int) -> set[str]:
        """The tables that the completion of a stratum reads and writes."""
        predicates, members = self.strata[position]
        return set(predicates).union(*(self.responses[member].rule.formula.sources for member in members))

    @cached_property
    def completing(self) -> frozenset[str]:
        """The tables that completions read and write."""
        return frozenset().union(*map(self.completed_from, range(len(self.strata))))

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
