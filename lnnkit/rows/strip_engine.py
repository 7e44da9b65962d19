"""Inference about rows, a strip at a time: runs of one plan.

The facts of a strip stand beside all facts about other entities. Since rows are independent, each has the answer that
it has among all rows. If each statement of a program is about one entity, its queries about the entities of one sort
are answered in the same way: only those of a strip are in memory. Contradictory programs, and those that do not
converge, are inferred whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lnnkit.answers.contested_marks import marked
from lnnkit.answers.query_rows import AnswerRows, answer
from lnnkit.budget import TooLarge, allowed, too_large
from lnnkit.check.program import ENTITY, Assertion, CheckedProgram
from lnnkit.data.names import Names
from lnnkit.data.table import FactTable
from lnnkit.engine.inference_run import RoundReport, Run, Watch
from lnnkit.engine.planning.compiling import Plans
from lnnkit.formula.unfolding import AUXILIARY, unfold
from lnnkit.graph.lifted import NUMBER, LiftedGraph, Root, below_negations
from lnnkit.join.instances.grounding import Guard
from lnnkit.rows.needed_statements import Beside, Needed, holder, inferred, settled
from lnnkit.rows.strip_facts import Strip, StripPart
from lnnkit.store.layout import Given, asked_constants, constants, domain
from lnnkit.store.relations import RowNumbers
from lnnkit.store.row_arrays import Array
from lnnkit.store.stated_facts import FactColumns, Gathered, Order, given_facts, merged, unnamed

LENGTH = 2**17
"""Rows of a run: two million rows of ten degrees take a third more with 2^15 or 2^16."""


class RowBounds(NamedTuple):
    """The bounds of one query, (n,) each, by row. If they are requested, also the numbers of the statements that set
    each end, -1 for none (None for a query that is no atom); and which rows a contradiction speaks of."""

    lower: Array
    upper: Array
    lower_by: Array | None = None
    upper_by: Array | None = None
    contradicted: Array | None = None

    def take(self, rows: Array) -> RowBounds:
        """Some rows."""
        return RowBounds._make(None if column is None else column.take(rows) for column in self)

    @staticmethod
    def joined(parts: Sequence[RowBounds]) -> RowBounds:
        """Consecutive parts in one."""
        columns = zip(*parts, strict=True)
        return RowBounds._make(None if column[0] is None else np.concatenate(column) for column in columns)


class StripEngine:
    """Answers a program's queries, which have these ``needs``, for strips of rows of a sort. ``sides`` are the tables
    about rows that are read whole."""

    def __init__(self, program: CheckedProgram, sort: str, sides: Sequence[FactTable], needs: Needed) -> None:
        lifted = needs.lifted
        self.setters: dict[str, int] = {}  # the number of each statement that has set an end, by its name or its line
        self._program = program
        self._sort = sort
        self._read = needs.read()
        sorts = {name: predicate.sorts for name, predicate in program.predicates.items()}
        self._places = {name: kinds.index(sort) for name, kinds in sorts.items() if sort in kinds}
        stated = constants(lifted)
        texts = {text for names in stated.values() for text in names}
        asked = asked_constants(lifted, lifted.queries) - texts
        program = replace(program, tables=(*program.tables, *sides))
        self._unnamed = unnamed(program, asked)
        self._entities, given, labelled = given_facts(program, texts | asked)
        self._about_rows = [facts for facts in given if facts.predicate in self._places]
        others = [facts for facts in given if facts.predicate not in self._places]
        self._beside = Beside(Plans(lifted), others, labelled)
        # Where none of these may be a row, rows need no look-up of their names.
        self._wide = any(data["kind"] == "same" or ENTITY in data["sorts"] for _, data in lifted.graph.nodes.items())
        self._may_be_rows = bool(self._about_rows or stated.get(sort) or self._unnamed or self._wide)

    @cached_property
    def _settled(self) -> Beside | None:
        """The same with statements that are not about rows worked out."""
        return settled(self._program, self._sort, self._beside, self._entities, self._unnamed)

    @cached_property
    def _index(self) -> Mapping[str, int]:
        return {text: number for number, text in enumerate(self._entities)}

    def answers(self, strip: Strip, *, why: bool = False) -> list[RowBounds]:
        """The bounds of each query, row by row; the rows must be valid. With ``why``, atoms have setters too: numbers
        of `setters`. Rows that share a name are separate entities. Raises `BudgetError`."""
        numbered = self._numbered(strip)
        runs = list(_runs(numbered.rows, len(self._entities)))
        answers = [self._answered(numbered, rows, why=why) for rows in runs]
        joined = [RowBounds.joined(bounds) for bounds in zip(*answers, strict=True)]
        order = np.concatenate(runs)
        return joined if (order[1:] > order[:-1]).all() else [bounds.take(order.argsort()) for bounds in joined]

    def _numbered(self, strip: Strip) -> _Numbered:
        """The facts of a strip by ids: entities that no other facts name have new ones, the rows in their order."""
        first = len(self._entities)
        rows = np.arange(first, first + strip.length, dtype=np.int32)
        if self._may_be_rows:
            named = np.array([self._index.get(text, -1) for text in strip.texts.names], np.int32)
            named = named.take(strip.texts.codes)
            rows = np.where(named < 0, rows, named)
        start, index, new = first + strip.length, self._index, dict[str, int]()
        if self._wide and any(part.table.columns for part in strip.parts):  # a row may name another, or itself
            at = np.full(len(strip.texts.names), -1, np.int32)
            at[strip.texts.codes[::-1]] = rows[::-1]
            index = {**dict(zip(strip.texts.names, at.tolist(), strict=True)), **index}

        def ids(names: Names) -> Array:
            numbers = (index[text] if text in index else new.setdefault(text, start + len(new)) for text in names)
            return np.fromiter(numbers, np.int32, len(names))

        columns = [[ids(column.names).take(column.codes) for column in part.table.columns] for part in strip.parts]
        return _Numbered(rows, list(zip(strip.parts, columns, strict=True)), start + len(new))

    def _answered(self, numbered: _Numbered, rows: Array, *, why: bool) -> list[RowBounds]:
        """The answers for some of the rows, no two of which are one entity."""
        ids, lifted = numbered.rows.take(rows), self._beside.plans.lifted
        answers: list[RowBounds] = []
        try:
            known = numbered.entities == len(self._entities) + len(numbered.rows)  # no entity but the rows is new
            beside = (self._settled if known else None) or self._beside
            lifted, run = beside.plans.lifted, self._inferred(beside, numbered, rows, ids)
            contradicted = self._contradicted(run, ids, numbered.entities) if why else None
            for root in lifted.queries:
                bounds = answer(run, None, lifted, root, guard=allowed(None), entities=ids)
                setters = _setters(run, ids, lifted, root, self.setters) if why else (None, None)
                answers.append(RowBounds(bounds.lower, bounds.upper, *setters, contradicted))
        except TooLarge as problem:
            raise too_large(problem, lifted) from None
        return answers

    def _inferred(self, beside: Beside, numbered: _Numbered, rows: Array, ids: Array) -> Run:
        """The fixpoint for some of the rows, beside all other entities."""
        inside = np.zeros(len(numbered.rows), bool)
        inside[rows] = True
        parts: dict[str, list[FactColumns]] = {}
        for (table, places, _), others in numbered.facts:
            columns = [numbered.rows.take(places), *others, table.lower, table.upper]
            if len(rows) < len(numbered.rows):
                at = np.flatnonzero(inside.take(places))
                columns = [column.take(at) for column in columns]
            elif len(places) == len(ids):
                columns[0] = ids  # one array for all predicates
            columns.insert(self._places[table.predicate], columns.pop(0))
            parts.setdefault(table.predicate, []).append(tuple(columns))
        named = np.zeros(numbered.entities, bool)
        named[ids] = True
        for facts in self._about_rows:
            keep = np.flatnonzero(named.take(facts.columns[self._places[facts.predicate]]))
            columns = [column.take(keep) for column in (*facts.columns, facts.lower, facts.upper)]
            parts.setdefault(facts.predicate, []).append(tuple(columns))
        for column in (column for several in parts.values() for part in several for column in part[:-2]):
            named[column] = True
        order, given = Order(), [*beside.given]
        for predicate, several in parts.items():
            *columns, lower, upper = merged(several, numbered.entities, order)
            given.append(Given(predicate, tuple(columns), lower, upper))
        labelled = {**beside.labelled, self._sort: [*beside.labelled.get(self._sort, ()), ids]}
        entities = EntityNumbers(self._entities, numbered.entities)
        unseen = [text for text in self._unnamed if not named[self._entities[text]]]
        return inferred(beside.plans, entities, sorted(given, key=lambda facts: facts.predicate), labelled, unseen)

    def _contradicted(self, run: Run, ids: Array, count: int) -> Array:
        """The rows of whose atoms contradictions speak, as far as queries read the predicate."""
        doubtful, marks = np.zeros(count, bool), marked(run)
        if marks is not None:
            for table in run.state.crossed:
                columns = [column.take(table.crossed.rows.values) for column in table.tuples.columns]
                doubtful[self._rows_in(table.name, columns)] = True
            for group in marks.named:
                doubtful[self._rows_in(group.source, group.columns)] = True
        return doubtful.take(ids)

    def _rows_in(self, table: str, columns: Sequence[Array | None]) -> Array | slice:
        """The ids of rows among the arguments of atoms; None stands for every entity."""
        place = self._places.get(table)
        if place is None or table not in self._read:
            return slice(0)
        column = columns[place]
        return slice(None) if column is None else column


class _Numbered(NamedTuple):
    """The ids of the ``rows`` of a strip, and the facts about them, each part with the ids (n,) of its other entities.
    Ids are below ``entities``."""

    rows: Array
    facts: Sequence[tuple[StripPart, Sequence[Array]]]
    entities: int


class EntityNumbers(Mapping[str, int]):
    """The ids of those of ``count`` entities that are named; its length is the number of all."""

    def __init__(self, named: Mapping[str, int], count: int) -> None:
        self._named = named
        self._count = count

    def __getitem__(self, text: str) -> int:
        return self._named[text]

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return self._count


def _setters(
    run: Run, ids: Array, lifted: LiftedGraph, root: Root, setters: dict[str, int]
) -> tuple[Array, Array] | tuple[None, None]:
    """The numbers of the statements that set both ends of each row's atom; None for a query that is no atom."""
    reference, negated = below_negations(lifted.graph, root.reference)
    if lifted.graph.nodes[reference.node]["kind"] not in ("predicate", NUMBER) or reference.arguments != (0,):
        return None, None
    grounding, trail = run.grounding, run.state.trail
    table = grounding.atoms.tables[reference.node]
    numbers = RowNumbers(grounding.atoms)
    local = table.tuples.find([ids], len(ids))
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
                origin = holder(lifted, grounding.members[shape.members[one]].formula)
                word = origin.called if isinstance(origin, Assertion) else "the order of numbers"
                statements[at[members == one]] = setters.setdefault(word, len(setters))
        by_side.append(statements)
    return (by_side[1], by_side[0]) if negated else (by_side[0], by_side[1])


def _runs(ids: Array, shared: int) -> Iterator[Array]:
    """The places of rows that are inferred together: at most `LENGTH`, no two of which have one id. Only ids below
    ``shared`` may be those of several rows."""
    turns = np.zeros(len(ids), np.int64)
    several = np.flatnonzero(ids < shared)
    turns[several] = _turns(ids.take(several))
    for turn in range(int(turns.max(initial=0)) + 1):
        places = np.flatnonzero(turns == turn)
        for start in range(0, max(len(places), 1), LENGTH):
            yield places[start : start + LENGTH]


def _turns(codes: Array) -> Array:
    """For each row the number of earlier rows with its name."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    new = np.append(True, ordered[1:] != ordered[:-1])[: len(codes)]
    turns = np.empty(len(codes), np.int64)
    turns[order] = np.arange(len(codes)) - np.maximum.accumulate(np.where(new, np.arange(len(codes)), 0))
    return turns


@dataclass(frozen=True, slots=True)
class StripFixpoint:
    """The ``answers`` to the program's queries, in order: one row for each entity, ascending. If the ``watch`` stopped
    it, it is ``interrupted``: the remaining entities have the bounds of their facts."""

    answers: Sequence[AnswerRows]
    rounds: int
    interrupted: bool


def strip_fixpoint(
    plans: Plans, gathered: Gathered, guard: Guard, round_limit: int, watch: Watch | None
) -> StripFixpoint | None:
    """The fixpoint of a program whose facts are ``gathered``. None if it must be inferred whole: for statements that
    link entities, contradictions, no convergence, or closed predicates whose completion the ``watch`` stopped. Raises
    `TooLarge`."""
    sort = _sort_of_all(plans, gathered)
    if sort is None:
        return None
    entities, given, _ = gathered
    answers: list[list[AnswerRows]] = []
    rounds, instances, interrupted = 0, 0, False
    for start in range(0, len(entities), LENGTH):
        stop = min(start + LENGTH, len(entities))
        some, ids = EntityNumbers({}, stop - start), np.arange(stop - start, dtype=np.int32)
        limit = 0 if interrupted else round_limit
        run = inferred(plans, some, _strip(given, start, stop), {sort: [ids]}, guard=guard, round_limit=limit)
        if not interrupted:
            if not run.consistent:
                return None
            rounds, instances = max(rounds, run.progress.rounds), instances + run.progress.instances
            if watch is not None:
                report = RoundReport("inference", rounds, len(run.grounding.atoms), instances)
                interrupted = not watch.after_round(report)
                if interrupted and run.strata:  # before completion a closed atom is unknown, not false
                    return None
        strip = [answer(run, None, plans.lifted, root, guard=guard) for root in plans.lifted.queries]
        shifted = (tuple(column + np.int32(start) for column in rows.columns) for rows in strip)
        answers.append([replace(rows, columns=columns) for rows, columns in zip(strip, shifted, strict=True)])
    return StripFixpoint([_joined(parts) for parts in zip(*answers, strict=True)], rounds, interrupted)


def _sort_of_all(plans: Plans, gathered: Gathered) -> str | None:
    """The sort of all entities, if each statement, query and fact is about one of them."""
    lifted = plans.lifted
    stated = [lifted.program.predicates[facts.predicate].sorts for facts in gathered.given]
    if not all(len(one) == 1 and one == stated[0] for one in stated):
        return None
    if any(constants(lifted).values()) or asked_constants(lifted, lifted.queries):
        return None
    outline = plans.outline(domain(lifted, *gathered))
    formulas = [reading.formula for reading in outline.readings] + [unfold(lifted, root) for root in lifted.queries]
    if any(len(formula.blocks) > 1 for formula in formulas):  # a quantifier is about all entities
        return None
    sorts = [*stated, *(formula.sorts for formula in formulas)]
    return sorts[0][0] if sorts and all(len(one) == 1 and one == sorts[0] for one in sorts) else None


def _strip(given: Sequence[Given], start: int, stop: int) -> list[Given]:
    """The facts about the entities from ``start`` to ``stop``, numbered from 0 on. Tables that share a column of ids
    still do."""
    columns: dict[tuple[int, int, int], Array] = {}
    parts: list[Given] = []
    for facts in given:
        (ids,) = facts.columns
        first, last = ids.searchsorted(np.array([start, stop], ids.dtype)).tolist()  # others would convert all ids
        place, rows = (ids.ctypes.data, first, last), slice(first, last)
        if place not in columns:
            columns[place] = ids[rows] - np.int32(start)
        parts.append(Given(facts.predicate, (columns[place],), facts.lower[rows], facts.upper[rows]))
    return parts


def _joined(parts: Sequence[AnswerRows]) -> AnswerRows:
    """The answers of consecutive strips."""
    columns = tuple(np.concatenate(column) for column in zip(*(part.columns for part in parts), strict=True))
    ends = (np.concatenate([getattr(part, name) for part in parts]) for name in ("lower", "upper", "contested"))
    return AnswerRows(parts[0].variables, columns, *ends)
