"""A round: the state that its members read, and the inbox that they write to."""

from __future__ import annotations

from lnnkit.engine.bounds_state import State
from lnnkit.engine.delta import Delta
from lnnkit.engine.encoded_bounds import EncodedBounds
from lnnkit.engine.merge import Inbox
from lnnkit.store.atoms import Atoms, AtomTable
from lnnkit.store.columns.row_arrays import spelled_out
from lnnkit.trail.events import Arrested


class Round:
    """What the members of a round share: the state that all read, the ``delta`` of the last round, and the proposals
    for its end. ``made`` has, by table, the side and the bound that new atoms receive at least."""

    __slots__ = ("_moved", "arrested", "atoms", "delta", "encoded", "inbox", "instances", "made", "state")

    def __init__(self, atoms: Atoms, state: State, encoded: EncodedBounds, delta: Delta | None = None) -> None:
        self.atoms = atoms
        self.state = state
        self.encoded = encoded
        self.delta = delta
        self.inbox = Inbox(([], []))
        self.arrested: list[Arrested] = []
        self.instances = 0
        self.made: dict[int, tuple[tuple[int, float], int]] = {}
        self._moved: dict[tuple[str, int], int | None] = {}

    def extend(self) -> None:
        """Give the rows that the round has added their default bounds."""
        self.state.extend(self.atoms)
        self.encoded.extend()

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
