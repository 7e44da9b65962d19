"""Evaluates a program's queries about the entities of one sort in columns, strip by strip.

If each statement that may propose a bound is about one entity, entities are independent: a strip of them goes through
the same rounds as in `lnnkit.engine`, without a table of atoms and without a trail. Contradictory programs, and those
that do not converge, are left to the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from lnnkit.analysis.supports import Known
from lnnkit.answers.query_rows import Rows
from lnnkit.arrays import DOUBLE, replaced, set_at, where_set
from lnnkit.check.program import CheckedProgram
from lnnkit.engine.start.first_bounds import DistinctTuples
from lnnkit.engine.termination import RoundReport, Watch
from lnnkit.graph.lifted import LiftedGraph, Root
from lnnkit.logic.bounds import Bounds
from lnnkit.rows.dense.dense_program import DenseProgram, DenseQuery, DenseTable, dense_program
from lnnkit.rows.dense.dense_rounds import DenseRun, Unsettled
from lnnkit.rows.dense.dense_state import Column, Strip, at_default
from lnnkit.rows.dense.row_lookups import Lookups
from lnnkit.rows.dense.strip_run import LENGTH, Settled, settled
from lnnkit.rows.needed_statements import needed
from lnnkit.store.columns.row_arrays import Array
from lnnkit.store.layout import Given, domain
from lnnkit.store.stated_facts import Gathered


@dataclass(frozen=True, slots=True)
class ColumnFixpoint:
    """The ``answers`` to the program's queries, in order: one row for each entity, ascending. If the ``watch`` stopped
    it, it is ``interrupted``: the remaining entities have the bounds of their facts."""

    answers: Sequence[Rows]
    rounds: int
    interrupted: bool


def column_fixpoint(
    program: CheckedProgram, lifted: LiftedGraph, gathered: Gathered, known: Known, watch: Watch | None
) -> ColumnFixpoint | None:
    """The fixpoint of a program whose facts are ``gathered``; ``lifted`` has its queries. None if the engine has to
    compute it: for statements that link entities, contradictions, no convergence after `MOST` rounds, or closed
    predicates whose completion the ``watch`` stopped."""
    if any(len(root.variables) != 1 for root in lifted.queries):
        return None
    needs = needed(program, {facts.predicate for facts in gathered.given}, lifted, known, every=True)
    sorts = {sort for asked in (*needs.formulas, *lifted.queries) for sort in asked.sorts}
    if len(sorts) != 1 or needs.shared.impossible:
        return None
    (sort,) = sorts
    dense = dense_program(needs, program, Lookups(sort))
    if dense is None or any(needs.schemas[name].sorts != (sort,) for name in dense.tables):
        return None
    facts = _facts(gathered.given, dense.tables)
    if facts is None:
        return None
    world = domain(lifted, *gathered)
    return _FactColumns(dense, world.sorts[sort], facts).inferred(lifted.queries, watch)


class _FactColumns:
    """The facts as columns over all ``ids`` of the sort."""

    def __init__(self, program: DenseProgram, ids: Array, facts: Mapping[str, _Facts]) -> None:
        self.program = program
        self.ids = ids
        self.run = bool(len(ids)) and int(ids[-1]) - int(ids[0]) == len(ids) - 1
        self.facts = facts

    def inferred(self, queries: Sequence[Root], watch: Watch | None) -> ColumnFixpoint | None:
        collected = [_Collected(query, len(self.ids)) for query in self.program.queries]
        phases: list[int] = []
        interrupted = False
        for start in range(0, len(self.ids), LENGTH):
            strip = self._strip(start, min(start + LENGTH, len(self.ids)))
            begun = DenseRun(self.program, strip)
            fixpoint = Settled(begun, begun)
            if not interrupted:
                try:
                    fixpoint = settled(self.program, strip, consistent=True)
                except Unsettled:
                    return None
                if fixpoint.run.contradicted is not None:
                    return None
                phases = [max(pair) for pair in zip_longest(phases, fixpoint.run.rounds, fillvalue=0)]
                if watch is not None:
                    done = start + strip.length
                    tables, rules = len(self.program.tables), len(self.program.statements)
                    report = RoundReport("inference", sum(phases), done * tables, done * rules)
                    interrupted = not watch.after_round(report)
                    if interrupted and self.program.strata:  # Before completion a closed atom is unknown, not false.
                        return None
            for collector in collected:
                collector.add(fixpoint.answers(collector.query), self.ids[start : start + strip.length])
        answers = [collector.joined(root) for root, collector in zip(queries, collected, strict=True)]
        return ColumnFixpoint(answers, sum(phases), interrupted)

    def _strip(self, start: int, stop: int) -> Strip:
        """A range of rows with the bounds of their facts."""
        rows = self.ids[start:stop]
        columns: dict[str, Column] = {}
        for name, table in self.program.tables.items():
            facts = self.facts.get(name)
            if facts is None:
                columns[name] = at_default(table, stop - start)
            elif len(facts.ids) == len(self.ids):
                columns[name] = facts.column.part(start, stop)
            else:
                columns[name] = self._scattered(facts, rows)
        return Strip(stop - start, columns)

    def _scattered(self, facts: _Facts, rows: Array) -> Column:
        """The facts about some of the rows, scattered to all of these."""
        first, last = facts.ids.searchsorted((rows[0], rows[-1] + 1)).tolist()
        ids, column = facts.ids[first:last], facts.column.part(first, last)
        places = (ids - rows[0] if self.run else rows.searchsorted(ids)).astype(np.int64, copy=False)
        low, high = column.table.default
        lower = replaced(np.full(len(rows), low, np.float64), places, column.lower)
        upper = replaced(np.full(len(rows), high, np.float64), places, column.upper)
        return Column(column.table, lower, upper, set_at(len(rows), places), sound=True)


@dataclass(frozen=True, slots=True)
class _Facts:
    """The facts about a table: distinct entities, ascending, and their bounds."""

    ids: Array
    column: Column


def _facts(given: Sequence[Given], tables: Mapping[str, DenseTable]) -> dict[str, _Facts] | None:
    """The facts of the tables, met per atom. None if any two contradict each other."""
    by_table: dict[str, _Facts] = {}
    tuples = DistinctTuples(())
    for facts in given:
        if not len(facts):
            continue
        tuples = tuples.or_of(list(facts.columns))
        columns, ends = tuples.met(facts, DOUBLE)
        if len(ends.lower) < len(facts) and (ends.lower > ends.upper).any():
            return None
        if facts.predicate in tables:
            lower, upper = ends
            same = lower.ctypes.data == upper.ctypes.data and lower.strides == upper.strides
            every = np.broadcast_to(True, len(lower))
            column = Column(tables[facts.predicate], lower, lower if same else upper, every, sound=True)
            by_table[facts.predicate] = _Facts(columns[0], column)
    return by_table


class _Collected:
    """The answers to one query, a strip at a time."""

    def __init__(self, query: DenseQuery, most: int) -> None:
        self.query = query
        self._count = 0
        self._ids = np.empty(most, np.int32)  # read-only and broadcast: takes no memory
        self._ends = Bounds(*(np.empty(most) for _ in range(2)))

    def add(self, value: Bounds, ids: Array) -> None:
        """Add the answers of a strip that differ from the query's default."""
        low, high = self.query.default
        apart = (value.lower != low) | (value.upper != high)
        if not apart.all():
            rows = where_set(apart)
            ids, value = ids.take(rows), Bounds(*(end.take(rows) for end in value))
        start, self._count = self._count, self._count + len(ids)
        self._ids[start : self._count] = ids
        for ends, end in zip(self._ends, value, strict=True):
            ends[start : self._count] = end

    def joined(self, root: Root) -> Rows:
        count = self._count
        ids, (lower, upper) = self._ids[:count], (end[:count] for end in self._ends)
        return Rows(root.variables, (ids,), lower, upper, np.zeros(count, dtype=bool))
