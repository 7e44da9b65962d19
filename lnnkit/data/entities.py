"""Interning: maps every entity of a program, of whatever sort, to a dense id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from lnnkit.data.column import EntityColumn
from lnnkit.data.names import Names
from lnnkit.data.table import FactTable

LIMIT = 2**31 - 1
_LOOKED_UP = 1000
"""Up to this many texts of a program are looked up one by one among those of its tables; with more, all are
interned."""


class Entities(Mapping[str, int]):
    """Maps distinct NFC texts to ids. The id of an entity is its rank among the names: whole numbers by value, then
    texts by code point (see `Names`). So ids do not depend on the order of rows or files. Texts are materialised only
    on demand."""

    __slots__ = ("names",)

    def __init__(self, names: Iterable[str]) -> None:
        self.names = names if isinstance(names, Names) else Names.of(names)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, text: str) -> int:
        place = self.index(text)
        if place is None:
            raise KeyError(text)
        return place

    def index(self, text: str) -> int | None:
        """The id of ``text`` (in NFC), or None if no fact or program names it."""
        return self.names.find(text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entities) and self.names == other.names

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"Entities({self.names!r})"


def intern(tables: Sequence[FactTable], texts: Iterable[str]) -> tuple[Entities, list[tuple[np.ndarray, ...]]]:
    """All entities of the tables and of ``texts`` (in NFC, such as the constants of a program), and for each table its
    columns as int32 ids. Raises ``OverflowError`` if ids exceed int32. Without tables nothing heavy is imported."""
    named = set(texts)
    lists = list({id(table.names): table.names for table in tables if table.columns}.values())
    if lists:
        names, ranks = _together(lists, named)
    else:
        names, ranks = Names.of(named), {}
    if len(names) > LIMIT:
        raise OverflowError(f"{len(names):,} entities: ids are int32, so at most {LIMIT:,} fit")
    return Entities(names), [tuple(_ids(column, ranks[id(column.names)]) for column in each.columns) for each in tables]


def _ids(column: EntityColumn, ranks: np.ndarray) -> np.ndarray:
    return column.codes if ranks is column.names.ranks else ranks.take(column.codes)


def _together(lists: Sequence[Names], named: set[str]) -> tuple[Names, dict[int, np.ndarray]]:
    """All names, and by the id of each list the ranks of its own."""
    from lnnkit.data.cells.texts import Texts, reunited

    if len(named) <= _LOOKED_UP:
        largest = max(lists, key=len)
        named = {text for text in named if text not in largest}
    parts = [*lists, Names.of(named)] if named else lists
    found = reunited([Texts(each.ranks, each) for each in parts])
    return found[0].names, {id(each): texts.codes for each, texts in zip(parts, found, strict=True)}
