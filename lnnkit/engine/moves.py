"""The delta: the bounds that changed in a round, entered into the lists and indexes that the next round reads; and
what the rules of a round share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lnnkit.analysis.relevance import SIDES
from lnnkit.engine.bounds_state import State, distinct, no_rows
from lnnkit.engine.encoded_bounds import EncodedBounds
from lnnkit.engine.merge import Inbox
from lnnkit.store.relations import Relation, Relations
from lnnkit.store.row_arrays import Array, spelled_out
from lnnkit.trail.events import Arrested

Rows = Mapping[Relation, Array | range]


class Delta:
    """The rows whose lower (0) or upper (1) end moved."""

    __slots__ = ("_classes", "_rows")

    def __init__(self) -> None:
        self._rows: dict[tuple[str, int], Array | range] = {}
        self._classes: dict[tuple[str, int], int | None] = {}

    def rows(self, table: str, side: int) -> Array | range | None:
        """The moved rows of a table; None if there are none."""
        return self._rows.get((table, side))

    def common_class(self, table: Relation, side: int, encoded: EncodedBounds) -> int | None:
        """The class of all moved rows of a table; None where they have several."""
        where = table.name, side
        if where not in self._classes and where in self._rows:
            self._classes[where] = encoded.common(table, spelled_out(self._rows[where]))
        return self._classes.get(where)

    @property
    def where(self) -> Iterable[tuple[str, int]]:
        """The tables and sides on which anything moved."""
        return self._rows.keys()

    def add(self, table: Relation, side: int, rows: Array | range, common_class: int | None = None) -> None:
        """Add moved rows of one table, all of one class if it is given."""
        self._rows[table.name, side] = rows
        if common_class is not None:
            self._classes[table.name, side] = common_class


def note(
    delta: Delta,
    table: Relation,
    raised: Array,
    lowered: Array,
    state: State,
    encoded: EncodedBounds,
    *,
    rising: bool = False,
) -> Array:
    """Arrest rows among those raised or lowered whose bounds crossed, and enter all of them into the lists of deviating
    rows, the others into the delta: from atoms that read as unknown nothing new follows. Returns the arrested rows. In
    a completion both ends are ``rising``: until it is done they may cross."""
    changed = distinct([raised, lowered]) if len(raised) and len(lowered) else raised if len(raised) else lowered
    if not len(changed):
        return no_rows()
    bounds = table.read(changed)
    crossed = no_rows() if rising else state.arrest(table, changed, bounds)
    if len(crossed):
        bounds = table.read(changed)
        raised, lowered = (rows[~table.held(rows)] for rows in (raised, lowered))
    table.deviate(changed, *bounds)
    encoded.update(table, changed, *bounds)
    for side, rows in enumerate((raised, lowered)):
        if len(rows):
            delta.add(table, side, rows)
    return crossed


def note_new(
    delta: Delta,
    table: Relation,
    rows: range,
    sides: tuple[int, ...],
    value: float,
    encoded: EncodedBounds,
    eps: float,
) -> bool:
    """As ``note``, for new atoms that now have the bound ``value`` on one side or on both; moves are those of the last
    of ``sides``. False, with nothing done, where they cross."""
    low, high = (value if side in sides else end for side, end in enumerate(table.default))
    if low > high + eps:
        return False
    for side in sides:
        table.enlist_new(SIDES[side], rows)
    delta.add(table, sides[-1], rows, encoded.classify_new(table, rows, (low, high)))
    return True


def changes(moved: Rows) -> Delta:
    """Rows that have moved on both sides."""
    delta = Delta()
    for table, rows in moved.items():
        for side in (0, 1) if len(rows) else ():
            delta.add(table, side, rows)
    return delta


class Round:
    """What the members of a round share: the state that all read, the ``delta`` of the last round, and the proposals
    for its end. ``made`` has, by table, the side and the bound that new atoms receive at least."""

    __slots__ = ("arrested", "atoms", "delta", "encoded", "inbox", "instances", "made", "state")

    def __init__(self, atoms: Relations, state: State, encoded: EncodedBounds, delta: Delta | None = None) -> None:
        self.atoms = atoms
        self.state = state
        self.encoded = encoded
        self.delta = delta
        self.inbox = Inbox()
        self.arrested: list[Arrested] = []
        self.instances = 0
        self.made: dict[int, tuple[tuple[int, float], int]] = {}
