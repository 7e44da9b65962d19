"""The entities of a program, by sort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.store.columns.arrays import Array


@dataclass(frozen=True, slots=True)
class Domain:
    """The entities of the program: ``sorts`` gives each sort's ids, ``index`` an entity's id, also that of one which
    queries alone name and no sort has; ``generic`` is the id that stands for every entity whose row is not
    materialised, ``stranger`` for one that an open sort may hold beside those named."""

    sorts: Mapping[str, Array]
    index: Mapping[str, int]
    generic: int
    open_sorts: frozenset[str]

    @property
    def stranger(self) -> int:
        return self.generic + 1

    def has(self, sort: str, entity: str) -> bool:
        """Whether an entity is of a sort."""
        ids = self.sorts[sort]  # in ascending order
        place = int(np.searchsorted(ids, self.index[entity]))
        return place < len(ids) and int(ids[place]) == self.index[entity]

    def lacks(self, sorts: Sequence[str], arguments: Sequence[object]) -> bool:
        """Whether any of the arguments is an entity that is not of the sort of its place. Only a query can mention such
        a one, and no atom about it has a row."""
        return any(
            isinstance(each, str) and not self.has(sort, each) for sort, each in zip(sorts, arguments, strict=True)
        )

    def members(self, sort: str) -> Array:
        """(entities + 2,) which ids the sort has; the generic ones never."""
        flags = np.zeros(self.generic + 2, dtype=bool)
        flags[self.sorts[sort]] = True
        return flags
