"""One interning for all sorts: every entity of a program to a dense id."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from lnnkit.data.table import FactTable

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

LIMIT = 2**31 - 1
SMALL = 20_000
"""Below this many texts plain Python beats the import of Arrow's kernels."""


@dataclass(frozen=True, slots=True)
class Entities:
    """Distinct NFC texts sorted by code point; an entity's id is its place. Ids depend on no order of rows or files."""

    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def index(self, text: str) -> int | None:
        """The id of ``text`` (under NFC), or None if no fact or program names it."""
        place = bisect_left(self.names, text)
        return place if place < len(self.names) and self.names[place] == text else None


def intern(
    tables: Sequence[FactTable], texts: Iterable[str], small: int = SMALL
) -> tuple[Entities, list[tuple[np.ndarray, ...]]]:
    """All entities of the tables and of ``texts`` (NFC, such as a program's constants), and for each table its
    columns as int32 ids. ``OverflowError`` where ids would not fit int32. Without tables nothing is imported; the
    result does not depend on ``small``."""
    named = set(texts)
    dictionaries = [cast("pa.StringArray", column.dictionary) for table in tables for column in table.columns]
    if sum(map(len, dictionaries)) <= small:
        names, places = _in_python(dictionaries, named)
    else:
        names, places = _in_arrow(dictionaries, named)
    if len(names) > LIMIT:
        raise OverflowError(f"{len(names):,} entities: ids are int32, so at most {LIMIT:,} fit")
    return Entities(names), _ids(tables, places)


def _in_python(dictionaries: Sequence[pa.StringArray], named: set[str]) -> tuple[tuple[str, ...], list[np.ndarray]]:
    held = [cast("list[str]", dictionary.to_pylist()) for dictionary in dictionaries]
    names = tuple(sorted(named.union(*held)))
    if not held:
        return names, []
    import numpy as np

    place = {name: index for index, name in enumerate(names)}
    return names, [np.fromiter(map(place.__getitem__, texts), np.int32, len(texts)) for texts in held]


def _in_arrow(dictionaries: Sequence[pa.StringArray], named: set[str]) -> tuple[tuple[str, ...], list[np.ndarray]]:
    """UTF-8 bytes sort as code points do, so Arrow's order is Python's."""
    import numpy as np
    import pyarrow as pa
    from pyarrow.compute import SetLookupOptions, call_function

    from lnnkit.data.arrow import strings, view

    distinct = pa.chunked_array([*dictionaries, strings(sorted(named))]).unique()
    values = distinct.sort()
    options = SetLookupOptions(value_set=values)
    places = [view(call_function("index_in", [dictionary], options), np.int32) for dictionary in dictionaries]
    return tuple(cast("list[str]", values.to_pylist())), places


def _ids(tables: Sequence[FactTable], places: list[np.ndarray]) -> list[tuple[np.ndarray, ...]]:
    if not tables:
        return []
    import numpy as np

    from lnnkit.data.arrow import view

    ready = iter(places)
    return [tuple(next(ready)[view(column.indices, np.int32)] for column in table.columns) for table in tables]
