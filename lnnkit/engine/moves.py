"""The delta: the bounds that changed in a round, entered into the lists and indexes that the next round reads; and
what the rules of a round share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from lnnkit.analysis.relevance import SIDES
from lnnkit.engine.bounds_state import State, distinct, no_rows
from lnnkit.engine.encoded_bounds import EncodedBounds
from lnnkit.engine.merge import Inbox
from lnnkit.logic.bounds import Bounds
from lnnkit.store.atoms import Atoms, AtomTable
from lnnkit.store.columns.row_arrays import Array, spelled_out
from lnnkit.trail.events import Arrested


class Delta:
    """The rows, by their numbers in their tables, whose lower (0) or upper (1) end moved."""

    __slots__ = ("_classes", "_rows")

    def __init__(self) -> None:
        self._rows: dict[tuple[str, int], Array | range] = {}
        self._classes: dict[tuple[str, int], int] = {}

    def rows(self, table: str, side: int) -> Array | range | None:
        """The moved rows of a table; None if there are none."""
        return self._rows.get((table, side))

    def own_class(self, table: str, side: int) -> int | None:
        """The class of all of these rows, if it is known to be one."""
        return self._classes.get((table, side))

    @property
    def where(self) -> Iterable[tuple[str, int]]:
        """The tables and sides on which anything moved."""
        return self._rows.keys()

    def add(self, table: AtomTable, side: int, local: Array | range, own_class: int | None = None) -> None:
        """Add moved rows of one table, all of one class if it is given."""
        self._rows[table.name, side] = local
        if own_class is not None:
            self._classes[table.name, side] = own_class

    def add_all(self, rows: Array, sides: Sequence[int], atoms: Atoms) -> None:
        """Add moved atom rows of any tables."""
        for table, some in _by_table(rows, atoms):
            local = atoms.local(some)
            for side in sides:
                self.add(table, side, local)


def _by_table(rows: Array, atoms: Atoms) -> Iterator[tuple[AtomTable, Array]]:
    """The rows of each table."""
    for table, mine in atoms.by_table(rows):
        yield table, rows if mine is None else rows.take(mine)


def note(
    raised: Array, lowered: Array, atoms: Atoms, state: State, encoded: EncodedBounds, *, rising: bool = False
) -> tuple[Delta, Array]:
    """Arrest rows among those raised or lowered whose bounds crossed, and enter all of them into the lists of deviating
    rows, the others into the delta: from atoms that read as unknown nothing new follows. Returns the delta and the
    arrested rows. In a completion both ends are ``rising``: until it is done they may cross."""
    delta = Delta()
    single = not len(lowered)
    changed = raised if single else distinct([raised, lowered])
    arrested: list[Array] = []
    for table, rows in _by_table(changed, atoms):
        bounds = state.read(rows)
        crossed = no_rows() if rising else state.arrest(rows, bounds)
        if len(crossed):
            arrested.append(crossed)
            bounds = state.read(rows)
        enter(table, rows, bounds, atoms, encoded)
        if single and not len(crossed):
            delta.add(table, 0, atoms.local(rows))
    if single and not arrested:
        return delta, no_rows()
    crossed = np.concatenate(arrested) if arrested else no_rows()
    atoms.enlist(crossed)
    for side, rows in enumerate((raised, lowered)):
        delta.add_all(rows[~state.frozen.take(rows)] if arrested else rows, (side,), atoms)
    return delta, crossed


def note_new(
    rows: range, sides: Sequence[int], value: float, atoms: Atoms, encoded: EncodedBounds, eps: float
) -> Delta | None:
    """As ``note``, for new atoms that now have the bound ``value`` on one side or on both; moves are those of the last
    of ``sides``. None where they cross, or are of several tables."""
    own = atoms.run_of(rows)
    if own is None:
        return None
    table, first = own
    low, high = (value if side in sides else end for side, end in enumerate(table.default))
    if low > high + eps:
        return None
    local = range(first, first + len(rows))
    for side in sides:
        atoms.deviate_new(table, SIDES[side], rows.start, local)
    delta = Delta()
    delta.add(table, sides[-1], local, encoded.tell_new(table.number, rows.start, rows.stop, (low, high)))
    return delta


def enter(table: AtomTable, rows: Array, bounds: Bounds, atoms: Atoms, encoded: EncodedBounds) -> None:
    """Enter rows of one table with these bounds into its lists and its classes."""
    atoms.deviate_of(table, rows, *bounds)
    encoded.update(table.number, rows, *bounds)


def changes(rows: Array, atoms: Atoms) -> Delta:
    """Rows that have moved on both sides."""
    delta = Delta()
    delta.add_all(rows, (0, 1), atoms)
    return delta


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
