"""Completion of closed derived predicates, stratum by stratum: what no rule derives is false.

The lower ends are the least fixpoint of the rules read at their inputs' lower ends, the upper ends that of the upper
ends. With crisp closed inputs this is negation as failure. If rounds converge slowly, lower ends that stop early are
sound, but upper ends rise from below: those that have not converged become 1, until all remaining ones have.

After a completion that was stopped, lower ends that were reached hold, and upper ends are unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lnnkit.arrays import any_set
from lnnkit.engine.bounds_state import State, distinct, no_rows
from lnnkit.engine.inference_run import Pace, Run, Status, Watch, goes_on, on_cycles
from lnnkit.engine.merge import note
from lnnkit.engine.number_completion import best_candidates
from lnnkit.engine.planning.compiling import unstated_bounds, whole_neuron
from lnnkit.engine.response.proposing import GroupResponse
from lnnkit.engine.response.respond import Read, Response, completing, on_device
from lnnkit.engine.response.response_table import ResponseTable
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.engine.rounds import Moves, Rising, to_fixpoint
from lnnkit.engine.start.first_bounds import begin_aggregates, catch_up
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.join.triggers import Delta
from lnnkit.logic.bounds import Bounds, noise
from lnnkit.store.relations import DEFAULT, Relation
from lnnkit.store.row_arrays import Array, spelled_out
from lnnkit.trail.events import Kind


class Unfinished(Exception):
    """Completion stopped before its end; the state is consistent. ``status`` says why."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.value)
        self.status = status


def completed(run: Run, predicates: Collection[str]) -> dict[Relation, Array]:
    """By relation the rows of a stratum's atoms that no fact lists and no contradiction has arrested; facts about
    numbers are candidates."""
    derived: dict[Relation, Array] = {}
    for name in sorted(predicates):
        table = run.grounding.atoms.tables[name]
        rows = np.arange(len(table), dtype=np.int32)
        given = table.flags("given").take(rows) & (not table.derived)
        derived[table] = rows[~(given | table.held(rows))]
    return derived


def restore(run: Run, before: Mapping[Relation, Array], old: Mapping[Relation, Bounds]) -> None:
    """Undo a later completion of a stratum: the rows ``before`` it had the bounds ``old``, and all others their
    default."""
    state = run.state
    for table, now in completed(run, [table.name for table in before]).items():
        for side, values in enumerate(old[table]):
            state.put(table, side, now, table.default[side], Kind.RESTARTED)
            state.put(table, side, before[table], values, Kind.RESTORED)


def open_up(run: Run, predicates: Iterable[str]) -> None:
    """Leave the first completion with ``predicates`` unfinished: atoms that no fact lists are unknown above the lower
    ends reached. No round has been made, so that apart from the strata only shared neurons depend on these atoms; such
    neurons keep only the bounds that their statements give."""
    plan, state, tables = run.plan, run.state, run.grounding.atoms.tables
    lifted, names = plan.lifted, frozenset(predicates)
    for table, rows in completed(run, names).items():
        state.begin(table, rows)
        state.put(table, table.completed_side, rows, table.unknown[table.completed_side], Kind.OPENED)
    defaults = {name: tables[name].unknown if name in names else table.default for name, table in tables.items()}
    shared = [node for node, data in lifted.graph.nodes.items() if data["shared"]]
    for node in shared:
        if node not in plan.shared.impossible:
            data, table = lifted.graph.nodes[node], tables[node]
            defaults[node] = (min(data["lower"], data["upper"]), max(data["lower"], data["upper"]))
            rows = np.arange(len(table), dtype=np.int32)
            rows = rows[~table.held(rows)]
            for side, value in enumerate(defaults[node]):
                state.put(table, side, rows, value, Kind.INITIAL)
    analyses = plan.analyses.over(defaults)
    unstated = {node: unstated_bounds(analyses, whole_neuron(lifted, node)) for node in shared}
    schemas = {name: schema._replace(default=defaults[name]) for name, schema in plan.schemas.items()}
    run.plan = replace(plan, schemas=schemas, analyses=analyses, shared=plan.shared._replace(unstated=unstated))
    for name in (*names, *shared):
        table = tables[name]
        bounds = table.bounds  # those that rows have by default stay
        table.reserve(DEFAULT, defaults[name])
        table.deviate(np.arange(len(table), dtype=np.int32), *bounds)
    run.unfinished = names


class Inexact(Exception):
    """The two ends of a proposal differ, though those of its inputs do not."""


def exact_inputs(run: Run, members: Sequence[int]) -> bool:
    """Whether all atoms that the members read are exact, and each instance has one row."""
    atoms, responses = run.grounding.atoms, run.responding(members)
    if any(isinstance(response, GroupResponse) for response in responses.values()):
        return False
    names = {name for response in responses.values() for name in response.rule.formula.sources}
    return all(_exact(atoms.tables[name]) for name in sorted(names))


def _exact(table: Relation) -> bool:
    lower, upper = table.bounds  # of numbers without a value they are in no order
    return table.default[0] >= table.default[1] and bool((lower >= upper if table.numeric else lower == upper).all())


def respond_by(responses: Iterable[RuleResponse | GroupResponse], state: State, *, exact: bool) -> None:
    """Make rules respond with both ends of their heads or, if ``exact``, with the upper ends alone; they then raise
    `Inexact` if the lower ends would differ."""
    tables: dict[int, ResponseTable] = {}
    for response in responses:
        if isinstance(response, RuleResponse) and response.exact != exact:
            if response.number not in tables:
                evaluate = on_device(_completing if exact else completing, state.device)
                leaves = response.table.leaves
                tables[response.number] = ResponseTable(response.shape, leaves, evaluate, state.dtype)
            response.respond_by(tables[response.number], exact=exact)


def _completing(shape: RuleShape, read: Read, groupings: Sequence[Grouping | None]) -> Response:
    response = completing(shape, read, groupings)
    for (head, side), (_, upper) in response.proposed.items():
        lower = response.proposed[head, 0][1]
        if side == 1 and lower is not upper and _differ(lower, upper):
            raise Inexact
    raised = {target: proposed for target, proposed in response.proposed.items() if target[1] == 1}
    return response._replace(proposed=raised)


def _differ(lower: Array, upper: Array) -> bool:
    return any_set(abs(lower - upper) > noise(upper.dtype))


_WIDENINGS = 20  # after this many widenings of the bounds that still move, all raised bounds become 1;
_SETTLING = 100  # each after this many rounds


def complete(
    run: Run, changed: Collection[str] | None, watch: Watch | None = None, pace: Pace | None = None
) -> dict[Relation, Array]:
    """Complete every stratum, dependencies first; after the first time (None) only those that read or derive tables
    that have ``changed`` since. Returns the rows whose bounds changed; the first time only if there are comparisons,
    since nothing else has been evaluated yet. Raises `Unfinished` where it was stopped; what it leaves then holds.
    ``pace`` counts each later completion of a stratum as a round."""
    state, atoms = run.state, run.grounding.atoms
    moved: dict[Relation, Array] = {}
    first = changed is None
    for position, (predicates, members) in enumerate(run.strata):
        since = {*(changed or ()), *(table.name for table in moved)}
        if not first and run.completed_from(position).isdisjoint(since):
            continue
        before, known = completed(run, predicates), len(atoms)
        old = {table: table.read(rows) for table, rows in before.items()}
        start = _restart(before, run)
        # Fetched now, since restored bounds are looked up before the restart
        exact = first and exact_inputs(run, members)
        try:
            stopped = _least_fixpoint(run, predicates, members, watch, exact=exact)
            run.exact_strata |= {position} if exact else set()
        except Inexact:
            state.trail.step()
            start = _restart(completed(run, predicates), run)
            stopped = _least_fixpoint(run, predicates, members, watch, exact=False)
        if stopped is not Status.CONVERGED:
            if first:
                open_up(run, (name for names, _ in run.strata[position:] for name in names))
            else:
                restore(run, before, old)
            run.encoded.renew(atoms.numbered)
            raise Unfinished(stopped)
        state.trail.completed(predicates, start)
        if first:
            begin_aggregates(run, {name for names, _ in run.strata[position + 1 :] for name in names})
            moved |= completed(run, predicates) if run.demanded else {}
            continue
        most, raised, lowered = 0.0, dict[Relation, Array](), dict[Relation, Array]()
        for table, rows in before.items():
            state.restore(table, rows, old[table])
            state.arrest(table, rows)
            bounds = table.read(rows)
            table.deviate(rows, *bounds)
            run.encoded.refresh(table, rows)
            gains = [np.abs(now - end) for now, end in zip(bounds, old[table], strict=True)]
            most = max(most, *(float(gain.max(initial=0)) for gain in gains))
            ends = [gain > state.noise for gain in gains]
            raised[table], lowered[table] = (rows[end] for end in ends)
            if any_set(ends[0] | ends[1]):
                moved[table] = rows[ends[0] | ends[1]]
        if pace is not None and any(table in moved for table in before):
            pace.note(most, (raised, lowered), settled=known == len(atoms))
    return moved


def _restart(completing: Mapping[Relation, Array], run: Run) -> int:
    """Set the atoms to be completed to false, numbers to what facts give; returns the tick."""
    for table, rows in completing.items():
        given = rows[table.flags("given").take(rows)]  # of a number alone
        given, bounds = run.stated.setdefault(table, (given, table.read(given)))
        for side in (0, 1):
            run.state.put(table, side, rows, table.default[side], Kind.RESTARTED)
            run.state.put(table, side, given, bounds[side], Kind.STATED)
        run.state.begin(table, rows)
        run.encoded.refresh(table, rows)
    return run.state.trail.tick


def _least_fixpoint(
    run: Run, predicates: frozenset[str], members: Sequence[int], watch: Watch | None, *, exact: bool
) -> Status:
    """Rounds to the least fixpoint, or until they creep: then upper ends are raised until those rest. Returns why they
    stopped. If all inputs are ``exact``, both ends rise as one until rounds creep; raises `Inexact` where they do
    not."""
    state, responses = run.state, run.responding(members)
    for response in responses.values():
        response.rule.restart()
    rules, rising = responses.values(), Rising(exact)
    respond_by(rules, state, exact=exact)
    if any(run.grounding.atoms.tables[name].derived for name in predicates):
        return best_candidates(run, predicates, members, watch, rising, lambda: respond_by(rules, state, exact=False))
    pace = Pace()
    widened, since, rounds = 0, 0, 0

    def after(moves: Moves) -> Status | None:
        nonlocal widened, since, rounds
        rounds += 1
        since += 1
        if rising.exact and pace.creeps:
            rising.exact = False
            respond_by(rules, state, exact=False)
            moves.raised = moves.lowered
        if since >= _SETTLING if widened else pace.creeps:
            run.progress.creeping |= on_cycles(run, pace.slow)
            widened += 1
            since = 0
            rising.lower = False
            risen = {table: spelled_out(rows) for table, rows in moves.lowered.items()}
            opened = risen
            if widened > _WIDENINGS:
                every = completed(run, predicates)
                opened = {table: rows[table.take(1, rows) > 0] for table, rows in every.items()}
            for table, rows in opened.items():
                state.put(table, 1, rows, 1.0, Kind.OPENED)
            moves.delta = Delta()
            for table in sorted({*moves.raised, *risen, *opened}, key=lambda table: table.number):
                lifted = distinct([moved.get(table, no_rows()) for moved in (risen, opened)])
                raised = spelled_out(moves.raised.get(table, no_rows()))
                note(moves.delta, table, raised, lifted, state, run.encoded, rising=True)
            if run.demanded:
                catch_up(run, moves.delta)
        return None if goes_on(watch, run, "completion", rounds) else Status.INTERRUPTED

    return to_fixpoint(run, members, Delta(), pace, after, rising=rising)
