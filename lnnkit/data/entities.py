"""Interning: maps every entity of a program, of whatever sort, to a dense id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from lnnkit.data.names import Names
from lnnkit.data.table import FactTable

LIMIT = 2**31 - 1


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
    lists = list({id(table.names): table.names for table in tables if table.columns}.values())
    names, places = Names.of(texts), list[np.ndarray]()
    if lists:
        from lnnkit.data.cells.texts import shared_names

        names, places = shared_names([*lists, names])
    if len(names) > LIMIT:
        raise OverflowError(f"{len(names):,} entities: ids are int32, so at most {LIMIT:,} fit")
    ready = {id(held): place for held, place in zip(lists, places, strict=False)}
    columns: list[tuple[np.ndarray, ...]] = []
    for table in tables:
        codes = tuple(column.codes for column in table.columns)
        same = len(table.names) == len(names)
        columns.append(codes if same else tuple(ready[id(table.names)].take(column) for column in codes))
    return Entities(names), columns
