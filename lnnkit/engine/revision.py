"""Facts of a fixpoint change: what rests on them is taken back, by the trail, and found again.

A bound rests on what the instances read that ever set it. Rows to which facts give less than before, and all that rests
on them, are reset to what facts and defaults give; then the instances that may bound these rows are evaluated once, and
rounds go on from what has moved. All other bounds hold still, and bounds only tighten from there: to the fixpoint of a
fresh inference, unless something is arrested on the way, a closed predicate is completed from what changes, or numbers
that inference has narrowed are among it. Then a fresh inference has to be made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from lnnkit.analysis.relevance import LISTED, SIDES
from lnnkit.engine.bounds_state import distinct
from lnnkit.engine.changed_sorts import ChangedSorts, changed_sorts, within_sorts
from lnnkit.engine.inference_run import Progress, Run, Status, Watch
from lnnkit.engine.merge import Round, changes
from lnnkit.engine.response.proposing import GroupResponse, reader
from lnnkit.engine.response.respond import respond
from lnnkit.engine.response.rule_instances import RuleInstances
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.engine.resting_rows import RestingRows
from lnnkit.engine.rounds import infer_rounds, merged
from lnnkit.engine.start.first_bounds import begin, catch_up, initialise
from lnnkit.join.bindings import Bindings
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.store.relations import Relation
from lnnkit.store.row_arrays import Array, spelled_out
from lnnkit.trail.events import Kind

# From where on a fresh inference is made. After 2,100 chunks of events of earlier revisions a change over a graph of 60
# edges took as long as one (22 ms, 19). A round that finds one row again takes 1.5 to 3 times as long as one that adds
# it: to find a path of 1,000 edges again takes 1.4 times as long, without the limit of rounds 3. Others are estimates.
_CHUNKS = 1000
_ROUNDS = 20
_SHARE = 4  # more than one in so many rows is reset,
_FEW = 1000  # and more than a few

_Rows = Mapping[Relation, Array]
_Response = RuleResponse | GroupResponse


@dataclass(frozen=True, slots=True)
class Restated:
    """An atom by the ids of its entities: whether its facts were taken ``back``, and the ``bounds`` that facts gave it
    since; None for none."""

    predicate: str
    entities: tuple[int, ...]
    back: bool
    bounds: tuple[float, float] | None


def revise(
    run: Run, restated: Sequence[Restated], entities: Mapping[str, int], watch: Watch | None, *, labelled: bool
) -> bool:
    """Bring a fixpoint to that of its facts as they are now, which also name new ``entities``. Those that nothing names
    any more leave their sorts, unless some may be ``labelled``. False if a fresh inference has to be made: then, and
    after an exception, the run is of no more use."""
    trail, domain = run.state.trail, run.grounding.domain
    start = trail.chunk_count
    room = domain.count + len(entities) <= domain.generic
    if not room or not _revisable(run) or not _completing(run).isdisjoint(atom.predicate for atom in restated):
        return False
    domain.index.update(entities)
    domain.count += len(entities)
    entered, changed = _entered(run, restated), _changed_sorts(run, restated)
    if entered is None or changed is None or (labelled and changed.leaving):
        return False
    loosened, tightened, listed = entered
    neurons = {run.grounding.atoms.tables[str(formula.auxiliary)] for formula in changed.neurons}
    every = {table: range(len(table)) for table in neurons if len(table)}
    loosened = _union(loosened, changed.named(run), every)
    numbers = {table: rows for table, rows in _union(loosened, tightened).items() if table.numeric}
    most = max(_FEW, len(run.grounding.atoms) // _SHARE)
    resting = RestingRows(run, loosened, changed, most) if loosened or changed else None
    reset = resting.rows() if resting is not None else {}
    if resting is not None and resting.count > most:
        return False
    if any(table.numeric and table not in numbers for table in reset) or not _moved_numbers(run, 0).isdisjoint(numbers):
        return False
    run.progress = Progress()
    trail.step()
    changed.move(run)
    _reset(run, reset)
    for formula in changed.neurons:
        initialise(run, formula)
        run.encoded.renew([run.grounding.atoms.tables[str(formula.auxiliary)]])
    if not _tightened(run, tightened):
        return False
    begin(run, [(response, response.rule.joined_by(changed.joining)) for response in run.demanded])
    catch_up(run, changes(tightened))
    begun = _deviating(_written(run, start, resets=False))  # an entity or an operand may let a neuron say more than before
    found = _evaluated(run, _union(reset, listed), numbers, changed)
    rounds = _ROUNDS + (start - run.revisions) // 8 + len(run.grounding.atoms) // 1000
    infer_rounds(run, run.inference, rounds, _union(tightened, begun, found), watch)
    run.revisions += trail.chunk_count - start
    tables = (*(run.grounding.atoms.numbered[number] for number in trail.tables(start)), *loosened, *tightened)
    apart = {table.name for table in tables}.isdisjoint(_completing(run)) and not _moved_numbers(run, start)
    return apart and _whole(run, Status.CONVERGED, Status.INTERRUPTED) and not _by_order(run, start)


def _moved_numbers(run: Run, start: int) -> set[Relation]:
    """The numbers that inference has moved from chunk ``start`` of the events on."""
    numbered = run.grounding.atoms.numbered
    if not any(numbered[table].numeric for table in run.state.trail.tables(start)):
        return set()
    moved = (numbered[c.table] for c in islice(run.state.trail.chunks(), start, None) if c.kind != Kind.RESET)
    return {table for table in moved if table.numeric}


def _revisable(run: Run) -> bool:
    trail, plan = run.state.trail, run.plan
    plain = trail.trace is None and run.grounding.recorder is None and run.state.device == "cpu" and not plan.demands
    plain &= run.revisions <= max(_CHUNKS, trail.chunk_count // 2)
    return plain and not plan.shared.impossible and _whole(run, Status.CONVERGED)


def _whole(run: Run, *statuses: Status) -> bool:
    """Whether it has ended so, and no bound was given up on the way."""
    progress = run.progress
    given_up = progress.arrested or run.state.crossed or run.unfinished or run.drift.met
    return progress.status in statuses and not given_up


def _written(run: Run, start: int, *, resets: bool = True) -> _Rows:
    """The rows about which there are events from chunk ``start`` on, with or without ``resets``."""
    rows: dict[Relation, list[Array]] = {}
    for chunk in islice(run.state.trail.chunks(), start, None):
        if resets or chunk.kind != Kind.RESET:
            rows.setdefault(run.grounding.atoms.numbered[chunk.table], []).append(spelled_out(chunk.rows))
    return {table: distinct(parts) for table, parts in rows.items()}


def _union(*parts: Mapping[Relation, Array | range]) -> _Rows:
    """The rows of all parts, by relation."""
    tables = dict.fromkeys(chain.from_iterable(parts))
    return {table: distinct([spelled_out(rows[table]) for rows in parts if table in rows]) for table in tables}


def _deviating(some: _Rows) -> _Rows:
    """Those of some rows that a join may take: their bounds are known to differ from the default, or to have done so."""
    return {table: rows[table.flags("either").take(rows)] for table, rows in some.items()}


def _completing(run: Run) -> set[str]:
    """The tables that completions read and write."""
    rules = (run.responses[member].rule for _, members in run.strata for member in members)
    return {name for rule in rules for name in rule.formula.sources}


# --- facts ------------------------------------------------------------------------------------------------------------


def _entered(run: Run, restated: Sequence[Restated]) -> tuple[_Rows, _Rows, _Rows] | None:
    """The rows to which facts give less now at some end, those to which they give more, and those that are new among
    the listed ones, where rules bound these alone; None if the plan was not made for such facts, or they contradict
    each other."""
    index, tables = run.grounding.domain.index, run.grounding.atoms.tables
    asked = {(atom.node, tuple(index[str(text)] for text in atom.arguments)) for atom in run.plan.asked}
    loosened, tightened, new = dict[Relation, Array](), dict[Relation, Array](), dict[Relation, Array]()
    for name in dict.fromkeys(atom.predicate for atom in restated):
        table, atoms = tables[name], [atom for atom in restated if atom.predicate == name]
        entities = np.array([atom.entities for atom in atoms], np.int32).reshape(len(atoms), len(table.sorts))
        columns = [column.copy() for column in entities.T]
        told, back = np.array([a.bounds is not None for a in atoms]), np.array([a.back for a in atoms])
        foreseen = bool(table.loaded or table.restated) or not told.any()
        rows = run.grounding.atoms.materialise(table, columns, len(atoms))
        before, were = table.stated(rows), table.flags("given").take(rows)
        kept = were & ~back
        ends = np.array([atom.bounds or table.default for atom in atoms], before.lower.dtype).T
        lower = np.where(kept, np.where(told, np.maximum(before.lower, ends[0]), before.lower), ends[0])
        upper = np.where(kept, np.where(told, np.minimum(before.upper, ends[1]), before.upper), ends[1])
        for side, end, default in zip(SIDES, (lower, upper), table.default, strict=True):  # rules that read it
            foreseen &= (name, side) in run.plan.relevance.produced or bool((end == default).all())
        if not foreseen or (lower > upper).any():
            return None
        table.restated |= dict(zip(rows.tolist(), zip(lower.tolist(), upper.tolist(), strict=True), strict=True))
        table.changes += 1
        looser = (lower < before.lower) | (upper > before.upper)
        tighter = (lower > before.lower) | (upper < before.upper)
        given, relevance = kept | told, run.plan.relevance
        if table.default != table.unknown:
            # rules do not listen to ends that come nearer to the default, and proofs tell it from facts
            looser |= tighter | (given != were)
        listens = LISTED in [relevance.mode(name, side) for side in SIDES]
        unlisted = given & ~table.flags("listed").take(rows) & listens
        for target, chosen in ((loosened, looser), (tightened, tighter), (new, unlisted)):
            if chosen.any():
                target[table] = np.sort(rows[chosen])
        listed = given | np.array([(name, atom.entities) in asked for atom in atoms])
        for names, still in (("given", given), ("listed", listed)):
            table.enlist(names, rows[given])
            table.delist(names, rows[~still])
    return loosened, tightened, new


def _changed_sorts(run: Run, restated: Sequence[Restated]) -> ChangedSorts | None:
    """The sorts that change, once the facts have entered."""
    named, gone = (dict[str, set[int]]() for _ in range(2))
    for atom in restated:
        for sort, entity in zip(run.grounding.atoms.tables[atom.predicate].sorts, atom.entities, strict=True):
            if atom.bounds is not None:
                named.setdefault(sort, set()).add(entity)
            elif atom.back:
                gone.setdefault(sort, set()).add(entity)
    return changed_sorts(run, named, gone, len(restated))


def _tightened(run: Run, tightened: _Rows) -> bool:
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


# --- and is found again -----------------------------------------------------------------------------------------------


def _reset(run: Run, reset: _Rows) -> None:
    """Give rows what facts and defaults give, and shared neurons what their operands give."""
    for table, rows in reset.items():
        stated = table.stated(rows)
        for side, ends in enumerate(stated):
            run.state.put(table, side, rows, ends, Kind.RESET)
        table.deviate(rows, *stated)
        run.encoded.refresh(table, rows)
    some = within_sorts(run, reset)
    for formula in run.plan.shared.formulas:
        name = str(formula.auxiliary)
        table = run.grounding.atoms.tables[name]
        if table in some and name not in run.plan.partly_known and not formula.compares:
            initialise(run, formula, some[table])
            run.encoded.refresh(table, some[table])


def _evaluated(run: Run, reset: _Rows, numbers: _Rows, changed: ChangedSorts) -> _Rows:
    """Evaluate the instances that may bound rows that were reset, and those found by changed ``numbers`` and sorts;
    returns the rows that have moved."""
    run.state.trail.step()
    now = Round(run.grounding.atoms, run.state, run.encoded)
    delta = changes(_deviating(reset))
    for response in run.responding(run.inference).values():
        due = chain(_reaching(response, run.grounding.members[response.member], reset), _limited(response, numbers))
        due = chain(due, response.rule.joined_by(changed.joining))
        if response.rule in changed.groups:
            due = chain(due, response.rule.every())
        formula = response.rule.formula
        stated = formula.auxiliary is not None and (formula.lower > 0 or formula.upper < 1)
        if formula.compares or stated or response.shape.observed:
            # operands may have said more of a neuron than statements, and say less now
            due = chain(due, response.rule.assignments(delta))
        for bindings in due:
            response.propose(bindings, now)
    moves = merged(run, now.inbox, None)
    run.progress.arrested += now.arrested
    return _union(moves.raised, moves.lowered)


def _reaching(response: _Response, member: DeltaRule | GroupRule, some: _Rows) -> Iterator[Bindings]:
    """The instances of a rule that may bound some rows; some may be repeated."""
    for leaf in (*response.shape.targets, *response.shape.observed):
        table = member.table_of(leaf)
        if table in some:
            yield from response.rule.reaching((table.name, response.rule.formula.arguments(leaf)), some[table])


def _limited(response: _Response, numbers: _Rows) -> Iterator[Bindings]:
    """The instances of a rule that joins find by changed numbers; some may be repeated."""
    for table, rows in numbers.items():
        for atom in response.rule.limits:
            yield from response.rule.reaching(atom, rows) if atom[0] == table.name else ()


# --- rounding ---------------------------------------------------------------------------------------------------------


def _by_order(run: Run, start: int) -> bool:
    """Whether an instance that reads or bounds rows of events from chunk ``start`` on gives a bound that differs from
    the present one by rounding alone. The first of both has won, which may be the other one in a fresh inference."""
    degrees = {name for name, table in run.grounding.atoms.tables.items() if not _crisp(run, table)}
    some = _written(run, start) if degrees else {}
    delta = changes(some)
    for response in run.responding(run.inference).values():
        member = run.grounding.members[response.member]
        if not degrees.isdisjoint(response.rule.formula.sources):
            for bindings in chain(_reaching(response, member, some), response.rule.assignments(delta)):
                if _differs_by_rounding(run, response, bindings):
                    return True
    return False


def _crisp(run: Run, table: Relation) -> bool:
    pairs = (run.encoded.pairs[number] for number in run.encoded.known(table))
    return not (run.encoded.varied(table) or table.numeric) and {0.0, 1.0}.issuperset(chain.from_iterable(pairs))


def _differs_by_rounding(run: Run, response: _Response, bindings: Bindings) -> bool:
    state, shape, atoms = run.state, response.shape, run.grounding.atoms
    if isinstance(response, GroupResponse):
        free = [bindings.column(variable) for variable in response.group.formula.blocks[0].variables]
        group = response.group.assembler.of(free, bindings.length)
        rows, made = group.rows, respond(shape, reader(group, state.dtype), group.groupings)
        tables = group.tables
    else:
        flat = RuleInstances(shape, response.member, response.rule, bindings, atoms, run.encoded)
        rows = {leaf: flat.rows(leaf) for leaf in shape.targets}
        tables = {leaf: flat.table(leaf) for leaf in shape.targets}
        made = respond(shape, flat.reader(range(bindings.length), state.dtype), (None,))
    for (leaf, side), (_, value) in made.proposed.items():
        now = tables[leaf].take(side, rows[leaf])
        inner = (now != value) & (now > 0) & (now < 1)
        if not tables[leaf].numeric and (abs(now - value)[inner] <= state.noise).any():
            return True
    return False
