"""Detects the layout of a file, and what its columns hold: numbers, truth values, categories, names of entities, or
nothing."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lnnkit.data.cells.marks import with_points, without_marks
from lnnkit.data.cells.numbers import reals_of
from lnnkit.data.cells.texts import texts_of, without_fractions
from lnnkit.data.cells.whole import whole_floats
from lnnkit.data.grid import Grid, Sheet
from lnnkit.data.names import Names
from lnnkit.data.numerals import NUMERAL, decimal_comma
from lnnkit.data.readers.sheets import opened
from lnnkit.data.source import RawTable, Unreadable, read_source
from lnnkit.syntax.ast import Column

if TYPE_CHECKING:
    import numpy as np

    from lnnkit.data.arrow import Column as Cells


# No draft of 36 tables changes with a sample from 1 KB to 1 MB, nor from 2 to 400 rows (benchmarks/draft_constants.py).
_SAMPLE = 1 << 16  # bytes
_ROWS = 100
_DELIMITERS = (",", ";", "\t", "|")
_YEAR = re.compile(r"(?:19|20)\d\d")
_WHOLE = re.compile(r"[+-]?\d+")
_PADDED = re.compile(r"0\d+")
ColumnKind = Literal["empty", "truth", "number", "text", "unread"]

_MARKS = ("?", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "NaN", "nan", "-", "--", ".", "..", "unknown")
"""Texts that stand for a missing number."""
_SURE = frozenset(("?", "N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan"))
"""Those that stand for a missing cell of any column."""


@dataclass(frozen=True, slots=True)
class SurveyedColumn:
    """A column: how ``load`` names it, its title, what it holds, and its ``codes``: for each row the index of its
    value, -1 if it is missing. ``names`` are its values as entities, if they can be names; ``reason`` says why it
    cannot be read. ``numbers`` are the cells of a column of numbers or truths, nan where one is missing; those of one
    with ``commas`` have decimal commas."""

    column: Column
    title: str
    kind: ColumnKind
    codes: np.ndarray
    distinct: int
    marks: tuple[str, ...] = ()
    names: Names | None = None
    median: float = 0.0
    reason: str = ""
    commas: bool = False
    numbers: np.ndarray | None = None

    @property
    def in_floats(self) -> np.ndarray:
        """The numbers of a column that has some."""
        assert self.numbers is not None
        return self.numbers

    @property
    def missing(self) -> int:
        return int((self.codes < 0).sum())

    def commonest(self, most: int) -> list[str]:
        """Its most frequent values, most frequent first; ties keep their order."""
        import numpy as np

        if self.names is None:
            return []
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))
        order = np.argsort(-counts, kind="stable")[:most]
        return [self.names[int(place)] for place in order if counts[place]]


@dataclass(frozen=True, slots=True)
class Survey:
    """A file: its path, its columns, and the clauses that a ``load`` of it needs; ``lost`` counts rows that cannot be
    read."""

    path: Path
    rows: int
    columns: tuple[SurveyedColumn, ...]
    header: bool = True
    delimiter: str | None = None
    lost: tuple[int, ...] = field(default=())


def survey(path: Path) -> Survey:
    """Read a file. Raises `Unreadable`."""
    raw = read_source(path)
    header, delimiter = True, None
    if raw.format in ("csv", "tsv"):
        delimiter = delimiter_of(raw)
        header = has_header(sample(raw, delimiter or delimiter_by_name(raw)))
    sheet = opened(raw, header, delimiter)
    grid = sheet.read(range(len(sheet.names)))
    counts = Counter(name.strip() for name in sheet.names)
    columns = tuple(_column(sheet, grid, position, counts) for position in range(len(sheet.names)))
    lost = tuple(sorted([number for number, _ in grid.lost] + [int(grid.rows[row]) for row in grid.spoiled]))
    return Survey(path, len(grid.rows), columns, header, delimiter, lost)


def _column(sheet: Sheet, grid: Grid, position: int, counts: Counter[str]) -> SurveyedColumn:
    import numpy as np

    title = sheet.names[position].strip()
    named = sheet.named and title and counts[title] == 1
    column: Column = title if named else position + 1
    title = title if sheet.named and title else f"column {position + 1}"
    try:
        surveyed = _surveyed(grid, position, column, title)
        if sheet.named and not sheet.names[position].strip() and not position and _counts(surveyed):
            return replace(surveyed, kind="unread", reason="it numbers the rows")
        return surveyed
    except Unreadable as problem:
        none = np.full(len(grid.rows), -1, np.int32)
        return SurveyedColumn(column, title, "unread", none, 0, reason=problem.fault.message)


def _counts(column: SurveyedColumn) -> bool:
    """Whether a column numbers the rows from 0 or 1, as an index that pandas wrote."""
    if column.names is None or len(column.names.texts) or column.distinct != len(column.codes):
        return False
    numbers = column.names.numbers_in_numpy
    return bool(numbers[0] in (0, 1) and numbers[-1] - numbers[0] == column.distinct - 1)


def _surveyed(grid: Grid, position: int, column: Column, title: str) -> SurveyedColumn:
    import numpy as np
    import pyarrow as pa

    def surveyed(kind: ColumnKind, codes: np.ndarray, distinct: int, **more: Any) -> SurveyedColumn:
        return SurveyedColumn(column, title, kind, codes, distinct, **more)

    def described(
        values: np.ndarray, known: np.ndarray, codes: np.ndarray, distinct: int, **more: Any
    ) -> SurveyedColumn:
        """A column of numbers, or of truths if they are 0 and 1 alone."""
        held, numbers = values[known], np.where(known, values, np.nan)
        if not len(held):
            return surveyed("empty", codes, 0, **more)
        if set(np.unique(held).tolist()) == {0.0, 1.0}:
            return surveyed("truth", codes, distinct, numbers=numbers, **more)
        if not np.isfinite(held).all():
            return surveyed("unread", codes, distinct, reason="some of its values are infinite")
        return surveyed("number", codes, distinct, numbers=numbers, median=float(np.median(held)), **more)

    cells = whole_floats(grid.columns[position])
    assert not isinstance(cells, list)
    if pa.types.is_floating(cells.type) or (pa.types.is_decimal(cells.type) and cells.type.scale):
        reals = reals_of(cells, title, False)
        codes, distinct = _numbered(reals.values, reals.missing | reals.wrong)
        if reals.wrong.any():
            reason = f"{int(reals.wrong.sum()):,} of its values are nan, which is no number"
            return surveyed("unread", codes, distinct, reason=reason)
        return described(reals.values, ~reals.missing, codes, distinct)
    names = texts_of(cells, title).names
    spelled = [blank + mark for mark in _MARKS for blank in ("", " ")]
    present = [mark for mark in spelled if names.find(mark) is not None]
    padded = any(_PADDED.fullmatch(name) for digit in range(10) for name in names.starting(f"0{digit}", 1))
    # codes lose their zeros as numbers
    numeric = None if padded else _all_right(_without(cells, present), title, truth=False)
    marks = tuple(present if numeric is not None else [mark for mark in present if mark.strip() in _SURE])
    cells = _without(cells, marks)
    texts = without_fractions(texts_of(cells, title))
    codes, names, known = texts.codes, texts.names, texts.codes >= 0
    if texts.faults:
        return surveyed("unread", codes, len(names), marks=marks, reason="some of its texts are not UTF-8")
    if not known.any():
        return surveyed("empty", codes, 0, marks=marks, names=names)
    values = None if padded else _all_right(cells, title, truth=numeric is None)
    if values is None and _decimal_commas(names):
        reals = reals_of(with_points(cells, position), title, False)
        if not reals.wrong.any():
            return described(reals.values, known, codes, len(names), marks=marks, commas=True)
    as_text = surveyed("text", codes, len(names), marks=marks, names=names)
    if values is None:
        return as_text
    if not isinstance(cells, list) and pa.types.is_boolean(cells.type):  # one of them alone is a truth too
        return replace(as_text, kind="truth", numbers=np.where(known, values, np.nan))
    as_number = described(values, known, codes, len(names), marks=marks, names=names)
    if numeric is None and as_number.kind != "truth":  # a truth word alone, such as `f`
        return as_text
    # a number that float64 cannot hold names something
    return as_text if np.abs(values[known]).max() >= 2.0**53 else as_number


def _decimal_commas(names: Names) -> bool:
    """Whether half of the values or more are numbers with a decimal comma, or all are numbers and some have one."""
    with_comma = sum(decimal_comma(name) is not None for name in names)
    plain = sum(_WHOLE.fullmatch(name) is not None for name in names)
    return bool(with_comma) and (2 * with_comma >= len(names) or with_comma + plain == len(names))


def _numbered(values: np.ndarray, missing: np.ndarray) -> tuple[np.ndarray, int]:
    import numpy as np

    distinct, places = np.unique(values[~missing], return_inverse=True)
    codes = np.full(len(values), -1, np.int32)
    codes[~missing] = places
    return codes, len(distinct)


def _without(cells: Cells, marks: Sequence[str]) -> Cells:
    import numpy as np

    return without_marks(Grid({0: cells}, np.empty(0, np.int64)), marks).columns[0]


def _all_right(cells: Cells, title: str, *, truth: bool) -> np.ndarray | None:
    """The values of a column that holds only numbers, or only truths; None for any other, and for an empty one."""
    try:
        reals = reals_of(cells, title, truth)
    except Unreadable:
        return None
    return None if reals.wrong.any() or reals.missing.all() else reals.values


# --- layout ---------------------------------------------------------------------------------------------------------


def delimiter_of(raw: RawTable) -> str | None:
    """The delimiter; None if it is the one that the file name implies."""
    implied = delimiter_by_name(raw)

    def fit(mark: str) -> tuple[bool, int, bool]:
        widths = [len(row) for row in sample(raw, mark)]
        even = bool(widths) and widths.count(widths[0]) >= 0.9 * len(widths)
        return even and widths[0] > 1, widths[0] if widths else 0, mark == implied

    best = max((implied, *(mark for mark in _DELIMITERS if mark != implied)), key=fit)
    return None if best == implied or not fit(best)[0] else best


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns. It does not if its cells read like those below."""
    if len(rows) < 2:
        return True
    names, below = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    votes = 0
    for position, name in enumerate(names):
        cells = [row[position].strip() for row in below if row[position].strip()]
        if not cells or not name.strip():
            continue
        numeric = sum(NUMERAL.fullmatch(cell) is not None for cell in cells) > len(cells) / 2
        if numeric and not _YEAR.fullmatch(name.strip()):
            votes += 1 if NUMERAL.fullmatch(name) is None else -1
        elif name.strip() in cells:
            votes -= 1
    return votes >= 0


def sample(raw: RawTable, delimiter: str) -> list[list[str]]:
    """The first rows of a text, split at its delimiters."""
    text = raw.data[:_SAMPLE].removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    if len(raw.data) > _SAMPLE:
        text = text[: text.rfind("\n") + 1] or text
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(islice(text_rows(raw, text, delimiter), _ROWS))
    return rows


def text_rows(raw: RawTable, text: str, delimiter: str) -> Iterator[list[str]]:
    """The rows of the ``text`` of a file that are not empty. Raises ``csv.Error``."""
    return filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **quotes(raw, delimiter)))


def quotes(raw: RawTable, delimiter: str) -> dict[str, Any]:
    """How csv reads and writes quotes: a TSV has none."""
    return {"quoting": csv.QUOTE_NONE, "quotechar": None} if raw.format == "tsv" and delimiter == "\t" else {}


def delimiter_by_name(raw: RawTable) -> str:
    """The delimiter that the name of a file implies."""
    return "\t" if raw.format == "tsv" else ","
