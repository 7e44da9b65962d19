"""Which rows a comparison of two columns keeps, cell by cell: numbers compare with numbers, dates with dates as
instants, and other texts can only be equal. No comparison with a missing cell holds."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import nulls, view
from lnnkit.data.cells.conditions import Cells, ConditionResult
from lnnkit.data.cells.date_cells import ORDERS, as_stamps, other_dates
from lnnkit.data.cells.numbers import reals_of
from lnnkit.data.cells.texts import Texts
from lnnkit.data.names import some_of
from lnnkit.data.numerals import UNSAID, meant
from lnnkit.data.source import DataFault, Unreadable
from lnnkit.syntax.dates import formats, instant, is_date

_MICROSECONDS = {"s": 10**6, "ms": 10**3, "us": 1}


@dataclass(frozen=True, slots=True)
class _CellValues:
    """The cells of a column: masks of the ``missing`` ones, the numbers and the dates. ``numbers`` are int64 if the
    column is, else float64; ``inexact`` ones are whole numbers that float64 cannot hold. Of dates ``micros`` (since
    1970 in UTC) and ``nanos`` (below 1000) are known; ``foreign`` ones are in a form that is not read. ``codes`` are
    equal for equal texts, -1 for what is no text."""

    missing: np.ndarray
    numeric: np.ndarray
    numbers: np.ndarray
    inexact: np.ndarray
    dated: np.ndarray
    micros: np.ndarray
    nanos: np.ndarray
    foreign: np.ndarray
    codes: np.ndarray
    shown: Callable[[int], str]
    fault: Callable[[int], DataFault]


def pair_verdict(
    relation: str, sides: Sequence[Cells], texts: Callable[[Sequence[int]], list[Texts]]
) -> ConditionResult:
    """The verdict of a comparison (``=``, ``!=`` or an order) of two columns on each row. ``texts`` gives some of the
    ``sides`` as entities that share their names. Raises ``Unreadable`` for columns of a type that does not compare."""
    written = [place for place, each in enumerate(sides) if each.textual]
    coded = dict(zip(written, texts(written), strict=True)) if written else {}
    left, right = (_cells(each, coded.get(place)) for place, each in enumerate(sides))
    compare = ORDERS.get(relation, operator.eq)
    known = ~left.missing & ~right.missing
    numeric, dated = left.numeric & right.numeric, left.dated & right.dated
    same = (left.codes == right.codes) & (left.codes >= 0)
    later = np.where(left.micros != right.micros, left.micros > right.micros, left.nanos > right.nanos)
    apart = (left.micros != right.micros) | (left.nanos != right.nanos)
    order = np.where(later, 1, -apart.astype(np.int8))
    whole = left.numbers.dtype == right.numbers.dtype == np.int64
    doubtful = numeric & (left.inexact | right.inexact) & (left.numbers == right.numbers) & ~same & (not whole)
    holds = known & np.where(numeric, compare(left.numbers, right.numbers), dated & compare(order, 0)) & ~doubtful
    rest = known & ~numeric & ~dated
    if relation in ("=", "!="):
        holds |= rest & same
        wrong = doubtful | (rest & ((left.dated & right.foreign) | (left.foreign & right.dated)))
    else:
        wrong = doubtful | rest
    if relation == "!=":
        holds = known & ~holds & ~wrong

    def fault(row: int) -> DataFault:
        for cells, other in ((left, right), (right, left)):
            if not (cells.numeric[row] or cells.dated[row]) or (cells.foreign[row] and not cells.numeric[row]):
                found = cells.fault(row)
                hint = found.hint or "only numbers and dates are ordered; texts are compared by `=` and `!=`"
                return DataFault(found.code, f"{found.message}, compared with {other.shown(row)}", hint)
        what = f"{sides[0].title} is {left.shown(row)} and {sides[1].title} is {right.shown(row)}"
        if doubtful[row]:
            return DataFault(
                "bad-number", f"{what}, whole numbers that float64 cannot tell apart", "compare texts: quote them"
            )
        return DataFault("bad-number", f"{what}: a number and a date do not compare", "compare columns of one kind")

    return ConditionResult(holds, wrong, fault, f"where {sides[0].title} and {sides[1].title} do not compare")


def _cells(side: Cells, texts: Texts | None) -> _CellValues:
    if texts is not None:
        return _text_cells(side, texts)
    count, kind, array = len(side.column), side.kind, side.array
    none, zeros, codes = np.zeros(count, bool), np.zeros(count, np.int64), np.full(count, -1)

    def shown(row: int) -> str:
        return str(array[row].as_py())

    def fault(row: int) -> DataFault:
        return DataFault("bad-number", f"{side.title} is {shown(row)}")

    if side.dated:
        missing = nulls(array)
        stamps = array.cast(pa.timestamp("ms")) if pa.types.is_date(kind) else array
        held, unit = view(stamps, np.int64), stamps.type.unit
        micros, nanos = np.divmod(held, 1000) if unit == "ns" else (held * _MICROSECONDS[unit], zeros)
        return _CellValues(missing, none, zeros, none, ~missing, micros, nanos, none, codes, shown, fault)
    if side.timed:
        raise Unreadable("bad-condition", f"{side.title} holds {kind}, which is not compared with another column")
    reals = reals_of(side.column, side.title, True)
    missing = reals.missing | reals.wrong  # the wrong ones are nan
    numbers = reals.values
    if pa.types.is_integer(kind) and kind != pa.uint64():
        numbers = view(array.cast(pa.int64()), np.int64)
    return _CellValues(missing, ~missing, numbers, reals.inexact, none, zeros, zeros, none, codes, shown, fault)


def _text_cells(side: Cells, texts: Texts) -> _CellValues:
    names = texts.names
    reals = reals_of(side.column, side.title, False)
    missing = texts.codes < 0
    numeric = ~reals.missing & ~reals.wrong
    micros, nanos = np.zeros((2, len(names)), np.int64)
    dated, foreign = np.zeros((2, len(names)), bool)
    if not numeric[~missing].all():
        used = np.zeros(len(names) + len(texts.faults) + 1, bool)  # the last entry is for -1
        used[texts.codes] = True
        places = np.flatnonzero(used[: len(names)])
        stamps = as_stamps(some_of(names.arrow, places), np.zeros(len(places), bool))
        if stamps is not None:
            micros[places], dated[places] = view(stamps, np.int64), True
        else:
            read = [(place, names[place], instant(names[place])) for place in places.tolist()]
            zoned = any(moment is not None and moment.zoned for _, _, moment in read)
            for place, name, moment in read:
                dated[place] = moment is not None and moment.zoned == zoned
                foreign[place] = not dated[place] and is_date(name)
                if moment is not None:
                    micros[place], nanos[place] = divmod(moment.nanoseconds, 1000)
    date_fault = other_dates(names, side.title)

    def fault(row: int) -> DataFault:
        code = int(texts.codes[row])
        if faulty := texts.faults.get(code):
            return DataFault("bad-row", f"{side.title} {faulty}")
        if foreign[code] or formats([names[code]]):
            return date_fault(names[code])
        said = meant(names[code])
        return DataFault(
            "bad-number", f"{side.title} is {names[code]!r}, neither a number nor a date", said.replace(UNSAID, "")
        )

    def shown(row: int) -> str:
        return repr(names[int(texts.codes[row])])

    by = texts.by_name
    dates, others = (by(dated), by(micros), by(nanos)), by(foreign)
    return _CellValues(missing, numeric, reals.values, reals.inexact, *dates, others, texts.codes, shown, fault)
