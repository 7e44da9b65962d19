"""A compiled program about rows: what a scorer evaluates, and the parts from which another process recompiles it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np

from lnnkit.check.program import CheckedProgram
from lnnkit.data.table import FactTable
from lnnkit.rows.dense.dense_program import DenseProgram, dense_program
from lnnkit.rows.dense.dense_rounds import Unsettled
from lnnkit.rows.dense.dense_state import Column, Strip
from lnnkit.rows.dense.reference_tables import ReferenceTables
from lnnkit.rows.dense.row_lookups import Lookups, is_derived, lookups
from lnnkit.rows.dense.strip_run import LENGTH, settled
from lnnkit.rows.needed_statements import Needed, needed
from lnnkit.rows.row_bounds import RowBounds, StatementNames
from lnnkit.rows.row_links import RowSort, row_links
from lnnkit.rows.row_loads import RowLoad
from lnnkit.rows.strip_engine import StripEngine
from lnnkit.rows.strip_facts import SideFacts, StripGrid, fact_columns, fact_tables, has_names, side_facts, some_rows
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.span import Span


@dataclass(frozen=True)
class RowModel:
    """A checked ``program`` with its queries and settled numbers; the ``loads`` that the stream replaces, and the
    tables about rows that are read whole. ``pairs`` are the predicates of several rows that it loads. Holds no file,
    and can be pickled."""

    program: CheckedProgram
    sort: str
    loads: tuple[RowLoad, ...]
    sides: tuple[FactTable, ...]
    pairs: Mapping[str, Span] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, object]:
        """The fields alone: compiled parts are made again where they are needed."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @cached_property
    def supplied(self) -> frozenset[str]:
        """The predicates and numbers that facts may bound."""
        names = {table.predicate for table in (*self.program.tables, *self.sides)}
        names |= {fact.predicate for fact in self.program.facts}
        return frozenset(names | {load.predicate for load in self.loads} | self.pairs.keys())

    @cached_property
    def rows(self) -> RowSort:
        """The sort, with the guarantees of its stream and the other tables."""
        predicates = self.program.predicates
        of_rows = {name for name, predicate in predicates.items() if self.sort in predicate.sorts}
        brings = {sort for name in of_rows & self.supplied for sort in predicates[name].sorts if sort != self.sort}
        others = {fact.predicate for fact in self.program.facts}
        others |= {table.predicate for table in self.program.tables if len(table)}
        named = {sort for name in others - of_rows for sort in predicates[name].sorts}
        exact = frozenset(self._exact()) - of_rows
        return RowSort(self.sort, predicates, exact, frozenset(brings), frozenset(named), self.supplied)

    def _exact(self) -> set[str]:
        """The closed, underived predicates each of whose atoms has a single truth."""
        derived = {name for stratum in self.program.strata for name in stratum}
        exact = {name for name, predicate in self.program.predicates.items() if predicate.closed} - derived
        exact -= {fact.predicate for fact in self.program.facts if fact.lower != fact.upper}
        return exact - {
            table.predicate for table in self.program.tables if not bool((table.lower == table.upper).all())
        }

    @cached_property
    def needs(self) -> Needed:
        return needed(self.program, self.supplied)

    def links(self) -> list[Diagnostic]:
        """The links between rows; empty if rows are independent."""
        links = row_links(self.needs, self.rows)
        read = {neuron.source for formula in self.needs.formulas for neuron in formula.neurons}
        for name in sorted(read & self.pairs.keys()) if not links else ():
            message = f"each row of this table is about two entities of the sort `{self.sort}`"
            hint = "rows are decided one by one: leave out what the queries need of it, or run the program whole"
            links.append(Diagnostic("linked-rows", message, hint, self.pairs[name]))
        return links

    @cached_property
    def compiled(self) -> Compiled:
        return Compiled(self)


class Compiled:
    """Evaluates strips."""

    def __init__(self, model: RowModel) -> None:
        self.model = model
        self.lookups = _lookups(model)
        self.dense: DenseProgram | None = dense_program(model.needs, model.program, self.lookups)
        self.setters = StatementNames(model.needs.lifted)
        of_rows = {name for name, predicate in model.program.predicates.items() if model.sort in predicate.sorts}
        self.sides: tuple[SideFacts, ...] = ()
        self._columns: tuple[StripGrid, dict[str, Column], list[Diagnostic]] | None = None  # cached from the last strip
        if self.dense is not None:
            facts = [fact for fact in model.program.facts if fact.predicate in of_rows]
            self.sides = tuple(side_facts(facts, model.sides, self.dense.tables))
            derived = {atoms.table for atoms in self.dense.lookups.values() if not atoms.of_row}
            derived = {name for name in derived - self.lookups.exact if is_derived(model.needs, name)}
            self._references = ReferenceTables(model.program, self.dense.tables, frozenset(derived), self._inferred)
            if any(len(model.program.predicates[name].sorts) != 1 for name in derived):
                self.dense = None  # the engine infers these for pairs

    @cached_property
    def engine(self) -> StripEngine:
        return StripEngine(self.model.program, self.model.sort, self.model.sides, self.model.needs)

    def _inferred(self, predicate: str, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        return self.engine.inferred(predicate, names)

    def is_clean(self, strip: StripGrid) -> bool:
        """Whether the names of rows, and their values, are valid."""
        if not has_names(strip.key):
            return False
        if self.dense is None:
            return not any(finding.severity == "error" for finding in fact_tables(strip)[1])
        self._columns = strip, *self._facts(strip)
        return not any(finding.severity == "error" for finding in self._columns[2])

    def _facts(self, strip: StripGrid) -> tuple[dict[str, Column], list[Diagnostic]]:
        assert self.dense is not None
        return fact_columns(strip, self.dense.tables, self.sides, self.dense.lookups, self._references)

    def answers(self, strip: StripGrid, *, why: bool = False) -> list[RowBounds]:
        """The bounds of each query, row by row; the rows must be valid. With ``why``, atoms have setters too: numbers
        of `setters`."""
        if self.dense is None:
            return self.engine.answers(strip, self.setters if why else None)
        last, self._columns = self._columns, None
        columns = last[1] if last is not None and last[0] is strip else self._facts(strip)[0]
        starts = range(0, max(strip.length, 1), LENGTH)
        parts = [self._part(self.dense, strip, columns, start, why=why) for start in starts]
        return [RowBounds.joined(bounds) for bounds in zip(*parts, strict=True)]

    def _part(
        self, dense: DenseProgram, strip: StripGrid, columns: Mapping[str, Column], start: int, *, why: bool
    ) -> list[RowBounds]:
        stop = min(start + LENGTH, strip.length)
        rows = Strip(stop - start, {name: column.part(start, stop) for name, column in columns.items()})
        try:
            fixpoint = settled(dense, rows, why=why)
        except Unsettled:
            return self.engine.answers(some_rows(strip, np.arange(start, stop)), self.setters if why else None)
        clashes = fixpoint.run.contradicted
        marked = None
        if why:
            marked = np.zeros(rows.length, dtype=bool) if clashes is None else fixpoint.spread(clashes)
        words = np.array([*map(self.setters.number, dense.statements), -1], np.int32) if why else None
        answers: list[RowBounds] = []
        for query in dense.queries:
            lower, upper = fixpoint.answers(query)
            setters = None
            if words is not None and query.atom is not None:
                low, high = (words[fixpoint.spread(end)] for end in fixpoint.run.setters_of(query.atom))
                setters = (high, low) if query.negated else (low, high)
            answers.append(RowBounds(lower, upper, setters, marked))
        return answers


def _lookups(model: RowModel) -> Lookups:
    """The look-ups that its rows may use."""
    program = model.program
    elsewhere = {fact.predicate for fact in program.facts} | {
        table.predicate for table in (*program.tables, *model.sides)
    }
    loads = Counter(load.predicate for load in model.loads)
    once = {
        load.predicate: load.place
        for load in model.loads
        if loads[load.predicate] == 1 and load.predicate not in elsewhere and not load.numeric and not load.negated
    }
    exact = {*model.rows.exact, *(load.predicate for load in model.loads if _is_exact(model, load))}
    sorts = {name: predicate.sorts for name, predicate in program.predicates.items()}
    return lookups(model.needs, model.sort, sorts, once, exact)


def _is_exact(model: RowModel, load: RowLoad) -> bool:
    """Whether each atom of a closed, underived predicate has a single truth, given how its facts are loaded."""
    if not model.program.predicates[load.predicate].closed or load.table.read is None:
        return False
    derived = any(load.predicate in stratum for stratum in model.program.strata)
    return not derived and len(load.table.read) <= load.arity + 1
