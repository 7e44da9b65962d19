"""Finds the columns that name the entities which the rows of a table describe."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from lnnkit.draft.survey import Survey, SurveyedColumn

_TITLES = "[ug]?uids?|ids?|key|code|no|nr|number|name|uuid|isbn|email|login|user|person"
_ID = re.compile(rf"(?:^|[^a-z])(?:{_TITLES})$", re.IGNORECASE)
_CAMEL = re.compile(r"[a-z](?:Id|ID|Key|Code|No|Nr|Name)$")
# Measured by `python -m benchmarks.draft_constants` on 36 tables: no draft changes with `_MOST` from 2 to 48, nor with
# either spread from 0.05 to 0.99. The spreads are set by tests/draft alone: ids with some repetitions pass, columns of
# categories and free text without a title such as "id" do not.
_MOST = 12  # columns that are tried in pairs
_SPREAD = 0.5  # the least ratio of distinct values to rows in a column that names rows, if its title is that of ids
_SPREAD_UNTITLED = 0.8  # the same for any other title


def is_id(title: str) -> bool:
    """Whether a title suggests names or numbers of entities: ``id``, ``customer_id``, ``orderNo``."""
    return _ID.search(title.replace("_", " ")) is not None or _CAMEL.search(title) is not None


def keys_of(table: Survey) -> tuple[SurveyedColumn, ...]:
    """The column, or pair of columns, that distinguishes all rows; if there is none, the nearest to it; empty if no
    column names anything. In a table of two or three text columns and nothing else, every column is a key."""
    able = [column for column in table.columns if column.names is not None and column.kind in ("text", "number")]
    able = [column for column in able if column.distinct and column.missing <= table.rows / 2]
    if len(able) == len(table.columns) and len(able) in (2, 3) and all(_is_name(column) for column in able):
        return tuple(able)
    unique = [column for column in able if column.distinct == table.rows - column.missing]
    for likely in (_named, _is_text, lambda column: column is table.columns[0] and _is_whole(column)):
        for column in unique:
            if likely(column):
                return (column,)
    names = [column for column in able if _is_name(column)]
    titled = [column for column in names if is_id(column.title)]
    for some, spread in ((titled, _SPREAD), (names, _SPREAD_UNTITLED)):
        if pair := _pair(some, table.rows):
            return pair
        near = [column for column in some if column.distinct >= spread * table.rows]
        if near:
            return (max(near, key=lambda column: column.distinct),)
    whole = [column for column in able if _is_whole(column)]
    return tuple(filter(_is_whole, unique))[:1] or _pair(whole, table.rows)


def _pair(columns: Sequence[SurveyedColumn], rows: int) -> tuple[SurveyedColumn, ...]:
    """The first two columns without gaps that together distinguish all rows."""
    for first, second in combinations(columns[:_MOST], 2):
        if not first.missing and not second.missing and _pairs(first, second) == rows:
            return first, second
    return ()


def tells(keys: Sequence[SurveyedColumn], column: SurveyedColumn) -> bool:
    """Whether each entity that the keys name has at most one value in a column."""
    import numpy as np

    known = column.codes >= 0
    for key in keys:
        known &= key.codes >= 0
    rows = np.stack([*(key.codes[known] for key in keys), column.codes[known]])
    return np.unique(rows, axis=1).shape[1] == np.unique(rows[:-1], axis=1).shape[1]


def _pairs(first: SurveyedColumn, second: SurveyedColumn) -> int:
    import numpy as np

    return len(np.unique(first.codes.astype(np.int64) * (second.distinct + 1) + second.codes))


def _named(column: SurveyedColumn) -> bool:
    return is_id(column.title)


def _is_text(column: SurveyedColumn) -> bool:
    return column.kind == "text"


def _is_whole(column: SurveyedColumn) -> bool:
    """Whether a column holds whole numbers, which may name rows."""
    return column.names is not None and not len(column.names.texts)


def _is_name(column: SurveyedColumn) -> bool:
    return column.kind == "text" or is_id(column.title)
