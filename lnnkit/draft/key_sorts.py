"""Decides which columns of several tables name entities of one sort."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lnnkit.draft.naming import bare, singular, subject
from lnnkit.draft.survey import Survey, SurveyedColumn

Place = tuple[int, int]  # a table and a column of it


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
            found = self.reference(column) or self._category(column)
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

    def _category(self, column: SurveyedColumn) -> str:
        return self._free(bare(column.title).lower())

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
