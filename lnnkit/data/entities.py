"""Interning: maps every entity of a program, of whatever sort, to a dense id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lnnkit.data.names import Names
from lnnkit.data.table import FactTable
from lnnkit.data.whole import gapless, is_many, parted, united

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

LIMIT = 2**31 - 1
_FEW = 2  # up to this many lists of texts are looked up in the longest; more are sorted together
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
    return Entities(names), [_ids(table, ready[id(table.names)]) if table.columns else () for table in tables]


def _ids(table: FactTable, place: np.ndarray | None) -> tuple[np.ndarray, ...]:
    return tuple(column.codes if place is None else place.take(column.codes) for column in table.columns)


def _in_python(lists: Sequence[Names], named: set[str]) -> tuple[Names, list[np.ndarray]]:
    names = Names.of(named.union(*(held.python for held in lists)))
    if not lists:
        return names, []
    import numpy as np

    place = {name: index for index, name in enumerate(names)}
    return names, [np.fromiter(map(place.__getitem__, held), np.int32, len(held)) for held in lists]


def _in_bulk(lists: Sequence[Names], named: set[str]) -> tuple[Names, list[np.ndarray | None]]:
    """All names, and the ranks of those of each list; None for a list that has all names."""
    import numpy as np

    spelled, others = parted(named)
    numbers, first = _numbers([held.numbers_in_numpy for held in lists], spelled)
    texts, rest = _texts([held.texts_in_arrow for held in lists], others)
    places: list[np.ndarray | None] = []
    for held, one, two in zip(lists, first, rest, strict=True):
        if one is None and two is None:
            places.append(None)
            continue
        front = np.arange(len(held.numbers), dtype=np.int32) if one is None else one
        behind = np.arange(len(held.texts), dtype=np.int32) if two is None else two
        places.append(np.concatenate([front, behind + np.int32(len(numbers))]))
    return Names(texts, numbers), places


def _numbers(lists: Sequence[np.ndarray], named: Sequence[int]) -> tuple[np.ndarray, list[np.ndarray | None]]:
    """All numbers, and the ranks of those of each list; None for a list that has all of them."""
    import numpy as np

    largest = max(lists, key=len)
    mentioned = np.array(named, np.int64)
    missing = mentioned[~np.isin(mentioned, largest)] if len(named) else mentioned
    others = [each for each in lists if each is not largest and not np.array_equal(each, largest)]
    if not len(missing) and all(_within(each, largest) for each in others):
        ranks = {id(each): (each - largest[0]).astype(np.int32) for each in others}
        return largest, [ranks.get(id(each)) for each in lists]
    numbers, (own, *places, _) = united([largest, *others, missing])
    own = None if len(numbers) == len(largest) else own
    ready = {id(each): place for each, place in zip(others, places, strict=True)}
    return numbers, [ready.get(id(each), own) for each in lists]


def _within(numbers: np.ndarray, others: np.ndarray) -> bool:
    """Whether ascending numbers are all among ``others``, which have no gap."""
    return not len(numbers) or (gapless(others) and bool(others[0] <= numbers[0] and numbers[-1] <= others[-1]))


def _texts(lists: Sequence[pa.StringArray], named: Sequence[str]) -> tuple[pa.StringArray, list[np.ndarray | None]]:
    """All texts, sorted, and the ranks of those of each sorted list; None for a list that has all of them, which can
    then serve as the numbering itself."""
    import numpy as np

    from lnnkit.data.arrow import concatenated, strings
    from lnnkit.data.ranked import ranked

    largest = max(lists, key=len)
    known = Names(largest)
    missing = sorted(text for text in named if len(named) > _LOOKED_UP or text not in known)
    others = [each for each in lists if each is not largest and not each.equals(largest)]
    if not missing and not others:
        return largest, [None] * len(lists)
    parts = [largest, *others, strings(missing)]
    if not missing and len(others) <= _FEW:
        among = {id(each): _among(each, largest) for each in others}
        if all(place is not None for place in among.values()):
            return largest, [among.get(id(each)) for each in lists]
    codes, values = ranked(concatenated(parts))
    own, *places, _ = np.split(codes, np.cumsum([len(part) for part in parts])[:-1])
    ready = {id(each): place for each, place in zip(others, places, strict=True)}
    return values, [ready.get(id(each), own) for each in lists]


def _among(texts: pa.StringArray, all_texts: pa.StringArray) -> np.ndarray | None:
    """The ranks of some texts among others; None if not all of them are there. Both are distinct and sorted."""
    import numpy as np
    from pyarrow.compute import SetLookupOptions, call_function

    there = call_function("is_in", [all_texts], SetLookupOptions(texts))
    return np.flatnonzero(there).astype(np.int32) if there.true_count == len(texts) else None
