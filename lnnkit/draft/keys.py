"""Finds the columns that name the entities which the rows of a table describe."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from lnnkit.draft.survey import Survey, SurveyedColumn

_TITLES = "[ug]?uids?|ids?|key|code|no|nr|number|name|uuid|isbn|email|login|user|person"
_ID = re.compile(rf"(?:^|[^a-z])(?:{_TITLES})$", re.IGNORECASE)
_CAMEL = re.compile(r"[a-z](?:Id|ID|Key|Code|No|Nr|Name)$")
_TIME = re.compile(
    r"(?:^|[^a-z])(?:year|quarter|month|week|day|hour|date|time|period|season|round|line)$", re.IGNORECASE
)
# Measured by `python -m benchmarks.draft_constants`: no draft of 36 tables changes with `_MOST` from 2 to 48.
_MOST = 12  # columns that are tried in pairs


def is_id(title: str) -> bool:
    """Whether a title suggests names or numbers of entities: ``id``, ``customer_id``, ``orderNo``."""
    return _ID.search(title.replace("_", " ")) is not None or _CAMEL.search(title) is not None


def keys_of(table: Survey) -> tuple[SurveyedColumn, ...]:
    """The column, or pair of columns, that distinguishes all rows; empty if there is none. In a table of two or three
    text columns and nothing else, every column is a key."""
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
    whole = [column for column in able if _is_whole(column)]
    times = [column for column in whole if _TIME.search(column.title.replace("_", " "))]
    for some in (titled, names, [*names, *(column for column in times if column not in names)]):
        if pair := _pair(some, table.rows):
            return pair
    return tuple(filter(_is_whole, unique))[:1] or _pair(whole, table.rows)


def _pair(columns: Sequence[SurveyedColumn], rows: int) -> tuple[SurveyedColumn, ...]:
    """The first two columns without gaps that together distinguish all rows."""
    for first, second in combinations(columns[:_MOST], 2):
        if not first.missing and not second.missing and _pairs(first, second) == rows:
            return first, second
    return ()


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
