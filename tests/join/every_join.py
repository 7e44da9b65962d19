"""Watches all joins of an inference, and compares each with nested loops over all entities, from the definition: an
assignment is found where each literal of a need lists its atom, and no comparison of its numbers is false; in later
rounds, where a trigger's atom moved as well."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest

from lnnkit.analysis.needs import EQUAL, Literal, Range, variables
from lnnkit.formula.unfolding import Formula
from lnnkit.join import delta_rule, literal_join, triggers
from lnnkit.join.bindings import Bindings, Matched
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.join_plan import Ranged
from lnnkit.join.literal_join import Joins, Literals, Path, listing
from lnnkit.join.triggers import Delta, Trigger
from lnnkit.numeric import Interval
from lnnkit.store.relations import LISTS
from lnnkit.store.row_arrays import Array, spelled_out

MOST = 200_000  # greatest number of assignments that are tried for a join
Rows = set[tuple[int, ...]]
Moved = tuple[Matched, int]  # an atom, and the side on which it has moved


class Loops:
    """All assignments of the variables that a join wants, or that its literals have."""

    def __init__(self, joins: Joins, literals: Iterable[Literal | Range]) -> None:
        self._joins = joins
        self.wanted = joins.formula.blocks[0].variables
        read = variables(term for literal in literals for term in literal.arguments)
        loops = {
            variable: joins.domain.sorts[joins.formula.sorts[variable]] for variable in sorted(read | {*self.wanted})
        }
        self.count = math.prod(map(len, loops.values()))
        grid = np.meshgrid(*loops.values(), indexing="ij") if loops and self.count <= MOST else ()
        self._columns = {variable: ids.ravel() for variable, ids in zip(loops, grid, strict=False)}

    def column(self, variable: int) -> Array:
        """(count,) the entities of a variable."""
        return self._columns[variable]

    def rows(self, atom: Matched) -> Array:
        """(count,) the row of an atom; -1 where it has none."""
        index, radix, table = self._joins.domain.index, self._joins.radix, self._joins.atoms.tables[atom[0]]
        key, wanted = np.zeros(len(table), np.int64), np.zeros(self.count, np.int64)
        for term, column in zip(atom[1], table.tuples.columns, strict=True):
            key = key * radix + column
            wanted = wanted * radix + (index[term] if isinstance(term, str) else self._columns[term])
        places = np.full(radix ** len(atom[1]), -1)
        places[key] = np.arange(len(table))
        return places[wanted]

    def among(self, atom: Matched, rows: Array | range) -> Array:
        """(count,) whether the atom is one of some rows."""
        return np.isin(self.rows(atom), spelled_out(rows))

    def satisfied(self, literal: Literal | Range) -> Array:
        """(count,) whether a literal lists the atom, or a comparison may be true."""
        tables = self._joins.atoms.tables
        if isinstance(literal, Literal):
            return self.among(literal.atom, tables[literal.table].listing(literal.column).values)
        numbers = [Interval(*tables[number[0]].read(self.rows(number))) for number in literal.numbers]
        return literal.comparison.truth(numbers).upper > 0

    def every(self, literals: Iterable[Literal | Range]) -> Array:
        """(count,) whether all literals are satisfied."""
        return np.all([np.ones(self.count, bool), *map(self.satisfied, literals)], axis=0)

    def found(self, flags: Array, bound: Sequence[int]) -> Rows:
        """The distinct values of some variables where flags are set."""
        return (
            set(zip(*(self._columns[v][flags].tolist() for v in bound), strict=True))
            if bound
            else {()}
            if flags.any()
            else set()
        )


def tuples(bindings: Bindings, bound: Sequence[int]) -> list[tuple[int, ...]]:
    return list(zip(*(bindings.column(v).tolist() for v in bound), strict=True)) if bound else [()] * bindings.length


class Watching:
    """Counts the joins that were ``compared``, their ``steps``, the ``plans`` of these and ``counts`` for the budget,
    and the assignments that were due in later rounds, or demanded by what other formulas read."""

    def __init__(self) -> None:
        self.compared = 0
        self.steps = 0
        self.plans = 0
        self.starts = 0
        self.counts = 0
        self.due_rows = 0
        self.demanded_rows = 0
        self._rules = dict[int, DeltaRule]()

    def compare(self, joins: Joins, parts: Sequence[Bindings], loops: Loops, flags: Array, literals: Literals) -> None:
        """Whether the parts are the assignments where the flags are set, and what they say of themselves is true."""
        found = [row for part in parts for row in tuples(part, loops.wanted)]
        expected = loops.found(flags, loops.wanted)
        # Without variables tables that list any atom will do; a shared comparison may be left to those who evaluate
        if loops.wanted and all(isinstance(literal, Literal) or literal.exact for literal in literals):
            assert set(found) == expected
        else:
            assert set(found) >= expected
        if not variables(term for literal in literals for term in literal.arguments).difference(loops.wanted):
            assert len(found) == len(set(found))
        for part in parts:
            _agree(joins, part)
        self.compared += 1

    def whole(self, args: tuple[Joins, Literals, Path], parts: Iterable[Bindings]) -> Iterator[Bindings]:
        """A join from scratch."""
        joins, need, path = args
        loops, (every, counts) = Loops(joins, need), _counted(joins, lambda: parts)
        self.budgeted(joins, path, every, counts)
        lists = [joins.length(literal) for literal in listing(need)]
        most = max([2 * literal_join.CHUNK, *lists, *map(len, joins.domain.sorts.values())])
        assert all(part.length <= most for part in every)  # keys are not divided
        if loops.count <= MOST:
            self.compare(joins, every, loops, loops.every(need), need)
            if every and joins.recorder is not None and joins.recorder._running is not None:
                self.each(joins, loops, None, need)
        yield from every

    def at_once(self, rule: DeltaRule, parts: Iterable[tuple[int, Bindings]]) -> Iterator[tuple[int, Bindings]]:
        """All assignments of a rule from scratch, of whatever need."""
        literals = tuple(literal for need in rule._needs for literal in need)
        loops, every = Loops(rule.joins, literals), list(parts)
        if loops.count <= MOST:
            flags = np.any([np.zeros(loops.count, bool), *map(loops.every, rule._needs)], axis=0)
            rows = {row for _, part in every for row in tuples(part, loops.wanted)}
            if loops.wanted and all(isinstance(literal, Literal) for literal in literals):
                assert rows == loops.found(flags, loops.wanted)
            for _, part in every:
                _agree(rule.joins, part)
        yield from every

    def together(self, joins: Joins, parts: Iterator[Bindings] | None) -> Iterator[Bindings] | None:
        """The assignments of all needs by set operations, without repetition."""
        if parts is None:
            return None
        every = list(parts)
        rows = [row for part in every for row in tuples(part, joins.formula.blocks[0].variables)]
        assert len(rows) == len(set(rows))
        assert all(0 < part.length <= triggers._PART * literal_join.CHUNK for part in every)
        return iter(every)

    def triggered(
        self, args: tuple[DeltaRule, Trigger, Delta], join: Callable[[], Iterable[Bindings]]
    ) -> Iterator[Bindings]:
        """The assignments of which a trigger's atom moved; once, where it moved on both sides alike."""
        rule, trigger, moved = args
        seen = trigger.seen
        (atom, side), (every, counts) = trigger.moved, _counted(rule.joins, join)
        if trigger.path is not None and every:
            self.budgeted(rule.joins, trigger.path, every, counts)
            fitting = trigger.pattern.fitting(spelled_out(_rows(moved, atom[0], side)))
            now = 0 if trigger.literal is None else rule.joins.length(trigger.literal)
            assert trigger.path == Path(trigger.need, share=min(1.0, (now - seen) / len(fitting)))
            assert trigger.seen == now
        holding = [trigger.moving in need for need in rule._needs]
        if not rule._within:  # else its needs are others
            assert trigger.literal is None or (trigger.literal == trigger.moving and holding[trigger.need])
            assert trigger.rest or trigger.literal is not None or not any(holding)
        loops, rows, other = (
            Loops(rule.joins, [trigger.moving, *trigger.rest]),
            *(moved.rows(atom[0], s) for s in (side, 1 - side)),
        )
        # What satisfies no literal of the need on one side only is left to the trigger of the other side
        turned = [t for t in rule.ordered_triggers if (t.need, *t.moved) == (trigger.need, atom, 1 - side)]
        left = trigger.literal is None and any(t.literal is not None or side == 1 for t in turned)
        twice = left and rows is not None and other is not None and {*spelled_out(other)} == {*spelled_out(rows)}
        if loops.count <= MOST and rows is not None and (every or trigger.rest):
            moves = loops.among(atom, range(0) if twice else rows)
            self.compare(rule.joins, every, loops, moves & loops.every(trigger.rest), trigger.rest)
            if every and rule.joins.recorder is not None:
                self.each(rule.joins, loops, moves, trigger.rest)
        yield from every

    def due(self, args: tuple[DeltaRule, Delta], parts: Iterable[Bindings]) -> Iterator[Bindings]:
        """The assignments of a round: all that satisfy a need and of which an atom has moved, on a side that matters;
        and none of which no atom has."""
        rule, moved = args
        known, before, made = rule.started and not rule._postponed, rule.assignment_count, dict(rule.joins.made)
        every, wanted = list(parts), rule.formula.blocks[0].variables
        self._rules[id(rule)] = rule
        rows = [row for part in every for row in tuples(part, wanted)]
        if known:
            reads = [(leaf, side) for leaf, sides in rule._reads.items() for side in (0, 1) if sides[side]]
            blocks = [rule.formula.original.block_of(leaf) if rule._within else 0 for leaf, _ in reads]
            needs = [rule._within.get(block, rule._needs) for block in blocks]
            atoms = [(rule.atom(leaf), side) for leaf, side in reads]
            assert self.moving(rule, moved, zip(atoms, needs, strict=True), set(rows))
            due = [t for t in rule.ordered_triggers if moved.rows(t.pattern.table.name, t.side) is not None]
            assert len(due) <= len(wanted) or len(rows) == len(set(rows))
            if not rule._repeats:
                assert rule.assignment_count - before == len(rows)
            for part in every if rule.formula.prenex_of is None else ():
                assert part.moved is not None
                atom, side = part.moved
                assert atom not in part.known.matched or {*part.local(atom).tolist()} <= {
                    *spelled_out(_rows(moved, atom[0], side)).tolist()
                }
        for leaf in rule.formula.read:
            description, atom = rule.leaf(leaf), rule.atom(leaf)
            assert description is not None and description.names_all == ({*wanted} <= variables(atom[1]))
            for part in every:  # what lists of deviating rows alone have found
                if description.deviating and atom in part.known.listed:
                    assert description.table.flags("either").take(part.local(atom)).all()
        if not known and not rule._repeats and not made:
            assert rule.assignment_count - before == sum(rule.joins.made.values()) == len(rows)
        yield from every

    def budgeted(self, joins: Joins, path: Path, parts: Sequence[Bindings], counts: Sequence[int]) -> None:
        """What a join counts before it makes them: what each of its steps leaves, or, at its end, all that its need has
        found, as far as it may be new."""
        made, found = joins.made.get(path.need, 0.0), sum(part.length for part in parts)
        steps = () if joins.recorder is None or joins.recorder._running is None else joins.recorder._running.steps
        if joins.recorder is None or not steps or joins._reach < 3:
            return
        outs = [step.out or 0 for step in joins.recorder._running.steps.values()]  # type: ignore[union-attr]  # above
        assert max(counts, default=0) <= max(round(made + path.share * found), *(round(path.share * n) for n in outs))
        if len(parts) == 1:
            assert counts[-1] == round(made + path.share * found)
        self.counts += len(counts)

    def recorded(self) -> None:
        """Each join that was recorded for a need reads its literals, or those of one of its triggers."""
        for rule in self._rules.values():
            joins, triggers = rule.joins, [*rule.ordered_triggers, *rule._demands]
            for number, need in enumerate(() if rule._within or joins.recorder is None else rule._needs):
                expected = {frozenset(listing(need))}
                expected |= {frozenset((t.moving, *listing(t.rest))) for t in triggers if t.need == number}
                for made in joins.recorder.made(joins.member, number) or ():  # type: ignore[union-attr]  # above
                    reads = [
                        step.reads.literal if isinstance(step.reads, Ranged) else step.reads for step in made.steps
                    ]
                    assert frozenset(each for each in reads if isinstance(each, Literal)) in expected
                    assert len(reads) == len({*reads})

    def demanded(self, args: tuple[DeltaRule, Delta], parts: Iterable[Bindings]) -> Iterator[Bindings]:
        """The assignments that are due because an atom has moved that a need reads, and the formula does not."""
        rule, moved = args
        every, read = list(parts), {rule.atom(leaf) for leaf in rule.formula.read}
        wanted = {literal for need in rule._needs for literal in listing(need) if literal.atom not in read}
        for part in every if rule.formula.prenex_of is None else ():
            assert part.moved is not None
            atom, side = part.moved
            assert atom not in part.known.matched or {*part.local(atom).tolist()} <= {
                *spelled_out(_rows(moved, atom[0], side)).tolist()
            }
        if rule.started:
            found = {row for part in every for row in tuples(part, rule.formula.blocks[0].variables)}
            sides = {"lower": (0,), "upper": (1,), "either": (0, 1)}
            atoms = [(x.atom, side) for x in wanted if x.table != EQUAL for side in sides.get(x.column, ())]
            assert self.moving(rule, moved, ((atom, rule._needs) for atom in atoms), found)
            self.demanded_rows += len(found)
        else:
            assert not every
        yield from every

    def moving(
        self, rule: DeltaRule, moved: Delta, reads: Iterable[tuple[Moved, Sequence[Literals]]], found: Rows
    ) -> bool:
        """Whether what was found is what a delta makes due, by the atoms and sides that are read, for some needs."""
        least, most = Rows(), Rows()
        for (atom, side), needs in reads:
            rows = _rows(moved, atom[0], side)
            for need in needs if len(rows) else ():
                loops = Loops(rule.joins, [Literal(*atom, "lower"), *need])
                if loops.count > MOST:
                    return True
                moves = loops.among(atom, rows)
                most |= loops.found(moves, loops.wanted)
                least |= loops.found(moves & loops.every(need), loops.wanted)
        self.due_rows += len(least)
        return least <= found <= most

    def each(self, joins: Joins, loops: Loops, moves: Array | None, literals: Literals) -> None:
        """Each step of the last join: how many rows it read, and how many assignments it left. The first may read what
        ``moves``."""
        assert joins.recorder is not None and joins.recorder._running is not None
        running, bound, flags = joins.recorder._running, set[int](), np.ones(loops.count, bool)
        assert running.member == joins.member
        read = variables(term for literal in literals for term in literal.arguments)
        if any(isinstance(literal, Range) for literal in literals) or read.difference(loops.wanted):
            return
        if joins._reach < 3:  # variables that do not fit into a key are compared after the rows are counted
            return
        paths = running.joins()
        parts = [len(index._segments) for index in joins._indexes.values()]
        planned = (
            max(parts, default=0) <= 1 and max((step.out or 0 for step in paths[0]), default=0) <= literal_join.CHUNK
        )
        left = [step.reads for step in paths[0] if isinstance(step.reads, Literal)]
        for step in paths[0] if len(paths) == 1 else ():
            if isinstance(step.reads, Literal):
                if planned and step.out is not None and (moves is None or bound):
                    self.planned(joins, loops, step.reads, left, flags, bound)
                left.remove(step.reads)
                bound |= variables(step.reads.arguments)
                listed = loops.satisfied(step.reads)
                if moves is None or step is not paths[0][0]:
                    assert step.rows == len(loops.found(listed, sorted(variables(step.reads.arguments))))
                    flags = flags & listed
                else:
                    flags = moves
            elif isinstance(step.reads, int):
                bound.add(step.reads)
                assert step.rows == len(joins.domain.sorts[joins.formula.sorts[step.reads]])
            assert step.out is None or step.out == len(loops.found(flags, sorted(bound)))
            self.steps += 1

    def planned(
        self, joins: Joins, loops: Loops, read: Literal, left: Sequence[Literal], flags: Array, bound: set[int]
    ) -> None:
        """The literal that a step reads: one whose variables are bound, or else that with the fewest results. The first
        is the shortest, unless there are few and it has more results with each other one than all have rows."""
        named = {literal: variables(literal.arguments) for literal in left}

        def results(literal: Literal, there: Array, known: set[int]) -> int:
            return len(loops.found(there & loops.satisfied(literal), sorted(known | named[literal])))

        linked = [literal for literal in left if not bound.isdisjoint(named[literal])]
        if any(named[literal] <= bound for literal in linked):
            assert named[read] <= bound
        elif linked:
            counts = {literal: results(literal, flags, bound) for literal in linked}
            assert counts[read] == min(counts.values())
        elif bound:
            assert joins.length(read) == min(map(joins.length, left))
        elif len(left) > 1 and all(named.values()):
            sizes = {literal: results(literal, flags, bound) for literal in left}
            least = dict.fromkeys(left, math.inf)
            for one, other in itertools.permutations(left, 2):
                if not named[one].isdisjoint(named[other]):
                    least[one] = min(least[one], results(other, loops.satisfied(one), named[one]))
            shortest = {literal for literal in left if sizes[literal] == min(sizes.values())}
            most = sum(map(joins.length, left)) if 2 < len(left) <= literal_join._TRIED else math.inf
            any_may = any(least[literal] > most for literal in shortest)
            assert (read in shortest and least[read] <= most) or (any_may and least[read] == min(least.values()))
            self.starts += any_may
        self.plans += 1


def _rows(moved: Delta, table: str, side: int) -> Array | range:
    """The moved rows of a table, if there are any."""
    rows = moved.rows(table, side)
    return range(0) if rows is None else rows


def _counted(joins: Joins, join: Callable[[], Iterable[Bindings]]) -> tuple[list[Bindings], list[int]]:
    """The parts of a join, and what was counted meanwhile."""
    counts, guard = list[int](), joins._guard

    def counting(formula: Formula, count: int) -> None:
        counts.append(count)
        guard(formula, count)

    joins._guard = counting
    try:
        return list(join()), counts
    finally:
        joins._guard = guard


def _agree(joins: Joins, part: Bindings) -> None:
    """Whether what assignments say of themselves is true."""
    wanted = joins.formula.blocks[0].variables
    assert part.known.variables >= {*wanted}
    assert part.known.listed <= part.known.matched
    assert not part.distinct or len(set(tuples(part, wanted))) == part.length
    for atom in part.known.matched:
        if not variables(atom[1]) <= part.known.variables:
            continue
        table, rows = joins.atoms.tables[atom[0]], part.local(atom)
        assert len(rows) == part.length
        assert np.array_equal(rows, spelled_out(part.rows(atom)))
        for term, column in zip(atom[1], table.tuples.columns, strict=True):
            ids = part.column(term) if isinstance(term, int) else joins.domain.index[term]
            assert (column.take(rows) == ids).all()
        if atom in part.known.listed:
            assert np.any([table.flags(name).take(rows) for name in LISTS], axis=0).all()


@contextmanager
def watched() -> Iterator[Watching]:
    """While it lasts, all joins of rules are compared."""
    watching, every, triggered, whole = Watching(), DeltaRule._first_assignments, DeltaRule._triggered, Joins.whole
    together, due, demanded = delta_rule.at_once, DeltaRule.assignments, DeltaRule.demanded
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DeltaRule, "_first_assignments", lambda rule: watching.at_once(rule, every(rule)))
        patch.setattr(DeltaRule, "assignments", lambda *args: watching.due(args, due(*args)))
        patch.setattr(DeltaRule, "demanded", lambda *args: watching.demanded(args, demanded(*args)))
        patch.setattr(DeltaRule, "_triggered", lambda *args: watching.triggered(args, lambda: triggered(*args)))
        patch.setattr(delta_rule, "at_once", lambda joins, needs: watching.together(joins, together(joins, needs)))
        patch.setattr(Joins, "whole", lambda *args: watching.whole(args, whole(*args)))
        yield watching
    watching.recorded()
