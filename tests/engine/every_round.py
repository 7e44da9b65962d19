"""Watches all rounds of an inference, and compares each with the definition: what rules propose with the response of
each instance alone, what is merged with the meet of the proposals, what the trail records with the response of the
instances recorded to the bounds before the round; and what is kept beside bounds, as classes and lists, with these."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from lnnkit.analysis.relevance import ALL, LISTED
from lnnkit.engine import rounds
from lnnkit.engine.encoded_bounds import OTHER
from lnnkit.engine.inference_run import Run
from lnnkit.engine.merge import Inbox, Round
from lnnkit.engine.response.proposing import GroupResponse, Proposing
from lnnkit.engine.response.proposing import reader as group_reader
from lnnkit.engine.response.respond import Read, Response, completing, constant, respond
from lnnkit.engine.response.response_table import ResponseTable
from lnnkit.engine.response.rule_instances import RuleInstances
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.engine.revision import revise, revised_strata
from lnnkit.engine.rounds import Moves, Rising, Worklist
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.join.bindings import Bindings
from lnnkit.join.instances.assembled import Instances as Assembled
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.join.triggers import Delta
from lnnkit.logic.bounds import Bounds
from lnnkit.numeric import rises, same
from lnnkit.store.relations import DEFAULT, FALSE, TRUE, UNKNOWN, Relation, RowNumbers
from lnnkit.store.row_arrays import Array, spelled_out
from lnnkit.trail.events import Kind

Entities = tuple[int, ...]
End = tuple[Relation, Entities, int]  # one end of an atom
Ends = tuple[Array, Array]
Propose = Callable[..., None]


class Instances:
    """Instances of a rule without inner blocks, found one by one; an atom that has no row is at its default."""

    def __init__(self, response: RuleResponse, bindings: Bindings) -> None:
        self._rule, self._formula = response.rule, response.rule.formula
        self.shape, self.exact, self.length = response.shape, response.exact, bindings.length
        self._columns = {v: bindings.column(v).tolist() for v in self._formula.blocks[0].variables}
        self._known: dict[Relation, dict[Entities, int]] = {}

    def entities(self, leaf: int) -> list[Entities]:
        """The arguments of a leaf."""
        terms = [
            self._columns[term] if isinstance(term, int) else [self._rule.entity(term)] * self.length
            for term in self._formula.arguments(leaf)
        ]
        return list(zip(*terms, strict=True)) if terms else [()] * self.length

    def free(self) -> list[Entities]:
        """The entities of the free variables."""
        columns = [self._columns[variable] for variable in self._formula.original.blocks[0].variables]
        return list(zip(*columns, strict=True)) if columns else [()] * self.length

    def table(self, leaf: int) -> Relation:
        return self._rule.table_of(leaf)

    def rows(self, leaf: int) -> Array:
        """The rows of a leaf's atoms."""
        arguments, table = self.entities(leaf), self.table(leaf)
        if leaf != AUXILIARY and self._formula.neurons[leaf].kind == "same":
            return np.array([TRUE if one == other else FALSE for one, other in arguments], int)
        if table not in self._known:
            self._known[table] = rows_of(table)
        return np.array([self._known[table].get(row, DEFAULT) for row in arguments], int)

    def response(self, dtype: np.dtype) -> Response:
        """What they say."""

        def read(index: int) -> Bounds:
            if index != AUXILIARY and self.shape.formula.neurons[index].fixed:
                return constant(self.shape.formula, index, self.length, dtype)
            rows, table = self.rows(index), self.table(index)
            if index in self.shape.formula.heads:
                rows = np.where(table.flags("given").take(rows), rows, UNKNOWN)
            return Bounds(*[table.take(1, rows)] * 2) if self.exact else table.read(rows)

        return said(self.shape, read)


def said(shape: RuleShape, read: Read) -> Response:
    return (completing if shape.completes else respond)(shape, read, (None,))


def rows_of(table: Relation) -> dict[Entities, int]:
    """The rows of a relation by their entities."""
    columns = [column.tolist() for column in table.tuples.columns]
    return (
        {row: place for place, row in enumerate(zip(*columns, strict=True))}
        if columns
        else dict.fromkeys([()] * len(table), 0)
    )


def entities_of(table: Relation) -> list[Entities]:
    return [*rows_of(table)]


def sent(inbox: Inbox) -> set[tuple[End, float]]:
    """The ends in an inbox, each with a bound proposed for it."""
    found: set[tuple[End, float]] = set()
    for table, sides in inbox.by_relation():
        known = entities_of(table)
        for side, proposals in enumerate(sides):
            for proposal in proposals:
                assert len(proposal.row) == len(proposal.values) == len(proposal.instance)
                if proposal.distinct:
                    assert len(set(proposal.row.tolist())) == len(proposal.row)
                found |= {
                    ((table, known[row], side), value)
                    for row, value in zip(proposal.row.tolist(), proposal.values.tolist(), strict=True)
                }
    return found


def _better(table: Relation, side: int, rows: Array, values: Array) -> Array:
    """(n,) which candidates are better than derived numbers are; an atom that has no row has no candidate yet."""
    sign = -1 if table.derived == "min" else 1
    now, new = sign * np.where(rows < 0, table.worst, table.take(side, rows)), sign * values
    better = rises(now, new) | ((new == np.inf) & (now < np.inf))
    if table.drifts and side != table.completed_side:
        better &= (rows < 0) | (table.take(1 - side, rows) != table.unknown[1 - side])
    return better


def _forward(inner: Inbox, outer: Inbox) -> None:
    for table, sides in inner.by_relation():
        for side, proposals in enumerate(sides):
            for proposal in proposals:
                outer.add(table, side, proposal)


def at_rows(view: Assembled, inner: int, block: int) -> Array:
    """(n,) by the rows of a block: whether its row in a block around it, or itself, stands for all other entities."""
    path, rows = view.formula.path(block), np.arange(view.length(block))
    for number in reversed(path[path.index(inner) + 1 :]):
        grouping = view.groupings[number]
        assert grouping is not None
        rows = grouping.group.take(rows)
    grouping = view.groupings[inner]
    assert grouping is not None
    return grouping.virtual.take(rows)


class Watching:
    """Counts what was compared."""

    def __init__(self) -> None:
        self.proposed = self.groups = self.merged = self.recorded = self.instances = self.soles = 0
        self._arrested: defaultdict[Proposing, set[Entities]] = defaultdict(set)
        self._direct = 0
        self._evaluated: dict[ResponseTable, tuple[object, set[tuple[float, ...]]]] = {}
        self._looking = False

    # --- proposals ----------------------------------------------------------------------------------------------------

    def propose(self, args: tuple[RuleResponse, Bindings, Round], propose: Propose) -> None:
        """Compare what instances propose."""
        response, bindings, now = args
        self.instances += bindings.length
        instances = Instances(response, bindings)
        said, arrested, free = instances.response(now.state.dtype), self._arrested[response], instances.free()
        bad = {place: free[place] for place in np.flatnonzero(said.bad).tolist() if free[place] not in arrested}
        arrested |= {*bad.values()}
        silent = np.array([row in arrested for row in free], bool) | said.bad
        expected = self._expected(instances, said, silent, now)
        classed = all(
            OTHER not in now.encoded.codes(instances.table(leaf)).take(instances.rows(leaf))
            and not now.encoded.varied(instances.table(leaf))
            for leaf in response.table.leaves
        )
        self._soles(response, bindings, instances, now)
        outer, now.inbox, before, self._direct = now.inbox, Inbox(), len(now.arrested), 0
        propose(response, bindings, now)
        inner, now.inbox = now.inbox, outer
        assert sent(inner) == expected
        assert self._direct == 0 or not response.table.useful or not classed
        _forward(inner, outer)
        self._roots(instances, said, bad, now, before)
        self.proposed += len(expected)

    def _soles(self, response: RuleResponse, bindings: Bindings, instances: Instances, now: Round) -> None:
        """Where all rows of a list of a relation have one class, leaves that it has found are known to have it."""
        shape, rule, encoded = response.shape, response.rule, now.encoded
        found = RuleInstances(shape, response.member, rule, bindings, now.atoms, encoded, now.delta)
        for leaf in response.table.leaves:
            sole, description = found.sole(leaf), rule.leaf(leaf)
            if sole is not None:
                assert (encoded.codes(instances.table(leaf)).take(instances.rows(leaf)) == sole).all()
            listed = description is not None and description.deviating and description.atom in bindings.known.listed
            if listed and leaf not in shape.formula.heads and encoded.sole(instances.table(leaf)) is not None:
                assert sole == encoded.sole(instances.table(leaf))
                self.soles += 1

    def _expected(self, instances: Instances, said: Response, silent: Array, now: Round) -> set[tuple[End, float]]:
        """The bounds that atoms can take."""
        shape, expected = instances.shape, set[tuple[End, float]]()
        for (leaf, side), (news, values) in said.proposed.items():
            if instances.exact and not side:
                continue
            table, rows = instances.table(leaf), instances.rows(leaf)
            takes = news & ~silent & ~((rows >= 0) & table.held(rows))
            if shape.formula.compares and leaf != AUXILIARY:
                own = instances.rows(AUXILIARY)
                takes &= ~((own >= 0) & instances.table(AUXILIARY).held(own))
            if leaf in shape.formula.heads:
                if table.derived:
                    takes &= _better(table, side, rows, values)
                else:
                    takes &= ~table.flags("given").take(rows) & (values > table.take(side, rows) + now.state.noise)
            elif shape.modes[leaf][side] == LISTED:
                takes &= table.flags("listed").take(rows)
            names = instances.entities(leaf)
            expected |= {((table, names[at], side), float(values[at])) for at in np.flatnonzero(takes).tolist()}
        return expected

    def _roots(
        self, instances: Instances, said: Response, bad: Mapping[int, Entities], now: Round, before: int
    ) -> None:
        """Each new contradiction is arrested once; of several rows the worst stands for it."""
        roots: dict[Entities, list[tuple[float, float]]] = {}
        for place, row in bad.items():
            roots.setdefault(row, []).append((float(said.root.lower[place]), float(said.root.upper[place])))
        new = now.arrested[before:]
        worst = [min(ends, key=lambda end: end[1] - end[0]) for ends in roots.values()]
        if len(instances._formula.original.blocks) == 1:
            worst = [ends[0] for ends in roots.values()]
        got = [
            pair for entry in new for pair in zip(entry.roots.lower.tolist(), entry.roots.upper.tolist(), strict=True)
        ]
        assert sorted(got) == sorted(worst)
        for entry in new:
            assert instances.shape.arrested[entry.rows].all()

    def begin(self, args: tuple[RuleResponse, Bindings, Round], begin: Propose) -> None:
        """Compare the first truths of comparisons: what their numbers do not tell waits for a round."""
        response, bindings, now = args
        instances = Instances(response, bindings)
        said = instances.response(now.state.dtype)
        crossed = said.bad | (said.root.lower > said.root.upper + now.state.noise)
        later = crossed.copy()
        for (leaf, _), (news, _) in said.proposed.items():
            later |= news & (leaf != AUXILIARY)
        own = {target: values for target, values in said.proposed.items() if target[0] == AUXILIARY}
        expected = self._expected(instances, said._replace(proposed=own), crossed, now)
        outer, now.inbox, waiting = now.inbox, Inbox(), len(response.rule._postponed)
        begin(response, bindings, now)
        inner, now.inbox = now.inbox, outer
        assert sent(inner) == expected
        _forward(inner, outer)
        free = instances.free()
        postponed = [row for part in response.rule._postponed[waiting:] for row in Instances(response, part).free()]
        assert postponed == [free[place] for place in np.flatnonzero(later).tolist()]

    def group(self, args: tuple[GroupResponse, Bindings, Round], propose: Propose) -> None:
        """The same of a formula with quantifiers, whose rows are assembled."""
        response, bindings, now = args
        self.instances += bindings.length
        shape, formula, free = response.shape, response.group.formula, response.group.formula.blocks[0].variables
        columns = [bindings.column(variable) for variable in free]
        names = list(zip(*(column.tolist() for column in columns), strict=True)) if free else [()] * bindings.length
        view = response.group.assembler.of(columns, bindings.length, apart=True)
        said = (completing if shape.completes else respond)(shape, group_reader(view, now.state.dtype), view.groupings)
        arrested, bad = self._arrested[response], said.bad
        new = {names[place] for place in np.flatnonzero(bad).tolist()} - arrested
        silent = np.array([name in arrested for name in names], bool)
        arrested |= new
        expected = set[tuple[End, float]]()
        for (leaf, side), (news, values) in said.proposed.items():
            block, table = formula.block_of(leaf), view.tables[leaf]
            stated = leaf in shape.observed and leaf == shape.formula.head[0]
            quiet = silent if stated else silent | bad
            grouping = view.groupings[block]
            takes = news & ~quiet.take(view.tops(block))
            for inner in formula.path(block)[1:] if grouping is not None else ():
                takes &= ~at_rows(view, inner, block)
            entities = view.arguments(leaf, response.group.assembler.domain)
            known, rows = (
                rows_of(table),
                list(zip(*(column.tolist() for column in entities), strict=True)) or [()] * len(news),
            )
            local = np.array([known.get(row, DEFAULT) for row in rows], int)
            takes &= ~((local >= 0) & table.held(local))
            if leaf in formula.heads:
                if table.derived:
                    takes &= _better(table, side, local, values)
                else:
                    takes &= ~table.flags("given").take(local) & (values > table.take(side, local) + now.state.noise)
            elif shape.modes.get(leaf, (ALL, ALL))[side] == LISTED:
                takes &= table.flags("listed").take(local)
            expected |= {((table, rows[at], side), float(values[at])) for at in np.flatnonzero(takes).tolist()}
        outer, now.inbox, before = now.inbox, Inbox(), len(now.arrested)
        propose(response, bindings, now)
        inner, now.inbox = now.inbox, outer
        assert sent(inner) == expected
        _forward(inner, outer)
        assert sum(len(entry.rows) for entry in now.arrested[before:]) == len(new)
        self.groups += len(expected)

    # --- merge --------------------------------------------------------------------------------------------------------

    def merge(self, args: tuple[Run, Inbox, Rising | None], merged: Callable[..., Moves]) -> Moves:
        """Compare the bounds after a round with the meet of the proposals."""
        run, inbox, rising = args
        assert run.progress.instances == self.instances
        if rising is None and not run.progress.rounds:  # a shared neuron begins with all that its operands say of it
            assert all(sent.leaf != AUXILIARY for _, sides in inbox.by_relation() for end in sides for sent in end)
        tables, trail = run.grounding.atoms.tables.values(), run.state.trail
        before: dict[Relation, Ends] = {table: (table.end(0).copy(), table.end(1).copy()) for table in tables}
        ends = RowNumbers(run.grounding.atoms).bounds()
        wanted: dict[Relation, tuple[dict[int, float], dict[int, float]]] = {}
        crossed, events = {table: len(table.crossed) for table in tables}, len(trail)
        for table, sides in inbox.by_relation():
            best: tuple[dict[int, float], dict[int, float]] = ({}, {})
            for side, proposals in enumerate(sides):
                least = table.derived == "min" if rising is not None else side == 1
                for proposal in proposals:
                    for row, value in zip(proposal.row.tolist(), proposal.values.tolist(), strict=True):
                        known = best[side].get(row, value)
                        best[side][row] = min(known, value) if least else max(known, value)
            wanted[table] = best if rising is None or not rising.exact else (best[1], best[1])
        moves: Moves = merged(run, inbox, rising)
        for table in tables:
            self._ends(run, table, before[table], wanted.get(table, ({}, {})), crossed[table], moves, rising)
            classes(run, table)
        _operands_first(run)
        self._events(run, ends, wanted, events, exact=rising is not None and rising.exact)
        self.merged += 1
        return moves

    def _ends(
        self,
        run: Run,
        table: Relation,
        before: Ends,
        wanted: tuple[dict[int, float], dict[int, float]],
        crossed: int,
        moves: Moves,
        rising: Rising | None,
    ) -> None:
        for side, ends in enumerate(before):
            for row, value in wanted[side].items():
                ends[row] = value
        low, high = before
        touched = np.array(sorted({*wanted[0], *wanted[1]}), int)
        beyond = ~same(low, high) if table.numeric else low > high + run.state.tolerance
        valued = (low < np.inf) | (high > -np.inf)
        new = np.array([], int) if rising is not None else touched[((low > high) & valued & beyond)[touched]]
        assert sorted(table.crossed.rows.values[crossed:].tolist()) == new.tolist()
        for side, ends in enumerate(before):
            assert np.array_equal(
                getattr(table.crossed, ("lower", "upper")[side]).values[crossed:],
                ends[table.crossed.rows.values[crossed:]],
            )
            ends[new] = table.unknown[side]
            assert np.array_equal(table.end(side), ends)
            both = rising is not None and rising.exact
            moved = moves.raised if side == 0 else moves.lowered
            expected = [] if both and side == 0 else sorted(wanted[side])
            assert sorted(spelled_out(moved.get(table, range(0))).tolist()) == expected
            rows = moves.delta.rows(table.name, side)
            left = [row for row in expected if row not in new.tolist()]
            assert sorted(spelled_out(range(0) if rows is None else rows).tolist()) == left
            differ = np.flatnonzero(ends != table.default[side])
            assert table.flags(("lower", "upper")[side]).take(differ).all()
        assert table.held(new).all()
        if table.in_order and not table.numeric and rising is None:
            assert (before[0] <= before[1]).all()

    def _events(
        self,
        run: Run,
        before: Bounds,
        wanted: Mapping[Relation, tuple[dict[int, float], dict[int, float]]],
        start: int,
        *,
        exact: bool,
    ) -> None:
        """Each bound that moved is recorded once, with an instance that said so."""
        if not run.state.trail.has_values:
            return
        numbers = RowNumbers(run.grounding.atoms)
        events = run.state.trail.events(numbers)
        lengths = np.diff(events.start, append=len(events.row))
        kind, side, shape, leaf = (
            column.repeat(lengths)[start:].tolist() for column in (events.kind, events.side, events.shape, events.leaf)
        )
        recorded: list[tuple[Relation, int, int]] = []
        setters: defaultdict[tuple[int, int, int], list[tuple[int, float]]] = defaultdict(list)
        for at, (row, value, instance) in enumerate(
            zip(
                events.row[start:].tolist(),
                events.value[start:].tolist(),
                events.instance[start:].tolist(),
                strict=True,
            )
        ):
            if kind[at] != Kind.SENT:
                continue
            table, local = numbers.behind(row)
            recorded.append((table, local, side[at]))
            assert value == wanted[table][side[at]][local]
            stored = run.grounding.shapes[shape[at]]
            block = stored.blocks[stored.formula.block_of(leaf[at])]
            assert block.columns[leaf[at]].values[instance] == local
            setters[shape[at], leaf[at], side[at]].append((instance, value))
            self.recorded += 1
        for (number, target, s), pairs in setters.items():
            instances, values = (np.array(column) for column in zip(*pairs, strict=True))
            found = _recorded(run, number, target, s, instances.astype(int), before, numbers, exact=exact)
            assert found is None or np.array_equal(found, values)
        assert len(recorded) == len(set(recorded))
        every = {(table, row, s) for table, ends in wanted.items() for s in (0, 1) for row in ends[s]}
        assert set(recorded) == every

    def evaluate(self, args: tuple[ResponseTable, Read], evaluate: Callable[..., Response]) -> Response:
        """A table evaluates each combination of bounds once, unless it was made anew."""
        table, read = args
        if self._looking:
            ends = [end for leaf in table.leaves for end in read(leaf)]
            shape, rows = table._known, [*zip(*(end.tolist() for end in ends), strict=True)] or [()]
            if table not in self._evaluated or self._evaluated[table][0] is not shape:
                self._evaluated[table] = shape, set()
            known = self._evaluated[table][1]
            assert len(set(rows)) == len(rows)
            assert known.isdisjoint(rows)
            known.update(rows)
        self._direct += not self._looking
        return evaluate(table, read)

    def look(self, args: tuple[Any, ...], look: Propose) -> None:
        self._looking = True
        try:
            look(*args)
        finally:
            self._looking = False

    # --- the schedule -------------------------------------------------------------------------------------------------

    def due(self, args: tuple[Worklist, Delta], due: Callable[..., list[Any]]) -> list[Any]:
        """The rules that are due are new, or read what moved."""
        worklist, delta = args
        where = {*delta.where}
        expected = [
            member
            for member, response in sorted(worklist._responses.items())
            if response.rule.fresh or not where.isdisjoint(response.rule.triggers)
        ]
        found = due(worklist, delta)
        assert [response.member for response in found] == expected
        return found


def _recorded(
    run: Run,
    number: int,
    leaf: int,
    side: int,
    instances: Array,
    before: Bounds,
    numbers: RowNumbers,
    *,
    exact: bool,
) -> Array | None:
    """(n,) what recorded instances of a shape say of a leaf, from the bounds of all rows ``before`` a round."""
    shape, grounding = run.grounding.shapes[number], run.grounding
    formula = shape.formula
    if any(run.grounding.atoms.tables[name].derived for name in map(formula.table, formula.leaves)):
        return None  # numbers without a value are restarted within the round
    block = formula.block_of(leaf)
    view, _, _, places = grounding.rebuilt(number, block, instances, numbers)
    given, unknown = numbers.flags("given"), numbers.of(grounding.atoms.truths, np.array([UNKNOWN]))[0]

    def read(index: int) -> Bounds:
        if index != AUXILIARY and formula.neurons[index].fixed:
            return constant(formula, index, view.length(formula.neurons[index].block), run.state.dtype)
        rows = view.rows[index]
        rows = np.where(given.take(rows), rows, unknown) if index in formula.heads else rows
        return Bounds(*[before.upper.take(rows)] * 2) if exact else Bounds(*(end.take(rows) for end in before))

    news, values = (completing if shape.completes else respond)(shape, read, view.groupings).proposed[leaf, side]
    assert news.take(places).all()
    return values.take(places)


def _operands_first(run: Run) -> None:
    """All shared neurons that are worked out on demand are, after those that they read; comparisons at first."""
    rules = [response.rule for response in run.demanded]
    every = [response.rule for response in run.responses.values() if isinstance(response, RuleResponse)]
    assert {id(rule) for rule in rules} == {id(rule) for rule in every if rule.on_demand}
    names = [rule.formula.auxiliary for rule in rules]
    compares = [rule.formula.compares for rule in rules]
    assert compares == sorted(compares, reverse=True)
    for place, rule in enumerate(rules):
        assert rule.formula.compares or names[place:].count(rule.formula.auxiliary) == 1
        read = {rule.formula.neurons[leaf].source for leaf in rule.formula.leaves}
        assert rule.formula.compares or read.isdisjoint(names[place:])


def classes(run: Run, table: Relation) -> None:
    """Each row has the class of its bounds, or none."""
    encoded = run.encoded
    if table.numeric or encoded.varied(table):
        return
    codes, (lower, upper) = encoded.codes(table).values[: len(table)].tolist(), table.bounds
    assert OTHER not in codes
    assert [encoded.pairs[code] for code in codes] == list(zip(lower.tolist(), upper.tolist(), strict=True))
    assert {*codes} <= {*encoded.known(table)}
    listed = table.listing("either").values
    default = encoded.known(table)[0]
    if encoded.settled(table):
        assert default not in [codes[row] for row in listed]
    sole = encoded.sole(table)
    assert sole is None or {codes[row] for row in listed} <= {sole}


def ended(run: Run) -> None:
    """In a fixpoint no instance has anything more to say, of all that joins find."""
    now = Round(run.grounding.atoms, run.state, run.encoded)
    for response in run.responding(run.inference).values():
        for bindings in response.rule.whole():
            response.propose(bindings, now)
    assert not now.inbox and not now.arrested


@contextmanager
def watched() -> Iterator[Watching]:
    """While it lasts, all rounds are compared."""
    watching, propose, begin, due = Watching(), RuleResponse.propose, RuleResponse.begin, Worklist.due
    merged, group, evaluate, look = rounds.merged, GroupResponse.propose, ResponseTable.evaluate, ResponseTable._look
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RuleResponse, "propose", lambda *args: watching.propose(args, propose))
        patch.setattr(RuleResponse, "begin", lambda *args: watching.begin(args, begin))
        patch.setattr(GroupResponse, "propose", lambda *args: watching.group(args, group))
        patch.setattr(ResponseTable, "evaluate", lambda *args: watching.evaluate(args, evaluate))
        patch.setattr(ResponseTable, "_look", lambda *args: watching.look(args, look))
        patch.setattr(Worklist, "due", lambda *args: watching.due(args, due))
        for module in (revise, revised_strata):
            patch.setattr(module, "merged", merged)  # its rounds are others, wherever it is imported first
        patch.setattr(rounds, "merged", lambda *args: watching.merge(args, merged))
        yield watching
