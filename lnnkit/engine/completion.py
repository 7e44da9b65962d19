"""Completion of closed derived predicates, stratum by stratum: what no rule derives is false.

The lower ends are the least fixpoint of the rules read at their inputs' lower ends, the upper ends that of the upper
ends. With crisp closed inputs this is negation as failure. If rounds converge slowly, lower ends that stop early are
sound, but upper ends rise from below: those that have not converged become 1, until all remaining ones have.

After a completion that was stopped, lower ends that were reached hold, and upper ends are unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from lnnkit.arrays import any_set
from lnnkit.engine.bounds_state import State, distinct, no_rows
from lnnkit.engine.moves import Delta, note
from lnnkit.engine.response.group_response import GroupResponse
from lnnkit.engine.response.respond import Read, Response, completing, on_device
from lnnkit.engine.response.response_table import ResponseTable
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.engine.rounds import Moves, Rising, to_fixpoint
from lnnkit.engine.start.first_bounds import catch_up, neuron_root
from lnnkit.engine.start.prepare import completed
from lnnkit.engine.start.prepared import Prepared, SharedNeurons
from lnnkit.engine.termination import Pace, Watch, goes_on, on_cycles
from lnnkit.engine.workspace import Status, Workspace
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.formula.unfolding import unfold
from lnnkit.join.instances.grounding import sources
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds, noise
from lnnkit.store.atoms import AtomTable
from lnnkit.store.columns.row_arrays import Array, spelled_out
from lnnkit.trail.events import Kind


class Unfinished(Exception):
    """Completion stopped before its end; the state is consistent. ``status`` says why."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.value)
        self.status = status


def restore(prepared: Prepared, predicates: frozenset[str], rows: Array, old: Bounds) -> None:
    """Undo a later completion of a stratum: ``rows`` had the bounds ``old``, and all others their default."""
    state = prepared.state
    now = completed(prepared, predicates)
    for side, values in enumerate(old):
        state.put(side, now, 0.0, Kind.RESTARTED)
        state.put(side, rows, values, Kind.RESTORED)


def open_up(prepared: Prepared, predicates: Iterable[str]) -> None:
    """Leave the first completion with ``predicates`` unfinished: atoms that no fact lists are unknown above the lower
    ends reached. No round has been made, so that apart from the strata only shared neurons depend on these atoms; such
    neurons keep only the bounds that their statements give."""
    grounding, state = prepared.grounding, prepared.state
    atoms, lifted = grounding.atoms, prepared.lifted
    names = frozenset(predicates)
    reached = completed(prepared, names)
    state.put(1, reached, 1.0, Kind.OPENED)
    defaults = {name: table.default for name, table in atoms.tables.items()}
    defaults |= dict.fromkeys(names, (0.0, 1.0))
    shared = [node for node, data in lifted.graph.nodes.items() if data["shared"]]
    for node in shared:
        if node not in prepared.shared.impossible:
            data = lifted.graph.nodes[node]
            defaults[node] = (min(data["lower"], data["upper"]), max(data["lower"], data["upper"]))
            rows = atoms.tables[node].rows
            rows = rows[~state.frozen.take(rows)]
            for side, value in enumerate(defaults[node]):
                state.put(side, rows, value, Kind.INITIAL)
    prepared.analyses = prepared.analyses.over(defaults)
    untold = {}
    for node in shared:
        bare = unfold(lifted, neuron_root(lifted, node), through_shared=True)
        plain = prepared.analyses.of(bare, stated=False).upward.default_values(bare.top)
        untold[node] = (min(low for low, _ in plain), max(high for _, high in plain))
    prepared.shared = SharedNeurons(prepared.shared.formulas, prepared.shared.impossible, untold)
    for name in (*names, *shared):
        table = atoms.tables[name]
        table.default = defaults[name]
        for side, value in enumerate(table.default):
            state.put(side, np.array([table.default_row]), value, None)
        rows = table.rows
        atoms.deviate(rows, *state.read(rows))
    prepared.unfinished = names


class Inexact(Exception):
    """The two ends of a proposal differ, though those of its inputs do not."""


def exact_inputs(space: Workspace, members: Sequence[int]) -> bool:
    """Whether all atoms that the members read are exact, and each instance has one row."""
    atoms, responses = space.grounding.atoms, space.responding(members)
    if any(isinstance(each, GroupResponse) for each in responses.values()):
        return False
    names = {name for each in responses.values() for name in sources(each.rule.formula)}
    return all(_exact(atoms.tables[name], space.state) for name in sorted(names))


def _exact(table: AtomTable, state: State) -> bool:
    if table.numeric or table.default[0] != table.default[1]:
        return False
    run = table.run
    lower, upper = state.read(table.rows) if run is None else state.read_run(run.start, run.stop)
    return np.array_equal(lower, upper)


def respond_by(responses: Iterable[RuleResponse | GroupResponse], state: State, *, exact: bool) -> None:
    """Make rules respond with both ends of their heads or, if ``exact``, with the upper ends alone; they then raise
    `Inexact` if the lower ends would differ."""
    tables: dict[int, ResponseTable] = {}
    for each in responses:
        if isinstance(each, RuleResponse) and each.exact != exact:
            if each.number not in tables:
                say = _completing if exact else completing
                say = on_device(say, state.device)
                tables[each.number] = ResponseTable(each.batch, each.table.leaves, say, state.dtype)
            each.respond_by(tables[each.number], exact=exact)


def _completing(batch: RuleShape, read: Read, groupings: Sequence[Grouping | None]) -> Response:
    found = completing(batch, read, groupings)
    for (head, side), (_, upper) in found.proposed.items():
        if side == 1 and _differ(found.proposed[head, 0][1], upper):
            raise Inexact
    return Response(
        found.bad, found.root, {target: proposed for target, proposed in found.proposed.items() if target[1] == 1}
    )


def _differ(lower: Array, upper: Array) -> bool:
    return any_set(abs(lower - upper) > noise(upper.dtype))


_WIDENINGS = 20  # after this many widenings of the bounds that still move, all raised bounds become 1;
_SETTLING = 100  # each after this many rounds


def complete(
    prepared: Prepared, space: Workspace, *, first: bool, watch: Watch | None = None, pace: Pace | None = None
) -> Array:
    """Complete every stratum, dependencies first. Returns the rows whose bounds changed; for a ``first`` completion
    only if there are comparisons, since nothing else has been evaluated yet. Raises `Unfinished` where it was stopped;
    what it leaves then holds. ``pace`` counts each later completion of a stratum as a round."""
    state, atoms = space.state, space.grounding.atoms
    moved_rows: list[Array] = []
    for position, (predicates, members) in enumerate(prepared.strata):
        before, known = completed(prepared, predicates), len(atoms)
        old = state.read(before)
        start = _restart(before, space)
        # Fetched now, since restored bounds are looked up before the restart
        exact = first and exact_inputs(space, members)
        try:
            stopped = _least_fixpoint(prepared, space, predicates, members, watch, exact=exact)
        except Inexact:
            state.step()
            start = _restart(completed(prepared, predicates), space)
            stopped = _least_fixpoint(prepared, space, predicates, members, watch, exact=False)
        space.extend()
        if stopped is not Status.CONVERGED:
            if first:
                open_up(prepared, (name for names, _ in prepared.strata[position:] for name in names))
            else:
                restore(prepared, predicates, before, old)
            space.encoded.renew(atoms.numbered)
            raise Unfinished(stopped)
        state.trail.completed(predicates, start)
        if not first:
            state.restore(before, old)
            atoms.enlist(state.arrest(before))
            low, high = state.read(before)
            atoms.deviate(before, low, high)
            space.encoded.refresh(before)
            gains = np.abs(low - old.lower), np.abs(high - old.upper)
            raised, lowered = (gain > state.noise for gain in gains)
            moved_rows.append(before[raised | lowered])
            if pace is not None and len(moved_rows[-1]):
                most = max(float(gain.max()) for gain in gains)
                pace.note(most, (before[raised], before[lowered]), settled=known == len(atoms))
        elif space.demanded:
            moved_rows.append(completed(prepared, predicates))
    return np.concatenate(moved_rows) if moved_rows else no_rows()


def _restart(rows: Array, space: Workspace) -> int:
    """Set the atoms to be completed to false; returns the tick."""
    state = space.state
    for side in (0, 1):
        state.put(side, rows, 0.0, Kind.RESTARTED)
    space.encoded.extend()
    space.encoded.refresh(rows)
    return state.trail.tick


def _least_fixpoint(
    prepared: Prepared,
    space: Workspace,
    predicates: frozenset[str],
    members: Sequence[int],
    watch: Watch | None,
    *,
    exact: bool,
) -> Status:
    """Rounds to the least fixpoint, or until they creep: then upper ends are raised until those rest. Returns why they
    stopped. If all inputs are ``exact``, both ends rise as one until rounds creep; raises `Inexact` where they do
    not."""
    state, responses = space.state, space.responding(members)
    for each in responses.values():
        each.rule.restart()
    respond_by(responses.values(), state, exact=exact)
    pace, rising = Pace(), Rising(exact)
    widened, since, rounds = 0, 0, 0

    def after(moves: Moves) -> Status | None:
        nonlocal widened, since, rounds
        rounds += 1
        since += 1
        if rising.exact and pace.creeps:
            rising.exact = False
            respond_by(responses.values(), state, exact=False)
            moves.raised = moves.lowered
        if since >= _SETTLING if widened else pace.creeps:
            space.progress.creeping |= on_cycles(space, pace.slow)
            widened += 1
            since = 0
            rising.lower = False
            opened = spelled_out(moves.lowered)
            if widened > _WIDENINGS:
                own = completed(prepared, predicates)
                opened = own[state.upper.values.take(own) > 0]
            state.put(1, opened, 1.0, Kind.OPENED)
            lifted = distinct([spelled_out(moves.lowered), opened])
            atoms = space.grounding.atoms
            moves.delta, _ = note(spelled_out(moves.raised), lifted, atoms, state, space.encoded, rising=True)
            if space.demanded:
                catch_up(space, moves.delta)
        return None if goes_on(watch, space, "completion", rounds) else Status.INTERRUPTED

    return to_fixpoint(space, members, Delta(), pace, after, rising=rising)
