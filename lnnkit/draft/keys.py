"""Finds the columns that name the entities which the rows of a table describe, and those of several tables that name
entities of one sort; and makes the names of predicates and sorts, from the titles of columns and files."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

from lnnkit.draft.survey import Survey, SurveyedColumn
from lnnkit.syntax.identifiers import AGGREGATES, FUNCTIONS, KEYWORDS, SHOUTED, UNITS, is_name, normalise

_TAKEN = frozenset((*KEYWORDS, *AGGREGATES, *FUNCTIONS, *UNITS, *SHOUTED))
_ID = re.compile(r"(?:^|[ _-]+)(?:u?ids?|key|code|no|nr|number|name)$", re.IGNORECASE)
_CAMEL_ID = re.compile(r"(?<=[a-z])(?:Ids?|ID|Key|Code|No|Nr|Number|Name)$")


class PredicateNames:
    """Gives each predicate a distinct name."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def predicate(self, title: str, table: str, *, numeric: bool) -> str:
        """A name that needs no quotes: lower-case first for a number, upper-case first for a truth value; prefixed with
        the name of the table if another table has a similar one."""
        name = _cased(bare(title), numeric)
        if name.casefold() in self._used:
            name = _cased(f"{bare(table)}-{bare(title)}", numeric)
        stem, count = name, 2
        while name.casefold() in self._used:
            name, count = f"{stem}-{count}", count + 1
        self._used.add(name.casefold())
        return name


def bare(title: str) -> str:
    """The words of a title, joined by hyphens where necessary: ``Größe (cm)`` gives ``Größe-cm``."""
    name = "-".join(re.findall(r"\w+", normalise(title))).strip("_")
    name = name.lower() if name.isupper() and len(name) > 1 else name
    if not is_name(name) and not is_name(name.lower()):
        name = f"column-{name}" if name else "column"
    if name in _TAKEN or name.lower() in _TAKEN or not is_name(name) or not is_name(name.lower()):
        name = f"{name}-value"
    return name if is_name(name) else "column"


def subject(title: str) -> str:
    """What a column of ids is about: ``customer_id`` gives ``customer``; ``id`` alone gives an empty text."""
    return _CAMEL_ID.sub("", _ID.sub("", title.strip())).strip(" _-")


def singular(stem: str) -> str:
    """The name of one row, made from the name of its table."""
    word = bare(stem).lower()
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word


def _cased(name: str, numeric: bool) -> str:
    first = name[0].lower() if numeric else name[0].upper()
    return first + name[1:] if len(first) == 1 and is_name(first + name[1:]) else name


_TITLES = "[ug]?uids?|ids?|key|code|no|nr|number|name|uuid|isbn|email|login|user|person"
_ID_TITLE = re.compile(rf"(?:^|[^a-z])(?:{_TITLES})$", re.IGNORECASE)
_CAMEL_TITLE = re.compile(r"[a-z](?:Id|ID|Key|Code|No|Nr|Name)$")
_TIME = re.compile(
    r"(?:^|[^a-z])(?:year|quarter|month|week|day|hour|date|time|period|season|round|line)$", re.IGNORECASE
)
# Measured by `python -m benchmarks.draft_constants`: no draft of 36 tables changes with `_MOST` from 2 to 48.
_MOST = 12  # columns that are tried in pairs


def is_id(title: str) -> bool:
    """Whether a title suggests names or numbers of entities: ``id``, ``customer_id``, ``orderNo``."""
    return _ID_TITLE.search(title.replace("_", " ")) is not None or _CAMEL_TITLE.search(title) is not None


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
    if likeliest := [column for holds in likely for column in unique if holds(column)]:
        return (likeliest[0],)
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
    import numpy as np

    for first, second in combinations([column for column in columns[:_MOST] if not column.missing], 2):
        if len(np.unique(first.codes.astype(np.int64) * (second.distinct + 1) + second.codes)) == rows:
            return first, second
    return ()


def _is_whole(column: SurveyedColumn) -> bool:
    """Whether a column holds whole numbers, which may name rows."""
    return column.names is not None and not len(column.names.texts)


def _is_name(column: SurveyedColumn) -> bool:
    return column.kind == "text" or is_id(column.title)


class Sorts:
    """The sort of each column that names entities."""

    def __init__(self, tables: Sequence[Survey], keys: Sequence[tuple[SurveyedColumn, ...]]) -> None:
        self._by_column: dict[int, str] = {}
        self._keys: list[tuple[str, str, SurveyedColumn]] = []  # its sort, its table, and the column
        for table, key in zip(tables, keys, strict=True):
            stem = stem_of(table.path)
            whole = len(key) == len(table.columns) > 1  # a relation: its columns may name entities of one kind
            for place, column in enumerate(key):
                sort = self._like(column, stem)
                if sort is None and whole and place and overlap(column, key[0]):
                    sort = self._by_column[id(key[0])]
                if sort is None:
                    sort = self._free(singular(subject(column.title) or (stem if len(key) == 1 else column.title)))
                if whole and not place and any(overlap(column, other) for other in key[1:]):
                    sort = self._like(column, stem) or self._free(f"{singular(stem)}-entity")
                self._by_column[id(column)] = sort
                self._keys.append((sort, stem, column))

    def of(self, column: SurveyedColumn) -> str:
        """The sort of a column: for a key or a reference to a key, that of the key; for a category, a sort of its
        own."""
        sort = self._by_column.get(id(column))
        if sort is None:
            sort = self.reference(column) or self._free(bare(column.title).lower())
            self._by_column[id(column)] = sort
        return sort

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
            named = bool(about) and (about == sort or bare(table).lower().startswith(about))
            if (same and (about or table == stem)) or named:
                refers = overlap(column, key)
            else:
                refers = same and not about and overlap(column, key, 1.0)
            texts = column.kind == key.kind == "text" and column.distinct > 1
            if refers or (texts and _shared(column, key) == column.distinct):
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


def overlap(one: SurveyedColumn, other: SurveyedColumn, share: float = 0.5) -> bool:
    """Whether two columns share at least this share of the values of the one with fewer values."""
    return _shared(one, other) >= share * min(one.distinct, other.distinct) > 0


def _shared(one: SurveyedColumn, other: SurveyedColumn) -> int:
    if one.names is None or other.names is None:
        return 0
    return len(set(one.names) & set(other.names))
