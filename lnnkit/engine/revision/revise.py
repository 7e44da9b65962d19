"""Facts of a fixpoint change: what depends on them is reset and derived again (delete and rederive, DRed: Gupta, Mumick
and Subrahmanian, SIGMOD 1993).

A bound depends on what the instances read that ever set it; the trail has these. Rows to which facts give less than
before, and all that depend on them, are reset to what facts and defaults give. Then the instances that may bound these
rows are evaluated once, and rounds go on from what has moved. All other bounds stay, and bounds only tighten from there
to the fixpoint of a fresh inference. Closed predicates with rules are completed again before, stratum by stratum. A
fresh inference has to be made if something is arrested on the way, or if rounds move what is completed from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import chain

import numpy as np

from lnnkit.engine.inference_run import Progress, Run, Status, Watch
from lnnkit.engine.merge import Round, changes
from lnnkit.engine.response.proposing import GroupResponse, reader
from lnnkit.engine.response.respond import completing, respond
from lnnkit.engine.response.rule_instances import RuleInstances
from lnnkit.engine.revision.changed_sorts import ChangedSorts
from lnnkit.engine.revision.dependent_rows import DependentRows
from lnnkit.engine.revision.reset_rows import (
    Response,
    RowsOf,
    bounds_of,
    limited,
    moved_since,
    reaching,
    reinitialise,
    reset,
    union,
    written_rows,
)
from lnnkit.engine.revision.restated_facts import RestatedAtom, enter_restated, restated_sorts
from lnnkit.engine.revision.revised_strata import Limits, derived_tables, revise_strata
from lnnkit.engine.rounds import infer_rounds, merged
from lnnkit.engine.start.first_bounds import begin, catch_up
from lnnkit.join.bindings import Bindings
from lnnkit.numeric import rises
from lnnkit.store.relations import Relation
from lnnkit.trail.events import Kind

# From where on a fresh inference is made. After 2,100 chunks of events of earlier revisions a change over a graph of 60
# edges took as long as one (22 ms, 19). A round that finds one row again takes 1.5 to 3 times as long as one that adds
# it: to find a path of 1,000 edges again takes 1.4 times as long, without the limit of rounds 3. Others are estimates.
_CHUNKS = 1000
_ROUNDS = 20
_SHARE = 4  # more than one in so many rows is reset,
_FEW = 1000  # and more than a few


def revise(
    run: Run, restated: Sequence[RestatedAtom], entities: Mapping[str, int], watch: Watch | None, *, labelled: bool
) -> bool:
    """Bring a fixpoint to that of its facts as they are now, which also name new ``entities``. Those that nothing names
    any more leave their sorts, unless some may be ``labelled``. False if a fresh inference has to be made: then, and
    after an exception, the run must not be used."""
    trail, domain, tables = run.state.trail, run.grounding.domain, run.grounding.atoms.tables
    start = trail.chunk_count
    room = domain.count + len(entities) <= domain.generic
    completed_once = len(trail.completions) == len(run.strata)  # then rounds have not moved what these read
    read = not run.completing.isdisjoint(atom.predicate for atom in restated)
    if not room or not _revisable(run) or (read and not completed_once):
        return False
    domain.index.update(entities)
    domain.count += len(entities)
    entered, changed = enter_restated(run, restated), restated_sorts(run, restated)
    if entered is None or changed is None or (labelled and changed.leaving):
        return False
    loosened, tightened, listed = entered
    atoms = len(run.grounding.atoms)
    limits = Limits(max(_FEW, atoms // _SHARE), _ROUNDS + (start - run.revised_chunks) // 8 + atoms // 1000)
    completions = (run.responses[member].rule for _, members in run.strata for member in members)
    if not completed_once and any(map(changed.concerns, completions)):
        return False
    loosened = union(loosened, changed.leaving_rows(run))
    completed = derived_tables(run) if completed_once else set[Relation]()
    if completed:
        if changed.leaving:  # joins find what depends on those who leave as long as they are there
            left = DependentRows(run, loosened, changed, limits.rows, {*tables.values()})
            loosened = left.rows()
            if left.count > limits.rows:
                return False
        changed.apply(run)
    if completed or run.plan.around_aggregates:  # these are worked out from facts once, before rounds
        loosened = union(loosened, tightened)
    again = revise_strata(run, loosened, completed, changed, limits, watch) if completed else {}
    if again is None:
        return False
    tightened = {table: rows for table, rows in tightened.items() if table not in completed}
    neurons = [tables[str(formula.auxiliary)] for formula in changed.definitions]
    all_rows = {table: range(len(table)) for table in neurons if len(table)}
    completed_until = trail.chunk_count
    loosened = union(loosened, again, all_rows)
    dependent = DependentRows(run, loosened, changed, limits.rows, {*tables.values()} - completed)
    rows = dependent.rows()
    if dependent.count > limits.rows:
        return False
    if not completed:
        changed.apply(run)
    run.progress = Progress()
    moved = _rederived(run, rows, tightened, listed, again, changed, completed)
    if moved is None:
        return False
    infer_rounds(run, run.inference, limits.rounds, moved, watch)
    run.revised_chunks += trail.chunk_count - start
    written = {*written_rows(run, completed_until, resets=False), *(() if completed_once else (*rows, *tightened))}
    complete = run.completing.isdisjoint(table.name for table in written)
    return complete and _ended(run, Status.CONVERGED, Status.INTERRUPTED) and not _depends_on_order(run, start)


def _rederived(
    run: Run,
    rows: RowsOf,
    tightened: RowsOf,
    listed: RowsOf,
    again: RowsOf,
    changed: ChangedSorts,
    completed: Set[Relation],
) -> RowsOf | None:
    """Reset some ``rows``, but for those that were completed ``again``, and derive them again; returns the rows that
    have moved. None where facts cross."""
    trail = run.state.trail
    trail.step()
    start = trail.chunk_count
    before = bounds_of(rows)
    reset(run, {table: some for table, some in rows.items() if table not in completed})
    if not _tighten(run, tightened):
        return None
    begin(run, [(response, response.rule.with_new_members(changed.joining)) for response in run.demanded])
    catch_up(run, changes(tightened))
    aggregates, tables = run.plan.around_aggregates, run.grounding.atoms.tables
    formulas = (f for f in run.plan.shared.formulas if not f.compares or f.auxiliary in aggregates)
    shared = [formula for formula in formulas if tables[str(formula.auxiliary)] not in completed]
    reinitialise(run, shared, rows, changed.definitions)
    written = _deviating(written_rows(run, start, resets=False))
    begun = moved_since(written, rows, before, tighter=True)  # some of new rows
    numbers = {table: some for table, some in union(rows, tightened).items() if table.numeric}
    derived = _evaluate(run, union(rows, listed), again, numbers, changed)
    return union(tightened, again, begun, derived)


def _revisable(run: Run) -> bool:
    """Whether a run has converged, and has nothing that revisions do not renew, nor too many events of these."""
    trail, plan = run.state.trail, run.plan
    recorded = trail.trace is not None or run.grounding.recorder is not None
    if recorded or run.state.device != "cpu" or plan.demands or plan.shared.impossible:
        return False
    return run.revised_chunks <= max(_CHUNKS, trail.chunk_count // 2) and _ended(run, Status.CONVERGED)


def _ended(run: Run, *statuses: Status) -> bool:
    """Whether a run ended with one of these statuses, and no bound was given up on the way."""
    progress = run.progress
    given_up = progress.arrested or run.state.crossed or run.unfinished or run.drift.met
    return progress.status in statuses and not given_up


def _deviating(some: RowsOf) -> RowsOf:
    """The rows that joins take: those that are known to differ from the default, or to have done so."""
    return {table: rows[table.flags("either").take(rows)] for table, rows in some.items()}


def _tighten(run: Run, tightened: RowsOf) -> bool:
    """Give rows what facts give them; False where bounds cross."""
    for table, rows in tightened.items():
        for side, values in enumerate(table.stated(rows)):
            now = table.take(side, rows)
            at = np.flatnonzero(values < now if side else values > now)
            run.state.put(table, side, rows.take(at), values.take(at), Kind.RESET)
        if len(run.state.arrest(table, rows)):
            return False
        table.deviate(rows, *table.read(rows))
        run.encoded.refresh(table, rows)
    return True


def _evaluate(run: Run, rows: RowsOf, again: RowsOf, numbers: RowsOf, changed: ChangedSorts) -> RowsOf:
    """Evaluate the instances that may bound some ``rows``, that read what was completed ``again``, and those found by
    changed ``numbers`` and sorts; returns the rows that have moved."""
    run.state.trail.step()
    now = Round(run.grounding.atoms, run.state, run.encoded)
    delta = changes(_deviating(rows))
    for response in run.responding(run.inference).values():
        shape = response.shape
        due = chain(reaching(run, response, (*shape.targets, *shape.observed), rows), limited(response, numbers))
        due = chain(due, reaching(run, response, shape.formula.leaves, again))
        due = chain(due, changed.instances(response.rule))
        formula = response.rule.formula
        stated = formula.auxiliary is not None and (formula.lower > 0 or formula.upper < 1)
        if formula.compares or stated or shape.observed:
            # operands may have said more of a neuron than statements, and say less now
            due = chain(due, response.rule.assignments(delta))
        for bindings in due:
            response.propose(bindings, now)
    moves = merged(run, now.inbox, None)
    run.progress.arrested += now.arrested
    return union(moves.raised, moves.lowered)


# --- rounding ---------------------------------------------------------------------------------------------------------


def _depends_on_order(run: Run, start: int) -> bool:
    """Whether an instance that reads or bounds rows of events from chunk ``start`` on gives a bound that differs from
    the present one by rounding alone. Of two such bounds the first wins; a fresh inference may find the other first."""
    degrees = {name for name, table in run.grounding.atoms.tables.items() if not _crisp(run, table)}
    some = written_rows(run, start) if degrees else {}
    delta = changes(some)
    for response in run.responses.values():
        if not degrees.isdisjoint(response.rule.formula.sources):
            shape = response.shape
            leaves = shape.formula.leaves if shape.completes else (*shape.targets, *shape.observed)
            for bindings in chain(reaching(run, response, leaves, some), response.rule.assignments(delta)):
                if _differs_by_rounding(run, response, bindings):
                    return True
    return False


def _crisp(run: Run, table: Relation) -> bool:
    pairs = (run.encoded.pairs[number] for number in run.encoded.known(table))
    return not (run.encoded.varied(table) or table.numeric) and {0.0, 1.0}.issuperset(chain.from_iterable(pairs))


def _differs_by_rounding(run: Run, response: Response, bindings: Bindings) -> bool:
    state, shape, atoms = run.state, response.shape, run.grounding.atoms
    evaluate = completing if shape.completes else respond
    leaves = (*shape.targets, *shape.formula.heads)
    if isinstance(response, GroupResponse):
        free = [bindings.column(variable) for variable in response.group.formula.blocks[0].variables]
        group = response.group.assembler.of(free, bindings.length)
        rows, made = group.rows, evaluate(shape, reader(group, state.dtype), group.groupings)
        tables = group.tables
    else:
        flat = RuleInstances(shape, response.member, response.rule, bindings, atoms, run.encoded)
        rows = {leaf: flat.rows(leaf) for leaf in leaves}
        tables = {leaf: flat.table(leaf) for leaf in leaves}
        made = evaluate(shape, flat.reader(range(bindings.length), state.dtype), (None,))
    for (leaf, side), (_, value) in made.proposed.items():
        table, at = tables[leaf], np.flatnonzero(rows[leaf] >= 0)
        now, value = table.take(side, rows[leaf].take(at)), value.take(at)
        if table.numeric:  # what a fact says is there before any proposal
            given = table.stated(rows[leaf].take(at))[side]
            close = ~rises(now, value) & ~rises(value, now) & (given != now)
        else:
            close = (now > 0) & (now < 1) & (abs(now - value) <= state.noise)
        if (close & (now != value)).any():
            return True
    return False
