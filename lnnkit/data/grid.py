"""What readers return: a sheet, which knows its header at once, and the grid of the columns that are wanted; which
columns of a table a statement means: arguments, truth values or numbers, and those of conditions; and their cells as it
means them: without outer blanks, with decimal points, and empty where a text such as ``?`` or ``NA`` marks a gap."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import Column, called, filled, is_text, mask, one, strings, value_type, without
from lnnkit.data.cells.texts import Texts
from lnnkit.data.files import Format, Unreadable
from lnnkit.data.names import Names
from lnnkit.data.numerals import pointed
from lnnkit.syntax import ast
from lnnkit.syntax.dates import Numeric
from lnnkit.syntax.diagnostic import Diagnostic, Span
from lnnkit.syntax.printer import format_cell, format_column, format_predicate, format_string

_LISTED = 30  # greatest number of columns that a message names
_SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}


@dataclass(frozen=True, slots=True)
class Grid:
    """The wanted columns of a table, by position from 0, all of one length.

    ``rows`` numbers the rows as ``FactTable.rows`` does. ``spoiled`` lists rows (by index) that were read but are
    unreliable, ``lost`` rows (by number) that could not be split into columns and are in no array. ``texts`` keeps
    columns that were read as texts, for the next statement that needs them. Entities may be ``known`` from another
    table.
    """

    columns: dict[int, Column]
    rows: np.ndarray
    spoiled: dict[int, Diagnostic] = field(default_factory=dict)
    lost: tuple[tuple[int, Diagnostic], ...] = ()
    texts: dict[int, Texts] = field(default_factory=dict)
    known: Names | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table before its cells are read: its name, its column names (from a header if ``named``, otherwise ``column
    1``, ...), a function that reads columns, the format of its file (None for a told table), and the delimiter of a
    text file."""

    source: str
    names: tuple[str, ...]
    named: bool
    read: Callable[[Sequence[int]], Grid]
    format: Format | None = None
    delimiter: str = ""

    def title(self, position: int) -> str:
        """A column as messages name it."""
        return f'column "{self.names[position]}"' if self.named else f"column {position + 1}"

    def column(self, position: int) -> str:
        """A column as a statement names it."""
        return format_column(self.names[position] if self.named else position + 1)

    def listed(self, positions: Iterable[int]) -> str:
        """Columns as a statement lists them."""
        return f"({', '.join(map(self.column, positions))})"

    def to_arrow(self) -> pa.Table:
        """All columns of a file."""
        columns = self.read(range(len(self.names))).columns.values()
        return pa.table([column for column in columns if not isinstance(column, list)], list(self.names))


Gaps = Literal["unknown", "refused", "skipped"]
"""What an empty truth is: unknown, an error (of a closed predicate, where nothing is unknown), or no label."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a statement reads from a ``table`` for a predicate, or an attribute if it is ``numeric``. ``base`` is the
    folder of relative paths, ``span`` the statement to point at. For a ``negated`` predicate the truth of each row is
    that of the negation; ``gaps`` says what an empty truth is."""

    predicate: str
    arity: int
    numeric: Numeric
    table: ast.Table
    base: Path = Path()
    span: Span | None = None
    negated: bool = False
    gaps: Gaps = "unknown"


@dataclass(frozen=True, slots=True)
class ColumnFilter:
    """A condition on the column at the first of the ``positions``, compared with that at the second, if with one."""

    positions: tuple[int, ...]
    where: ast.Where


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """Columns by position from 0. ``values`` has no column (true), one (exact) or two (lower and upper). ``named``: a
    column was given by a name from the header; ``listed``: the statement lists its columns."""

    keys: tuple[int, ...]
    values: tuple[int, ...]
    where: tuple[ColumnFilter, ...] = ()
    named: bool = False
    listed: bool = False

    @property
    def wanted(self) -> tuple[int, ...]:
        filtered = (place for test in self.where for place in test.positions)
        return tuple(dict.fromkeys((*self.keys, *self.values, *filtered)))


def choose(load: Load, sheet: Sheet) -> ColumnChoice:
    """The columns that a statement means; raises ``Unreadable``. The first of a list are the arguments; one more is a
    truth value (or the value of a number), two more are the lower and the upper bound. Without a list all columns of
    the table are read as if they were listed, and a table with more is refused: which of them are truth values would
    be a guess."""
    arity, numeric, columns, where = load.arity, load.numeric, load.table.read, load.table.where
    if sheet.format and not sheet.names:
        raise Unreadable("empty-file", f"{sheet.source} is empty")
    filters = [ColumnFilter(_positions(test, sheet), _comparable(test, load.table.missing)) for test in where]
    allowed = range(arity + 1, arity + 3) if numeric else range(arity, arity + 3)
    if columns is not None:
        if len(columns) not in allowed:
            listed = ", ".join(map(str, columns)) or "none"
            raise Unreadable("wrong-columns", f"{_needs(load)}; {len(columns)} listed: {listed}")
        positions = tuple(_position(column, sheet) for column in columns)
    else:
        positions = tuple(range(len(sheet.names)))
        wanted = max(1, arity + bool(numeric))
        if sheet.format and sheet.named and sheet.names[0] == "" and len(positions) > wanted:
            message = f"the first column of {sheet.source} has no name, as an index that was written with the table"
            hint = f"list the columns to read, as `{sheet.listed(positions[1 : 1 + wanted])}`; the first one is `1`"
            raise Unreadable("wrong-columns", message, hint)
        if len(positions) not in allowed:
            raise _wrong_width(load, sheet)
    written = [*(columns or ()), *(column for test in where for column in test.columns)]
    named = any(isinstance(column, str) for column in written)
    return ColumnChoice(positions[:arity], positions[arity:], tuple(filters), named, columns is not None)


def _needs(load: Load) -> str:
    keys = f"{load.predicate} takes {load.arity} column{'' if load.arity == 1 else 's'}"
    if load.numeric:
        return f"{keys} and its value, or a lower and an upper end"
    return f"{keys}, then perhaps a truth value, or a lower and an upper bound"


def _wrong_width(load: Load, sheet: Sheet) -> Unreadable:
    count = len(sheet.names)
    has = f"{sheet.source} has {count}" + (f": {_listing(sheet.names)}" if sheet.named else "")
    hint, wanted = "", max(1, load.arity + bool(load.numeric))
    if sheet.format:
        listed = sheet.listed(range(min(wanted, count) if sheet.named else wanted))
        hint = f"list those to read: load {format_predicate(load.predicate)} from ... {listed}"
    return Unreadable("wrong-columns", f"{_needs(load)}; {has}", _separated(sheet) or hint)


def _comparable(where: ast.Where, missing: Sequence[str]) -> ast.Where:
    """The condition with its texts in NFC. None of them may be a mark for missing cells, unless the condition orders:
    ``age > -1`` is about the ages where -1 is a gap."""
    values = tuple(_nfc(cell) if isinstance(cell, str) else cell for cell in where.values)
    for cell in values:
        text = cell if isinstance(cell, str) else format_cell(cell)
        if text and text in missing and where.operator in ("=", "!=", "in"):
            message = f"{format_string(text)} marks a missing cell here, and no comparison with a missing cell holds"
            instead = "is not null" if where.operator == "!=" else "is null"
            raise Unreadable("bad-condition", message, f"write `{instead}`, or take it out of `missing`")
    return replace(where, values=values)


def _separated(sheet: Sheet) -> str | None:
    """A hint for a file of one column whose first row contains another delimiter."""
    if len(sheet.names) != 1 or not sheet.delimiter:
        return None
    for mark, word in _SEPARATORS.items():
        if mark in sheet.names[0] and mark != sheet.delimiter:
            return f"its columns seem to be separated by {word}: add `delimiter {format_string(mark)}`"
    return None


def _positions(where: ast.Where, sheet: Sheet) -> tuple[int, ...]:
    """The places of the column of a condition and of the one that it is compared with."""
    first = _position(where.column, sheet)
    if where.other is None:
        return (first,)
    try:
        return first, _position(where.other.name, sheet)
    except Unreadable as problem:
        message = f"the value `{where.other.name}` needs quotes, or to be a column: {problem.fault.message}"
        hint = f"write {format_string(where.other.name)} for a text; {problem.fault.hint}"
        raise Unreadable("unquoted-value", message, hint, where.other.span) from None


def _position(column: ast.ColumnReference, sheet: Sheet) -> int:
    count = len(sheet.names)
    if isinstance(column, int):
        if 1 <= column <= count:
            return column - 1
        message = f"no column {column}: {sheet.source} has {count} column{'' if count == 1 else 's'}"
        raise Unreadable("unknown-column", message, _separated(sheet) or "positions count from 1")
    if not sheet.named:
        message = f'no column "{column}": {sheet.source} is read without a header'
        raise Unreadable("unknown-column", message, "give its position, counted from 1")
    for tidy in (str, _nfc, lambda text: _nfc(text).strip()):
        matches = [position for position, name in enumerate(sheet.names) if tidy(name) == tidy(column)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            places = " and ".join(str(position + 1) for position in matches)
            message = f'{sheet.source} has several columns "{column}": {places}'
            raise Unreadable("ambiguous-column", message, "give its position instead, and add `header` after the list")
    import difflib

    folded = {name.casefold(): name for name in sheet.names}
    close = difflib.get_close_matches(column.casefold(), list(folded), n=1)
    near = f'did you mean "{folded[close[0]]}"? ' if close else ""
    hint = f"{near}its columns: {_listing(sheet.names)}"
    if sheet.format and sheet.format.delimiter == "\t" and f'"{column}"' in sheet.names:
        hint = 'a TSV has no quotes, so they belong to its names and values: call the file .csv, with `delimiter "\\t"`'
    raise Unreadable("unknown-column", f'{sheet.source} has no column "{column}"', _separated(sheet) or hint)


def _listing(names: Sequence[str]) -> str:
    shown = ", ".join(name or '""' for name in names[:_LISTED])
    return shown if len(names) <= _LISTED else f"{shown}, ... ({len(names)} in all)"


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def meant_cells(grid: Grid, table: ast.Table, choice: ColumnChoice) -> Grid:
    """The cells that a statement reads, as its clauses ``trim``, ``missing`` and ``decimal`` say. Raises
    ``Unreadable`` for a number with a point where commas are decimal."""
    numeric = [any(type(cell) in (int, float) for cell in test.where.values) for test in choice.where]
    compared = [test for test, some in zip(choice.where, numeric, strict=True) if some or len(test.positions) > 1]
    pointed = {*choice.values, *(place for test in compared for place in test.positions)}
    changed = dict[int, Column]()
    for place, column in sorted(grid.columns.items()):
        if isinstance(column, list):
            continue
        cells = cleared(trimmed(column) if table.trim else column, table.missing)
        if table.decimal == "," and place in pointed:
            cells = with_points(cells, place)
        if cells is not column:
            changed[place] = cells
    texts = {place: texts for place, texts in grid.texts.items() if place not in changed}
    return replace(grid, columns=grid.columns | changed, texts=texts) if changed else grid


def trimmed(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A column of texts without outer blanks; any other unchanged."""
    return _mapped(column, str.strip)


def with_points(column: pa.Array | pa.ChunkedArray, place: int) -> pa.Array | pa.ChunkedArray:
    """A column of texts whose numbers have decimal commas, with points; ``place`` is its position. Raises
    ``Unreadable`` for a number with a point."""

    def point(text: str) -> str:
        number = pointed(text)
        if number is None:
            message = f"column {place + 1} has {text!r}, a number with a point, and decimals have a comma here"
            raise Unreadable("bad-number", message, 'write a comma, or take `decimal ","` out')
        return number

    return _mapped(column, point)


def _mapped(column: pa.Array | pa.ChunkedArray, change: Callable[[str], str]) -> pa.Array | pa.ChunkedArray:
    """A column of texts, each distinct one changed once. Texts that are not UTF-8 leave the column as it is."""
    if not is_text(value_type(column)):
        return column
    array = one(column)
    array = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    coded = cast("pa.DictionaryArray", array)
    try:
        texts = cast("list[str]", filled(coded.dictionary.cast(pa.string())).to_pylist())
    except (pa.ArrowException, UnicodeDecodeError):
        return column
    return pa.DictionaryArray.from_arrays(coded.indices, strings(list(map(change, texts))))


def cleared(column: pa.Array | pa.ChunkedArray, marks: Sequence[str]) -> pa.Array | pa.ChunkedArray:
    """The column with null in each cell that equals one of the ``marks``: as text or, in a column of numbers or days,
    by the value that the mark spells. The same column if it has none."""
    if not marks:
        return column
    array = one(column)
    if pa.types.is_dictionary(array.type):
        coded = cast("pa.DictionaryArray", array)
        values = cleared(coded.dictionary, marks)
        return column if values is coded.dictionary else pa.DictionaryArray.from_arrays(coded.indices, values)
    wanted = _as_values(array.type, marks)
    if wanted is None:
        return column
    from pyarrow.compute import SetLookupOptions

    marked = called("is_in", array, options=SetLookupOptions(wanted, skip_nulls=True))
    return without(array, mask(marked)) if marked.true_count else column


def _as_values(kind: pa.DataType, marks: Sequence[str]) -> pa.Array | None:
    """The marks as values of a type; None if none of them is one."""
    if pa.types.is_null(kind):
        return None
    if pa.types.is_binary(kind) or pa.types.is_string(kind):  # in NFD too, that is, with combining marks
        forms = dict.fromkeys(form for mark in marks for form in (mark, unicodedata.normalize("NFD", mark)))
        return strings(tuple(forms)).cast(kind)
    spelled = []
    for mark in marks:
        try:
            spelled.append(strings([mark]).cast(kind))
        except (pa.ArrowException, ValueError):
            continue
    return pa.concat_arrays(spelled) if spelled else None
