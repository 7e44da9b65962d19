"""Evaluation of rows by the engine, a strip at a time: for programs without a dense form.

The strip's facts replace those of the whole table, beside all other tables. Since rows are independent, each has
the answer that it has among all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lnnkit.analysis.supports import Known
from lnnkit.answers.contested_marks import Marks, marked
from lnnkit.answers.query_rows import answer
from lnnkit.budget import TooLarge, allowed, too_large
from lnnkit.check.program import CheckedProgram, Predicate, Query
from lnnkit.data.column import EntityColumn
from lnnkit.data.entities import Entities
from lnnkit.data.names import Names
from lnnkit.data.table import FactTable
from lnnkit.engine.inference import infer
from lnnkit.engine.inference_run import Run
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.graph.lifted import NUMBER, LiftedGraph, NeuronGraph, Reference, Root
from lnnkit.graph.lifting import add_queries, build
from lnnkit.graph.match import below_negations
from lnnkit.rows.dense.dense_program import query_default
from lnnkit.rows.needed_statements import Needed
from lnnkit.rows.row_bounds import RowBounds, StatementNames
from lnnkit.rows.strip_facts import StripGrid, fact_tables, some_rows
from lnnkit.store.columns.row_arrays import Array
from lnnkit.store.layout import asked_constants, constants
from lnnkit.store.relations import RowNumbers
from lnnkit.store.stated_facts import given_facts
from lnnkit.syntax import ast

_ROW = "a row"  # a predicate with a label for every row: no program can name it
_ROUNDS = 100_000


class StripEngine:
    """Answers a program's queries for strips of rows of a sort. ``sides`` are the tables about rows that are read
    whole; tables of other entities are the program's own."""

    def __init__(self, program: CheckedProgram, sort: str, sides: Sequence[FactTable], needs: Needed) -> None:
        of_rows = {name for name, predicate in program.predicates.items() if sort in predicate.sorts}
        self._about_rows = [fact for fact in program.facts if fact.predicate in of_rows]
        self.program = replace(program, facts=tuple(fact for fact in program.facts if fact.predicate not in of_rows))
        self.sort = sort
        self.sides = sides
        self.needs = needs
        self._places = {name: program.predicates[name].sorts.index(sort) for name in of_rows}
        self._read = needs.read()
        self._known = Known()

    @cached_property
    def _lifted(self) -> LiftedGraph:
        return _graph(self.program)

    def answers(self, strip: StripGrid, setters: StatementNames | None = None) -> list[RowBounds]:
        """The bounds of each query, row by row; for an atom with the numbers that ``setters`` give to the statements
        that set them. Rows that share a name are separate entities. Raises `BudgetError`."""
        turns = _turns(strip.texts.codes)
        rows = [np.flatnonzero(turns == turn) for turn in range(int(turns.max(initial=0)) + 1)]
        if len(rows) == 1:
            return self._together(strip, setters)
        parts = [self._together(some_rows(strip, places), setters) for places in rows]
        back = np.argsort(np.concatenate(rows))
        return [RowBounds.joined(bounds).take(back) for bounds in zip(*parts, strict=True)]

    def _together(self, strip: StripGrid, setters: StatementNames | None) -> list[RowBounds]:
        if not strip.length:
            nothing = np.empty(0, dtype=np.float64)
            return [RowBounds(nothing, nothing) for _ in self.program.queries]
        texts = strip.texts
        tables, _ = fact_tables(strip)
        sides = [_among(table, self._places[table.predicate], texts.names) for table in self.sides]
        about = [fact for fact in self._about_rows if fact.arguments[self._places[fact.predicate]] in texts.names]
        program = replace(
            self.program, facts=(*self.program.facts, *about), tables=(*self.program.tables, *tables, *sides)
        )
        run = _run(program, self._lifted, self.sort, EntityColumn(texts.codes, texts.names), self._known)
        marks = marked(run.fixpoint)
        doubtful = None if setters is None else self._contradicted(run, marks)
        answers: list[RowBounds] = []
        try:
            for place, root in enumerate(self._lifted.queries):
                lower, upper = self._bounds(run, marks, place)
                numbers = None if setters is None else _setters(run, self._lifted.graph, root, setters)
                answers.append(RowBounds(lower, upper, numbers, doubtful))
        except TooLarge as problem:
            raise too_large(problem, self._lifted) from None
        return answers

    def _contradicted(self, run: _Run, marks: Marks | None) -> Array:
        """The rows of whose atoms contradictions speak, as far as queries read the predicate."""
        doubtful = np.zeros(len(run.entities) + 2, bool)
        if marks is not None:
            for table in run.fixpoint.state.crossed:
                columns = [column.take(table.crossed.rows.values) for column in table.tuples.columns]
                doubtful[self._rows_in(table.name, columns)] = True
            for group in marks.named:
                doubtful[self._rows_in(group.source, group.columns)] = True
        return doubtful.take(run.ids)

    def _rows_in(self, table: str, columns: Sequence[np.ndarray | None]) -> np.ndarray | slice:
        """The ids of rows among the arguments of atoms; None stands for every entity."""
        place = self._places.get(table)
        if place is None or table not in self._read:
            return slice(0)
        column = columns[place]
        return slice(None) if column is None else column

    def inferred(self, predicate: str, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The inferred bounds of a predicate of reference tables for some entities, (n,) each; no row moves them. A
        contradictory atom reads as unknown. Raises `BudgetError`."""
        span = self.program.assertions[0].span
        atom = ast.Atom(predicate, (ast.Variable("X", span=span),), span=span)
        query = Query(atom, predicate, self.program.logic, span)
        program = replace(self.program, queries=(query,))
        known = Names.of(names)
        labels = EntityColumn(np.array([known.find(name) for name in names], np.int32), known)
        run = _run(program, _graph(program), program.predicates[predicate].sorts[0], labels, Known())
        table = run.fixpoint.grounding.atoms.tables[predicate]
        lower, upper = table.read(table.tuples.find([run.ids], len(run.ids)))
        return lower.astype(np.float64), upper.astype(np.float64)

    def _bounds(self, run: _Run, marks: Marks | None, number: int) -> tuple[Array, Array]:
        """The answers in the order of the rows; rows without an answer have the query's default."""
        rows = answer(run.fixpoint, marks, self._lifted, self._lifted.queries[number], guard=allowed(None))
        place = np.full(len(run.entities) + 2, -1, dtype=np.int64)
        place[rows.columns[0]] = np.arange(len(rows.lower))
        order = place.take(run.ids)
        absent = order < 0
        if not absent.any():
            return rows.lower.take(order), rows.upper.take(order)
        low, high = self._default(run, marks, number, run.entities.names[int(run.ids[absent.argmax()])])
        return np.append(rows.lower, low).take(order), np.append(rows.upper, high).take(order)  # -1 is the last

    def _default(self, run: _Run, marks: Marks | None, number: int, name: str) -> tuple[float, float]:
        """The value of a query with every atom at its default; a query with quantifiers has this value where it has no
        answer."""
        plain = query_default(self.needs, self.needs.lifted.queries[number])
        if plain is not None:
            return plain
        root = self._lifted.queries[number]
        arguments = tuple(name if isinstance(term, int) else term for term in root.reference.arguments)
        ground = replace(root, reference=Reference(root.reference.node, arguments), variables=(), sorts=())
        rows = answer(run.fixpoint, marks, self._lifted, ground, guard=allowed(None))
        return float(rows.lower[0]), float(rows.upper[0])


class _Run(NamedTuple):
    """A fixpoint, its ``entities``, and the ``ids`` of those that were named."""

    fixpoint: Run
    entities: Entities
    ids: Array


def _graph(program: CheckedProgram) -> LiftedGraph:
    return add_queries(build(replace(program, queries=())), program.queries)


def _run(program: CheckedProgram, lifted: LiftedGraph, sort: str, named: EntityColumn, known: Known) -> _Run:
    """Inference beside which the ``named`` entities of a sort exist. Raises `BudgetError`."""
    ones = np.broadcast_to(1.0, len(named.codes))
    labels = FactTable(_ROW, (named,), ones, ones, np.arange(len(named.codes)), "")
    predicates = {**program.predicates, _ROW: Predicate(_ROW, (sort,))}
    program = replace(program, predicates=predicates, label_tables=(*program.label_tables, labels))
    mentioned = {text for texts in constants(lifted).values() for text in texts}
    asked = asked_constants(lifted, lifted.queries) - mentioned
    entities, given, labelled = given_facts(program, mentioned | asked)
    try:
        fixpoint = infer(
            lifted,
            entities,
            given,
            guard=allowed(None),
            round_limit=_ROUNDS,
            known=known,
            record=False,
            labelled=labelled,
            unnamed=frozenset(asked),
        )
    except TooLarge as problem:
        raise too_large(problem, lifted) from None
    return _Run(fixpoint, entities, labelled[sort][-1])


def _setters(run: _Run, graph: NeuronGraph, root: Root, setters: StatementNames) -> tuple[Array, Array] | None:
    """The numbers of the statements that set both ends of each row's atom; None for a query that is no atom."""
    reference, negated = below_negations(graph, root.reference)
    if graph.nodes[reference.node]["kind"] not in ("predicate", NUMBER) or reference.arguments != (0,):
        return None
    grounding, trail = run.fixpoint.grounding, run.fixpoint.state.trail
    table = grounding.atoms.tables[reference.node]
    numbers = RowNumbers(grounding.atoms)
    local = table.tuples.find([run.ids], len(run.ids))
    rows = numbers.of(table, local)
    by_side: list[Array] = []
    for side in (0, 1):
        statements = np.full(len(rows), -1, np.int32)
        shapes, leaves, instances = (column.take(rows) for column in trail.setters(side, numbers))
        shapes = np.where(local < 0, -1, shapes)
        for number, leaf in np.unique(np.stack([shapes, leaves])[:, shapes >= 0], axis=1).T.tolist():
            shape = grounding.shapes[number]
            at = np.flatnonzero((shapes == number) & (leaves == leaf))
            block = 0 if leaf == AUXILIARY else shape.formula.neurons[leaf].block
            members = shape.blocks[block].member.take(instances[at])
            for one in np.unique(members).tolist():
                formula = grounding.members[shape.members[one]].formula
                statements[at[members == one]] = setters.number(formula)
        by_side.append(statements)
    return (by_side[1], by_side[0]) if negated else (by_side[0], by_side[1])


def _turns(codes: np.ndarray) -> np.ndarray:
    """For each row the number of earlier rows with its name."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    new = np.append(True, ordered[1:] != ordered[:-1])[: len(codes)]
    turns = np.empty(len(codes), np.int64)
    turns[order] = np.arange(len(codes)) - np.maximum.accumulate(np.where(new, np.arange(len(codes)), 0))
    return turns


def _among(table: FactTable, place: int, names: Names) -> FactTable:
    """The facts of a table whose argument at a position is one of some names."""
    import pyarrow.compute as pc

    column = table.columns[place]
    known = np.asarray(pc.is_in(column.names.arrow, value_set=names.arrow))  # pyright: ignore[reportAttributeAccessIssue]
    keep = known[column.codes]
    codes = [column.codes[keep] for column in table.columns]
    used = np.zeros(len(column.names), bool)
    for array in codes:
        used[array] = True
    renamed = np.cumsum(used, dtype=np.int32) - np.int32(1)
    kept = column.names.some(used)
    return replace(
        table,
        columns=tuple(EntityColumn(renamed.take(array), kept) for array in codes),
        lower=table.lower[keep],
        upper=table.upper[keep],
        rows=table.rows[keep],
    )
