"""Which rows a comparison of two columns keeps, cell by cell: numbers compare with numbers, dates with dates as
instants, and other texts can only be equal. No comparison with a missing cell holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import concatenated, view
from lnnkit.data.cells.conditions import Cells, ConditionResult
from lnnkit.data.cells.date_cells import COMPARISONS, Dates, other_dates
from lnnkit.data.cells.numbers import reals_of
from lnnkit.data.cells.texts import distinct_names
from lnnkit.data.numerals import UNSAID, meant
from lnnkit.data.source import DataFault, Unreadable
from lnnkit.syntax.dates import formats


@dataclass(frozen=True, slots=True)
class _Side:
    """The cells of a column: masks of the ``missing`` and of the ``numeric`` ones, the numbers and the dates.
    ``numbers`` are int64 if the column is, else float64; ``inexact`` ones are whole numbers that float64 cannot
    hold."""

    cells: Cells
    missing: np.ndarray
    numeric: np.ndarray
    numbers: np.ndarray
    inexact: np.ndarray
    dates: Dates

    def shown(self, row: int) -> str:
        return repr(self.cells.texts.text(row)) if self.cells.textual else str(self.cells.array[row].as_py())

    def fault(self, row: int) -> DataFault | None:
        """Why a cell is neither a number nor a date; None if it is one."""
        foreign = bool(self.dates.foreign[row])
        if not self.cells.textual or self.numeric[row] or (self.dates.dated[row] and not foreign):
            return None
        texts, title = self.cells.texts, self.cells.title
        if faulty := texts.faults.get(texts.at(row)):
            return DataFault("bad-row", f"{title} {faulty}")
        text = texts.text(row)
        if foreign or formats([text]):
            return other_dates(texts, title)(text)
        hint = meant(text).replace(UNSAID, "")
        return DataFault("bad-number", f"{title} is {text!r}, neither a number nor a date", hint)


def pair_verdict(relation: str, one: Cells, other: Cells) -> ConditionResult:
    """The verdict of a comparison (``=``, ``!=`` or an order) of two columns on each row. Raises ``Unreadable`` for
    columns of a type that does not compare."""
    left, right = _side(one), _side(other)
    plain = "=" if relation == "!=" else relation
    known, same = ~left.missing & ~right.missing, _same(one, other)
    numeric, dated = left.numeric & right.numeric, left.dates.dated & right.dates.dated
    equal = COMPARISONS[plain](left.numbers, right.numbers)
    whole = left.numbers.dtype == right.numbers.dtype == np.int64
    doubtful = numeric & (left.inexact | right.inexact) & (left.numbers == right.numbers) & ~same & (not whole)
    instants = left.dates.compared(plain, right.dates.micros, right.dates.nanos) & dated
    holds = known & np.where(numeric, equal, instants) & ~doubtful
    rest = known & ~numeric & ~dated
    wrong = doubtful | rest
    if plain == "=":
        holds |= rest & same
        crossed = (left.dates.dated & right.dates.foreign) | (left.dates.foreign & right.dates.dated)
        wrong = doubtful | (rest & crossed)
    if relation == "!=":
        holds = known & ~holds & ~wrong

    def fault(row: int) -> DataFault:
        for side, opposite in ((left, right), (right, left)):
            if (problem := side.fault(row)) is not None:
                hint = problem.hint or "only numbers and dates are ordered; texts are compared by `=` and `!=`"
                return DataFault(problem.code, f"{problem.message}, compared with {opposite.shown(row)}", hint)
        what = f"{one.title} is {left.shown(row)} and {other.title} is {right.shown(row)}"
        if doubtful[row]:
            what += ", whole numbers that float64 cannot tell apart"
            return DataFault("bad-number", what, "compare texts: quote them")
        return DataFault("bad-number", f"{what}: a number and a date do not compare", "compare columns of one kind")

    return ConditionResult(holds, wrong, fault, f"where {one.title} and {other.title} do not compare")


def _same(one: Cells, other: Cells) -> np.ndarray:
    """A mask of the rows with two equal texts."""
    if not (one.textual and other.textual):
        return np.zeros(len(one.column), bool)
    values, behind = concatenated([one.texts.values, other.texts.values]), len(one.texts.values)
    _, ranks = distinct_names(values)
    faults = [*one.texts.faults.items(), *((behind + place, fault) for place, fault in other.texts.faults.items())]
    reasons = dict[str, int]()
    for place, fault in faults:  # alike if their reasons are, which quote them
        ranks[place] = len(values) + reasons.setdefault(fault, len(reasons))
    codes = one.texts.by_row(ranks[:behind], gap=-1)
    return (codes == other.texts.by_row(ranks[behind:], gap=-1)) & (codes >= 0)


def _side(cells: Cells) -> _Side:
    count = len(cells.column)
    none, zeros = np.zeros(count, bool), np.zeros(count, np.int64)
    if cells.dated:
        return _Side(cells, ~cells.dates.dated, none, zeros, none, cells.dates)
    if cells.timed:
        message = f"{cells.title} holds {cells.kind}, which is not compared with another column"
        raise Unreadable("bad-condition", message)
    reals = reals_of(cells.column, cells.title, not cells.textual)
    numeric, numbers = ~reals.missing & ~reals.wrong, reals.values  # the wrong ones of numbers are nan
    if pa.types.is_integer(cells.kind) and cells.kind != pa.uint64():
        numbers = view(cells.array.cast(pa.int64()), np.int64)
    missing = cells.missing if cells.textual else ~numeric
    undated = Dates(none, none, zeros, zeros)
    dates = cells.dates if cells.textual and not numeric[~missing].all() else undated
    return _Side(cells, missing, numeric, numbers, reals.inexact, dates)
