"""The numbers of a table, as one array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lnnkit.data.marks import with_points, without_marks
from lnnkit.data.numbers import reals_of
from lnnkit.data.sheets import opened
from lnnkit.data.source import read_source
from lnnkit.draft.survey import Survey, SurveyedColumn

if TYPE_CHECKING:
    import numpy as np


def number_columns(table: Survey) -> tuple[tuple[SurveyedColumn, ...], np.ndarray]:
    """The columns of numbers, and their cells ``[rows, columns]``; nan where one is missing. Columns of 0 and 1 alone
    are among them. Raises `Unreadable`."""
    import numpy as np

    raw = read_source(table.path)
    sheet = opened(raw, table.header, table.delimiter)
    chosen: list[SurveyedColumn] = []
    found: list[np.ndarray] = []
    for position, column in enumerate(table.columns):
        if column.kind not in ("number", "truth"):
            continue
        grid = without_marks(sheet.read([position]), column.marks)
        cells = grid.columns[position]
        if column.commas:
            cells = with_points(cells, position)
        reals = reals_of(cells, column.title, column.kind == "truth")
        if reals.wrong.any() or len(reals.values) != table.rows:
            continue
        chosen.append(column)
        found.append(np.where(reals.missing, np.nan, reals.values))
    return tuple(chosen), np.stack(found, 1) if found else np.zeros((table.rows, 0))
