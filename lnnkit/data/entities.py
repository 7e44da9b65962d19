"""Interning: maps every entity of a program, of whatever sort, to a dense id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lnnkit.data.names import Names, is_many
from lnnkit.data.numerals import parted
from lnnkit.data.table import FactTable

if TYPE_CHECKING:
    import pyarrow as pa

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
    few = not is_many(sum(map(len, lists))) and any(len(held.texts) for held in lists)
    if few or not lists:
        names, places = _in_python(lists, named)
    else:
        names, places = _in_bulk(lists, named)
    if len(names) > LIMIT:
        raise OverflowError(f"{len(names):,} entities: ids are int32, so at most {LIMIT:,} fit")
    ready = {id(held): place for held, place in zip(lists, places, strict=True)}
    columns: list[tuple[np.ndarray, ...]] = []
    for table in tables:
        place = ready[id(table.names)] if table.columns else None
        columns.append(tuple(column.codes if place is None else place.take(column.codes) for column in table.columns))
    return Entities(names), columns


def _in_python(lists: Sequence[Names], named: set[str]) -> tuple[Names, list[np.ndarray]]:
    names = Names.of(named.union(*(held.python for held in lists)))
    if not lists:
        return names, []
    place = {name: index for index, name in enumerate(names)}
    return names, [np.fromiter(map(place.__getitem__, held), np.int32, len(held)) for held in lists]


def _in_bulk(lists: Sequence[Names], named: set[str]) -> tuple[Names, list[np.ndarray | None]]:
    """All names, and the ranks of those of each list; None for a list that has all names."""
    from lnnkit.data.cells.whole import united

    spelled, others = parted(named)
    numbers, (*first, _) = united([*(held.numbers_in_numpy for held in lists), np.array(spelled, np.int64)])
    texts, rest = _texts([held.texts_in_arrow for held in lists], others)
    names, places = Names(texts, numbers), list[np.ndarray | None]()
    for held, front, tail in zip(lists, first, rest, strict=True):
        behind = np.arange(len(held.texts), dtype=np.int32) if tail is None else tail
        ranks = np.concatenate([front, behind + np.int32(len(numbers))])
        places.append(None if len(held) == len(names) else ranks)
    return names, places


def _texts(lists: Sequence[pa.StringArray], named: Sequence[str]) -> tuple[pa.StringArray, list[np.ndarray | None]]:
    """All texts, sorted, and the ranks of those of each sorted list; None for a list that has all of them, which can
    then serve as the numbering itself."""
    from lnnkit.data.arrow import concatenated, ranked, strings

    largest = max(lists, key=len)
    known = Names(largest)
    same = all(texts is largest or texts.equals(largest) for texts in lists)
    if same and len(named) <= _LOOKED_UP and all(text in known for text in named):
        return largest, [None] * len(lists)
    parts = [*lists, strings(sorted(named))]
    codes, values = ranked(concatenated(parts))
    *places, _ = np.split(codes, np.cumsum([len(part) for part in parts])[:-1])
    return values, list(places)
