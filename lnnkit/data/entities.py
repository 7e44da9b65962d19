"""One interning for all sorts: every entity of a program to a dense id."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from lnnkit.data.names import Names
from lnnkit.data.table import FactTable

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

LIMIT = 2**31 - 1
SMALL = 20_000
"""Below this many texts plain Python beats the import of Arrow's kernels."""
_FEW = 2  # so few dictionaries are looked for in the largest, before all are sorted together
_LOOKED_UP = 1000
"""So many texts of a program are looked up one by one among those of its tables; of more, all are interned."""


class Entities(Mapping[str, int]):
    """From distinct NFC texts, sorted by code point, to their ids: an entity's id is its place. Ids depend on no order
    of rows or files. Nothing is made of the texts before they are looked at."""

    __slots__ = ("names",)

    def __init__(self, names: Sequence[str] | Names) -> None:
        self.names = names if isinstance(names, Names) else Names(names)

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
        """The id of ``text`` (under NFC), or None if no fact or program names it."""
        place = bisect_left(self.names, text)
        return place if place < len(self.names) and self.names[place] == text else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entities) and self.names == other.names

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"Entities({self.names!r})"


def intern(
    tables: Sequence[FactTable], texts: Iterable[str], small: int = SMALL
) -> tuple[Entities, list[tuple[np.ndarray, ...]]]:
    """All entities of the tables and of ``texts`` (NFC, such as a program's constants), and for each table its
    columns as int32 ids. ``OverflowError`` where ids would not fit int32. Without tables nothing is imported; the
    result does not depend on ``small``."""
    named = set(texts)
    dictionaries = [table.texts for table in tables if table.texts is not None]
    if sum(map(len, dictionaries)) <= small:
        names, places = _in_python(dictionaries, named)
    else:
        names, places = _in_arrow(dictionaries, named)
    if len(names) > LIMIT:
        raise OverflowError(f"{len(names):,} entities: ids are int32, so at most {LIMIT:,} fit")
    return Entities(names), _ids(tables, places)


def _in_python(dictionaries: Sequence[pa.StringArray], named: set[str]) -> tuple[Names, list[np.ndarray | None]]:
    held = [cast("list[str]", dictionary.to_pylist()) for dictionary in dictionaries]
    names = Names(sorted(named.union(*held)))
    if not held:
        return names, []
    import numpy as np

    place = {name: index for index, name in enumerate(names)}
    return names, [np.fromiter(map(place.__getitem__, texts), np.int32, len(texts)) for texts in held]


def _in_arrow(dictionaries: Sequence[pa.StringArray], named: set[str]) -> tuple[Names, list[np.ndarray | None]]:
    """Every dictionary is sorted: one that holds all texts already may be the numbering itself (None as its places).
    Short texts are merged instead, which costs less than to look them up."""
    import numpy as np

    from lnnkit.data.arrow import concatenated, strings
    from lnnkit.data.ranked import by_hashing, by_keys, keys_of

    largest = max(dictionaries, key=len)
    known = Entities(Names(largest))
    missing = sorted(text for text in named if len(named) > _LOOKED_UP or text not in known)
    others = [each for each in dictionaries if each is not largest and not each.equals(largest)]
    if not missing and not others:
        return Names(largest), [None] * len(dictionaries)
    parts = [largest, *others, strings(missing)]
    texts = concatenated(parts)
    keys = keys_of(texts)
    if keys is None and not missing and len(others) <= _FEW:
        among = {id(each): _among(each, largest) for each in others}
        if all(place is not None for place in among.values()):
            return Names(largest), [among.get(id(each)) for each in dictionaries]
    codes, values = by_hashing(texts) if keys is None else by_keys(texts, keys)
    ready = iter(np.split(codes, np.cumsum([len(part) for part in parts])[:-1]))
    first = next(ready)
    kept = {id(each) for each in others}
    return Names(values), [next(ready) if id(each) in kept else first for each in dictionaries]


def _among(texts: pa.StringArray, all_texts: pa.StringArray) -> np.ndarray | None:
    """Where each of some texts stands among others; None if not all do. Both are distinct, and sorted."""
    import numpy as np
    from pyarrow.compute import SetLookupOptions, call_function

    there = call_function("is_in", [all_texts], SetLookupOptions(texts))
    return np.flatnonzero(there).astype(np.int32) if there.true_count == len(texts) else None


def _ids(tables: Sequence[FactTable], places: list[np.ndarray | None]) -> list[tuple[np.ndarray, ...]]:
    if not tables:
        return []
    import numpy as np

    from lnnkit.data.arrow import view

    ready = iter(places)
    found: list[tuple[np.ndarray, ...]] = []
    for table in tables:
        place = next(ready) if table.columns else None
        codes = [view(column.indices, np.int32) for column in table.columns]
        found.append(tuple(codes if place is None else [place.take(column) for column in codes]))
    return found
