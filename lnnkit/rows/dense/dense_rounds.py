"""The rounds of a dense program over a strip of rows: as in `lnnkit.engine`, for all rows in parallel. A round reads
the bounds after the previous one; the greatest lower and the least upper end proposed win; bounds that cross are
arrested. Rows are independent, so the rounds of one are the same whatever rows are beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from lnnkit.analysis.relevance import LISTED
from lnnkit.arrays import DOUBLE, any_set, replaced, where_set
from lnnkit.engine.response.clause import Clause
from lnnkit.engine.response.respond import Read, completing, constant, entering, respond
from lnnkit.formula.passes import upward
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.logic.bounds import Bounds, noise, tolerance
from lnnkit.rows.dense.comparison_truths import implied_truth
from lnnkit.rows.dense.dense_program import DenseProgram, DenseRule
from lnnkit.rows.dense.dense_state import Coded, Column, Strip
from lnnkit.store.columns.row_arrays import Array

MOST = 60  # rounds: rows that still move then go to the engine, which detects slow convergence

_NOISE = noise(DOUBLE)
_WORTHWHILE = 2  # rows are selected only if fewer than one in this many is needed

TableEnd = tuple[str, int]  # a table, and its lower (0) or upper (1) end
# Adds the proposals of a rule, with its number, for rows that have moved (None: all)
Look = Callable[[int, "DenseRule", Array | None, "_BestProposals"], None]


class Unsettled(Exception):
    """Some rows have not converged."""


@dataclass(slots=True)
class _Moves:
    """The rows that moved in a round, by table and end."""

    rows: dict[TableEnd, Array] = field(default_factory=dict)

    def add(self, where: TableEnd, rows: Array) -> None:
        known = self.rows.get(where)
        self.rows[where] = rows if known is None else known | rows

    def of(self, rule: DenseRule) -> Array | None:
        """The rows that a rule must evaluate again; None if there are none."""
        moved: Array | None = None
        for where in rule.reads:
            rows = self.rows.get(where)
            if rows is not None:
                moved = rows if moved is None else moved | rows
        return moved

    def __bool__(self) -> bool:
        return bool(self.rows)


class _BestProposals:
    """The best proposal for each end so far, and the rows that it moves. In completions all ends are ``rising``."""

    def __init__(self, strip: Strip, setters: dict[TableEnd, Array] | None, *, rising: bool) -> None:
        self.strip = strip
        self.best: dict[TableEnd, tuple[Array, Array]] = {}
        self._setters = setters
        self._rising = rising

    def add(self, where: TableEnd, moving: Array, value: Array, setter: int) -> None:
        """Add bounds for one end of a table, (n,), in the rows that they move. Of equal ones the first sets the end."""
        known = self.best.get(where)
        column = self.strip.column(where[0])
        falling = where[1] and not self._rising
        if known is None and column.blank and self._setters is None:
            nearer = value.clip(None, 1.0) if falling else value.clip(min=float(where[1]))
            self.best[where] = moving, np.where(moving, nearer, float(where[1]))
            return
        ends = column.end(where[1]) if known is None else known[1]
        better = np.minimum if falling else np.maximum
        met = np.where(moving, better(ends, value), ends)
        if self._setters is not None:
            before = self._setters.get(where)
            if before is None:
                before = np.full((self.strip.length,), -1, dtype=np.int32)
            self._setters[where] = np.where(met != ends, setter, before)
        self.best[where] = (moving if known is None else known[0] | moving, met)

    def settle(self) -> _Moves:
        """Merge the proposals into the bounds, and arrest what crosses."""
        moves = _Moves()
        for (name, side), (moving, ends) in self.best.items():
            self.strip.column(name).put(side, ends)
            moves.add((name, side), moving)
        for name in {name for name, _ in self.best}:
            crossed = self.strip.column(name).arrest()
            if crossed is not None:
                for side in (0, 1):
                    moves.add((name, side), crossed)
        return moves


class DenseRun:
    """One strip on its way to the fixpoint."""

    def __init__(self, program: DenseProgram, strip: Strip, *, why: bool = False) -> None:
        self.program = program
        self.strip = strip
        # By end: the number of the statement that set it
        self.setters: dict[TableEnd, Array] | None = {} if why else None
        self._silent: dict[int, Array] = {}  # by rule: the rows whose instance is arrested
        # The truth of each comparison, from its numbers as facts give them
        self._truths: dict[str, Coded | Bounds] = {}
        self.rounds: list[int] = []  # moves between completions

    def begin(self) -> None:
        """Arrest contradictory facts, and give comparisons their first truth."""
        for column in self.strip.columns.values():
            column.arrest()
        self._compare()

    def settle(self) -> None:
        """Run to the fixpoint after `begin`. Raises `Unsettled`."""
        self._complete(first=True)
        for rule in self.program.shared:
            self._initialise(rule)
        moves: _Moves | None = None
        while True:
            self.rounds.append(self._run(self.program.rules, 0, self._look, moves))
            if sum(self.rounds) > MOST:
                raise Unsettled
            if not self.program.strata or not self.rounds[-1]:
                return
            moves = self._complete(first=False)
            if not moves:
                return

    @property
    def contradicted(self) -> Array | None:
        """(n,) The rows in which bounds of an atom have crossed, or an instance could not be satisfied; None without
        any."""
        crossed = [column.arrested for column in self.strip.columns.values() if column.arrested is not None]
        flags = [*self._silent.values(), *crossed]
        return np.logical_or.reduce(flags) if flags else None

    def setters_of(self, table: str) -> tuple[Array, Array]:
        """The statements that set the lower and the upper ends of a table, as `DenseProgram.statements` numbers them;
        -1 where none did."""
        assert self.setters is not None
        none = np.full((self.strip.length,), -1, dtype=np.int32)
        return self.setters.get((table, 0), none), self.setters.get((table, 1), none)

    # --- before the first round ---------------------------------------------------------------------------------------

    def _compare(self) -> None:
        """Give comparisons the truth that their numbers imply. Contradictions with it, and bounds for the numbers, are
        left to the rounds."""
        for rule in self.program.comparisons:
            name, keeps = rule.tables[AUXILIARY], rule.shape.modes[AUXILIARY]
            if self._default(AUXILIARY, rule) != (0.0, 1.0):
                self._compare_stated(rule)
                continue
            truth = implied_truth(rule, self.strip)
            lower = np.where((truth.lower > _NOISE) & bool(keeps[0]), truth.lower, 0.0)
            upper = np.where((truth.upper < 1 - _NOISE) & bool(keeps[1]), truth.upper, 1.0)
            table = self.program.tables[name]
            if isinstance(truth, Coded):
                self.strip.columns[name] = Column.of(table, Coded(truth.codes, lower, upper))
            else:
                self.strip.columns[name] = Column(table, lower, upper, sound=True)
            self._truths[name] = truth

    def _compare_stated(self, rule: DenseRule) -> None:
        """Likewise, for a comparison with a default of its own, which is stated or holds of all numbers."""
        if rule.comparison is not None and not rule.comparison.total:
            self._initialise(rule)
        column = self.strip.column(rule.tables[AUXILIARY])
        response = respond(rule.shape, self._reader(rule, None), (None,))
        clash = response.bad | (response.root.lower > response.root.upper + _NOISE)
        for (leaf, side), (news, value) in response.proposed.items():
            if leaf == AUXILIARY:
                column.put(side, np.where(news & ~clash, value, column.end(side)))

    def _default(self, leaf: int, rule: DenseRule) -> tuple[float, float]:
        return self.program.tables[rule.tables[leaf]].default

    def _initialise(self, rule: DenseRule) -> None:
        """Give a shared neuron the bounds that its operands imply."""
        formula = rule.formula
        up = upward(formula, entering(self._reader(rule, None), formula), (None,))[formula.top]
        lower, upper = up.lower.clip(formula.lower), up.upper.clip(None, formula.upper)
        crossed = lower > upper + tolerance(lower.dtype)
        column = self.strip.column(rule.tables[AUXILIARY])
        column.put(0, np.where(crossed, formula.lower, np.minimum(lower, upper)))
        column.put(1, np.where(crossed, formula.upper, np.maximum(lower, upper)))

    # --- rounds -------------------------------------------------------------------------------------------------------

    def _run(
        self, rules: Sequence[DenseRule], first: int, look: Look, moves: _Moves | None, *, rising: bool = False
    ) -> int:
        """Rounds until one changes nothing; the number of those that did. Rules are numbered from ``first`` on. The
        first round evaluates all rows, unless only some have moved. Raises `Unsettled`."""
        for count in range(MOST + 1):
            inbox = _BestProposals(self.strip, self.setters, rising=rising)
            for number, rule in enumerate(rules, first):
                rows = None if moves is None else moves.of(rule)
                if moves is None or rows is not None:
                    look(number, rule, rows, inbox)
            moves = inbox.settle()
            if not moves:
                return count
        raise Unsettled

    def _look(self, number: int, rule: DenseRule, moved: Array | None, inbox: _BestProposals) -> None:
        """Add a rule's proposals for some rows to the inbox. Each group of rows takes the fastest path that suits
        it."""
        silent = self._silent.get(number)
        if silent is not None:
            moved = ~silent if moved is None else moved & ~silent
        if moved is not None and not any_set(moved):
            return
        if rule.clause is not None:
            moved = self._forward(number, rule, rule.clause, moved, inbox)
            if moved is not None and not any_set(moved):
                return
        if rule.comparison is not None:
            moved = self._proposing(rule, moved)
            if moved is not None and not any_set(moved):
                return
        rows = self._picked(moved)
        response = respond(rule.shape, self._reader(rule, rows), (None,))
        if any_set(response.bad):
            bad = self._spread(rows, response.bad)
            bad = bad if moved is None else bad & moved  # when most rows have moved, compute all of them
            self._silent[number] = bad if silent is None else silent | bad
        auxiliary = self.strip.column(rule.tables[AUXILIARY]) if rule.comparison is not None else None
        for (leaf, side), (news, value) in response.proposed.items():
            moving = news & ~response.bad
            if not any_set(moving):
                continue
            column = self.strip.column(rule.tables[leaf])
            moving = column.unarrested(self._spread(rows, moving))
            if rule.shape.modes[leaf][side] == LISTED:
                moving = moving & column.given if column.given is not None else np.zeros_like(moving)
            moving = moving if moved is None else moving & moved
            if auxiliary is not None:
                moving = auxiliary.unarrested(moving)
            if any_set(moving):
                inbox.add((column.table.name, side), moving, self._placed(rows, value), number)

    def _forward(
        self, number: int, rule: DenseRule, clause: Clause, moved: Array | None, inbox: _BestProposals
    ) -> Array | None:
        """Evaluate the rows whose consequent is unknown by a clause. Returns the other rows."""
        target, side = clause.target
        column = self.strip.column(rule.tables[target])
        if column.table.default != (0.0, 1.0):
            return moved
        unknown = moved
        if not column.blank:
            blank = (column.lower == 0.0) & (column.upper == 1.0)
            unknown = blank if moved is None else blank & moved
            if not any_set(unknown):
                return moved
        rows = self._picked(unknown)
        ends: dict[int, Array] = {}
        for leaf, leaf_side in clause.sides.items():
            end = self.strip.column(rule.tables[leaf]).entered(leaf_side)
            if end is None:
                return moved
            ends[leaf] = end if rows is None else end.take(rows)
        news, value = clause.proposed(ends)
        moving = column.unarrested(self._spread(rows, news))
        moving = moving if unknown is None else moving & unknown
        if any_set(moving):
            inbox.add((column.table.name, side), moving, self._placed(rows, value), number)
        if unknown is None:
            return np.zeros(self.strip.length, dtype=bool)
        return ~unknown if moved is None else moved & ~unknown

    def _proposing(self, rule: DenseRule, moved: Array | None) -> Array | None:
        """Drop the rows in which a comparison cannot propose more: its own truth is no tighter than its numbers imply,
        and these are single values."""
        comparison = rule.comparison
        assert comparison is not None
        if self._default(AUXILIARY, rule) != (0.0, 1.0):
            return moved
        # before the first round its numbers have not moved
        truth = self._truths.pop(rule.tables[AUXILIARY], None) or implied_truth(rule, self.strip)
        lower, upper = truth.ends() if isinstance(truth, Coded) else truth
        auxiliary = self.strip.column(rule.tables[AUXILIARY])
        keeps = rule.shape.modes[AUXILIARY]
        quiet = auxiliary.lower == lower if keeps[0] else auxiliary.lower <= lower
        quiet &= auxiliary.upper == upper if keeps[1] else auxiliary.upper >= upper
        if comparison.partial:  # a true or false comparison implies that its terms are defined, which may bound numbers
            single = np.ones(self.strip.length, dtype=bool)
            for leaf in rule.formula.leaves:
                column = self.strip.column(rule.tables[leaf])
                single &= column.lower == column.upper
            least = tolerance(auxiliary.lower.dtype)
            quiet &= single | ((auxiliary.lower <= least) & (auxiliary.upper >= 1 - least))
        return ~quiet if moved is None else moved & ~quiet

    def _picked(self, moved: Array | None) -> Array | None:
        """The indices of the rows to evaluate; None if evaluating all is cheaper."""
        if moved is None or np.count_nonzero(moved) * _WORTHWHILE >= self.strip.length:
            return None
        return where_set(moved)

    def _spread(self, rows: Array | None, flags: Array) -> Array:
        """Flags of selected rows, scattered to all."""
        if rows is None:
            return flags
        return replaced(np.zeros(self.strip.length, dtype=bool), rows, flags)

    def _placed(self, rows: Array | None, values: Array) -> Array:
        """Values of selected rows, scattered to all; other entries are undefined."""
        if rows is None:
            return values
        return replaced(np.zeros(self.strip.length, dtype=values.dtype), rows, values)

    def _reader(self, rule: DenseRule, rows: Array | None) -> Read:
        formula = rule.formula
        length = self.strip.length if rows is None else len(rows)

        def read(index: int) -> Bounds:
            if index != AUXILIARY and formula.neurons[index].fixed:
                return constant(rule.shape.formula, index, length, DOUBLE)
            column = self.strip.column(rule.tables[index])
            lower, upper = column.bounds
            if index in formula.heads:
                given = column.given
                if given is None:
                    return Bounds(np.zeros(length, dtype=np.float64), np.ones(length, dtype=np.float64))
                lower, upper = np.where(given, lower, 0.0), np.where(given, upper, 1.0)
            if rows is None:
                return Bounds(lower, upper)
            return Bounds(lower.take(rows), upper.take(rows))

        return read

    # --- completion ---------------------------------------------------------------------------------------------------

    def _complete(self, *, first: bool) -> _Moves:
        """Complete every stratum, dependencies first: the least fixpoint of its statements, from false. Returns what
        moved."""
        moves, number = _Moves(), len(self.program.rules)
        for names, rules in self.program.strata:
            columns = [self.strip.column(name) for name in sorted(names)]
            before = [(column, _open(column), column.bounds) for column in columns]
            for column, opened, ends in before:
                for side in (0, 1):
                    column.put(side, np.where(opened, 0.0, ends[side]))
                    if self.setters is not None:
                        self.setters.pop((column.table.name, side), None)
            self._run(rules, number, self._define, None, rising=True)
            number += len(rules)
            if first:
                continue
            for column, opened, (lower, upper) in before:
                column.put(0, np.where(opened, np.maximum(column.lower, lower), column.lower))
                column.put(1, np.where(opened, np.minimum(column.upper, upper), column.upper))
                column.arrest()
                changed = (abs(column.lower - lower) > _NOISE) | (abs(column.upper - upper) > _NOISE)
                if any_set(changed):
                    for side in (0, 1):
                        moves.add((column.table.name, side), changed)
        return moves

    def _define(self, number: int, rule: DenseRule, moved: Array | None, inbox: _BestProposals) -> None:
        """Add what a defining statement requires of its heads in some rows to the inbox."""
        rows = self._picked(moved)
        response = completing(rule.shape, self._reader(rule, rows), (None,))
        for (head, side), (news, value) in response.proposed.items():
            column = self.strip.column(rule.tables[head])
            value = self._placed(rows, value)
            moving = self._spread(rows, news) & _open(column) & (value > column.end(side) + _NOISE)
            if any_set(moving):
                inbox.add((column.table.name, side), moving, value, number)


def _open(column: Column) -> Array:
    """The rows of a closed derived predicate that no fact lists and that are not arrested."""
    flags = np.ones(len(column.lower), dtype=bool) if column.given is None else ~column.given
    return column.unarrested(flags)
