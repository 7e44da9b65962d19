"""The entities of a program, by sort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.store.columns.row_arrays import Array


@dataclass(frozen=True, slots=True)
class Domain:
    """The entities of the program. ``sorts`` has the ids of each sort; ``index`` the id of each entity, including those
    that only queries mention and that belong to no sort. ``generic`` is the id that stands for every entity whose row
    is not materialised, ``stranger`` the id of an unnamed individual of an open sort."""

    sorts: Mapping[str, Array]
    index: Mapping[str, int]
    generic: int
    open_sorts: frozenset[str]

    @property
    def stranger(self) -> int:
        return self.generic + 1

    def has(self, sort: str, entity: str) -> bool:
        """Whether an entity belongs to a sort."""
        ids = self.sorts[sort]  # ids ascend
        place = int(np.searchsorted(ids, self.index[entity]))
        return place < len(ids) and int(ids[place]) == self.index[entity]

    def lacks(self, sorts: Sequence[str], arguments: Sequence[object]) -> bool:
        """Whether any argument is an entity outside the sort of its position. Only queries can mention such entities,
        and no atom about them has a row."""
        return any(
            isinstance(each, str) and not self.has(sort, each) for sort, each in zip(sorts, arguments, strict=True)
        )

    def members(self, sort: str) -> Array:
        """(entities + 2,) flags: the ids that belong to the sort; never the generic ones."""
        flags = np.zeros(self.generic + 2, dtype=bool)
        flags[self.sorts[sort]] = True
        return flags
