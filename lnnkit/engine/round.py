"""A round: the state that all who look read, and what they leave for its end."""

from __future__ import annotations

from dataclasses import dataclass, field

from lnnkit.engine.bounds_state import State
from lnnkit.engine.delta import Delta
from lnnkit.engine.encoded_bounds import EncodedBounds
from lnnkit.engine.merge import Inbox
from lnnkit.store.atoms import Atoms, AtomTable
from lnnkit.store.columns.arrays import spelled_out
from lnnkit.trail.events import Arrested


@dataclass(slots=True, eq=False)
class Round:
    """What the members of a round share: the state that all read, and what they leave for its end."""

    atoms: Atoms
    state: State
    encoded: EncodedBounds
    delta: Delta | None = None  # of the last round
    inbox: Inbox = field(default_factory=Inbox)
    arrested: list[Arrested] = field(default_factory=list)
    instances: int = 0
    made: dict[int, tuple[tuple[int, float], int]] = field(default_factory=dict)  # by table: the side and bound that so
    # many new atoms are told, at least
    _moved: dict[tuple[str, int], int | None] = field(default_factory=dict)

    def class_of_moved(self, table: AtomTable, side: int) -> int | None:
        """The class of all rows of a table that moved on a side; None where they have several."""
        where = table.name, side
        if self.delta is None:
            return None
        known = self.delta.own_class(*where)
        if known is None and where not in self._moved:
            rows = self.delta.rows(*where)
            self._moved[where] = None if rows is None else self.encoded.common(table.row(spelled_out(rows)))
        return self._moved[where] if known is None else known
