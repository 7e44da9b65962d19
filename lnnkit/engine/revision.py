"""Facts of a fixpoint change: what depends on them is reset and derived again (delete and rederive, DRed: Gupta, Mumick
and Subrahmanian, SIGMOD 1993).

A bound depends on what the instances read that ever set it; the trail has these. Rows to which facts give less than
before, and all that depend on them, are reset to what facts and defaults give. Then the instances that may bound these
rows are evaluated once, and rounds go on from what has moved. All other bounds stay, and bounds only tighten from there
to the fixpoint of a fresh inference. A fresh inference has to be made if something is arrested on the way, a closed
predicate is completed from what changes, or numbers that inference has narrowed are among it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from lnnkit.analysis.relevance import LISTED, SIDES
from lnnkit.engine.bounds_state import distinct
from lnnkit.engine.changed_sorts import ChangedSorts, changed_sorts, within_sorts
from lnnkit.engine.dependent_rows import DependentRows
from lnnkit.engine.inference_run import Progress, Run, Status, Watch
from lnnkit.engine.merge import Round, changes
from lnnkit.engine.response.proposing import GroupResponse, reader
from lnnkit.engine.response.respond import respond
from lnnkit.engine.response.rule_instances import RuleInstances
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.engine.rounds import infer_rounds, merged
from lnnkit.engine.start.first_bounds import begin, catch_up, initialise, initialise_rows
from lnnkit.join.bindings import Bindings
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.logic.bounds import Bounds
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
class RestatedAtom:
    """An atom by the ids of its entities: whether its facts were ``retracted``, and the ``bounds`` that facts stated
    since; None for none."""

    predicate: str
    entities: tuple[int, ...]
    retracted: bool
    bounds: tuple[float, float] | None


def revise(
    run: Run, restated: Sequence[RestatedAtom], entities: Mapping[str, int], watch: Watch | None, *, labelled: bool
) -> bool:
    """Bring a fixpoint to that of its facts as they are now, which also name new ``entities``. Those that nothing names
    any more leave their sorts, unless some may be ``labelled``. False if a fresh inference has to be made: then, and
    after an exception, the run must not be used."""
    trail, domain = run.state.trail, run.grounding.domain
    start = trail.chunk_count
    room = domain.count + len(entities) <= domain.generic
    completing = {name for rule in run.completion_rules() for name in rule.formula.sources}  # tables read and written
    if not room or not _revisable(run) or not completing.isdisjoint(atom.predicate for atom in restated):
        return False
    domain.index.update(entities)
    domain.count += len(entities)
    entered, changed = _enter(run, restated), _changed_sorts(run, restated)
    if entered is None or changed is None or (labelled and changed.leaving):
        return False
    loosened, tightened, listed = entered
    neurons = [(formula, run.grounding.atoms.tables[str(formula.auxiliary)]) for formula in changed.definitions]
    all_rows = {table: range(len(table)) for _, table in neurons if len(table)}
    loosened = _union(loosened, changed.leaving_rows(run), all_rows)
    numbers = {table: rows for table, rows in _union(loosened, tightened).items() if table.numeric}
    most = max(_FEW, len(run.grounding.atoms) // _SHARE)
    dependent = DependentRows(run, loosened, changed, most)
    if dependent.count > most:
        return False
    reset = dependent.rows()
    if any(table.numeric and table not in numbers for table in reset) or not _moved_numbers(run, 0).isdisjoint(numbers):
        return False
    run.progress = Progress()
    trail.step()
    changed.apply(run)
    before = {table: Bounds(*(table.take(side, rows).copy() for side in (0, 1))) for table, rows in reset.items()}
    _reset(run, reset)
    for formula, table in neurons:
        initialise(run, formula)
        run.encoded.renew([table])
    if not _tighten(run, tightened):
        return False
    begin(run, [(response, response.rule.with_new_members(changed.joining)) for response in run.demanded])
    catch_up(run, changes(tightened))
    begun = _tighter(_deviating(_written(run, start, resets=False)), reset, before)  # first bounds, some of new rows
    found = _evaluate(run, _union(reset, listed), numbers, changed)
    rounds = _ROUNDS + (start - run.revised_chunks) // 8 + len(run.grounding.atoms) // 1000
    infer_rounds(run, run.inference, rounds, _union(tightened, begun, found), watch)
    run.revised_chunks += trail.chunk_count - start
    tables = (*(run.grounding.atoms.numbered[number] for number in trail.tables(start)), *loosened, *tightened)
    complete = completing.isdisjoint(table.name for table in tables) and not _moved_numbers(run, start)
    return complete and _ended(run, Status.CONVERGED, Status.INTERRUPTED) and not _depends_on_order(run, start)


def _moved_numbers(run: Run, start: int) -> set[Relation]:
    """The numbers that inference has moved from chunk ``start`` of the events on."""
    numbered = run.grounding.atoms.numbered
    if not any(numbered[table].numeric for table in run.state.trail.tables(start)):
        return set()
    moved = (numbered[c.table] for c in islice(run.state.trail.chunks(), start, None) if c.kind != Kind.RESET)
    return {table for table in moved if table.numeric}


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


def _tighter(rows: _Rows, reset: _Rows, before: Mapping[Relation, Bounds]) -> _Rows:
    """The rows but for those that were ``reset`` and have no tighter bound now than ``before``."""
    kept = dict(rows)
    for table in rows.keys() & reset.keys():
        some = rows[table]
        place = np.minimum(reset[table].searchsorted(some), len(reset[table]) - 1)
        (lower, upper), now = (end.take(place) for end in before[table]), table.read(some)
        same = (reset[table].take(place) == some) & (now.lower <= lower) & (now.upper >= upper)
        kept[table] = some[~same]
    return {table: some for table, some in kept.items() if len(some)}


def _deviating(some: _Rows) -> _Rows:
    """The rows that joins take: those that are known to differ from the default, or to have done so."""
    return {table: rows[table.flags("either").take(rows)] for table, rows in some.items()}


# --- facts ------------------------------------------------------------------------------------------------------------


def _enter(run: Run, restated: Sequence[RestatedAtom]) -> tuple[_Rows, _Rows, _Rows] | None:
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
        stated = np.array([atom.bounds is not None for atom in atoms])
        foreseen = bool(table.loaded or table.restated) or not stated.any()
        rows = run.grounding.atoms.materialise(table, columns, len(atoms))
        before, given_before = table.stated(rows), table.flags("given").take(rows)
        kept = given_before & ~np.array([atom.retracted for atom in atoms])
        ends = np.array([atom.bounds or table.default for atom in atoms], before.lower.dtype).T
        lower = np.where(kept, np.where(stated, np.maximum(before.lower, ends[0]), before.lower), ends[0])
        upper = np.where(kept, np.where(stated, np.minimum(before.upper, ends[1]), before.upper), ends[1])
        for side, end, default in zip(SIDES, (lower, upper), table.default, strict=True):  # rules that read it
            foreseen &= (name, side) in run.plan.relevance.produced or bool((end == default).all())
        if not foreseen or (lower > upper).any():
            return None
        table.restated |= dict(zip(rows.tolist(), zip(lower.tolist(), upper.tolist(), strict=True), strict=True))
        table.changes += 1
        looser = (lower < before.lower) | (upper > before.upper)
        tighter = (lower > before.lower) | (upper < before.upper)
        given, relevance = kept | stated, run.plan.relevance
        if table.default != table.unknown:
            # rules do not listen to ends that come nearer to the default, and proofs tell it from facts
            looser |= tighter | (given != given_before)
        listed_alone = LISTED in [relevance.mode(name, side) for side in SIDES]
        unlisted = given & ~table.flags("listed").take(rows) & listed_alone
        for target, chosen in ((loosened, looser), (tightened, tighter), (new, unlisted)):
            if chosen.any():
                target[table] = np.sort(rows[chosen])
        listed = given | np.array([(name, atom.entities) in asked for atom in atoms])
        for column, flags in (("given", given), ("listed", listed)):
            table.enlist(column, rows[given])
            table.delist(column, rows[~flags])
    return loosened, tightened, new


def _changed_sorts(run: Run, restated: Sequence[RestatedAtom]) -> ChangedSorts | None:
    """The sorts that change, once the facts have entered."""
    stated, retracted = dict[str, set[int]](), dict[str, set[int]]()
    for atom in restated:
        for sort, entity in zip(run.grounding.atoms.tables[atom.predicate].sorts, atom.entities, strict=True):
            if atom.bounds is not None:
                stated.setdefault(sort, set()).add(entity)
            elif atom.retracted:
                retracted.setdefault(sort, set()).add(entity)
    return changed_sorts(run, stated, retracted, len(restated))


def _tighten(run: Run, tightened: _Rows) -> bool:
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
            initialise_rows(run, formula, some[table])
            run.encoded.refresh(table, some[table])


def _evaluate(run: Run, reset: _Rows, numbers: _Rows, changed: ChangedSorts) -> _Rows:
    """Evaluate the instances that may bound rows that were reset, and those found by changed ``numbers`` and sorts;
    returns the rows that have moved."""
    run.state.trail.step()
    now = Round(run.grounding.atoms, run.state, run.encoded)
    delta = changes(_deviating(reset))
    for response in run.responding(run.inference).values():
        due = chain(_reaching(response, run.grounding.members[response.member], reset), _limited(response, numbers))
        due = chain(due, response.rule.with_new_members(changed.joining))
        if response.rule in changed.rules:
            due = chain(due, response.rule.all_assignments())
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


def _depends_on_order(run: Run, start: int) -> bool:
    """Whether an instance that reads or bounds rows of events from chunk ``start`` on gives a bound that differs from
    the present one by rounding alone. Of two such bounds the first wins; a fresh inference may find the other first."""
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
