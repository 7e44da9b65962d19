"""Which rows a comparison of two columns keeps, cell by cell: numbers compare with numbers, dates with dates as
instants, and other texts can only be equal. No comparison with a missing cell holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import view
from lnnkit.data.cells.conditions import Cells, ConditionResult
from lnnkit.data.cells.date_cells import COMPARISONS, Dates, other_dates
from lnnkit.data.cells.numbers import reals_of
from lnnkit.data.cells.texts import Texts
from lnnkit.data.numerals import UNSAID, meant
from lnnkit.data.source import DataFault, Unreadable
from lnnkit.syntax.dates import formats


@dataclass(frozen=True, slots=True)
class _Side:
    """The cells of a column: masks of the ``missing`` and of the ``numeric`` ones, the numbers and the dates.
    ``numbers`` are int64 if the column is, else float64; ``inexact`` ones are whole numbers that float64 cannot hold.
    ``texts`` are those of a column of texts; ``codes`` are equal for equal texts, -1 for what is no text."""

    cells: Cells
    missing: np.ndarray
    numeric: np.ndarray
    numbers: np.ndarray
    inexact: np.ndarray
    dates: Dates
    codes: np.ndarray
    texts: Texts | None

    def shown(self, row: int) -> str:
        if self.texts is None:
            return str(self.cells.array[row].as_py())
        return repr(self.texts.names[int(self.texts.codes[row])])

    def fault(self, row: int) -> DataFault | None:
        """Why a cell is neither a number nor a date; None if it is one."""
        foreign = bool(self.dates.foreign[row])
        if self.texts is None or self.numeric[row] or (self.dates.dated[row] and not foreign):
            return None
        names, code, title = self.texts.names, int(self.texts.codes[row]), self.cells.title
        if faulty := self.texts.faults.get(code):
            return DataFault("bad-row", f"{title} {faulty}")
        if foreign or formats([names[code]]):
            return other_dates(names, title)(names[code])
        hint = meant(names[code]).replace(UNSAID, "")
        return DataFault("bad-number", f"{title} is {names[code]!r}, neither a number nor a date", hint)


def pair_verdict(
    relation: str, sides: Sequence[Cells], texts: Callable[[Sequence[int]], list[Texts]]
) -> ConditionResult:
    """The verdict of a comparison (``=``, ``!=`` or an order) of two columns on each row. ``texts`` gives some of the
    ``sides`` as entities that share their names. Raises ``Unreadable`` for columns of a type that does not compare."""
    written = [place for place, side in enumerate(sides) if side.textual]
    coded = dict(zip(written, texts(written), strict=True)) if written else {}
    left, right = (_side(side, coded.get(place)) for place, side in enumerate(sides))
    plain = "=" if relation == "!=" else relation
    known, same = ~left.missing & ~right.missing, (left.codes == right.codes) & (left.codes >= 0)
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
        for side, other in ((left, right), (right, left)):
            if (problem := side.fault(row)) is not None:
                hint = problem.hint or "only numbers and dates are ordered; texts are compared by `=` and `!=`"
                return DataFault(problem.code, f"{problem.message}, compared with {other.shown(row)}", hint)
        what = f"{sides[0].title} is {left.shown(row)} and {sides[1].title} is {right.shown(row)}"
        if doubtful[row]:
            what += ", whole numbers that float64 cannot tell apart"
            return DataFault("bad-number", what, "compare texts: quote them")
        return DataFault("bad-number", f"{what}: a number and a date do not compare", "compare columns of one kind")

    return ConditionResult(holds, wrong, fault, f"where {sides[0].title} and {sides[1].title} do not compare")


def _side(cells: Cells, texts: Texts | None) -> _Side:
    count = len(cells.column)
    none, zeros = np.zeros(count, bool), np.zeros(count, np.int64)
    undated = Dates(none, none, zeros, zeros)
    if texts is not None:
        reals = reals_of(cells.column, cells.title, False)
        missing, numeric = texts.codes < 0, ~reals.missing & ~reals.wrong
        dates = undated if numeric[~missing].all() else cells.dates
        return _Side(cells, missing, numeric, reals.values, reals.inexact, dates, texts.codes, texts)
    if cells.dated:
        dates = cells.dates
        return _Side(cells, ~dates.dated, none, zeros, none, dates, zeros - 1, None)
    if cells.timed:
        message = f"{cells.title} holds {cells.kind}, which is not compared with another column"
        raise Unreadable("bad-condition", message)
    reals = reals_of(cells.column, cells.title, True)
    missing, numbers = reals.missing | reals.wrong, reals.values  # the wrong ones are nan
    if pa.types.is_integer(cells.kind) and cells.kind != pa.uint64():
        numbers = view(cells.array.cast(pa.int64()), np.int64)
    return _Side(cells, missing, ~missing, numbers, reals.inexact, undated, zeros - 1, None)
