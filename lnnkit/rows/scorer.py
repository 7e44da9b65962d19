"""The row scorer: a compiled program about rows, called with record batches of any table engine."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, cast

import numpy as np

from lnnkit.answer_table import STATES, Answers
from lnnkit.check.program import CheckedProgram, fractional
from lnnkit.check.walk import nodes
from lnnkit.data.arrow import booleans, ends, iso_texts, numbers, one, strings
from lnnkit.data.facts import SHOWN
from lnnkit.data.files import Unreadable
from lnnkit.data.grid import ColumnChoice, Sheet, choose
from lnnkit.data.readers.frames import arrow_sheet
from lnnkit.data.table import FactTable
from lnnkit.errors import DataError, Error, ProgramError
from lnnkit.rows.needed_statements import Needed, needed
from lnnkit.rows.row_links import RowSort, row_links
from lnnkit.rows.strip_engine import RowBounds, StripEngine
from lnnkit.rows.strip_facts import RowLoad, Strip, key_of, repeated
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Span
from lnnkit.syntax.identifiers import CALENDAR

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
"""The format version of pickled scorers."""

SOURCE = "the batch"
_NONE = np.zeros(0, bool)


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
        tables = self.program.tables
        return exact - {table.predicate for table in tables if not bool((table.lower == table.upper).all())}

    @property
    def counts_time(self) -> bool:
        """Whether it has completed years or months, which depend on whether dates have a time of day."""
        formulas = (stated.formula for stated in (*self.program.assertions, *self.program.queries))
        every = (node for formula in formulas for node in nodes(cast("ast.Expression", formula)))
        return any(isinstance(node, ast.Function) and node.name in CALENDAR for node in every)

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
    def engine(self) -> StripEngine:
        return StripEngine(self.program, self.sort, self.sides, self.needs)


class RowScorer:
    """Decides the rows of Arrow record batches one by one: ``scorer(batch)`` has one row for each row of the batch,
    in order, with the column that names it and, for each query, its lower and its upper bound and its state.

    Made by `lnnkit.KnowledgeBase.scorer`. It holds no file and can be pickled; a pickle from a version of lnnkit
    with another format is refused.
    """

    def __init__(self, model: RowModel, alpha: float = 1.0, *, why: bool = False) -> None:
        self.model = model
        self.alpha = alpha
        self.why = why
        self._choices: dict[tuple[str, ...], tuple[tuple[ColumnChoice, ...], int]] = {}

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The answers for the rows of a batch; for a table or a data frame, an Arrow table. Raises `DataError` with
        every bad row."""
        import pyarrow as pa

        whole = not isinstance(batch, pa.RecordBatch)
        try:
            sheet = arrow_sheet(batch if whole else pa.Table.from_batches([batch]), SOURCE)
        except Unreadable as problem:
            raise _unread(problem, SOURCE) from None
        answers, _ = self.scored(sheet, SOURCE)
        answers = answers.cast(without_codes(answers.schema))
        return pa.Table.from_batches([answers]) if whole else answers

    def timed(self, sheet: Sheet, name: str) -> set[str]:
        """The numbers with a fraction in a sheet of the file ``name``. Raises `Unreadable`."""
        return fractional((), [part.table for part in self._strip(sheet, name).parts])

    def with_times(self, timed: Collection[str]) -> RowScorer:
        """The scorer for a stream in which these numbers have fractions, and no others; without it all may have."""
        model = self.model
        streamed = {load.predicate: load.predicate in timed for load in model.loads if load.numeric}
        program = replace(model.program, read_later={**model.program.read_later, **streamed})
        return RowScorer(replace(model, program=program), self.alpha, why=self.why)

    @property
    def names(self) -> tuple[str, ...]:
        """The prefix of each query's columns: its predicate or number, or ``query2`` for a compound query."""
        names: list[str] = []
        for number, query in enumerate(self.model.program.queries, 1):
            name = query.formula.name if isinstance(query.formula, ast.Atom) else ""
            names.append(name if name and name not in names else f"query{number}")
        return tuple(names)

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The columns of the stream that are read; None if the program selects them by position."""
        columns: dict[str, None] = {}
        for load in self.model.loads:
            if load.table.read is None:
                return None
            for column in (*load.table.read, *(column for where in load.table.where for column in where.columns)):
                if not isinstance(column, str):
                    return None
                columns[column] = None
        return tuple(columns)

    def scored(
        self, sheet: Sheet, name: str, *, lenient: bool = False, once: bool = False, after: int | str | None = None
    ) -> tuple[pa.RecordBatch, list[Diagnostic]]:
        """The answers for the rows of a sheet of the file ``name``. If ``lenient``, bad rows are left out and their
        errors returned; otherwise they are raised as `DataError`. If ``once``, a row that repeats an earlier key is an
        error; ``after`` is the key before the sheet, which its first row repeats."""
        try:
            strip = self._strip(sheet, name)
            shown = strip.length if lenient else SHOWN
            wrong = [] if strip.is_clean else strip.errors(max(shown, 1))
            strip = strip.without(wrong)
            if once:
                repeats = _repetitions(strip, after, shown)
                wrong, strip = [*wrong, *repeats], strip.without(repeats)
            if wrong and not lenient:
                raise DataError(wrong)
        except Unreadable as problem:
            raise _unread(problem, name) from None
        return self._table(strip, self.model.engine.answers(strip, why=self.why)), wrong

    def _strip(self, sheet: Sheet, name: str) -> Strip:
        """The columns that the loads read, each once; the choice is cached for tables with the same columns."""
        model = self.model
        if sheet.names not in self._choices:
            choices = tuple(choose(load, sheet) for load in model.loads)
            key, problems = key_of(model.loads, choices, sheet)
            if problems:
                raise ProgramError(problems)
            assert key is not None
            self._choices[sheet.names] = choices, key
        choices, key = self._choices[sheet.names]
        wanted = dict.fromkeys((key, *(position for choice in choices for position in choice.wanted)))
        return Strip(sheet, model.loads, choices, key, name, sheet.read(tuple(wanted)))

    def _table(self, strip: Strip, answers: Sequence[RowBounds]) -> pa.RecordBatch:
        import pyarrow as pa

        names = [strip.sheet.names[strip.key]]
        columns: list[pa.Array] = [_as_written(one(strip.keys))]
        for name, query, bounds in zip(self.names, self.model.program.queries, answers, strict=True):
            names += [f"{name}_lower", f"{name}_upper", f"{name}_state"]
            states = Answers("", (), (), bounds.lower, bounds.upper, _NONE, self.alpha, numeric=query.numeric).states
            coded = pa.DictionaryArray.from_arrays(numbers(states, np.int32), strings(STATES))
            columns += [*ends((bounds.lower, bounds.upper), query.numeric), coded]
            if self.why:
                names += [f"{name}_lower_by", f"{name}_upper_by"]
                columns += self._setters(bounds)
        if self.why:
            names.append("contradicted")
            assert answers[0].contradicted is not None
            columns.append(booleans(answers[0].contradicted))
        return pa.RecordBatch.from_arrays(columns, names=names)

    def _setters(self, bounds: RowBounds) -> list[pa.Array]:
        """The names of the statements that set each end; null for none, and for compound queries."""
        import pyarrow as pa

        if bounds.lower_by is None or bounds.upper_by is None:
            return [pa.nulls(len(bounds.lower), pa.string())] * 2
        words = strings([*self.model.engine.setters])
        return [words.take(pa.array(numbers, mask=numbers < 0)) for numbers in (bounds.lower_by, bounds.upper_by)]

    # --- in other processes -------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, object]:
        arguments = {"model": self.model, "alpha": self.alpha, "why": self.why}
        return {"format": FORMAT, "lnnkit": version("lnnkit"), **arguments}

    def __setstate__(self, state: dict[str, object]) -> None:
        if state.get("format") != FORMAT:
            message = f"this scorer was written by lnnkit {state.get('lnnkit')} in format {state.get('format')}; "
            message += f"lnnkit {version('lnnkit')} reads format {FORMAT}"
            raise Error([Diagnostic("no-model", message, "run one version of lnnkit in all processes")])
        model, alpha = state["model"], state["alpha"]
        assert isinstance(model, RowModel) and isinstance(alpha, float)
        self.__init__(model, alpha, why=bool(state["why"]))


def _unread(problem: Unreadable, name: str) -> DataError:
    return DataError([replace(problem.fault, span=None, file=name)])


def _repetitions(strip: Strip, after: int | str | None, shown: int) -> list[Diagnostic]:
    """The errors for rows that repeat an earlier key."""
    keys = _as_written(one(strip.keys))
    repeats: list[tuple[int, str]] = []
    rows = strip.grid.rows
    if after is not None and after in (known := keys.to_pylist()):
        repeats.append((known.index(after), "the row before it"))
    repeats += [(row, f"row {int(rows[first])}") for row, first in repeated(keys)]
    title = strip.sheet.title(strip.key)
    errors: list[Diagnostic] = []
    for row, first in repeats[:shown]:
        message = f"{title} is {keys[row].as_py()}, as in {first}"
        hint = "" if errors else "a key names one row: leave the others out, or let the key be another column"
        errors.append(Diagnostic("bad-row", message, hint, file=strip.name, row=int(rows[row])))
    if len(repeats) > shown:
        errors.append(Diagnostic("bad-row", f"{len(repeats):,} rows have the key of an earlier one", file=strip.name))
    return errors


def as_texts(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Answers whose dates and dictionary-encoded texts are texts."""
    import pyarrow as pa

    kept, *columns = batch.columns
    columns = [iso_texts(column) if pa.types.is_timestamp(column.type) else column for column in columns]
    plain = pa.RecordBatch.from_arrays([kept, *columns], names=batch.schema.names)
    return plain.cast(without_codes(plain.schema))


def without_codes(schema: pa.Schema) -> pa.Schema:
    """The schema without dictionary encoding, which not every engine or format accepts."""
    import pyarrow as pa

    plain = [pa.string() if pa.types.is_dictionary(field.type) else field.type for field in schema]
    return pa.schema(list(zip(schema.names, plain, strict=True)))


def _as_written(column: pa.Array) -> pa.Array:
    """The names of rows as in their stream, in a type that every format can hold."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_large_binary(column.type):
        return column.cast(pa.large_string())
    views = pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type)
    return column.cast(pa.string()) if views or pa.types.is_binary(column.type) else column
