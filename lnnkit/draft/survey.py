"""Detects the layout of a file, and what its columns hold: numbers, truth values, categories, names of entities, or
nothing."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import Column
from lnnkit.data.cells.numbers import Cells
from lnnkit.data.cells.texts import are_floats, texts_of, whole_floats, without_fractions
from lnnkit.data.files import RawTable, Unreadable, read_source
from lnnkit.data.grid import Grid, Sheet, cleared, with_points
from lnnkit.data.load import opened
from lnnkit.data.names import Names
from lnnkit.data.numerals import NUMERAL, decimal_comma
from lnnkit.syntax.ast import ColumnReference

# No draft of 36 tables changes with a sample from 1 KB to 1 MB, nor from 2 to 400 rows (benchmarks/draft_constants.py).
_SAMPLE = 1 << 16  # bytes
_ROWS = 100
_DELIMITERS = (",", ";", "\t", "|")
_YEAR = re.compile(r"(?:19|20)\d\d")

_MARKS = ("?", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "NaN", "nan", "-", "--", ".", "..", "unknown")
"""Texts that stand for a missing number."""
_SURE = frozenset(("?", "N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan"))
"""Those that stand for a missing cell of any column."""


@dataclass(frozen=True, slots=True, eq=False)
class SurveyedColumn:
    """A column: how ``load`` names it, its title, what it holds, and its ``codes``: for each row the index of its
    value, or of the row if there are no ``names``; -1 if it is missing. ``names`` are its values as entities, if they
    can be names; ``reason`` says why it cannot be read. ``numbers`` are the cells of a column of numbers or truths, nan
    where one is missing; those of one with ``commas`` have decimal commas."""

    column: ColumnReference
    title: str
    kind: Literal["empty", "truth", "number", "text", "unread"]
    codes: np.ndarray
    marks: tuple[str, ...] = ()
    names: Names = field(default_factory=Names)
    reason: str = ""
    commas: bool = False
    numbers: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def missing(self) -> int:
        return int((self.codes < 0).sum())

    @property
    def distinct(self) -> int:
        """How many names it has."""
        return len(self.names)


SurveyedColumns = tuple[SurveyedColumn, ...]


@dataclass(frozen=True, slots=True)
class Survey:
    """A file: its path, its columns, the clauses that a ``load`` of it needs, and the rows that cannot be read."""

    path: Path
    rows: int
    columns: SurveyedColumns
    header: bool = True
    delimiter: str | None = None
    lost: tuple[int, ...] = ()


def survey(path: Path) -> Survey:
    """Read a file. Raises `Unreadable`."""
    raw = read_source(path)
    header, delimiter = True, None
    if raw.format.delimiter:
        lines = raw.data[:_SAMPLE].splitlines(keepends=True)
        sample = replace(raw, data=b"".join(lines[: min(_ROWS, max(len(lines) - (len(raw.data) > _SAMPLE), 1))]))
        delimiter = delimiter_of(sample)
        header = has_header(opened(sample, False, delimiter))
    sheet = opened(raw, header, delimiter)
    grid = sheet.read(range(len(sheet.names)))
    columns = tuple(_column(sheet, grid, position) for position in range(len(sheet.names)))
    lost = tuple(sorted([number for number, _ in grid.lost] + [int(grid.rows[row]) for row in grid.spoiled]))
    return Survey(path, len(grid.rows), columns, header, delimiter, lost)


def _column(sheet: Sheet, grid: Grid, position: int) -> SurveyedColumn:
    titles = [name.strip() if sheet.named else "" for name in sheet.names]
    title, none = titles[position], np.full(len(grid.rows), -1, np.int32)
    column: ColumnReference = title if title and titles.count(title) == 1 else position + 1
    blank = SurveyedColumn(column, title or f"column {position + 1}", "empty", none)
    try:
        surveyed = _surveyed(grid.columns[position], position, blank)
    except Unreadable as problem:
        return replace(blank, kind="unread", reason=problem.fault.message)
    indexes = (Names((), np.arange(len(grid.rows)) + start) for start in (0, 1))  # as pandas writes them
    if sheet.named and position == 0 and not title and surveyed.distinct and surveyed.names in indexes:
        return replace(surveyed, kind="unread", reason="it numbers the rows")
    return surveyed


def _surveyed(column: Column, position: int, blank: SurveyedColumn) -> SurveyedColumn:
    cells, title = whole_floats(column), blank.title
    assert not isinstance(cells, list)
    if are_floats(cells):
        reals = Cells(cells, title).reals(False)
        if count := int(reals.wrong.sum()):
            return replace(blank, kind="unread", reason=f"{count:,} of its values are nan, which is no number")
        return _of_numbers(replace(blank, codes=np.where(reals.missing, -1, np.arange(len(cells)))), reals.values)
    names = texts_of(cells, title).names
    spelled = [blank + mark for mark in _MARKS for blank in ("", " ")]
    present = [mark for mark in spelled if names.find(mark) is not None]
    # codes lose their zeros as numbers
    padded = any(name.isdecimal() for digit in range(10) for name in names.starting(f"0{digit}", 1))
    values = None if padded else _all_right(cleared(cells, present), title, truth=False)
    numeric = values is not None
    marks = tuple(mark for mark in present if numeric or mark.strip() in _SURE)
    cells = cleared(cells, marks)
    texts = without_fractions(texts_of(cells, title))
    if texts.faults:
        return replace(blank, kind="unread", reason="some of its texts are not UTF-8")
    known = texts.codes >= 0
    as_text = replace(blank, kind="text" if known.any() else "empty", codes=texts.codes, marks=marks, names=texts.names)
    if not numeric and not padded:
        values = _all_right(cells, title, truth=True)
    if values is None and _decimal_commas(texts.names):
        values = _all_right(with_points(cells, position), title, truth=False)
        return as_text if values is None else _of_numbers(replace(as_text, names=Names(), commas=True), values)
    if values is None:
        return as_text
    if pa.types.is_boolean(cells.type):  # one of them alone is a truth too
        return replace(as_text, kind="truth", numbers=np.where(known, values, np.nan))
    as_number = _of_numbers(as_text, values)
    # a truth word alone, such as `f`, is a name, and so is a number that float64 cannot hold
    exact = (numeric or as_number.kind == "truth") and np.abs(values[known]).max() < 2.0**53
    return as_number if exact else as_text


def _of_numbers(column: SurveyedColumn, values: np.ndarray) -> SurveyedColumn:
    """A column of numbers, or of truths if they are 0 and 1 alone."""
    known = column.codes >= 0
    if not known.any():
        return replace(column, kind="empty")
    if not np.isfinite(values[known]).all():
        return replace(column, kind="unread", names=Names(), marks=(), reason="some of its values are infinite")
    truth = set(np.unique(values[known]).tolist()) == {0.0, 1.0}
    return replace(column, kind="truth" if truth else "number", numbers=np.where(known, values, np.nan))


def _decimal_commas(names: Names) -> bool:
    """Whether half of the values or more are numbers with a decimal comma, or all are numbers and some have one."""
    with_comma = sum(decimal_comma(name) is not None for name in names)
    plain = sum(re.fullmatch(r"[+-]?\d+", name) is not None for name in names)
    return bool(with_comma) and (2 * with_comma >= len(names) or with_comma + plain == len(names))


def _all_right(cells: Column, title: str, *, truth: bool) -> np.ndarray | None:
    """The values of a column that holds only numbers, or only truths; None for any other, and for an empty one."""
    with suppress(Unreadable):
        reals = Cells(cells, title).reals(truth)
        return None if reals.wrong.any() or reals.missing.all() else reals.values
    return None


# --- layout ---------------------------------------------------------------------------------------------------------


def delimiter_of(raw: RawTable) -> str | None:
    """The delimiter; None if it is the one that the file name implies."""
    implied = raw.format.delimiter

    def columns(mark: str) -> int:
        """Into how many columns it divides the rows; 1 unless it divides nine of ten alike."""
        with suppress(Unreadable):
            sheet = opened(raw, True, mark)
            grid = sheet.read(())
            return len(sheet.names) if len(grid.rows) + 1 >= 9 * len(grid.lost) else 1
        return 1

    best = max((implied, *_DELIMITERS), key=columns)
    return None if best == implied else best


def has_header(sheet: Sheet) -> bool:
    """Whether the first row of a text, opened without a header, names the columns: not if it reads as those below."""
    votes = 0
    for column in sheet.to_arrow().columns:
        name, *below = (cell.decode(errors="replace").strip() for cell in column.cast(pa.binary()).to_pylist())
        cells = [cell for cell in below if cell and name]
        if sum(NUMERAL.fullmatch(cell) is not None for cell in cells) > len(cells) / 2 and not _YEAR.fullmatch(name):
            votes += 1 if NUMERAL.fullmatch(name) is None else -1
        elif name in cells:
            votes -= 1
    return votes >= 0
