"""Finds the columns that name the entities which the rows of a table describe, and those of several tables that name
entities of one sort."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

from lnnkit.draft.naming import bare, singular, subject
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
    likely: tuple[Callable[[SurveyedColumn], bool], ...] = (
        lambda column: is_id(column.title),
        lambda column: column.kind == "text",
        lambda column: column is table.columns[0] and _is_whole(column),
    )
    for holds in likely:
        for column in unique:
            if holds(column):
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


def _is_whole(column: SurveyedColumn) -> bool:
    """Whether a column holds whole numbers, which may name rows."""
    return column.names is not None and not len(column.names.texts)


def _is_name(column: SurveyedColumn) -> bool:
    return column.kind == "text" or is_id(column.title)


class Sorts:
    """The sort of each column that names entities."""

    def __init__(self, tables: Sequence[Survey], keys: Sequence[tuple[SurveyedColumn, ...]]) -> None:
        self._found: dict[int, str] = {}
        self._keys: list[tuple[str, str, SurveyedColumn]] = []  # its sort, its table, and the column
        for table, own in zip(tables, keys, strict=True):
            stem = stem_of(table.path)
            whole = len(own) == len(table.columns) > 1  # a relation: its columns may name entities of one kind
            for place, column in enumerate(own):
                sort = self._like(column, stem)
                if sort is None and whole and place and overlap(column, own[0]):
                    sort = self._found[id(own[0])]
                if sort is None:
                    sort = self._free(singular(subject(column.title) or (stem if len(own) == 1 else column.title)))
                if whole and not place and any(overlap(column, other) for other in own[1:]):
                    sort = self._like(column, stem) or self._free(f"{singular(stem)}-entity")
                self._found[id(column)] = sort
                self._keys.append((sort, stem, column))

    def of(self, column: SurveyedColumn) -> str:
        """The sort of a column: for a key or a reference to a key, that of the key; for a category, a sort of its
        own."""
        found = self._found.get(id(column))
        if found is None:
            found = self.reference(column) or self._free(bare(column.title).lower())
            self._found[id(column)] = found
        return found

    def reference(self, column: SurveyedColumn) -> str | None:
        """The sort of the key that a column refers to; None if it refers to none."""
        return self._like(column, "") if column.names is not None else None

    def _like(self, column: SurveyedColumn, stem: str) -> str | None:
        """The sort of a key to which a column refers. The key has the same title and shares values, or its table is
        named by the column's title. Two columns called ``id`` refer to each other only if one has all values of the
        other. Texts that all occur in a key refer to it whatever their title."""
        about = bare(subject(column.title)).lower() if subject(column.title) else ""
        for sort, table, key in self._keys:
            if key is column:
                continue
            same = key.title.casefold() == column.title.casefold()
            if same and (about or table == stem) and overlap(column, key):
                return sort
            if same and not about and covered(column, key):
                return sort
            if column.kind == key.kind == "text" and column.distinct > 1 and _shared(column, key) == column.distinct:
                return sort
            named = bool(about) and (about == sort or bare(table).lower().startswith(about))
            if named and overlap(column, key):
                return sort
        return None

    def _free(self, name: str) -> str:
        """A name for a sort that is not taken by another key; ``entity`` is the sort of everything."""
        taken = {sort for sort, _, _ in self._keys} | {"entity"}
        while name in taken:
            name = f"{name}-value"
        return name


def stem_of(path: Path) -> str:
    """A file's name without its endings."""
    return path.name.split(".")[0] or path.name


def overlap(one: SurveyedColumn, other: SurveyedColumn) -> bool:
    """Whether two columns share at least half of the values of the one with fewer values."""
    return _shared(one, other) >= 0.5 * min(one.distinct, other.distinct) > 0


def covered(one: SurveyedColumn, other: SurveyedColumn) -> bool:
    """Whether one of the columns has all values of the other."""
    return _shared(one, other) == min(one.distinct, other.distinct) > 0


def _shared(one: SurveyedColumn, other: SurveyedColumn) -> int:
    if one.names is None or other.names is None:
        return 0
    return len(set(one.names) & set(other.names))
