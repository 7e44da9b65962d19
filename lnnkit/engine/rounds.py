"""Synchronous rounds to a fixpoint. In each, the rules that are due join the delta and respond to what the last round
left; their proposals are merged at its end. A completion is the same over one stratum, with both ends rising."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lnnkit.engine.bounds_state import no_rows
from lnnkit.engine.inference_run import Pace, Run, Status, Watch, goes_on, on_cycles
from lnnkit.engine.merge import Inbox, Proposals, Round, Rows, changes, note, note_new
from lnnkit.engine.response.proposing import GroupResponse
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.engine.start.first_bounds import catch_up
from lnnkit.join.triggers import Delta
from lnnkit.store.relations import Relation
from lnnkit.store.row_arrays import Array, spelled_out
from lnnkit.time_limit import TimedOut, check_time

Rule = RuleResponse | GroupResponse


class Worklist:
    """The rules of a schedule, which are due when they are new or read what moved in the last round: indexed by the
    tables and sides that they read."""

    def __init__(self, responses: Mapping[int, Rule]) -> None:
        self._responses = responses
        self._listening: dict[tuple[str, int], list[int]] = {}
        self._fresh = {member for member, response in responses.items() if response.rule.fresh}
        self._demanded = [member for member, response in responses.items() if response.rule.on_demand]
        self._due: dict[tuple[tuple[str, int], ...], list[Rule]] = {}  # by the tables and sides that moved
        for member, response in responses.items():
            for where in response.rule.triggers:
                self._listening.setdefault(where, []).append(member)

    def due(self, delta: Delta) -> list[Rule]:
        """The rules that are due, in canonical order."""
        where = tuple(delta.where)
        fresh = self._fresh.union(member for member in self._demanded if self._responses[member].rule.fresh)
        if fresh or where not in self._due:
            self._fresh = set()
            members = {member for side in where for member in self._listening.get(side, ())} | fresh
            due = [self._responses[member] for member in sorted(members)]
            if fresh:
                return due
            self._due[where] = due
        return self._due[where]


@dataclass(slots=True, eq=False)
class Moves:
    """What a round moved: the rows raised and lowered (in a completion the rows whose lower and whose upper end rose),
    the ``delta`` that the next round reads, and whether atoms were ``arrested``."""

    raised: dict[Relation, Array | range] = field(default_factory=dict)
    lowered: dict[Relation, Array | range] = field(default_factory=dict)
    delta: Delta = field(default_factory=Delta)
    arrested: bool = False


@dataclass(slots=True, eq=False)
class Rising:
    """A completion: both ends rise. ``exact``: proposals are for upper ends, and raise both. ``lower`` ends may rest
    while upper ones are widened."""

    exact: bool
    lower: bool = True


def infer_rounds(
    run: Run,
    members: Sequence[int],
    limit: int,
    moved_before: Rows,
    watch: Watch | None = None,
    pace: Pace | None = None,
) -> None:
    """Rounds over ``members`` until nothing changes, convergence is too slow, the limit is reached, or ``watch`` stops
    them. ``moved_before`` are rows that moved on either side since the members last looked at them. ``pace`` has the
    gains of earlier calls, where rounds alternate with something else."""
    pace, progress = pace or Pace(), run.progress

    def after(_moves: Moves) -> Status | None:
        progress.rounds += 1
        if pace.creeps:
            progress.creeping |= on_cycles(run, pace.slow)
            return Status.CREEPING
        return None if goes_on(watch, run, "inference", progress.rounds) else Status.INTERRUPTED

    delta = changes(moved_before)
    progress.status = to_fixpoint(run, members, delta, pace, after, limit=limit)


def to_fixpoint(
    run: Run,
    members: Sequence[int],
    delta: Delta,
    pace: Pace,
    after: Callable[[Moves], Status | None],
    *,
    rising: Rising | None = None,
    limit: float = math.inf,
) -> Status:
    """Rounds over ``members`` until nothing moves, the limit is reached, the time is up, or ``after``, which is called
    at the end of each round and may change its delta, gives a status. Returns why it stopped."""
    state, atoms, progress = run.state, run.grounding.atoms, run.progress
    worklist = Worklist(run.responding(members))
    while True:
        known = atoms.length
        try:
            now = _gather(run, worklist, delta)
        except TimedOut:  # what this round has proposed is dropped
            return Status.INTERRUPTED
        if progress.rounds >= limit and (now.inbox or now.arrested):
            return Status.ROUND_LIMIT
        if rising is not None and not rising.lower:
            for _, (lower, _) in now.inbox.by_relation():
                lower.clear()
        steady = known == atoms.length and not now.arrested
        gain = _largest_gain(now.inbox) if steady else 1.0
        progress.arrested += now.arrested
        state.trail.arrest(now.arrested)
        moves = merged(run, now.inbox, rising)
        if not moves.raised and not moves.lowered and not now.arrested:
            return Status.CONVERGED
        pace.note(gain, (moves.raised, moves.lowered), settled=steady and not moves.arrested)
        if run.demanded:
            catch_up(run, moves.delta)
        status = after(moves)
        if status is not None:
            return status
        delta = moves.delta


def _gather(run: Run, worklist: Worklist, delta: Delta) -> Round:
    """The proposals of the rules that are due."""
    run.state.trail.step()
    now = Round(run.grounding.atoms, run.state, run.encoded, delta)
    for response in worklist.due(delta):
        check_time()
        with run.measured(response.member, now.inbox):
            for bindings in response.rule.assignments(delta):
                now.instances += bindings.length
                response.propose(bindings, now)
    run.progress.instances += now.instances
    return now


def merged(run: Run, inbox: Inbox, rising: Rising | None) -> Moves:
    """Merge a round's proposals."""
    moves, both = Moves(), rising is not None and rising.exact
    if rising is None:
        run.drift.hold(inbox)
    for table, (lower, upper) in inbox.by_relation():
        if (
            not table.derived
            and bool(lower) != bool(upper)
            and _insert(run, table, int(not lower), lower or upper, moves, rising)
        ):
            continue
        raised, lowered = (
            no_rows()
            if both and not side
            else run.merge.settle(table, side, proposals, rising=rising is not None, both=both)
            for side, proposals in enumerate((lower, upper))
        )
        if rising is None:
            for side, rows in enumerate((raised, lowered)):
                run.drift.note(table, side, rows)
        _enter(run, moves, table, raised, lowered, rising)
    return moves


def _insert(
    run: Run, table: Relation, side: int, proposals: Sequence[Proposals], moves: Moves, rising: Rising | None
) -> bool:
    """Merge proposals for one end that insert rows with one bound; False where they are others."""
    both = rising is not None and rising.exact
    new = run.merge.settle_new(table, side, proposals, both=both)
    if new is None:
        return False
    rows, value = new
    sides = (0, 1) if both else (side,)
    if note_new(moves.delta, table, rows, sides, value, run.encoded, run.state.tolerance):
        (moves.lowered if side else moves.raised)[table] = rows
        return True
    inserted = spelled_out(rows)
    _enter(run, moves, table, *((no_rows(), inserted) if side else (inserted, no_rows())), rising)
    return True


def _enter(run: Run, moves: Moves, table: Relation, raised: Array, lowered: Array, rising: Rising | None) -> None:
    """Enter rows that a round raised and lowered."""
    for rows, moved in ((raised, moves.raised), (lowered, moves.lowered)):
        if len(rows):
            moved[table] = rows
    crossed = note(moves.delta, table, raised, lowered, run.state, run.encoded, rising=rising is not None)
    moves.arrested |= bool(len(crossed))


def _largest_gain(inbox: Inbox) -> float:
    """The greatest gain of any bound from the inbox."""
    most = 0.0
    for table, sides in inbox.by_relation():
        for side, proposals in enumerate(sides):
            for proposal in proposals:
                gains = np.abs(proposal.values - table.take(side, proposal.row))
                most = max(most, float(gains.max()))
    return most
