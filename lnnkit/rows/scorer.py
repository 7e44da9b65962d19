"""The row scorer: a callable from record batches to answers, for any table engine."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from lnnkit.answer_table import STATES, Answers
from lnnkit.data.arrow import booleans, numbers, one, strings
from lnnkit.data.choose import ColumnChoice
from lnnkit.data.facts import SHOWN
from lnnkit.data.grid import Sheet
from lnnkit.data.readers.frames import arrow_sheet
from lnnkit.data.source import Unreadable
from lnnkit.errors import DataError, Error, ProgramError
from lnnkit.rows.row_bounds import RowBounds
from lnnkit.rows.row_keys import repeated
from lnnkit.rows.row_loads import key_of
from lnnkit.rows.row_model import RowModel
from lnnkit.rows.strip_facts import StripGrid, StripSource, bad_rows, read_strip, some_rows
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
"""The format version of pickled scorers."""

SOURCE = "the batch"
_NONE = np.zeros(0, bool)


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
        answers = answers.cast(pa.schema([pa.field(field.name, _plain(field.type)) for field in answers.schema]))
        return pa.Table.from_batches([answers]) if whole else answers

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
            strip = read_strip(self._source(sheet, name))
            wrong = self._wrong(strip, lenient=lenient)
            sound = _without(strip, wrong)
            if once:
                repeats = _repetitions(sound, after, SHOWN if not lenient else strip.length)
                wrong, sound = [*wrong, *repeats], _without(sound, repeats)
            if wrong and not lenient:
                raise DataError(wrong)
            strip = sound
        except Unreadable as problem:
            raise _unread(problem, name) from None
        return self._table(strip, self.model.compiled.answers(strip, why=self.why)), wrong

    def _source(self, sheet: Sheet, name: str) -> StripSource:
        """The strip with the columns that each load reads; cached for tables with the same columns."""
        model = self.model
        if sheet.names not in self._choices:
            choices = tuple(load.choice(sheet) for load in model.loads)
            key, problems = key_of(model.loads, choices, sheet)
            if problems:
                raise ProgramError(problems)
            assert key is not None
            self._choices[sheet.names] = choices, key
        choices, key = self._choices[sheet.names]
        return StripSource(sheet, model.loads, choices, key, name)

    def _wrong(self, strip: StripGrid, *, lenient: bool) -> list[Diagnostic]:
        if not strip.grid.lost and not strip.grid.spoiled and self.model.compiled.is_clean(strip):
            return []
        return bad_rows(strip, max(strip.length, 1) if lenient else SHOWN)

    def _table(self, strip: StripGrid, answers: Sequence[RowBounds]) -> pa.RecordBatch:
        import pyarrow as pa

        names = [strip.source.sheet.names[strip.source.key]]
        columns: list[pa.Array] = [_as_written(one(strip.key))]
        for name, query, bounds in zip(self.names, self.model.program.queries, answers, strict=True):
            names += [f"{name}_lower", f"{name}_upper", f"{name}_state"]
            states = Answers("", (), (), bounds.lower, bounds.upper, _NONE, self.alpha, numeric=query.numeric).states
            coded = pa.DictionaryArray.from_arrays(numbers(states, np.int32), strings(STATES))
            columns += [numbers(bounds.lower, np.float64), numbers(bounds.upper, np.float64), coded]
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

        if bounds.setters is None:
            return [pa.nulls(len(bounds.lower), pa.string())] * 2
        words = strings(self.model.compiled.setters.words)
        return [words.take(pa.array(numbers, mask=numbers < 0)) for numbers in bounds.setters]

    # --- in other processes -------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "lnnkit": version("lnnkit"),
            "model": self.model,
            "alpha": self.alpha,
            "why": self.why,
        }

    def __setstate__(self, state: dict[str, object]) -> None:
        if state.get("format") != FORMAT:
            message = (
                f"this scorer was written by lnnkit {state.get('lnnkit')} in format {state.get('format')}; "
                f"lnnkit {version('lnnkit')} reads format {FORMAT}"
            )
            raise Error([Diagnostic("no-model", message, "run one version of lnnkit in all processes")])
        model, alpha = state["model"], state["alpha"]
        assert isinstance(model, RowModel) and isinstance(alpha, float)
        self.__init__(model, alpha, why=bool(state["why"]))


def _unread(problem: Unreadable, name: str) -> DataError:
    fault = problem.fault
    return DataError([Diagnostic(fault.code, fault.message, fault.hint, file=name)])


def _without(strip: StripGrid, wrong: Sequence[Diagnostic]) -> StripGrid:
    """The strip without the rows that some findings are about."""
    if not wrong:
        return strip
    rows = {finding.row for finding in wrong}
    return some_rows(strip, np.flatnonzero([row not in rows for row in strip.grid.rows.tolist()]))


def _repetitions(strip: StripGrid, after: int | str | None, shown: int) -> list[Diagnostic]:
    """The errors for rows that repeat an earlier key."""
    keys = _as_written(one(strip.key))
    repeats: list[tuple[int, str]] = []
    source, rows = strip.source, strip.grid.rows
    if after is not None and after in (known := keys.to_pylist()):
        repeats.append((known.index(after), "the row before it"))
    repeats += [(row, f"row {int(rows[first])}") for row, first in repeated(keys)]
    title = source.sheet.title(source.key)
    errors: list[Diagnostic] = []
    for row, first in repeats[:shown]:
        message = f"{title} is {keys[row].as_py()}, as in {first}"
        hint = "" if errors else "a key names one row: leave the others out, or let the key be another column"
        errors.append(Diagnostic("bad-row", message, hint, file=source.name, row=int(rows[row])))
    if len(repeats) > shown:
        errors.append(Diagnostic("bad-row", f"{len(repeats):,} rows have the key of an earlier one", file=source.name))
    return errors


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type without dictionary encoding, which not every engine accepts."""
    import pyarrow as pa

    return pa.string() if pa.types.is_dictionary(kind) else kind


def _as_written(column: pa.Array) -> pa.Array:
    """The names of rows as in their stream, in a type that every format can hold."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_large_binary(column.type):
        return column.cast(pa.large_string())
    views = pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type)
    return column.cast(pa.string()) if views or pa.types.is_binary(column.type) else column
