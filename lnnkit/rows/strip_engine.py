"""Evaluation of rows by the engine, a strip at a time: for programs without a dense form.

The strip's facts replace those of the whole table, beside all other tables. Since rows are independent, each has
the answer that it has among all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lnnkit.analysis.analyses import Known
from lnnkit.answers.query_rows import answer
from lnnkit.answers.spoken_atoms import marked
from lnnkit.budget import allowed, too_large
from lnnkit.check.program import CheckedProgram, Fact, Predicate, Query
from lnnkit.data.column import EntityColumn
from lnnkit.data.entities import Entities
from lnnkit.data.names import Names
from lnnkit.data.table import FactTable
from lnnkit.engine.inference import Fixpoint, TooLarge, infer
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.graph.lifted import NUMBER, LiftedGraph, Reference, Root
from lnnkit.graph.lifting import add_queries, build
from lnnkit.graph.match import below_negations
from lnnkit.rows.dense.dense_program import query_default
from lnnkit.rows.needed_statements import Needed
from lnnkit.rows.row_bounds import RowBounds, Setters
from lnnkit.rows.strip_facts import StripGrid, fact_tables, some_rows
from lnnkit.store.columns.row_arrays import Array
from lnnkit.store.layout import asked_constants, constants
from lnnkit.store.stated_facts import given_facts
from lnnkit.syntax import ast

_ROW = "a row"  # a predicate with a label for every row: no program can name it
_ROUNDS = 100_000


class StripEngine:
    """Answers a program's queries for strips of rows of a sort. ``sides`` are the tables about rows that are read
    whole; tables of other entities are the program's own."""

    def __init__(self, program: CheckedProgram, sort: str, sides: Sequence[FactTable], needs: Needed) -> None:
        predicates = {**program.predicates, _ROW: Predicate(_ROW, (sort,))}
        self._about_rows = [each for each in program.facts if _names_row(each, program.predicates, sort)]
        others = [each for each in program.facts if not _names_row(each, program.predicates, sort)]
        labels = [each for each in program.labels if not _names_row(each, program.predicates, sort)]
        own = {name for name, each in program.predicates.items() if sort in each.sorts}
        self.program = replace(
            program,
            predicates=predicates,
            facts=tuple(others),
            labels=tuple(labels),
            tables=tuple(table for table in program.tables if table.predicate not in own),
            label_tables=tuple(table for table in program.label_tables if table.predicate not in own),
        )
        self.sort = sort
        self.sides = sides
        self.needs = needs
        self._places = {name: each.sorts.index(sort) for name, each in program.predicates.items() if sort in each.sorts}
        self._read = needs.read()
        self._lifted: LiftedGraph | None = None
        self._known = Known()

    def answers(self, strip: StripGrid, setters: Setters | None = None) -> list[RowBounds]:
        """The bounds of each query, row by row; for an atom with the numbers that ``setters`` give to the statements
        that set them. Rows that share a name are separate entities. Raises `BudgetError`."""
        turns = _turns(strip.texts.codes)
        rows = [np.flatnonzero(turns == turn) for turn in range(int(turns.max(initial=0)) + 1)]
        if len(rows) == 1:
            return self._together(strip, setters)
        parts = [self._together(some_rows(strip, own), setters) for own in rows]
        back = np.argsort(np.concatenate(rows))
        return [RowBounds.joined(own).take(back) for own in zip(*parts, strict=True)]

    def _together(self, strip: StripGrid, setters: Setters | None) -> list[RowBounds]:
        if not strip.length:
            nothing = np.empty(0, dtype=np.float64)
            return [RowBounds(nothing, nothing) for _ in self.program.queries]
        texts = strip.texts
        lifted = self._graph()
        rows = np.arange(strip.length, dtype=np.int64)
        ones = np.broadcast_to(1.0, strip.length)
        named = FactTable(_ROW, (EntityColumn(texts.codes, texts.names),), ones, ones, rows, "")
        told, _ = fact_tables(strip)
        sides = [_among(table, self._places[table.predicate], texts.names) for table in self.sides]
        about = [fact for fact in self._about_rows if fact.arguments[self._places[fact.predicate]] in texts.names]
        program = replace(
            self.program,
            facts=(*self.program.facts, *about),
            tables=(*self.program.tables, *told, *sides),
            label_tables=(*self.program.label_tables, named),
        )
        mentioned = {text for found in constants(lifted).values() for text in found}
        asked = asked_constants(lifted, lifted.queries) - mentioned
        entities, given, labelled = given_facts(program, mentioned | asked)
        ids = labelled[self.sort][-1]
        budget = allowed(None)
        try:
            fixpoint = infer(
                lifted,
                entities,
                given,
                budget=budget,
                round_limit=_ROUNDS,
                known=self._known,
                record=False,
                labelled=labelled,
                unnamed=frozenset(asked),
            )
            found = [self._rows(fixpoint, lifted, place, ids, entities) for place in range(len(lifted.queries))]
            if setters is None:
                return found
            doubtful = self._contradicted(fixpoint, ids, len(entities))
            return [
                replace(bounds, setters=_setters(fixpoint, lifted, root, ids, setters), contradicted=doubtful)
                for bounds, root in zip(found, lifted.queries, strict=True)
            ]
        except TooLarge as problem:
            raise too_large(problem, lifted) from None

    def _contradicted(self, fixpoint: Fixpoint, ids: Array, count: int) -> Array:
        """The rows with these ids of whose atoms contradictions speak, as far as queries read the predicate."""
        marks = marked(fixpoint)
        found = np.zeros(count + 2, bool)
        if marks is not None:
            atoms, crossed = fixpoint.prepared.grounding.atoms, fixpoint.prepared.state.crossed.rows.values
            for table, mine in atoms.by_table(crossed):
                local = atoms.local(crossed if mine is None else crossed.take(mine))
                columns = [column.take(local) for column in table.tuples.columns]
                found[self._rows_in(table.name, columns)] = True
            for each in marks.spoken:
                found[self._rows_in(each.source, each.columns)] = True
        return found.take(ids)

    def _rows_in(self, table: str, columns: Sequence[np.ndarray | None]) -> np.ndarray | slice:
        """The ids of rows among the arguments of atoms; None stands for every entity."""
        place = self._places.get(table)
        if place is None or table not in self._read:
            return slice(0)
        found = columns[place]
        return slice(None) if found is None else found

    def inferred(self, predicate: str, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The inferred bounds of a predicate of reference tables for some entities, (n,) each; no row moves them. A
        contradictory atom reads as unknown. Raises `BudgetError`."""
        own = self.program.predicates[predicate]
        span = self.program.assertions[0].span
        atom = ast.Atom(predicate, (ast.Variable("X", span=span),), span=span)
        query = Query(atom, predicate, self.program.logic, span)
        labelling = {**self.program.predicates, _ROW: Predicate(_ROW, own.sorts)}
        known = Names.of(names)
        codes = np.array([known.find(each) for each in names], np.int32)
        ones = np.ones(len(names))
        named = FactTable(_ROW, (EntityColumn(codes, known),), ones, ones, np.arange(len(names)), "")
        program = replace(
            self.program,
            predicates=labelling,
            queries=(query,),
            label_tables=(*self.program.label_tables, named),
        )
        lifted = add_queries(build(replace(program, queries=())), program.queries)
        mentioned = {text for found in constants(lifted).values() for text in found}
        entities, given, labelled = given_facts(program, mentioned)
        try:
            fixpoint = infer(
                lifted, entities, given, budget=allowed(None), round_limit=_ROUNDS, record=False, labelled=labelled
            )
        except TooLarge as problem:
            raise too_large(problem, lifted) from None
        atoms = fixpoint.space.grounding.atoms
        ids = labelled[own.sorts[0]][-1]
        rows = atoms.find(atoms.tables[predicate], [ids], len(ids))
        lower, upper = fixpoint.space.state.read(rows)
        return lower.astype(np.float64), upper.astype(np.float64)

    def _graph(self) -> LiftedGraph:
        if self._lifted is None:
            self._lifted = add_queries(build(replace(self.program, queries=())), self.program.queries)
        return self._lifted

    def _rows(self, fixpoint: Fixpoint, lifted: LiftedGraph, number: int, ids: Array, entities: Entities) -> RowBounds:
        """The answers in the order of the rows; rows without an answer have the query's default."""
        root = lifted.queries[number]
        found = answer(fixpoint, lifted, root, budget=allowed(None))
        place = np.full((len(entities) + 2,), -1, dtype=np.int64)
        place[found.columns[0].astype(np.int64)] = np.arange(len(found.lower))
        mine = place.take(ids.astype(np.int64))
        absent = mine < 0
        if not bool(absent.any()):
            return RowBounds(found.lower.take(mine), found.upper.take(mine))
        first = int(ids[absent.argmax()])
        low, high = self._default(fixpoint, lifted, number, entities.names[first])
        lower, upper = np.full(ids.shape, low, dtype=np.float64), np.full(ids.shape, high, dtype=np.float64)
        there = ~absent
        lower[there] = found.lower.take(mine[there])
        upper[there] = found.upper.take(mine[there])
        return RowBounds(lower, upper)

    def _default(self, fixpoint: Fixpoint, lifted: LiftedGraph, number: int, name: str) -> tuple[float, float]:
        """The value of a query with every atom at its default; a query with quantifiers has this value where it has no
        answer."""
        root = lifted.queries[number]
        plain = query_default(self.needs, self.needs.lifted.queries[number])
        if plain is not None:
            return plain
        arguments = tuple(name if isinstance(each, int) else each for each in root.reference.arguments)
        ground = replace(root, reference=Reference(root.reference.node, arguments), variables=(), sorts=())
        found = answer(fixpoint, lifted, ground, budget=allowed(None))
        return float(found.lower[0]), float(found.upper[0])


def _setters(
    fixpoint: Fixpoint, lifted: LiftedGraph, root: Root, ids: Array, setters: Setters
) -> tuple[Array, Array] | None:
    """The numbers of the statements that set both ends of each row's atom; None for a query that is no atom."""
    reference, negated = below_negations(lifted.graph, root.reference)
    if lifted.graph.nodes[reference.node]["kind"] not in ("predicate", NUMBER) or reference.arguments != (0,):
        return None
    grounding = fixpoint.space.grounding
    table = grounding.atoms.tables[reference.node]
    rows = grounding.atoms.find(table, [ids], len(ids))
    found: list[Array] = []
    for side in (0, 1):
        numbers = np.full(len(rows), -1, np.int32)
        batches, leaves, instances = fixpoint.space.winners.winner(side, rows)
        batches = np.where(rows == table.default_row, -1, batches)
        for number, leaf in np.unique(np.stack([batches, leaves])[:, batches >= 0], axis=1).T.tolist():
            batch = grounding.batches[number]
            mine = np.flatnonzero((batches == number) & (leaves == leaf))
            block = 0 if leaf == AUXILIARY else batch.formula.neurons[leaf].block
            members = batch.blocks[block].member.take(instances[mine])
            for own in np.unique(members).tolist():
                formula = grounding.members[batch.members[own]].formula
                numbers[mine[members == own]] = setters.number(formula)
        found.append(numbers)
    return (found[1], found[0]) if negated else (found[0], found[1])


def _turns(codes: np.ndarray) -> np.ndarray:
    """For each row the number of earlier rows with its name."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    new = np.append(True, ordered[1:] != ordered[:-1])[: len(codes)]
    found = np.empty(len(codes), np.int64)
    found[order] = np.arange(len(codes)) - np.maximum.accumulate(np.where(new, np.arange(len(codes)), 0))
    return found


def _names_row(stated: Fact, predicates: Mapping[str, Predicate], sort: str) -> bool:
    return sort in predicates[stated.predicate].sorts


def _among(table: FactTable, place: int, names: Names) -> FactTable:
    """The facts of a table whose argument at a position is one of some names."""
    import pyarrow.compute as pc

    column = table.columns[place]
    known = np.asarray(pc.is_in(column.names.arrow, value_set=names.arrow))  # pyright: ignore[reportAttributeAccessIssue]
    keep = known[column.codes]
    codes = [each.codes[keep] for each in table.columns]
    used = np.zeros(len(column.names), bool)
    for each in codes:
        used[each] = True
    renamed = np.cumsum(used, dtype=np.int32) - np.int32(1)
    kept = column.names.some(used)
    return replace(
        table,
        columns=tuple(EntityColumn(renamed.take(each), kept) for each in codes),
        lower=table.lower[keep],
        upper=table.upper[keep],
        rows=table.rows[keep],
    )
