"""Which rows a ``where`` keeps, column by column.

As in SQL, no comparison with a missing cell holds. The empty text stands for a missing cell, so ``= ""`` is ``is null``
and ``!= ""`` is ``is not null``. Numbers compare with numbers, whatever their type or spelling; texts with texts, by
code point; ``true`` and ``false`` with truth values. A column that is compared with a date is read as dates, stamps
with zones as instants. A cell that cannot be compared is an error, unless another condition excludes its row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import called, mask, one, strings, view
from lnnkit.data.cells.numbers import Cells, Dates, Reals, as_date, has_dates, is_other_date
from lnnkit.data.cells.texts import texts_together
from lnnkit.data.files import Unreadable
from lnnkit.data.names import is_many
from lnnkit.data.numerals import NUMERAL, TRUTHS, UNSAID, meant
from lnnkit.syntax.ast import Cell, Where
from lnnkit.syntax.dates import formats, instant
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.identifiers import COMPARISONS
from lnnkit.syntax.printer import format_cell, format_string

_KERNELS = {"=": "equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}


@dataclass(frozen=True, slots=True)
class DoubtfulRows:
    """A mask of ``wrong`` rows with one kind of fault, the message for one of them, and a phrase about the others."""

    wrong: np.ndarray
    fault: Callable[[int], Diagnostic]
    others: str = ""


@dataclass(frozen=True, slots=True)
class ConditionResult(DoubtfulRows):
    """The rows for which a condition ``holds``, and those whose cell cannot be compared."""

    holds: np.ndarray = field(kw_only=True)


def verdict(where: Where, cells: ComparedCells, other: ComparedCells | None = None) -> ConditionResult:
    """The verdict of a condition on each of the cells, beside those of the ``other`` column that it names. Raises
    ``Unreadable`` if the type of the column cannot be compared in this way."""
    if where.operator == "!=":
        equal = verdict(replace(where, operator="="), cells, other)
        if where.values == ("",):
            return cells.known(~equal.holds)
        missing = cells.missing if other is None else cells.missing | other.missing
        return replace(equal, holds=~(equal.holds | equal.wrong | missing))
    if other is not None:
        return _pair_verdict(where.operator, cells, other)
    match where.operator:
        case "is null":
            return cells.known(cells.missing)
        case "is not null":
            return cells.known(~cells.missing)
        case operator:
            relation = "=" if operator == "in" else operator
            return _any([cells.compared(relation, cell) for cell in where.values])


def _any(several: Sequence[ConditionResult]) -> ConditionResult:
    """The verdict of "one of several": a cell is wrong if it cannot be compared with one of the values and equals no
    other."""
    holds = np.any([part.holds for part in several], axis=0)
    wrong = np.any([part.wrong for part in several], axis=0)

    def fault(row: int) -> Diagnostic:
        return next(part.fault(row) for part in several if part.wrong[row])

    others = next((part.others for part in several if part.wrong.any()), "")
    return ConditionResult(wrong & ~holds, fault, others, holds=holds)


class ComparedCells(Cells):
    """The cells of one column, as those of another or values of a statement are compared with them."""

    @cached_property
    def numerals(self) -> Reals:
        """The numbers among the cells, wherever some are, int64 if those of the column are. Raises ``Unreadable`` for a
        column of times."""
        if self.timed:
            message = f"{self.title} holds {self.kind}, which is not compared with another column"
            raise Unreadable("bad-condition", message)
        if self.dated:
            zeros = np.zeros(len(self.column), np.int64)
            return Reals(zeros, self.missing, zeros == 0, str, zeros > 0)
        reals = self.reals(not self.textual)
        if pa.types.is_integer(self.kind) and self.kind != pa.uint64():
            return replace(reals, values=view(self.array.cast(pa.int64()), np.int64))
        return reals

    @cached_property
    def dates_beside(self) -> Dates:
        """The cells as dates; none are where all that are not missing are numbers."""
        if self.dated or (self.textual and (self.numerals.wrong & ~self.missing).any()):
            return self.dates
        zeros = np.zeros(len(self.column), np.int64)
        return Dates(zeros > 0, zeros > 0, zeros, zeros)

    def known(self, holds: np.ndarray) -> ConditionResult:
        none = np.zeros(len(holds), bool)
        return ConditionResult(none, lambda row: Diagnostic("bad-row", f"row {row}"), holds=holds)

    def compared(self, relation: str, cell: Cell) -> ConditionResult:
        """The verdict of a comparison (``=`` or an order) with a value."""
        equal = relation == "="
        if equal and isinstance(cell, bool):
            return self._truth(cell)
        if not isinstance(cell, str):
            return self._number(relation, cell)
        if equal and not cell:
            return self.known(self.missing)
        if pa.types.is_boolean(self.kind):
            if not equal or cell.lower() not in TRUTHS:
                hint = "write true or false, without quotes" if equal else "write `= true` or `= false`"
                raise self._unfit(cell, "booleans", hint)
            return self._truth(bool(TRUTHS[cell.lower()]))
        numeric = self.numeric and not (equal and pa.types.is_integer(self.kind))
        if not equal and self.textual and NUMERAL.fullmatch(cell):
            reals = self.reals(False)
            numeric = not reals.wrong.any() and not reals.missing.all()
        if numeric:
            plain = f"write {cell.strip()} without quotes" if NUMERAL.fullmatch(cell) else "compare it with a number"
            raise self._unfit(cell, "numbers", plain)
        return self._text(relation, cell)

    def _number(self, relation: str, cell: float | int) -> ConditionResult:
        if pa.types.is_boolean(self.kind):
            raise self._unfit(cell, "booleans", "write true or false")
        if pa.types.is_temporal(self.kind):
            raise self._unfit(cell, str(self.kind), 'write a text, such as "2024-01-15"')
        compare = COMPARISONS[relation]
        if pa.types.is_integer(self.kind) and isinstance(cell, int):
            wide, dtype = (pa.uint64(), np.uint64) if self.kind == pa.uint64() else (pa.int64(), np.int64)
            if -(2**63) <= cell < (2**64 if dtype is np.uint64 else 2**63) and (cell >= 0 or dtype is np.int64):
                values = view(one(self.column.cast(wide)), dtype)
                return self.known(compare(values, dtype(cell)) & ~self.missing)
        reals = self.reals(False)
        wrong = reals.wrong & ~np.isnan(reals.values) if self.numeric else reals.wrong
        known = ~(reals.missing | reals.wrong)
        near = float(cell) if abs(cell) < 2**1000 else float("inf") if cell > 0 else -float("inf")
        holds = compare(reals.values, near) & known
        if relation == "=":
            if near != cell:
                holds &= False
            if not self.numeric:
                wrong = wrong | (known & reals.inexact & (reals.values == near))
                holds &= ~reals.inexact
        fault = self._no_number(reals, cell)
        return ConditionResult(wrong, fault, f"where {self.title} is not a number", holds=holds)

    def _truth(self, cell: bool) -> ConditionResult:
        reals = self.reals(True)
        wrong = ~reals.missing & (reals.wrong | ((reals.values != 0) & (reals.values != 1)))
        holds = ~(reals.missing | reals.wrong) & (reals.values == float(cell))

        def fault(row: int) -> Diagnostic:
            hint = "true, yes, t, y and 1 are truths, and false, no, f, n and 0; compare others with a text in quotes"
            return Diagnostic("bad-truth", f"{self.title} is {reals.shown(row)}, neither true nor false", hint)

        return ConditionResult(wrong, fault, f"where {self.title} is neither true nor false", holds=holds)

    def _text(self, relation: str, cell: str) -> ConditionResult:
        if self.timed:
            try:
                moment = strings([cell]).cast(self.kind)[0]
            except (pa.ArrowException, ValueError):
                raise self._unfit(cell, str(self.kind), 'write it as "12:30:00"') from None
            return self.known(_compared(self.array, relation, moment) & ~self.missing)
        moment = instant(cell)
        if moment is None and self.dated:
            raise self._unfit(cell, str(self.kind), as_date(cell))
        if moment is not None:
            return self._dates(relation, *divmod(moment.nanoseconds, 1000))
        values = self.texts.values
        if is_many(len(values)):
            holds = _compared(values, relation, strings([cell])[0])
        else:
            holds = COMPARISONS[relation](np.array(values.to_pylist(), object), cell)
        holds[list(self.texts.faults)] = False
        if is_other_date(cell) and (relation != "=" or (not holds.any() and has_dates(self.texts))):
            what = "a date in a form of its own" if formats([cell]) else "which is no day of the calendar"
            message = f"{self.title} is compared with {format_string(cell)}, {what}"
            raise Unreadable("bad-condition", message, as_date(cell))
        return self.known(self.texts.by_row(holds) & ~self.missing)

    def _dates(self, relation: str, micros: int, nanos: int) -> ConditionResult:
        """The verdict of a comparison with an instant. As text, what is no date differs from every date."""
        dates, missing = self.dates, self.missing
        holds = dates.compared(relation, micros, nanos) & ~missing
        wrong = dates.foreign if relation == "=" else ~dates.dated & ~missing
        if not wrong.any():
            return self.known(holds)

        def fault(row: int) -> Diagnostic:
            faulty = self.texts.faults.get(self.texts.at(row))
            return Diagnostic("bad-date", f"{self.title} {faulty}") if faulty else self.other_date(self.texts.text(row))

        return ConditionResult(wrong, fault, f"where {self.title} is not a date as 2024-01-15", holds=holds)

    def uncompared(self, row: int) -> Diagnostic | None:
        """Why a cell is neither a number nor a date; None if it is one."""
        foreign = bool(self.dates_beside.foreign[row])
        if not self.textual or not self.numerals.wrong[row] or (self.dates_beside.dated[row] and not foreign):
            return None
        if faulty := self.texts.faults.get(self.texts.at(row)):
            return Diagnostic("bad-row", f"{self.title} {faulty}")
        text = self.texts.text(row)
        if foreign or formats([text]):
            return self.other_date(text)
        hint = meant(text).replace(UNSAID, "")
        return Diagnostic("bad-number", f"{self.title} is {text!r}, neither a number nor a date", hint)

    def _no_number(self, reals: Reals, cell: float | int) -> Callable[[int], Diagnostic]:
        quoted = format_string(format_cell(cell))

        def fault(row: int) -> Diagnostic:
            shown = reals.shown(row)
            if not reals.wrong[row]:
                message = f"{self.title} is {shown}, a whole number that float64 cannot hold"
                return Diagnostic("bad-number", message, f"compare texts: write {quoted} in quotes")
            hint = f"to compare texts, write {quoted} in quotes"
            if (specific := meant(shown)) != UNSAID:
                hint = f"{specific}; {hint}"
            elif len(shown) > 1 and shown[0] in "'\"":
                hint += f"; if such a cell is empty, add `missing {format_string(shown[1:-1])}`"
            return Diagnostic("bad-number", f"{self.title} is {shown}, not a number", hint)

        return fault

    def _unfit(self, cell: Cell, holds: str, hint: str) -> Unreadable:
        kind = "a text" if isinstance(cell, str) else "a number"
        return Unreadable("bad-condition", f"{self.title} holds {holds}, and {format_cell(cell)} is {kind}", hint)


def _compared(array: pa.Array, relation: str, value: pa.Scalar) -> np.ndarray:
    """A mask of the values for which a comparison holds."""
    return mask(called(_KERNELS[relation], array, value))


# --- two columns ------------------------------------------------------------------------------------------------------


def _pair_verdict(relation: str, one: ComparedCells, other: ComparedCells) -> ConditionResult:
    """The verdict of a comparison (``=`` or an order) of two columns on each row, cell by cell: numbers compare with
    numbers, dates with dates as instants, and other texts can only be equal. Raises ``Unreadable`` for columns of a
    type that does not compare."""
    left, right, first, second = one.numerals, other.numerals, one.dates_beside, other.dates_beside
    known, same = ~one.missing & ~other.missing, _same(one, other)
    numeric, dated = ~(left.missing | left.wrong | right.missing | right.wrong), first.dated & second.dated
    equal = COMPARISONS[relation](left.values, right.values)
    whole = left.values.dtype == right.values.dtype == np.int64
    doubtful = numeric & (left.inexact | right.inexact) & (left.values == right.values) & ~same & (not whole)
    instants = first.compared(relation, second.micros, second.nanos) & dated
    holds = known & np.where(numeric, equal, instants) & ~doubtful
    rest = known & ~numeric & ~dated
    wrong = doubtful | rest
    if relation == "=":
        holds |= rest & same
        crossed = (first.dated & second.foreign) | (first.foreign & second.dated)
        wrong = doubtful | (rest & crossed)

    def fault(row: int) -> Diagnostic:
        for side, opposite in ((one, other), (other, one)):
            if (problem := side.uncompared(row)) is not None:
                hint = problem.hint or "only numbers and dates are ordered; texts are compared by `=` and `!=`"
                return Diagnostic(problem.code, f"{problem.message}, compared with {opposite.shown(row)}", hint)
        what = f"{one.title} is {one.shown(row)} and {other.title} is {other.shown(row)}"
        if doubtful[row]:
            what += ", whole numbers that float64 cannot tell apart"
            return Diagnostic("bad-number", what, "compare texts: quote them")
        return Diagnostic("bad-number", f"{what}: a number and a date do not compare", "compare columns of one kind")

    return ConditionResult(wrong, fault, f"where {one.title} and {other.title} do not compare", holds=holds)


def _same(one: ComparedCells, other: ComparedCells) -> np.ndarray:
    """A mask of the rows with two equal texts."""
    if not (one.textual and other.textual):
        return np.zeros(len(one.column), bool)
    first, second = texts_together([(one.column, one.title), (other.column, other.title)])
    return (first.codes == second.codes) & (first.codes >= 0)
