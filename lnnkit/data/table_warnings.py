"""Warnings about tables that can be read, but probably contain a slip."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lnnkit.data.cells.numbers import Reals
from lnnkit.data.cells.texts import Texts, outer_blanks
from lnnkit.data.grid import TEXT_FORMATS, ColumnChoice, Grid, Sheet
from lnnkit.data.numerals import NUMERAL
from lnnkit.data.table import FactTable
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_condition, format_string

_PAIRS = (
    ("l", "u"), ("low", "high"), ("lower", "upper"), ("lo", "hi"), ("min", "max"), ("from", "to"), ("start", "end"),
)  # fmt: skip


def _are_ends(lower: str, upper: str) -> bool:
    """Whether the names of two columns differ as those of a lower and an upper end do."""
    one, other = lower.casefold(), upper.casefold()
    return any(low in one and one.replace(low, high) == other for low, high in _PAIRS)


def warnings(
    table: FactTable, sheet: Sheet, choice: ColumnChoice, grid: Grid, keys: Sequence[Texts], reals: Sequence[Reals],
    keep: np.ndarray, *, chosen: bool,
) -> Iterator[Diagnostic]:  # fmt: skip
    """Warnings about a valid ``table`` that probably contains a slip, read from ``keys`` and ``reals`` in the rows to
    ``keep``; ``chosen`` says whether a condition keeps any row, as far as that is known."""

    def warning(code: str, message: str, hint: str, row: int | None = None) -> Diagnostic:
        return Diagnostic(code, message, hint, table.span, "warning", table.source, row)

    as_text, no_row = sheet.format in TEXT_FORMATS, not len(grid.rows) and not grid.lost
    if no_row and as_text and sheet.named:
        hint = 'end the statement with "no header" if it is a row'
        yield warning("no-rows", "there is a header and no row below it", hint)
    elif no_row and sheet.format == "parquet":
        yield warning("no-rows", "there are columns and no row", "")
    elif len(grid.rows) and choice.where and not len(table) and not chosen:
        filters = " and ".join(format_condition(test.where, sheet.title(test.positions[0])) for test in choice.where)
        yield warning("no-rows", f"no row has {filters}", "")
    if as_text and sheet.named and _header_is_row(sheet, choice, keys):
        first = ", ".join(sheet.names[position] for position in (*choice.keys, *choice.values))
        message = f"the header looks like a row: {first}"
        yield warning("doubtful-header", message, 'end the statement with "no header"', 1)
    if as_text and not sheet.named and len(keep) and _row_is_header(keys, keep):
        first = ", ".join(texts.names[int(texts.codes[0])] for texts in keys)
        message = f"the first row looks like a header: {first}"
        yield warning("doubtful-header", message, 'end the statement with "header"', 1)
    ends = [sheet.names[position] for position in choice.values] if sheet.named and not choice.listed else []
    if len(ends) == 2 and len(table) and not _are_ends(*ends):
        first = (*choice.keys, choice.values[0])
        both = " and ".join(map(format_string, ends))
        message = f"the columns {both} are read as the lower and the upper end of one value"
        hint = f"take one of them: `[[{', '.join(format_string(sheet.names[place]) for place in first)}]]` of a frame"
        if sheet.format:
            hint = f"list the columns: `{sheet.listed(first)}`, or all of them if they are two ends"
        yield warning("unlisted-ends", message, hint)
    blank = outer_blanks(table.names)
    for column, position in zip(table.columns, choice.keys, strict=True):
        rows = np.flatnonzero(np.isin(column.codes, blank)) if len(blank) else blank
        if len(rows):
            shown = f"as {column[int(rows[0])]!r} ({len(rows):,} in all)"
            message = f"{sheet.title(position)} has values that begin or end in a blank, {shown}"
            hint = "blanks are part of an entity's name" + ("; `trim` leaves them out" if sheet.format else "")
            yield warning("outer-blanks", message, hint, int(table.rows[rows[0]]))
    for real, position in zip(reals, choice.values, strict=True):
        rows = np.flatnonzero(real.inexact & keep).tolist() if real.inexact.any() else []
        if rows:
            row = rows[0]
            message = f"{sheet.title(position)} is {real.shown(row)}, read as {real.values[row]:.0f}"
            hint = "numbers are float64: whole numbers are exact up to 2^53"
            yield warning("inexact-number", message, hint, int(grid.rows[row]))


def _header_is_row(sheet: Sheet, choice: ColumnChoice, keys: Sequence[Texts]) -> bool:
    """Whether every column name looks like a value of its column, and no column was chosen by name: the file may have
    no header."""
    if choice.named:
        return False
    if any(NUMERAL.fullmatch(sheet.names[position]) for position in choice.values):
        return True
    if any(sheet.names[test.positions[0]] in test.where.values for test in choice.where):
        return True
    places = [texts.names.find(sheet.names[position]) for texts, position in zip(keys, choice.keys, strict=True)]
    if not keys or None in places:
        return False
    return all(bool((texts.codes == place).any()) for texts, place in zip(keys, places, strict=True))


_TITLES = frozenset(
    ("id", "key", "name", "from", "to", "source", "target", "src", "dst", "entity", "label", "value", "subject")
) | {"predicate", "object", "head", "relation", "tail"}


def _row_is_header(texts: Sequence[Texts], keep: np.ndarray) -> bool:
    """Whether the first row of a file that is read without a header looks like column names: it stands above numbers,
    or each of its cells is a usual title that does not recur in its column."""
    first = [int(column.codes[0]) for column in texts]
    if not keep[0] or len(keep) < 2:
        return False
    if any(
        code >= len(column.names.numbers) and (column.codes[1:] < len(column.names.numbers)).all()
        for code, column in zip(first, texts, strict=True)
    ):
        return True
    return bool(texts) and all(
        column.names[code].casefold() in _TITLES and not (column.codes[1:] == code).any()
        for code, column in zip(first, texts, strict=True)
    )
